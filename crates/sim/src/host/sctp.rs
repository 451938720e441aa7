//! An SCTP endpoint as an agent of the network.

use core::any::Any;
use std::collections::BTreeMap;

use bytes::{Bytes, BytesMut};
use strandcast_proto::app::App;
use strandcast_proto::association::{Association, Event, Transmit};
use strandcast_proto::coding::Coding;
use strandcast_proto::endpoint::{AssociationId, Endpoint, Input};
use strandcast_proto::path::{FourTuple, SealId};
use strandcast_proto::policy::{LinkId, LinkSample, PathId};
use strandcast_proto::time::{Duration, Instant};
use strandcast_seal::{ENVELOPE, SealedEndpoint};

use crate::net::{
    Agent, AgentOutput, Body, DirectedLinkId, Framing, Outgoing, Packet, RouteId, Standing, TraceEvent,
};

use super::chunks::{DataChunk, data_chunks, data_parts};
use super::symbols::application_bytes;
use super::verdicts::{ArrivalTimes, Verdicts};

/// Maximum number of rounds in which one host runs at one time. Only an application that creates work without end needs
/// more.
const MOST_ROUNDS: usize = 100_000;
/// Number of header bytes by which IPv6 exceeds IPv4.
const IPV6_MORE: usize = 20;

/// An application that reports the messages that it sends and receives.
pub trait TracedApp: App {
    /// Moves the events since the last call to `out`.
    fn take_events(&mut self, out: &mut Vec<TraceEvent>);
}

#[derive(Debug)]
enum Slot<P, N> {
    Plain(P),
    Traced(N),
}

type AppSlot = Slot<Box<dyn App>, Box<dyn TracedApp>>;

#[derive(Clone, Copy, Debug)]
struct PathRoute {
    route: RouteId,
    /// Number of the path in its flow.
    path: u8,
}

/// An [`Endpoint`] with its applications, as an [`Agent`]. The endpoint may be sealed.
pub struct SctpHost {
    sealed: SealedEndpoint,
    apps: Vec<AppSlot>,
    /// Routes by 4-tuple, in both directions. The 4-tuples of routes contain no session.
    routes: BTreeMap<FourTuple, PathRoute>,
    tuples: BTreeMap<RouteId, FourTuple>,
    /// First link of each route, with the number that the endpoint has for it.
    links: Vec<(DirectedLinkId, LinkId)>,
    /// Bytes of the IPv4 header, and of the UDP header if there is one, per packet.
    headers: usize,
    buffer: Vec<u8>,
    /// Buffer for packets that are not sealed yet.
    open: Vec<u8>,
    unroutable: u64,
    /// Highest TSN sent so far. A lower TSN is that of a retransmission.
    highest: Option<u32>,
    /// Association whose arrivals are reported.
    noted: Option<AssociationId>,
    /// Record of arrivals at this host. The verdicts of the other host on paths are compared with this record.
    arrivals: Option<ArrivalTimes>,
    verdicts: Option<Verdicts>,
    news: bool,
}

impl SctpHost {
    /// Creates a host without routes. `headers` is the number of bytes of the IPv4 (and UDP) headers per SCTP packet.
    pub fn new(sealed: SealedEndpoint, headers: usize) -> Self {
        SctpHost {
            sealed,
            apps: Vec::new(),
            routes: BTreeMap::new(),
            tuples: BTreeMap::new(),
            links: Vec::new(),
            headers,
            buffer: Vec::new(),
            open: Vec::new(),
            unroutable: 0,
            highest: None,
            noted: None,
            arrivals: None,
            verdicts: None,
            news: true,
        }
    }

    /// Adds a route. Packets with the 4-tuple `tuple` are sent on the route `out`, as path `path` of the flow. Packets
    /// that arrive on the route `back` get this 4-tuple.
    pub fn add_route(&mut self, tuple: FourTuple, path: u8, out: RouteId, back: RouteId) {
        self.routes.insert(tuple, PathRoute { route: out, path });
        self.tuples.insert(back, tuple);
    }

    /// Removes the route of a 4-tuple in both directions.
    pub fn remove_way(&mut self, tuple: &FourTuple) {
        self.routes.remove(tuple);
        self.tuples.retain(|_, t| t != tuple);
    }

    /// Maps a link to an interface of the endpoint.
    pub fn add_link(&mut self, wire: DirectedLinkId, link: LinkId) {
        self.links.push((wire, link));
    }

    /// Records arrivals at this host in `arrivals`. The verdicts of its peer on paths are compared with them.
    pub fn record_arrivals(&mut self, arrivals: ArrivalTimes) {
        self.arrivals = Some(arrivals);
    }

    /// Counts the verdicts on paths of the reported association. The verdicts are compared with the arrivals at `peer`.
    pub fn count_verdicts(&mut self, peer: ArrivalTimes, rto_min: Duration) {
        self.verdicts = Some(Verdicts::new(peer, rto_min));
    }

    /// Adds an application to the host. Returns the application's index.
    pub fn add_app(&mut self, app: impl App) -> usize {
        self.apps.push(Slot::Plain(Box::new(app)));
        self.news = true;
        self.apps.len() - 1
    }

    /// Adds an application whose events are reported. The arrivals of the first association are also reported. Returns
    /// the application's index.
    pub fn add_traced_app(&mut self, app: impl TracedApp) -> usize {
        self.apps.push(Slot::Traced(Box::new(app)));
        self.news = true;
        self.apps.len() - 1
    }

    /// Returns the endpoint.
    pub fn endpoint(&self) -> &Endpoint {
        self.sealed.endpoint()
    }

    /// Returns the endpoint, to be changed.
    pub fn endpoint_mut(&mut self) -> &mut Endpoint {
        self.sealed_mut().endpoint_mut()
    }

    /// Returns the endpoint with its seal.
    pub fn sealed(&self) -> &SealedEndpoint {
        &self.sealed
    }

    /// Returns the endpoint with its seal, to be changed.
    pub fn sealed_mut(&mut self) -> &mut SealedEndpoint {
        self.news = true;
        &mut self.sealed
    }

    /// Returns the number of packets that have no route.
    pub fn unroutable(&self) -> u64 {
        self.unroutable
    }

    /// Returns an application.
    ///
    /// # Panics
    /// Panics if the application's type is not `A`.
    pub fn app<A: App>(&self, index: usize) -> &A {
        let app: &dyn Any = match &self.apps[index] {
            Slot::Plain(app) => &**app,
            Slot::Traced(app) => &**app,
        };
        app.downcast_ref().expect("the application is of the type it was added with")
    }

    /// Returns an application, to be changed.
    ///
    /// # Panics
    /// Panics if the application's type is not `A`.
    pub fn app_mut<A: App>(&mut self, index: usize) -> &mut A {
        let app: &mut dyn Any = match &mut self.apps[index] {
            Slot::Plain(app) => &mut **app,
            Slot::Traced(app) => &mut **app,
        };
        app.downcast_mut().expect("the application is of the type it was added with")
    }

    /// Runs the host until it has no further output at the time `now`.
    fn pump(&mut self, now: Instant, out: &mut AgentOutput) {
        for round in 0.. {
            assert!(round < MOST_ROUNDS, "a host is never done at {now:?}");
            self.news |= self.send(now, out);
            let SctpHost { sealed, apps, noted, verdicts, routes, .. } = self;
            while sealed.poll_seal_event().is_some() {}
            let event = sealed.poll_event();
            let endpoint = sealed.endpoint_mut();
            if let Some((id, event)) = event {
                noted.get_or_insert(id);
                if let (Some(verdicts), Some(association)) = (verdicts, endpoint.association(id)) {
                    let path = event_path(association, &event, routes);
                    verdicts.hear(now, association, &event, path);
                }
                apps.iter_mut().for_each(|slot| slot.app().on_event(now, endpoint, id, &event));
                self.news = true;
            } else if self.news || apps.iter().any(|slot| slot.poll_timeout().is_some_and(|at| at <= now)) {
                apps.iter_mut().for_each(|slot| slot.app().poll(now, endpoint));
                self.news = false;
            } else {
                break;
            }
        }
        for slot in &mut self.apps {
            if let Slot::Traced(app) = slot {
                app.take_events(&mut out.events);
            }
        }
    }

    /// Sends all output of the endpoint. Returns whether there was any output.
    fn send(&mut self, now: Instant, out: &mut AgentOutput) -> bool {
        let mut any = false;
        while let Some((transmit, open)) = self.next(now) {
            any = true;
            let batch = Bytes::copy_from_slice(&self.buffer);
            self.buffer.clear();
            self.launch(&transmit, &batch, open, out);
        }
        any
    }

    /// Appends the next datagrams to the buffer. Returns them, and the packets in them before sealing.
    fn next(&mut self, now: Instant) -> Option<(Transmit, Option<Bytes>)> {
        if !self.sealed.is_sealed() {
            return Some((self.sealed.poll_output(now, &mut self.buffer)?, None));
        }
        let transmit = self.sealed.poll_output_open(now, &mut self.buffer, &mut self.open)?;
        Some((transmit, Some(Bytes::copy_from_slice(&self.open))))
    }

    fn launch(&mut self, transmit: &Transmit, batch: &Bytes, open: Option<Bytes>, out: &mut AgentOutput) {
        let Some(&PathRoute { route, .. }) = self.routes.get(&clear(transmit.tuple)) else {
            self.unroutable += 1;
            return;
        };
        let headers = self.headers + if transmit.tuple.remote.is_ipv6() { IPV6_MORE } else { 0 };
        for start in (0..batch.len()).step_by(transmit.segment_size) {
            let range = start..batch.len().min(start + transmit.segment_size);
            let len = (range.len() + headers) as u32;
            let datagram = batch.slice(range.clone());
            let body = match &open {
                None => Body::Sctp(datagram),
                Some(open) if open.is_empty() => Body::Sealed { datagram, packet: Bytes::new() },
                Some(open) => {
                    let packet = open.slice(range.start + ENVELOPE.front..range.end - ENVELOPE.back);
                    Body::Sealed { datagram, packet }
                }
            };
            let (mut payload, mut retransmission) = (0, false);
            for DataChunk { tsn, bytes } in body.sctp().into_iter().flat_map(|packet| data_chunks(packet)) {
                payload += bytes;
                if self.highest.is_none_or(|highest| (tsn.wrapping_sub(highest) as i32) > 0) {
                    self.highest = Some(tsn);
                } else {
                    retransmission = true;
                }
            }
            let framing = if payload > 0 { self.framing() } else { Framing::default() };
            out.packets.push(Outgoing { route, len, payload, retransmission, framing, body });
        }
    }

    /// Returns the framing of the reported association's user data.
    fn framing(&self) -> Framing {
        let association = self.noted.and_then(|id| self.endpoint().association(id));
        match association.and_then(|a| a.coded().out()) {
            None => Framing::Messages,
            Some(Coding::Repair(_)) => Framing::Repair,
            Some(Coding::Blocks(_)) => Framing::Blocks,
        }
    }

    /// Returns the number in the flow of an association's path.
    fn path_of(&self, association: &Association, id: PathId) -> Option<u8> {
        association.tuple(id).and_then(|tuple| self.routes.get(&clear(tuple))).map(|way| way.path)
    }

    /// Returns the numbers of new and of repeated DATA chunks that the reported association received.
    fn taken(&self) -> (u64, u64) {
        let association = self.noted.and_then(|id| self.endpoint().association(id));
        association.map_or((0, 0), |a| (a.stats().chunks_received, a.stats().duplicates_received))
    }
}

/// Returns the number in the flow of the path to which an event belongs.
fn event_path(
    association: &Association,
    event: &Event,
    routes: &BTreeMap<FourTuple, PathRoute>,
) -> Option<u8> {
    let Event::Path(id, _) = event else { return None };
    association.tuple(*id).and_then(|tuple| routes.get(&clear(tuple))).map(|way| way.path)
}

/// Returns the 4-tuple without its session.
fn clear(tuple: FourTuple) -> FourTuple {
    FourTuple { sealed: SealId::CLEAR, ..tuple }
}

impl Agent for SctpHost {
    fn handle_packet(&mut self, now: Instant, packet: &mut Packet, out: &mut AgentOutput) {
        let meta = packet.meta;
        let (wire, data) = match packet.take_body() {
            Body::Sctp(packet) => (packet.clone(), packet),
            Body::Sealed { datagram, packet } => (datagram, packet),
            Body::Tcp(_) | Body::Udp(_) | Body::Ip(_) | Body::Damaged => return,
        };
        let Some(&tuple) = self.tuples.get(&meta.route) else {
            self.unroutable += 1;
            return;
        };
        if let Some(arrivals) = self.arrivals.as_ref().filter(|_| !meta.damaged) {
            arrivals.record(now, meta.path);
        }
        let before = self.taken();
        let stride = wire.len();
        if self.sealed.is_sealed() {
            self.sealed.receive(now, tuple, BytesMut::from(&wire[..]), stride);
        } else {
            let input = Input::Datagrams { tuple, data: wire, segment_size: stride };
            self.sealed.handle_input(now, input);
        }
        self.news = true;
        let after = self.taken();
        if meta.payload == 0 || before == after {
            return;
        }
        let mut wire = meta.len;
        for part in data_parts(&data) {
            let (tsn, bytes) = (part.chunk.tsn, application_bytes(meta.framing, &part));
            let new = after.0 > before.0;
            let (path, sent) = (meta.path, meta.sent);
            out.events.push(TraceEvent::Arrived {
                path,
                sent,
                wire,
                payload: bytes,
                sequence: Some(tsn),
                new,
            });
            wire = 0;
        }
    }

    fn run(&mut self, now: Instant, out: &mut AgentOutput) {
        if self.sealed.poll_timeout().is_some_and(|at| at <= now) {
            self.sealed.handle_timeout(now);
        }
        self.pump(now, out);
    }

    fn poll_timeout(&self) -> Option<Instant> {
        let apps = self.apps.iter().filter_map(Slot::poll_timeout);
        apps.chain(self.sealed.poll_timeout()).min()
    }

    fn handle_link(&mut self, now: Instant, wire: DirectedLinkId, sample: LinkSample) {
        if let Some((_, link)) = self.links.iter().find(|(w, _)| *w == wire) {
            self.sealed.handle_input(now, Input::Link(LinkSample { link: *link, ..sample }));
        }
    }

    fn handle_interface(&mut self, now: Instant, wire: DirectedLinkId, up: bool) {
        let Some((_, link)) = self.links.iter().find(|(w, _)| *w == wire).copied() else { return };
        let Some(id) = self.noted else { return };
        // The transport detects a refusal itself (the handshake is not complete, the path does not exist).
        let _ = self.endpoint_mut().with(id, |association| {
            let over = association.paths().iter().filter(|p| p.link == link).map(|p| p.id);
            for path in over.collect::<Vec<_>>() {
                let _ = association.suspend_path(now, path, !up);
            }
            Ok(())
        });
        self.news = true;
    }

    fn counters(&self, now: Instant, report: &mut dyn FnMut(Option<u8>, &'static str, f64)) {
        let Some(association) = self.noted.and_then(|id| self.endpoint().association(id)) else { return };
        super::gauges::counters(association, now, |id| self.path_of(association, id), report);
        if let Some(verdicts) = &self.verdicts {
            verdicts.report(report);
        }
    }

    fn diagnostics(&self, now: Instant, report: &mut dyn FnMut(&str, &'static str)) {
        let Some(association) = self.noted.and_then(|id| self.endpoint().association(id)) else { return };
        association
            .diagnostics(now)
            .into_iter()
            .for_each(|diagnostic| report(association.scheme().name(), diagnostic));
    }

    fn gauges(&self, _now: Instant, report: &mut dyn FnMut(Option<u8>, &'static str, f64)) {
        let Some(association) = self.noted.and_then(|id| self.endpoint().association(id)) else { return };
        super::gauges::gauges(association, |id| self.path_of(association, id), report);
    }

    fn standing(&self, now: Instant) -> Option<Standing> {
        let Some(association) = self.noted.and_then(|id| self.endpoint().association(id)) else {
            return Some(super::gauges::UNCONNECTED);
        };
        Some(super::gauges::standing(association, now, |id| self.path_of(association, id)))
    }

    fn blocks(&self, report: &mut dyn FnMut(u32, u64)) {
        let association = self.noted.and_then(|id| self.endpoint().association(id));
        let extents = association.into_iter().flat_map(|a| a.coded().block_extents());
        extents.for_each(|(block, bytes)| report(block, bytes));
    }

    fn receive_buffered(&self) -> Option<u64> {
        self.noted.and_then(|id| self.endpoint().association(id)).map(Association::receive_buffered)
    }
}

impl AppSlot {
    fn app(&mut self) -> &mut dyn App {
        match self {
            Slot::Plain(app) => &mut **app,
            Slot::Traced(app) => &mut **app,
        }
    }

    fn poll_timeout(&self) -> Option<Instant> {
        match self {
            Slot::Plain(app) => app.poll_timeout(),
            Slot::Traced(app) => app.poll_timeout(),
        }
    }
}

impl core::fmt::Debug for SctpHost {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("SctpHost").field("ways", &self.routes.len()).field("apps", &self.apps.len()).finish()
    }
}

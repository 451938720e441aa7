//! An endpoint as an agent of the network.

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

/// Rounds of one host at one instant: more can only be an application that makes work for itself for ever.
const MOST_ROUNDS: usize = 100_000;
/// Header bytes that IPv6 has more than IPv4.
const IPV6_MORE: usize = 20;

/// An application that tells what it hands in and gets.
pub trait TracedApp: App {
    /// Moves what was noted since the last call to `out`.
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
    /// Which of its flow's paths it is.
    path: u8,
}

/// An [`Endpoint`], sealed or not, with its applications, as an [`Agent`].
pub struct SctpHost {
    sealed: SealedEndpoint,
    apps: Vec<AppSlot>,
    /// Which way packets with a 4-tuple go, and which 4-tuple what comes by a route has here; all in the clear.
    routes: BTreeMap<FourTuple, PathRoute>,
    tuples: BTreeMap<RouteId, FourTuple>,
    /// The number each link that routes begin with has at the endpoint.
    links: Vec<(DirectedLinkId, LinkId)>,
    /// Bytes of IPv4 (and UDP) header in front of each packet.
    headers: usize,
    buffer: Vec<u8>,
    /// The same before it was sealed.
    open: Vec<u8>,
    unroutable: u64,
    /// The highest TSN sent: what is not above it is sent again.
    highest: Option<u32>,
    /// The association whose arrivals are noted.
    noted: Option<AssociationId>,
    /// What this host got, for the verdicts of the other; and its own verdicts.
    arrivals: Option<ArrivalTimes>,
    verdicts: Option<Verdicts>,
    news: bool,
}

impl SctpHost {
    /// A host without routes. `headers`: bytes of IPv4 (and UDP) header in front of each SCTP packet.
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

    /// Packets with this 4-tuple go by `out`, as the flow's path `path`; what comes by `back` has it.
    pub fn add_route(&mut self, tuple: FourTuple, path: u8, out: RouteId, back: RouteId) {
        self.routes.insert(tuple, PathRoute { route: out, path });
        self.tuples.insert(back, tuple);
    }

    /// Nothing is sent with this 4-tuple, and nothing comes with it, any more.
    pub fn remove_way(&mut self, tuple: &FourTuple) {
        self.routes.remove(tuple);
        self.tuples.retain(|_, t| t != tuple);
    }

    /// Tells which interface of the endpoint a link is.
    pub fn add_link(&mut self, wire: DirectedLinkId, link: LinkId) {
        self.links.push((wire, link));
    }

    /// Writes down what this host gets, for the verdicts of its peer on paths.
    pub fn record_arrivals(&mut self, arrivals: ArrivalTimes) {
        self.arrivals = Some(arrivals);
    }

    /// Counts the verdicts on paths of the noted association, beside what `peer` got.
    pub fn count_verdicts(&mut self, peer: ArrivalTimes, rto_min: Duration) {
        self.verdicts = Some(Verdicts::new(peer, rto_min));
    }

    /// Puts an application on the host; its position.
    pub fn add_app(&mut self, app: impl App) -> usize {
        self.apps.push(Slot::Plain(Box::new(app)));
        self.news = true;
        self.apps.len() - 1
    }

    /// Puts an application on the host whose notes are taken, with the arrivals of the first association; its
    /// position.
    pub fn add_traced_app(&mut self, app: impl TracedApp) -> usize {
        self.apps.push(Slot::Traced(Box::new(app)));
        self.news = true;
        self.apps.len() - 1
    }

    /// The endpoint, to look at.
    pub fn endpoint(&self) -> &Endpoint {
        self.sealed.endpoint()
    }

    /// The endpoint, to change.
    pub fn endpoint_mut(&mut self) -> &mut Endpoint {
        self.sealed_mut().endpoint_mut()
    }

    /// The endpoint with its seal, to look at.
    pub fn sealed(&self) -> &SealedEndpoint {
        &self.sealed
    }

    /// The endpoint with its seal, to change.
    pub fn sealed_mut(&mut self) -> &mut SealedEndpoint {
        self.news = true;
        &mut self.sealed
    }

    /// Packets for which there was no way.
    pub fn unroutable(&self) -> u64 {
        self.unroutable
    }

    /// An application, to look at.
    ///
    /// # Panics
    /// If it is no `A`.
    pub fn app<A: App>(&self, index: usize) -> &A {
        let app: &dyn Any = match &self.apps[index] {
            Slot::Plain(app) => &**app,
            Slot::Traced(app) => &**app,
        };
        app.downcast_ref().expect("the application is of the type it was added with")
    }

    /// An application, to change.
    ///
    /// # Panics
    /// If it is no `A`.
    pub fn app_mut<A: App>(&mut self, index: usize) -> &mut A {
        let app: &mut dyn Any = match &mut self.apps[index] {
            Slot::Plain(app) => &mut **app,
            Slot::Traced(app) => &mut **app,
        };
        app.downcast_mut().expect("the application is of the type it was added with")
    }

    /// Runs until there is nothing more to say at this instant.
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

    /// Sends all that the endpoint has; whether it had anything.
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

    /// The next datagrams, at the end of the buffer, and what they were before they were sealed.
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

    /// What the noted association sends.
    fn framing(&self) -> Framing {
        let association = self.noted.and_then(|id| self.endpoint().association(id));
        match association.and_then(|a| a.coded().out()) {
            None => Framing::Messages,
            Some(Coding::Repair(_)) => Framing::Repair,
            Some(Coding::Blocks(_)) => Framing::Blocks,
        }
    }

    /// Which of its flow's paths a path of the association is.
    fn path_of(&self, association: &Association, id: PathId) -> Option<u8> {
        association.tuple(id).and_then(|tuple| self.routes.get(&clear(tuple))).map(|way| way.path)
    }

    /// New and repeated DATA chunks that the noted association has taken.
    fn taken(&self) -> (u64, u64) {
        let association = self.noted.and_then(|id| self.endpoint().association(id));
        association.map_or((0, 0), |a| (a.stats().chunks_received, a.stats().duplicates_received))
    }
}

/// Which of its flow's paths an event is about.
fn event_path(
    association: &Association,
    event: &Event,
    routes: &BTreeMap<FourTuple, PathRoute>,
) -> Option<u8> {
    let Event::Path(id, _) = event else { return None };
    association.tuple(*id).and_then(|tuple| routes.get(&clear(tuple))).map(|way| way.path)
}

/// The same 4-tuple, whatever session it is of.
fn clear(tuple: FourTuple) -> FourTuple {
    FourTuple { sealed: SealId::CLEAR, ..tuple }
}

impl Agent for SctpHost {
    fn handle_packet(&mut self, now: Instant, packet: Packet, out: &mut AgentOutput) {
        let Packet { meta, body } = packet;
        let (wire, data) = match body {
            Body::Sctp(packet) => (packet.clone(), packet),
            Body::Sealed { datagram, packet } => (datagram, packet),
            Body::Tcp(_) | Body::Udp(_) | Body::Damaged => return,
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
        // What is refused (the handshake is not done, the path is not there) the transport finds out by itself.
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

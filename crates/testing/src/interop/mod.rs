//! An endpoint of this project and an endpoint of another implementation. The link between them delays and loses
//! packets. SCTP packets are passed directly, without UDP. The two endpoints share one clock.

pub mod dcsctp;
pub mod journal;
pub mod scenarios;
pub mod sctp_proto;

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

use bytes::Bytes;
use strandcast_proto::association::{CloseReason, Event, SendOptions, Transmit};
use strandcast_proto::config::TransportConfig;
use strandcast_proto::endpoint::{AssociationId, Connect, Endpoint, EndpointConfig, Input, SchemeFactory};
use strandcast_proto::path::FourTuple;
use strandcast_proto::policy::LinkId;
use strandcast_proto::rfc;
use strandcast_proto::seeds::{Random, Seeds};
use strandcast_proto::time::{Duration, Instant};
use strandcast_proto::wire::chunk::shutdown_complete;

use crate::endpoints::ms;
use journal::{Entry, Journal, PacketOrigin};

pub const OUR_ADDRESS: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)), 9899);
pub const THEIR_ADDRESS: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(192, 0, 2, 2)), 9899);
/// Time at which the clock starts.
const START: Instant = Instant::from_millis(10_000);

/// A user message that was sent or received.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct UserMessage {
    pub stream: u16,
    pub ppid: u32,
    pub payload: Bytes,
}

/// Options of a message.
#[derive(Copy, Clone, Default, Debug)]
pub struct How {
    pub unordered: bool,
    pub lifetime: Option<Duration>,
}

/// Final state of an association.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum PeerState {
    Opening,
    Open,
    Closed,
    Aborted,
}

/// Endpoint of another implementation. Times are measured from the start.
pub trait Foreign {
    /// True if the implementation supports a SHUTDOWN COMPLETE with the T bit. A SHUTDOWN COMPLETE with the T bit
    /// answers its SHUTDOWN ACK if our first answer was lost. If false, no SHUTDOWN COMPLETE is lost.
    const KNOWS_T_BIT: bool = true;

    /// Creates an endpoint that waits for an association.
    fn new(seed: u64) -> Self;
    fn connect(&mut self, now: Duration);
    fn input(&mut self, now: Duration, packet: Bytes);
    fn poll_timeout(&self) -> Option<Duration>;
    fn handle_timeout(&mut self, now: Duration);
    fn output(&mut self, now: Duration) -> Option<Bytes>;
    fn send(&mut self, now: Duration, message: &UserMessage, how: How);
    fn received(&mut self) -> Vec<UserMessage>;
    fn shutdown(&mut self, now: Duration);
    fn abort(&mut self, now: Duration);
    fn state(&self) -> PeerState;
}

/// Properties of the link: how it treats packets.
#[derive(Copy, Clone, Debug)]
pub struct Link {
    pub delay: Duration,
    /// Bound of an extra delay, which is drawn uniformly. The extra delay makes packets overtake each other.
    pub jitter: Duration,
    pub loss: f64,
    pub duplicate: f64,
}

/// Function that decides whether a packet is delivered, in addition to the losses: (sender, bytes) → true to deliver
/// it.
pub type Filter = Box<dyn FnMut(PacketOrigin, &Bytes) -> bool>;

/// Configuration of this project's endpoint.
#[derive(Clone)]
pub struct OurEnd {
    pub scheme: SchemeFactory,
    pub transport: TransportConfig,
}

/// Parameters of RFC 9260, with room for all data that a test sends at one time.
impl Default for OurEnd {
    fn default() -> Self {
        let transport = TransportConfig { send_buffer: 1 << 22, ..TransportConfig::default() };
        OurEnd { scheme: Arc::new(|_| Box::new(rfc::scheme())), transport }
    }
}

pub struct Pair<F> {
    pub now: Instant,
    pub made_of: OurEnd,
    pub ours: Endpoint,
    pub id: Option<AssociationId>,
    pub events: Vec<Event>,
    pub theirs: F,
    pub link: Link,
    pub filter: Filter,
    pub journal: Journal,
    /// Messages that the application of this project's side has read.
    pub we_got: Vec<UserMessage>,
    pub they_got: Vec<UserMessage>,
    flying: BTreeMap<(Instant, u64), (PacketOrigin, Bytes)>,
    sequence: u64,
    random: Random,
}

impl<F: Foreign> Pair<F> {
    pub fn new(title: &str, seed: u64, loss: f64) -> Self {
        Pair::with(OurEnd::default(), title, seed, loss)
    }

    pub fn with(made_of: OurEnd, title: &str, seed: u64, loss: f64) -> Self {
        let seeds = Seeds::new(seed, 0);
        Pair {
            now: START,
            ours: Pair::<F>::endpoint(&made_of, &seeds),
            made_of,
            id: None,
            events: Vec::new(),
            theirs: F::new(seed),
            link: Link { delay: ms(20), jitter: ms(0), loss, duplicate: 0.0 },
            filter: Box::new(|_, _| true),
            journal: Journal { title: format!("{title}, seed {seed}, loss {loss}"), entries: Vec::new() },
            we_got: Vec::new(),
            they_got: Vec::new(),
            flying: BTreeMap::new(),
            sequence: 0,
            random: seeds.stream("link"),
        }
    }

    fn endpoint(made_of: &OurEnd, seeds: &Seeds) -> Endpoint {
        let OurEnd { scheme, transport } = made_of.clone();
        let transport = Arc::new(transport);
        let config = EndpointConfig { transport, accept: Some(scheme), ..EndpointConfig::default() };
        Endpoint::new(config, &seeds.child("ours"))
    }

    /// Restarts this project's endpoint without its state. Packets in transit are lost.
    pub fn restart_ours(&mut self, seed: u64) {
        self.ours = Pair::<F>::endpoint(&self.made_of, &Seeds::new(seed, 0));
        self.id = None;
        self.events.clear();
        self.flying.clear();
    }

    /// Restarts the other endpoint without its state. The clock of the other endpoint continues.
    pub fn restart_theirs(&mut self, seed: u64) {
        self.theirs = F::new(seed);
        self.flying.clear();
    }

    pub fn elapsed(&self) -> Duration {
        self.now - START
    }

    pub fn connect(&mut self, by: PacketOrigin) {
        match by {
            PacketOrigin::Us => {
                let tuple = FourTuple::new(LinkId(0), OUR_ADDRESS, THEIR_ADDRESS);
                let paths = vec![(tuple, None)];
                let scheme = (self.made_of.scheme)(&Seeds::new(1, 0));
                let connect = Connect { paths, port: 5000, scheme, transport: None };
                self.id = Some(self.ours.connect(self.now, connect).expect("a free endpoint"));
            }
            PacketOrigin::Them => self.theirs.connect(self.elapsed()),
        }
        self.pump();
    }

    /// Opens the association, and waits until it is open.
    pub fn open(&mut self, by: PacketOrigin) {
        self.connect(by);
        let open =
            self.run_until(60, |p| p.theirs.state() == PeerState::Open && p.our_state() == PeerState::Open);
        assert!(open, "no association: {:?} {:?}", self.events, self.theirs.state());
        assert!(self.events.contains(&Event::Connected { peer_is_strandcast: false }), "{:?}", self.events);
    }

    pub fn send(&mut self, by: PacketOrigin, message: &UserMessage, how: How) {
        match by {
            PacketOrigin::Us => {
                let options = SendOptions {
                    stream: message.stream,
                    ppid: message.ppid,
                    unordered: how.unordered,
                    lifetime: how.lifetime,
                    ..SendOptions::default()
                };
                let id = self.id.expect("connected");
                self.ours.send(self.now, id, message.payload.clone(), options).expect("room to send");
            }
            PacketOrigin::Them => self.theirs.send(self.elapsed(), message, how),
        }
        self.pump();
    }

    pub fn shutdown(&mut self, by: PacketOrigin) {
        match by {
            PacketOrigin::Us => self.ours.shutdown(self.now, self.id.expect("connected")),
            PacketOrigin::Them => self.theirs.shutdown(self.elapsed()),
        }
        self.pump();
    }

    pub fn abort(&mut self, by: PacketOrigin) {
        match by {
            PacketOrigin::Us => self.ours.abort(self.id.expect("connected"), "enough"),
            PacketOrigin::Them => self.theirs.abort(self.elapsed()),
        }
        self.pump();
    }

    pub fn our_state(&self) -> PeerState {
        let closed = self.events.iter().find_map(|e| if let Event::Closed(r) = e { Some(r) } else { None });
        match closed {
            Some(CloseReason::Shutdown) => PeerState::Closed,
            Some(_) => PeerState::Aborted,
            None if self.events.iter().any(|e| matches!(e, Event::Connected { .. })) => PeerState::Open,
            None => PeerState::Opening,
        }
    }

    pub fn got(&self, by: PacketOrigin) -> &[UserMessage] {
        if by == PacketOrigin::Us { &self.we_got } else { &self.they_got }
    }

    fn launch(&mut self, from: PacketOrigin, packet: Bytes) {
        let spared = !F::KNOWS_T_BIT && packet[12] == shutdown_complete::TYPE;
        let lost = self.random.chance(self.link.loss) && !spared || !(self.filter)(from, &packet);
        self.journal.entries.push(Entry { at: self.now, from, lost, packet: packet.clone() });
        let copies = if self.random.chance(self.link.duplicate) { 2 } else { 1 };
        for _ in 0..if lost { 0 } else { copies } {
            let jitter = Duration::from_nanos(self.random.below(self.link.jitter.as_nanos() as u64 + 1));
            self.sequence += 1;
            let arrival = self.now + self.link.delay + jitter;
            self.flying.insert((arrival, self.sequence), (from, packet.clone()));
        }
    }

    /// Sends all pending output of both ends at the current time.
    pub fn pump(&mut self) {
        let mut buf = Vec::new();
        while let Some(Transmit { segment_size, .. }) = self.ours.poll_output(self.now, &mut buf) {
            for packet in buf.chunks(segment_size) {
                self.launch(PacketOrigin::Us, Bytes::copy_from_slice(packet));
            }
            buf.clear();
        }
        while let Some((id, event)) = self.ours.poll_event() {
            self.id.get_or_insert(id);
            self.events.push(event);
        }
        while let Some(message) = self.id.and_then(|id| self.ours.recv(id)) {
            let (stream, ppid) = (message.stream.0, message.ppid.0);
            self.we_got.push(UserMessage { stream, ppid, payload: message.payload });
        }
        while let Some(packet) = self.theirs.output(self.elapsed()) {
            self.launch(PacketOrigin::Them, packet);
        }
        self.they_got.extend(self.theirs.received());
    }

    /// Handles the next event (arrival or timer), if its time is at most `end`. Returns false if there is no such
    /// event.
    fn step(&mut self, end: Instant) -> bool {
        let arrival = self.flying.keys().next().map(|(at, _)| *at);
        let timers = [self.ours.poll_timeout(), self.theirs.poll_timeout().map(|t| START + t)];
        let next = arrival.into_iter().chain(timers.into_iter().flatten()).min();
        let Some(at) = next.filter(|at| *at <= end) else { return false };
        self.now = self.now.max(at);
        if arrival == Some(at) {
            let (_, (from, data)) = self.flying.pop_first().expect("an arrival");
            if from == PacketOrigin::Us {
                self.theirs.input(self.elapsed(), data);
            } else {
                let tuple = FourTuple::new(LinkId(0), OUR_ADDRESS, THEIR_ADDRESS);
                let segment_size = data.len();
                self.ours.handle_input(self.now, Input::Datagrams { tuple, data, segment_size });
            }
        } else {
            self.ours.handle_timeout(self.now);
            self.theirs.handle_timeout(self.elapsed());
        }
        self.pump();
        true
    }

    pub fn run(&mut self, time: Duration) {
        let end = self.now + time;
        while self.step(end) {
            assert!(self.journal.entries.len() < 200_000, "a packet storm");
        }
        self.now = end;
        self.pump();
    }

    /// Runs until the function `done` returns true, or for `seconds`. Returns whether `done` returned true.
    pub fn run_until(&mut self, seconds: u64, mut done: impl FnMut(&Self) -> bool) -> bool {
        let end = self.now + Duration::from_secs(seconds);
        while !done(self) {
            assert!(self.journal.entries.len() < 200_000, "a packet storm");
            if !self.step(end) {
                return done(self);
            }
        }
        true
    }
}

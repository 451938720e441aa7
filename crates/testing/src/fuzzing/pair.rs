//! Fuzz target of two associations over bad wires.

use core::net::SocketAddr;
use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use strandcast_proto::association::{Association, CloseReason, Event, SendOptions};
use strandcast_proto::coding::Coding;
use strandcast_proto::config::TransportConfig;
use strandcast_proto::endpoint::{AssociationId, Connect, Endpoint, EndpointConfig, Input, SchemeFactory};
use strandcast_proto::path::FourTuple;
use strandcast_proto::policy::{Importance, LinkId, PathId};
use strandcast_proto::rfc;
use strandcast_proto::rx::Message;
use strandcast_proto::seeds::Seeds;
use strandcast_proto::time::{Duration, Instant};

use super::script::{LONGEST, STUCK, Script};
use super::{acting, coded};

const CLIENT: usize = 0;
const SERVER: usize = 1;

/// A wire, which is one uplink of the client. Bit `n % 8` of a pattern decides on the sender's packet number `n`.
#[derive(Copy, Clone)]
struct Wire {
    inside: SocketAddr,
    /// Address of the client that the server sees, after the NAT.
    outside: SocketAddr,
    up: [bool; 2],
    lost: [u8; 2],
    doubled: u8,
    corrupted: u8,
    late: u8,
    delay: Duration,
    packets: [u32; 2],
}

/// A message that was sent.
struct Sent {
    payload: Bytes,
    options: SendOptions,
    arrived: bool,
}

struct Play<'a> {
    script: Script<'a>,
    /// True if the buffers are smaller than the longest message.
    small: bool,
    now: Instant,
    ends: [Endpoint; 2],
    ids: [Option<AssociationId>; 2],
    closed: [Option<CloseReason>; 2],
    lazy: [bool; 2],
    wires: Vec<Wire>,
    flying: BTreeMap<(Instant, u64), (usize, FourTuple, Bytes)>,
    launched: u64,
    /// True for each side that codes all its data in blocks.
    blocks: [bool; 2],
    /// Records of sent messages, by receiver.
    books: [Vec<Sent>; 2],
}

/// Runs `data` as a script. Both sides send over wires that lose, repeat, change, delay and reorder packets, break, and
/// change their addresses. Counters must agree at all times. When the wires work again, all reliable messages must
/// arrive once, unchanged and in order. A graceful close must complete on both sides.
pub fn pair(data: &[u8]) {
    carry(Script(data), [None, None]);
}

/// Runs `data` with coding. Two bytes at its beginning select the coding of client and server. Messages in blocks must
/// be reliable, and in order across streams.
pub fn coded_pair(data: &[u8]) {
    let mut script = Script(data);
    let codings = [script.u8(), script.u8()].map(coded::coding);
    carry(script, codings);
}

fn carry(script: Script<'_>, codings: [Option<Coding>; 2]) {
    if script.0.len() > LONGEST {
        return;
    }
    let mut play = Play::new(script, codings);
    while !play.script.is_empty() {
        play.act();
        play.pump();
    }
    play.heal();
    play.run_until(|p| p.books.iter().flatten().all(|s| s.arrived || s.options.lifetime.is_some()));
    let id = play.ids[CLIENT].expect("connected at the start");
    play.ends[CLIENT].shutdown(play.now, id);
    play.run_until(|p| (0..2).all(|s| p.ids[s].is_none() || p.closed[s].is_some()));
    for side in (0..2).filter(|s| play.ids[*s].is_some()) {
        assert_eq!(play.closed[side], Some(CloseReason::Shutdown), "side {side}");
    }
}

fn server_address() -> SocketAddr {
    SocketAddr::from(([192, 0, 2, 1], 9899))
}

impl Wire {
    fn new(n: u8) -> Self {
        Wire {
            inside: SocketAddr::from(([10, 0, n, 2], 40_000)),
            outside: SocketAddr::from(([198, 51, 100, n], 50_000)),
            up: [true; 2],
            lost: [0; 2],
            doubled: 0,
            corrupted: 0,
            late: 0,
            delay: Duration::from_millis(10 + 20 * u64::from(n)),
            packets: [0; 2],
        }
    }

    fn client_tuple(&self, n: usize) -> FourTuple {
        FourTuple::new(LinkId(n as u32), self.inside, server_address())
    }
}

impl<'a> Play<'a> {
    /// The first byte of the script selects the wires and the configuration.
    fn new(mut script: Script<'a>, codings: [Option<Coding>; 2]) -> Self {
        let kind = script.u8();
        let seeds = Seeds::new(1, 0);
        let small = kind & 8 > 0;
        let base = if kind & 64 > 0 { TransportConfig::live() } else { TransportConfig::default() };
        let codes = codings != [None, None];
        let transport = |coding| TransportConfig {
            silence_timeout: base.silence_timeout.map(|_| Duration::from_secs(1_000_000)),
            association_max_retrans: 100_000,
            max_init_retrans: 100_000,
            strict_rfc: kind & 4 > 0,
            receive_buffer: if small { 3 * 1400 } else { 1 << 20 },
            send_buffer: if small { 6000 } else { 1 << 20 },
            pf_max_retrans: (kind & 16 > 0).then_some(0),
            coding,
            decodes: codes,
            ..base.clone()
        };
        let accept: SchemeFactory = Arc::new(move |seeds| match () {
            () if codes => coded::scheme(),
            () if kind & 128 > 0 => acting::scheme(seeds),
            () => Box::new(rfc::scheme()),
        });
        let scheme = (accept)(&seeds);
        let config = |side: usize| EndpointConfig {
            transport: Arc::new(transport(codings[side])),
            ..EndpointConfig::default()
        };
        let server = EndpointConfig { accept: Some(accept), ..config(SERVER) };
        let mut play = Play {
            script,
            small,
            now: Instant::from_millis(10_000),
            ends: [
                Endpoint::new(config(CLIENT), &seeds.child("client")),
                Endpoint::new(server, &seeds.child("server")),
            ],
            ids: [None; 2],
            closed: [None, None],
            lazy: [false; 2],
            wires: (0..1 + kind % 4).map(Wire::new).collect(),
            flying: BTreeMap::new(),
            launched: 0,
            blocks: codings.map(|coding| matches!(coding, Some(Coding::Blocks(_)))),
            books: Default::default(),
        };
        let paths = play.wires.iter().enumerate().map(|(n, w)| (w.client_tuple(n), None)).collect();
        let connect = Connect { paths, port: 5000, scheme, transport: None };
        play.ids[CLIENT] = Some(play.ends[CLIENT].connect(play.now, connect).expect("a free endpoint"));
        play.pump();
        if kind & 32 == 0 {
            play.run(Duration::from_secs(3));
            assert!(play.ids[SERVER].is_some(), "connected on a good network");
        }
        play
    }

    fn act(&mut self) {
        let what = self.script.u8();
        let (side, n) = (usize::from(what >> 4 & 1), usize::from(what >> 5) % self.wires.len());
        match what % 16 {
            0..=2 => {
                let ms = u64::from(self.script.u8());
                self.run(Duration::from_millis(ms * ms / 4));
            }
            3..=5 => self.send(side),
            6 => self.wires[n].lost[side] = self.script.u8(),
            7 => self.wires[n].doubled = self.script.u8(),
            8 => self.wires[n].corrupted = self.script.u8(),
            9 => self.wires[n].late = self.script.u8(),
            10 => self.wires[n].delay = Duration::from_millis(4 * u64::from(self.script.u8())),
            11 => self.wires[n].up[side] ^= true,
            12 => self.wires[n].up = [side == 0; 2],
            13 => self.suspend(side, PathId(n as u8), self.script.0.len().is_multiple_of(2)),
            14 => self.wires[n].outside.set_port(50_001 + (self.launched % 10_000) as u16),
            _ => {
                self.lazy[side] ^= true;
                self.read(side);
            }
        }
    }

    fn send(&mut self, side: usize) {
        let (kind, size) = (self.script.u8(), 1 + usize::from(self.script.u16()) % 8000);
        // The message is as long as the whole buffer, if that is larger than the reserve of every buffer.
        let size = if kind & 8 > 0 && !self.small { size * 131 } else { size };
        let Some(id) = self.ids[side] else { return };
        let lifetime = (kind & 2 > 0).then(|| Duration::from_millis(8 * u64::from(kind)));
        let book = &mut self.books[1 - side];
        let number = book.len();
        let options = SendOptions {
            stream: u16::from(kind >> 4 & 3),
            ppid: number as u32,
            unordered: kind & 1 > 0,
            lifetime,
            importance: Importance::ALL[usize::from(kind >> 6)],
            group: Some(u64::from(kind >> 5)),
        };
        let payload: Bytes = (0..size).map(|i| (number * 31 + i) as u8).collect();
        if self.ends[side].send(self.now, id, payload.clone(), options).is_ok() {
            book.push(Sent { payload, options, arrived: false });
        }
    }

    fn suspend(&mut self, side: usize, path: PathId, aside: bool) {
        let now = self.now;
        if let Some(id) = self.ids[side] {
            // Refused where there is no such path.
            let _ = self.ends[side].with(id, |a| a.suspend_path(now, path, aside));
        }
    }

    fn launch(&mut self, from: usize, tuple: FourTuple, bytes: &[u8]) {
        let own = |w: &Wire| if from == CLIENT { w.inside == tuple.local } else { w.outside == tuple.remote };
        let Some(n) = self.wires.iter().position(own) else { return };
        let w = &mut self.wires[n];
        let count = w.packets[from];
        w.packets[from] += 1;
        let hit = |pattern: u8| pattern >> (count % 8) & 1 > 0;
        if !w.up[from] || hit(w.lost[from]) {
            return;
        }
        let mut bytes = bytes.to_vec();
        if hit(w.corrupted) {
            let at = count as usize % bytes.len();
            bytes[at] ^= 1 << (count % 8);
        }
        let arrival = if from == CLIENT {
            FourTuple::new(LinkId(0), server_address(), w.outside)
        } else {
            w.client_tuple(n)
        };
        let at = self.now + if hit(w.late) { w.delay * 3 } else { w.delay };
        let (bytes, copies) = (Bytes::from(bytes), 1 + u64::from(hit(w.doubled)));
        for _ in 0..copies {
            self.launched += 1;
            self.flying.insert((at, self.launched), (1 - from, arrival, bytes.clone()));
        }
    }

    /// Sends all pending output of both sides at the current time.
    fn pump(&mut self) {
        let mut buf = Vec::new();
        for side in 0..2 {
            while let Some(t) = self.ends[side].poll_output(self.now, &mut buf) {
                for datagram in core::mem::take(&mut buf).chunks(t.segment_size) {
                    self.launch(side, t.tuple, datagram);
                }
            }
            while let Some((id, event)) = self.ends[side].poll_event() {
                // A restart opens another one, of no interest here.
                let ours = *self.ids[side].get_or_insert(id) == id;
                if let Event::Closed(reason) = event
                    && ours
                {
                    self.closed[side] = Some(reason);
                }
            }
            if !self.lazy[side] {
                self.read(side);
            }
        }
        for side in 0..2 {
            if let Some(a) = self.association(side) {
                a.assert_consistent();
                coded::assert_work(a, self.now - Instant::from_millis(10_000));
            }
        }
    }

    fn association(&self, side: usize) -> Option<&Association> {
        self.ends[side].association(self.ids[side]?)
    }

    fn read(&mut self, side: usize) {
        while let Some(m) = self.ids[side].and_then(|id| self.ends[side].recv(id)) {
            self.arrived(side, &m);
        }
    }

    fn arrived(&mut self, side: usize, m: &Message) {
        let book = &mut self.books[side];
        let number = m.ppid.0 as usize;
        let sent = book.get_mut(number).expect("it was sent");
        assert!(!sent.arrived, "message {number} came twice");
        assert!(sent.payload == m.payload, "message {number} was changed");
        sent.arrived = true;
        let (stream, unordered) = (sent.options.stream, sent.options.unordered);
        assert_eq!(stream, m.stream.0);
        // Blocks keep the order of all messages, if they were agreed on: only a buffer that is too small for two forbids it.
        assert!(unordered == m.unordered || self.blocks[1 - side]);
        let overtaken = |s: &&Sent| s.arrived && !s.options.unordered && s.options.stream == stream;
        let later = book[number + 1..].iter().find(overtaken);
        assert!(m.unordered || later.is_none(), "message {number} was overtaken in its stream");
    }

    fn run(&mut self, time: Duration) {
        let end = self.now + time;
        let mut rounds = 0;
        loop {
            // Reading may have left something to say.
            self.pump();
            let arrival = self.flying.first_key_value().map(|((at, _), _)| *at);
            let timers = self.ends.each_ref().map(Endpoint::poll_timeout);
            let next = arrival.into_iter().chain(timers.into_iter().flatten()).min();
            let Some(at) = next.filter(|at| *at <= end) else { break };
            rounds = if at > self.now { 0 } else { rounds + 1 };
            assert!(rounds < STUCK, "time stands still at {at:?}: {:?}", self.reasons());
            self.now = self.now.max(at);
            if arrival == Some(at) {
                let (_, (to, tuple, data)) = self.flying.pop_first().expect("an arrival");
                let segment_size = data.len();
                self.ends[to].handle_input(self.now, Input::Datagrams { tuple, data, segment_size });
            } else {
                self.ends.iter_mut().for_each(|e| e.handle_timeout(at));
            }
        }
        self.now = end;
    }

    fn reasons(&self) -> [Option<String>; 2] {
        let reason = |s: usize| Some(format!("{:?}", self.ends[s].timeout_reason(self.ids[s]?)));
        [reason(CLIENT), reason(SERVER)]
    }

    fn heal(&mut self) {
        for (n, w) in self.wires.iter_mut().enumerate() {
            let well = Wire::new(n as u8);
            *w = Wire { inside: w.inside, outside: w.outside, packets: w.packets, ..well };
        }
        self.lazy = [false; 2];
        self.run(Duration::from_millis(50));
        for side in 0..2 {
            for n in 0..self.association(side).map_or(0, |a| a.paths().len()) {
                self.suspend(side, PathId(n as u8), false);
            }
        }
        self.pump();
    }

    fn run_until(&mut self, done: impl Fn(&Self) -> bool) {
        let end = self.now + Duration::from_secs(1200);
        while !done(self) {
            assert!(self.now < end, "not done: {:?}", self.reasons());
            self.run(Duration::from_secs(1));
        }
    }
}

//! Fuzz targets: a listener and a caller receive any datagrams at any time.

use core::net::SocketAddr;
use std::collections::VecDeque;

use strandcast_proto::seeds::Seeds;
use strandcast_proto::time::{Duration, Instant};

use crate::config::{Config, Direction, Passphrase};
use crate::endpoint::Endpoint;
use crate::event::{ConnectionId, Event};

/// Maximum number of datagrams and payloads that one call may produce. If there are more, the endpoint is in an endless
/// loop.
const MOST: usize = 20_000;
/// Maximum number of datagrams in transit in one direction.
const UNDER_WAY: usize = 64;
/// Time without any exchange after which every connection must have ended.
const QUIET: Duration = Duration::from_secs(120);

/// Bytes of the fuzzer's input.
struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    fn bytes(&mut self) -> &'a [u8] {
        let len = usize::from(self.byte().unwrap_or(0)).min(self.0.len());
        let (first, rest) = self.0.split_at(len);
        self.0 = rest;
        first
    }
}

/// A caller, a listener, and the datagrams between them.
struct World {
    now: Instant,
    ends: [Endpoint; 2],
    under_way: [VecDeque<Vec<u8>>; 2],
    sender: usize,
    connection: [Option<ConnectionId>; 2],
    sent: Vec<Vec<u8>>,
    played: Vec<Vec<u8>>,
    /// True if no datagram was changed. If no datagram was changed, only sent payloads may be delivered, in order.
    honest: bool,
    buf: Vec<u8>,
}

fn address(end: usize) -> SocketAddr {
    SocketAddr::from(([192, 0, 2, 1 + end as u8], 9000))
}

impl World {
    /// Creates the two endpoints. The bits of `choice` select direction, encryption, reorder tolerance, packet numbers
    /// that wrap, and a short lifetime of keys.
    fn new(choice: u8) -> World {
        let config = |direction| {
            let mut config = Config::new(direction);
            config.passphrase =
                (choice & 2 == 2).then(|| Passphrase::new("correct horse").expect("long enough"));
            config.reorder_tolerance = if choice & 4 == 4 { 20 } else { 0 };
            config.first_number = Some(if choice & 8 == 8 { 0x7fff_fff0 } else { 7 });
            config.buffer_packets = 64;
            (config.refresh_packets, config.announce_packets) = (16, 4);
            config
        };
        let directions = [Direction::Send, Direction::Receive];
        let sender = usize::from(choice & 1);
        let seeds = Seeds::new(u64::from(choice), 0);
        let caller = Endpoint::call(Instant::ZERO, config(directions[sender]), address(1), &seeds.child("0"));
        let listener = Endpoint::listen(config(directions[1 - sender]), &seeds.child("1"));
        World {
            now: Instant::ZERO,
            ends: [caller, listener],
            under_way: Default::default(),
            sender,
            connection: [None; 2],
            sent: Vec::new(),
            played: Vec::new(),
            honest: true,
            buf: Vec::new(),
        }
    }

    /// Reads the events, datagrams and payloads of both endpoints.
    fn settle(&mut self) {
        for end in 0..2 {
            for step in 0.. {
                assert!(step < MOST, "an end sends without an end");
                if self.ends[end].poll_output(self.now, &mut self.buf).is_none() {
                    break;
                }
                let queue = &mut self.under_way[end];
                if queue.len() < UNDER_WAY {
                    queue.push_back(self.buf.clone());
                }
            }
            while let Some((_, payload)) = self.ends[end].poll_media(self.now) {
                self.played.push(payload);
            }
            while let Some(event) = self.ends[end].poll_event() {
                match event {
                    Event::Connected { id, .. } => self.connection[end] = Some(id),
                    Event::Ended { .. } => self.connection[end] = None,
                    Event::Refused { .. } | Event::Failed { .. } => {}
                }
            }
            assert!(self.ends[end].connections() <= 2, "more connections than allowed");
        }
    }

    fn deliver(&mut self, from: usize, data: &[u8]) {
        self.ends[1 - from].handle_datagram(self.now, address(from), data);
        self.settle();
    }

    /// Delivers all datagrams in transit.
    fn flush(&mut self) {
        for from in [0, 1] {
            while let Some(data) = self.under_way[from].pop_front() {
                self.deliver(from, &data);
            }
        }
    }

    fn step(&mut self, op: u8, input: &mut Input<'_>) {
        let from = usize::from(op >> 7);
        match op & 0x0f {
            0 => self.now += Duration::from_millis(u64::from(input.byte().unwrap_or(0))),
            1 => self.now += Duration::from_millis(100 * u64::from(input.byte().unwrap_or(0))),
            2 | 3 => self.flush(),
            4 => {
                if let Some(id) = self.connection[self.sender] {
                    let number = self.sent.len() as u32;
                    let payload = [&number.to_be_bytes()[..], input.bytes()].concat();
                    if self.ends[self.sender].send(self.now, id, &payload).is_ok() {
                        self.sent.push(payload);
                    }
                }
            }
            5 => drop(self.under_way[from].pop_front()),
            6 => {
                let data = self.under_way[from].back().cloned().unwrap_or_default();
                self.deliver(from, &data);
            }
            7 => {
                if let Some(data) = self.under_way[from].pop_back() {
                    self.deliver(from, &data);
                }
            }
            8..=11 => {
                self.honest = false;
                let mut data = self.under_way[from].front().cloned().unwrap_or_default();
                for change in input.bytes().chunks_exact(2) {
                    if let Some(byte) = data.get_mut(usize::from(change[0])) {
                        *byte = change[1];
                    }
                }
                self.deliver(from, &data);
            }
            12 => {
                self.honest = false;
                let data = input.bytes().to_vec();
                self.deliver(from, &data);
            }
            13 => {
                self.honest = false;
                // A connection's packet with any contents.
                let mut data = self.under_way[from].front().cloned().unwrap_or_default();
                data.truncate(16);
                data.extend_from_slice(input.bytes());
                self.deliver(from, &data);
            }
            14 => {
                if let Some(id) = self.connection[from] {
                    self.ends[from].close(self.now, id);
                }
            }
            _ => {}
        }
    }

    /// Checks that all timers end if no further datagrams arrive.
    fn finish(&mut self) {
        self.settle();
        let end = self.now + QUIET;
        for step in 0.. {
            assert!(step < MOST, "timers without an end");
            let next = self.ends.iter().filter_map(|e| e.poll_timeout(self.now)).min();
            let Some(next) = next.filter(|at| *at <= end) else { break };
            self.now = next.max(self.now);
            self.settle();
            self.under_way.iter_mut().for_each(VecDeque::clear);
        }
        assert!(self.ends.iter().all(|e| e.connections() == 0), "a connection without a peer continues");
        if self.honest {
            let mut sent = self.sent.iter();
            assert!(
                self.played.iter().all(|p| sent.any(|s| s == p)),
                "played is not what was sent, in order"
            );
        }
    }
}

/// A caller and a listener exchange datagrams, which are delivered, lost, repeated, reordered, changed or invented. The
/// target panics in three cases: an endpoint sends without end, a connection continues without its peer, or unchanged
/// datagrams do not deliver exactly the sent payloads, in order and once.
pub fn endpoints(data: &[u8]) {
    let mut input = Input(data);
    let mut world = World::new(input.byte().unwrap_or(0));
    world.settle();
    while let Some(op) = input.byte() {
        world.step(op, &mut input);
        world.settle();
    }
    world.finish();
}

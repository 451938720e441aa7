//! The receiving half of an SRT connection.

use std::collections::VecDeque;

use strandcast_proto::time::{Duration, Instant};

use super::acks::Acks;
use super::losses::Losses;
use super::rtt::Rtt;
use super::timing::Timing;
use crate::config::Config;
use crate::crypto::{Kek, OpenError, ReceiveKeys};
use crate::seq;
use crate::stats::Stats;
use crate::wire::{Ack, Data, HEADER, KeyFlag, KeyMaterial, Writer, write_losses};

/// Number of words in a list of losses that fit into a packet.
const NAK_WORDS: usize = (1472 - HEADER) / 4;
/// Number of consecutive packets in order after which the reorder tolerance shrinks by one.
const CALM: u32 = 50;
/// Minimum time between two derivations of keys for announcements.
const DERIVING: Duration = Duration::from_secs(1);

#[derive(Debug)]
struct Slot {
    payload: Vec<u8>,
    at: Instant,
}

/// Function that derives a key-encrypting key from the connection's passphrase.
pub(super) type Derive<'a> = &'a dyn Fn(&KeyMaterial) -> Option<Kek>;

/// State of the receiving half of a connection.
pub(super) struct Receiver {
    /// Packets, starting at the number `base`. An entry is `None` if its packet is missing or given up.
    slots: VecDeque<Option<Slot>>,
    base: u64,
    /// Number of packets held in `slots`.
    held: usize,
    losses: Losses,
    capacity: usize,
    timing: Timing,
    keys: Option<ReceiveKeys>,
    acks: Acks,
    pub rtt: Rtt,
    tolerance: u32,
    most_tolerance: u32,
    calm: u32,
    km_response: Option<Vec<u8>>,
    derived: Option<Instant>,
}

impl Receiver {
    pub fn new(config: &Config, timing: Timing, first: u32, keys: Option<ReceiveKeys>) -> Receiver {
        let base = seq::first(first);
        Receiver {
            slots: VecDeque::new(),
            base,
            held: 0,
            losses: Losses::default(),
            capacity: config.capacity(),
            timing,
            keys,
            acks: Acks::new(base),
            rtt: Rtt::new(),
            tolerance: 0,
            most_tolerance: config.reorder_tolerance,
            calm: 0,
            km_response: None,
            derived: None,
        }
    }

    pub fn latency(&self) -> Duration {
        self.timing.latency()
    }

    /// Returns true if no packet waits to be delivered.
    pub fn is_empty(&self) -> bool {
        self.held == 0
    }

    fn end(&self) -> u64 {
        self.base + self.slots.len() as u64
    }

    /// Returns the number of the first packet that is neither received nor given up.
    fn point(&self) -> u64 {
        self.losses.first().unwrap_or_else(|| self.end())
    }

    /// Handles a data packet.
    pub fn on_data(&mut self, now: Instant, timestamp: u32, data: &Data<'_>, stats: &mut Stats) {
        let number = seq::extend(data.seq, self.end());
        if !data.whole || data.payload.is_empty() {
            stats.bad += 1;
            return;
        }
        if number < self.base {
            // A retransmission of what was received, or of what was given up.
            stats.late += 1;
            return;
        }
        let Some(payload) = self.open(data, stats) else { return };
        if number >= self.base + self.capacity as u64 && !self.jump(number, stats) {
            stats.bad += 1;
            return;
        }
        let end = self.end();
        if number >= end {
            if number > end {
                self.losses.push(now, end, number - 1);
            }
            self.slots.resize_with((number - self.base) as usize, || None);
            self.slots.push_back(None);
            self.settle();
        } else if self.losses.remove(number) {
            if !data.retransmitted {
                self.overtaken(end - 1 - number);
            }
        } else {
            stats.duplicates += 1;
            return;
        }
        let at = self.timing.delivery(now, timestamp);
        self.acks.arrived(now, payload.len());
        self.slots[(number - self.base) as usize] = Some(Slot { payload, at });
        self.held += 1;
        stats.received += 1;
    }

    /// Decrypts the payload of a data packet.
    fn open(&self, data: &Data<'_>, stats: &mut Stats) -> Option<Vec<u8>> {
        let mut payload = data.payload.to_vec();
        let opened = match (&self.keys, data.key) {
            (None, Some(KeyFlag::Clear)) => true,
            (Some(keys), Some(key)) => keys.decrypt(key, data.seq, &mut payload),
            _ => false,
        };
        stats.undecryptable += u64::from(!opened);
        opened.then_some(payload)
    }

    /// Makes room for a packet that is far ahead, if no earlier packet is held.
    fn jump(&mut self, number: u64, stats: &mut Stats) -> bool {
        if self.held > 0 {
            return false;
        }
        stats.lost += number - self.base;
        self.slots.clear();
        self.losses = Losses::default();
        self.base = number;
        true
    }

    /// Records that a packet arrived in order.
    fn settle(&mut self) {
        self.calm += 1;
        if self.calm >= CALM {
            (self.calm, self.tolerance) = (0, self.tolerance.saturating_sub(1));
        }
    }

    /// Records that an original packet arrived after `later` packets with higher numbers.
    fn overtaken(&mut self, later: u64) {
        self.calm = 0;
        let later = u32::try_from(later).unwrap_or(u32::MAX);
        self.tolerance = self.tolerance.max(later.min(self.most_tolerance));
    }

    /// Handles the peer's answer to the acknowledgement with this number.
    pub fn on_ack_ack(&mut self, now: Instant, timestamp: u32, number: u32) {
        if let Some(rtt) = self.acks.confirmed(now, number) {
            self.rtt.sample(rtt);
            self.timing.sample(now, timestamp, rtt);
        }
    }

    /// Handles a request of the peer to stop waiting for packets.
    pub fn on_drop_request(&mut self, now: Instant, first: u32, last: u32) -> bool {
        let (first, last) = (seq::extend(first, self.base), seq::extend(last, self.base));
        if first > last || first > self.end() {
            return false;
        }
        let last = last.min(self.base + self.capacity as u64 - 1);
        if last >= self.end() {
            self.slots.resize_with((last - self.base) as usize + 1, || None);
        }
        self.losses.remove_range(first.max(self.base), last.max(self.base));
        self.acks.arm(now);
        true
    }

    /// Handles an announcement of keys by the peer.
    pub fn on_km_request(&mut self, now: Instant, contents: &[u8], derive: Derive<'_>, stats: &mut Stats) {
        let Some(keys) = &mut self.keys else {
            stats.bad += 1;
            return;
        };
        let refreshed = match KeyMaterial::read(contents) {
            Ok(material) if keys.fits(&material) => keys.refresh(&material),
            Ok(material) => {
                if self.derived.is_some_and(|at| now < at + DERIVING) {
                    return;
                }
                self.derived = Some(now);
                let opened = derive(&material).ok_or(OpenError::Malformed);
                opened.and_then(|kek| ReceiveKeys::open(kek, &material)).map(|new| *keys = new)
            }
            Err(Some(state)) => Err(OpenError::State(state)),
            Err(None) => Err(OpenError::Malformed),
        };
        match refreshed {
            Ok(()) => {
                stats.refreshes += 1;
                self.km_response = Some(contents.to_vec());
            }
            Err(OpenError::State(state)) => self.km_response = Some(state.code().to_be_bytes().to_vec()),
            Err(OpenError::Malformed) => stats.bad += 1,
        }
    }

    /// Returns the first held packet: its distance from `base`, and its delivery time.
    fn available(&self) -> Option<(usize, Instant)> {
        if self.held == 0 {
            return None;
        }
        self.slots.iter().enumerate().find_map(|(i, slot)| Some((i, slot.as_ref()?.at)))
    }

    /// Delivers the next payload that is due. Missing packets before this payload are given up.
    pub fn deliver(&mut self, now: Instant, stats: &mut Stats) -> Option<Vec<u8>> {
        let (skipped, at) = self.available()?;
        if at > now {
            return None;
        }
        if skipped > 0 {
            stats.lost += skipped as u64;
            self.slots.drain(..skipped);
            self.losses.remove_range(self.base, self.base + skipped as u64 - 1);
            self.base += skipped as u64;
            // The sender learns that nothing is missing before this packet.
            self.acks.arm(now);
        }
        let slot = self.slots.pop_front().flatten()?;
        self.base += 1;
        self.held -= 1;
        Some(slot.payload)
    }

    /// Returns the time of the next delivery.
    pub fn next_delivery(&self) -> Option<Instant> {
        self.available().map(|(_, at)| at)
    }

    /// Writes the next control packet of the receiver. Returns false if no packet must be sent now.
    pub fn poll(&mut self, now: Instant, writer: &mut Writer<'_>, stats: &mut Stats) -> bool {
        if let Some(contents) = self.km_response.take() {
            writer.key_material(true, &contents);
            return true;
        }
        let (end, tolerance) = (self.end(), u64::from(self.tolerance));
        let (interval, repeat) = (self.rtt.nak_interval(), self.rtt.nak_repeat());
        if self.losses.next(end, tolerance, interval, repeat).is_some_and(|at| at <= now) {
            let due = self.losses.take_due(now, end, tolerance, interval, repeat);
            writer.nak();
            let wire = due.map(|(first, last)| (seq::wire(first), seq::wire(last)));
            // A range takes at most two words.
            write_losses(writer.out, wire.take(NAK_WORDS / 2));
            stats.naks += 1;
            return true;
        }
        let point = self.point();
        let room = self.capacity.saturating_sub(self.slots.len()).max(2) as u32;
        let Some((number, rate)) = self.acks.poll(now, point, self.rtt.overdue()) else { return false };
        let (rtt, room) = (Some(self.rtt.micros()), Some(room));
        writer.ack(&Ack { number, next: seq::wire(point), rtt, room, rate });
        true
    }

    /// Returns the time of the next report or acknowledgement.
    pub fn next_timeout(&self, now: Instant) -> Option<Instant> {
        if self.km_response.is_some() {
            return Some(now);
        }
        let (interval, repeat) = (self.rtt.nak_interval(), self.rtt.nak_repeat());
        let nak = self.losses.next(self.end(), u64::from(self.tolerance), interval, repeat);
        [nak, self.acks.next_timeout(self.rtt.overdue())].into_iter().flatten().min()
    }
}

//! The sending half of an SRT connection.

use std::collections::{BTreeSet, VecDeque};

use strandcast_proto::seeds::Random;
use strandcast_proto::time::{Duration, Instant};

use super::announce::Announcer;
use super::pacer::Pacer;
use super::rtt::Rtt;
use crate::config::{Config, MAX_PAYLOAD};
use crate::crypto::SendKeys;
use crate::seq;
use crate::stats::Stats;
use crate::wire::{Ack, Data, KeyFlag, Losses, Writer};

/// Maximum number of answers to acknowledgements and requests that wait to be sent.
const ANSWERS: usize = 16;
/// Minimum time for which packets are kept (draft, *Too-Late Packet Drop*). `KEPT_LONGER` is added for timers.
const KEPT_AT_LEAST: Duration = Duration::from_secs(1);
const KEPT_LONGER: Duration = Duration::from_millis(20);
/// Number of retransmissions that each new packet permits. `AGAIN_AT_FIRST` retransmissions are permitted at the
/// beginning.
const AGAIN: usize = 2;
const AGAIN_AT_FIRST: usize = 64;
/// Number of transmissions without an answer after which the last packets are repeated less often.
const PROBES: u32 = 4;

/// Reason for refusing a payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SendError {
    /// The connection has ended, or it receives media.
    #[error("the connection takes no media")]
    NotSending,
    /// The payload is empty or larger than [`MAX_PAYLOAD`].
    #[error("a payload has 1 to 1456 bytes")]
    Size,
    /// The buffer of the sender is full. The refused payload is lost.
    #[error("the buffer is full")]
    Full,
}

#[derive(Debug)]
struct Packet {
    payload: Vec<u8>,
    key: KeyFlag,
    message: u32,
    /// Time at which the application submitted the payload.
    at: Instant,
    sent: Instant,
    times: u32,
}

/// State of the sending half of a connection.
pub(super) struct Sender {
    packets: VecDeque<Packet>,
    /// Number of the first packet that is kept; `unsent` is the number of the first that was not sent yet.
    base: u64,
    unsent: u64,
    /// Numbers of packets to be retransmitted.
    lost: BTreeSet<u64>,
    /// Number of permitted retransmissions. A peer may report packets again and again. This number ensures that such a
    /// peer receives at most three times the stream.
    credit: usize,
    message: u32,
    keys: Option<Announcer>,
    /// True once the peer has acknowledged a packet. Keys are not announced before. The reason is libsrt 1.5.1: as a
    /// caller it accepts an announcement of two keys only after it has decrypted a packet, and reports a wrong
    /// passphrase otherwise.
    acknowledged: bool,
    /// Number of packets beyond the acknowledged ones for which the peer has room.
    window: u64,
    capacity: usize,
    keep: Duration,
    pacer: Pacer,
    pub rtt: Rtt,
    ack_acks: VecDeque<u32>,
    drop_requests: VecDeque<(u64, u64)>,
    /// Time of the last progress: an acknowledgement of further packets, or the first packet in flight.
    progress: Instant,
    probes: u32,
    /// Time of the last payload from the application.
    pub last_input: Instant,
}

impl Sender {
    pub fn new(
        now: Instant,
        config: &Config,
        latency: Duration,
        first: u32,
        keys: Option<SendKeys>,
    ) -> Sender {
        let base = seq::first(first);
        Sender {
            packets: VecDeque::new(),
            base,
            unsent: base,
            lost: BTreeSet::new(),
            credit: AGAIN_AT_FIRST,
            message: 0,
            keys: keys.map(|keys| Announcer::new(keys, config)),
            acknowledged: false,
            window: 0,
            capacity: config.capacity(),
            keep: (latency * 5 / 4).max(KEPT_AT_LEAST) + KEPT_LONGER,
            pacer: Pacer::new(now, config.bandwidth),
            rtt: Rtt::new(),
            ack_acks: VecDeque::new(),
            drop_requests: VecDeque::new(),
            progress: now,
            probes: 0,
            last_input: now,
        }
    }

    pub fn set_window(&mut self, packets: u32) {
        self.window = u64::from(packets);
    }

    pub fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    /// Takes a payload of the application.
    pub fn push(
        &mut self,
        now: Instant,
        payload: &[u8],
        random: &mut Random,
        stats: &mut Stats,
    ) -> Result<(), SendError> {
        if payload.is_empty() || payload.len() > MAX_PAYLOAD {
            return Err(SendError::Size);
        }
        self.drop_late(now, stats);
        if self.packets.len() >= self.capacity {
            stats.refused += 1;
            return Err(SendError::Full);
        }
        if self.packets.is_empty() {
            self.progress = now;
        }
        self.message = seq::next_message(self.message);
        let mut payload = payload.to_vec();
        let number = self.base + self.packets.len() as u64;
        let key = match &mut self.keys {
            Some(keys) => keys.encrypt(seq::wire(number), &mut payload, random, stats),
            None => KeyFlag::Clear,
        };
        self.pacer.feed(now, payload.len());
        self.last_input = now;
        self.packets.push_back(Packet { payload, key, message: self.message, at: now, sent: now, times: 0 });
        Ok(())
    }

    /// Handles an acknowledgement. Returns false if the acknowledgement makes no sense.
    pub fn on_ack(&mut self, now: Instant, ack: &Ack) -> bool {
        let next = seq::extend(ack.next, self.base);
        if next > self.unsent {
            return false;
        }
        if let Some((rtt, _)) = ack.rtt.filter(|_| ack.number != 0) {
            self.rtt.sample(Duration::from_micros(u64::from(rtt)));
        }
        if next > self.base {
            self.forget_until(next);
            (self.progress, self.probes, self.acknowledged) = (now, 0, true);
        }
        if let Some(room) = ack.room {
            self.window = u64::from(room);
        }
        if ack.number != 0 && self.ack_acks.len() < ANSWERS {
            self.ack_acks.push_back(ack.number);
        }
        true
    }

    /// Handles the peer's list of losses. Returns false if a part of the list makes no sense.
    pub fn on_nak(&mut self, now: Instant, data: &[u8]) -> bool {
        // A list that names packets again and again costs no more than one that names each packet once.
        let mut work = self.packets.len() + ANSWERS;
        let mut sensible = true;
        for (first, last) in Losses::of(data) {
            let (first, last) = (seq::extend(first, self.base), seq::extend(last, self.base));
            if first > last || last >= self.unsent {
                sensible = false;
                continue;
            }
            if first < self.base && self.drop_requests.len() < ANSWERS {
                self.drop_requests.push_back((first, last.min(self.base - 1)));
            }
            for number in first.max(self.base)..=last {
                if work == 0 {
                    return false;
                }
                work -= 1;
                let packet = &self.packets[(number - self.base) as usize];
                // The peer reported the loss before the retransmission could arrive.
                let early = packet.times > 1 && now.saturating_since(packet.sent) < self.rtt.too_early();
                if !early {
                    self.lost.insert(number);
                }
            }
        }
        sensible
    }

    /// Handles the peer's answer to an announcement of keys.
    pub fn on_km_response(&mut self, contents: &[u8]) {
        if let Some(keys) = &mut self.keys {
            keys.on_response(contents);
        }
    }

    /// Drops packets that can no longer arrive in time.
    pub fn drop_late(&mut self, now: Instant, stats: &mut Stats) {
        let late = self.packets.iter().take_while(|p| now.saturating_since(p.at) > self.keep).count();
        if late > 0 {
            stats.dropped += late as u64;
            self.forget_until(self.base + late as u64);
        }
    }

    fn forget_until(&mut self, next: u64) {
        self.packets.drain(..(next - self.base) as usize);
        self.base = next;
        self.unsent = self.unsent.max(next);
        self.lost = self.lost.split_off(&next);
    }

    /// Writes the next packet of the sender. Returns false if no packet must be sent now.
    pub fn poll(
        &mut self,
        now: Instant,
        origin: Instant,
        writer: &mut Writer<'_>,
        stats: &mut Stats,
    ) -> bool {
        if let Some(number) = self.ack_acks.pop_front() {
            writer.ack_ack(number);
            return true;
        }
        let keys = self.keys.as_mut().filter(|_| self.acknowledged);
        if let Some(contents) = keys.and_then(|keys| keys.poll(now, self.rtt.overdue())) {
            writer.key_material(false, contents);
            return true;
        }
        if let Some((first, last)) = self.drop_requests.pop_front() {
            writer.drop_request(seq::wire(first), seq::wire(last));
            return true;
        }
        self.drop_late(now, stats);
        if now >= self.probe_at() {
            self.lost.insert(self.unsent - 1);
            (self.progress, self.probes) = (now, self.probes + 1);
        }
        if self.pacer.next() > now {
            return false;
        }
        let Some(number) = self.next_packet() else { return false };
        let packet = &mut self.packets[(number - self.base) as usize];
        (packet.sent, packet.times) = (now, packet.times.saturating_add(1));
        let again = packet.times > 1;
        if again {
            stats.retransmitted += 1
        } else {
            stats.sent += 1
        };
        writer.timestamp = super::timestamp(packet.at, origin);
        let (key, message, payload) = (Some(packet.key), packet.message, &packet.payload[..]);
        let seq = seq::wire(number);
        writer.data(&Data { seq, whole: true, key, retransmitted: again, message, payload });
        self.pacer.sent(now, packet.payload.len());
        true
    }

    /// Returns the number of the next packet to send. Lost packets come first.
    fn next_packet(&mut self) -> Option<u64> {
        if self.may_send_again() {
            self.credit -= 1;
            return self.lost.pop_first();
        }
        if !self.may_send_new() {
            return None;
        }
        self.credit = (self.credit + AGAIN).min(self.capacity);
        self.unsent += 1;
        Some(self.unsent - 1)
    }

    fn may_send_again(&self) -> bool {
        !self.lost.is_empty() && self.credit > 0
    }

    fn may_send_new(&self) -> bool {
        let end = self.base + self.packets.len() as u64;
        self.unsent < end && self.unsent - self.base < self.window
    }

    /// Returns the time at which the last packet is repeated because no acknowledgement has arrived. The peer cannot
    /// report the loss of packets after which no other packet arrives.
    fn probe_at(&self) -> Instant {
        if self.unsent == self.base {
            return Instant::MAX;
        }
        let wait = self.rtt.overdue() + Duration::from_millis(30);
        self.progress + wait * (1 << self.probes.min(PROBES))
    }

    /// Returns the next time at which the sender must act.
    pub fn next_timeout(&self, now: Instant) -> Option<Instant> {
        if !self.ack_acks.is_empty() || !self.drop_requests.is_empty() {
            return Some(now);
        }
        let packet = (self.may_send_again() || self.may_send_new()).then(|| self.pacer.next());
        let late = self.packets.front().map(|p| p.at + self.keep + Duration::from_nanos(1));
        let probe = (self.unsent > self.base).then(|| self.probe_at());
        let keys = self.keys.as_ref().filter(|_| self.acknowledged);
        let keys = keys.and_then(|keys| keys.next_timeout(self.rtt.overdue()));
        [packet, late, probe, keys].into_iter().flatten().min()
    }
}

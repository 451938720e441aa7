//! Acknowledgements that a receiver sends (draft-sharabayko-srt, *Packet Acknowledgement*).

use std::collections::VecDeque;

use strandcast_proto::time::{Duration, Instant};

/// Interval between full acknowledgements.
const INTERVAL: Duration = Duration::from_millis(10);
/// Number of packets after which a light acknowledgement is sent, although no interval has ended.
const LIGHT: u32 = 64;
/// Maximum number of full acknowledgements that wait for an answer.
const AWAITED: usize = 128;
/// Interval over which the receiving rate is measured.
const MEASURE: Duration = Duration::from_secs(1);

/// A full acknowledgement that was sent and waits for its answer.
#[derive(Clone, Copy, Debug)]
struct Sent {
    number: u32,
    point: u64,
    at: Instant,
}

/// Acknowledgements that are due, and acknowledgements that wait for an answer.
#[derive(Debug)]
pub(super) struct Acks {
    /// Earliest time of the next full acknowledgement. The time is `None` if nothing has changed since the last one.
    due: Option<Instant>,
    /// Time at which a full acknowledgement was last due.
    turn: Instant,
    number: u32,
    awaited: VecDeque<Sent>,
    /// Last acknowledged packet number that was sent; `confirmed` is the last one that the peer confirmed.
    sent_point: u64,
    confirmed: u64,
    /// Number of packets since the last acknowledgement.
    packets: u32,
    /// Measurement of the receiving rate that is in progress: its beginning, packets and bytes.
    measuring: (Instant, u32, u64),
    /// Receiving rate in packets per second and in bytes per second.
    rate: (u32, u32),
}

impl Acks {
    pub fn new(base: u64) -> Acks {
        Acks {
            due: None,
            turn: Instant::ZERO,
            number: 0,
            awaited: VecDeque::new(),
            sent_point: base,
            confirmed: base,
            packets: 0,
            measuring: (Instant::ZERO, 0, 0),
            rate: (0, 0),
        }
    }

    /// Records a packet that arrived.
    pub fn arrived(&mut self, now: Instant, payload: usize) {
        self.arm(now);
        self.packets += 1;
        let (since, packets, bytes) = &mut self.measuring;
        let elapsed = now.saturating_since(*since);
        if elapsed >= MEASURE {
            let per_second = |n: u64| (u128::from(n) * 1000 / elapsed.as_millis().max(1)) as u32;
            self.rate = (per_second(u64::from(*packets)), per_second(*bytes));
            (*since, *packets, *bytes) = (now, 0, 0);
        }
        *packets += 1;
        *bytes += payload as u64;
    }

    /// Schedules an acknowledgement: immediately, or one interval after the last one.
    pub fn arm(&mut self, now: Instant) {
        self.due.get_or_insert(now.max(self.turn + INTERVAL));
    }

    /// Returns the acknowledgement of the packets before `point` that must be sent now. The acknowledgement has its
    /// number, which is 0 for a light one, and the receiving rate.
    pub fn poll(&mut self, now: Instant, point: u64, overdue: Duration) -> Option<(u32, (u32, u32))> {
        let timer = self.due.is_some_and(|due| due <= now);
        if timer {
            (self.due, self.turn) = (None, now);
        }
        let unanswered = self.unanswered(overdue).is_some_and(|at| at <= now);
        if (timer && point > self.sent_point) || unanswered {
            self.number = self.number.checked_add(1).unwrap_or(1);
            (self.packets, self.sent_point) = (0, point);
            if self.awaited.len() == AWAITED {
                self.awaited.pop_front();
            }
            self.awaited.push_back(Sent { number: self.number, point, at: now });
            return Some((self.number, self.rate));
        }
        if self.packets >= LIGHT {
            self.packets = 0;
            return (point > self.sent_point).then_some((0, self.rate));
        }
        None
    }

    /// Returns the time at which the last acknowledgement is repeated, because the peer has not answered it.
    fn unanswered(&self, overdue: Duration) -> Option<Instant> {
        let last = self.awaited.back().filter(|_| self.sent_point > self.confirmed)?;
        Some(last.at + overdue.max(INTERVAL))
    }

    /// Handles the peer's answer to an acknowledgement. Returns the measured round-trip time.
    pub fn confirmed(&mut self, now: Instant, number: u32) -> Option<Duration> {
        let place = self.awaited.iter().position(|sent| sent.number == number)?;
        let sent = self.awaited.drain(..=place).next_back()?;
        self.confirmed = self.confirmed.max(sent.point);
        Some(now.saturating_since(sent.at))
    }

    pub fn next_timeout(&self, overdue: Duration) -> Option<Instant> {
        [self.due, self.unanswered(overdue)].into_iter().flatten().min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OVERDUE: Duration = Duration::from_millis(100);
    const BASE: u64 = 1000;

    fn at(ms: u64) -> Instant {
        Instant::from_millis(ms)
    }

    fn poll(acks: &mut Acks, ms: u64, point: u64) -> Option<u32> {
        acks.poll(at(ms), point, OVERDUE).map(|(number, _)| number)
    }

    /// The draft: a full acknowledgement is sent every 10 ms, and numbers start at 1.
    #[test]
    fn full_acknowledgements_come_every_ten_milliseconds() {
        let mut acks = Acks::new(BASE);
        let mut numbers = Vec::new();
        for ms in 0..50 {
            acks.arrived(at(ms), 1316);
            numbers.extend(poll(&mut acks, ms, BASE + ms + 1).map(|number| (ms, number)));
        }
        assert_eq!(numbers, [(10, 1), (20, 2), (30, 3), (40, 4)]);
    }

    /// The draft: a light acknowledgement is sent after 64 packets.
    #[test]
    fn light_acknowledgements_come_after_64_packets() {
        let mut acks = Acks::new(BASE);
        let mut seen = Vec::new();
        for n in 1..=130 {
            acks.arrived(at(0), 1316);
            seen.extend(poll(&mut acks, 0, BASE + n).map(|number| (n, number)));
        }
        assert_eq!(seen, [(64, 0), (128, 0)]);
    }

    #[test]
    fn an_acknowledgement_is_repeated_until_the_peer_answers() {
        let mut acks = Acks::new(BASE);
        acks.arrived(at(0), 1316);
        assert_eq!(poll(&mut acks, 10, BASE + 1), Some(1));
        assert_eq!((poll(&mut acks, 109, BASE + 1), poll(&mut acks, 110, BASE + 1)), (None, Some(2)));
        assert_eq!(acks.confirmed(at(150), 2), Some(Duration::from_millis(40)));
        assert_eq!((acks.confirmed(at(151), 1), acks.confirmed(at(151), 9)), (None, None), "old and unknown");
        assert_eq!((poll(&mut acks, 5000, BASE + 1), acks.next_timeout(OVERDUE)), (None, None));
    }
}

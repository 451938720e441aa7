//! Abandoned chunks, and the TSN up to which the peer must skip them (RFC 3758 §3.5).

use smallvec::SmallVec;

use crate::time::{Duration, Instant};
use crate::tx::{ChunkState, RetransmissionQueue};
use crate::wire::chunk::ForwardTsn;
use crate::wire::serial::{Ssn, StreamId, Tsn};
use crate::work;

/// Advanced.Peer.Ack.Point (RFC 3758), and the FORWARD-TSN that reports it.
#[derive(Debug)]
pub(super) struct ForwardPoint {
    point: Tsn,
    /// First TSN after the point that is not abandoned and over which the point cannot move.
    looked: Tsn,
    /// First unacknowledged chunk of the message at `looked`, of which the peer acknowledged a part. The scan of this
    /// message resumes only when the peer acknowledges this chunk.
    missing: Tsn,
    due: bool,
    timer: Option<Instant>,
    /// Number of FORWARD-TSNs sent since the point last advanced.
    tries: u32,
}

impl ForwardPoint {
    pub fn new(initial_tsn: Tsn) -> Self {
        ForwardPoint {
            point: initial_tsn - 1,
            looked: initial_tsn,
            missing: initial_tsn,
            due: false,
            timer: None,
            tries: 0,
        }
    }

    pub fn clear(&mut self) {
        (self.due, self.timer) = (false, None);
    }

    /// Advances the point from `cum` over abandoned chunks (RFC 3758 §3.5 C1, C2). The T3 timer for FORWARD-TSN runs
    /// for `rto` (C5).
    ///
    /// If `keeps` is true, the peer does not renege: it keeps all data that it has acknowledged. The point then also
    /// advances over complete messages that the peer has, up to the next abandoned chunk. In RFC 3758 the point stops
    /// before such messages, which closes only one gap per round trip. If more than one message per round trip is lost
    /// for good, the cumulative TSN then never catches up.
    pub fn advance(&mut self, now: Instant, rq: &RetransmissionQueue, cum: Tsn, rto: Duration, keeps: bool) {
        if self.point.is_before(cum) {
            self.point = cum;
        }
        let mut moved = false;
        self.looked = if self.looked.is_after(self.point) { self.looked } else { self.point + 1 };
        while let Some(c) = rq.get(self.looked) {
            match c.state {
                ChunkState::Abandoned => (self.point, moved) = (self.looked, true),
                ChunkState::GapAcked if keeps => match self.end_of_acked(rq) {
                    Some(end) => self.looked = end,
                    None => break,
                },
                _ => break,
            }
            self.looked += 1;
            work::count(1);
        }
        let ahead = self.point.is_after(rq.cum_acked());
        self.due |= moved;
        self.tries = if moved { 0 } else { self.tries };
        if !ahead {
            self.clear();
        } else if moved || self.timer.is_none() {
            self.timer = Some(now + rto);
        }
    }

    /// Returns the last chunk of the message at `looked`. The peer must have acknowledged every chunk from `looked` to
    /// the end of that message.
    fn end_of_acked(&mut self, rq: &RetransmissionQueue) -> Option<Tsn> {
        let acked = |tsn: Tsn| rq.get(tsn).filter(|c| c.state == ChunkState::GapAcked);
        // The last scan ended here. Another scan can end later only after this chunk is acknowledged.
        if self.missing.is_after(self.looked) && acked(self.missing).is_none() {
            return None;
        }
        let mut at = self.looked;
        while let Some(c) = acked(at) {
            if c.end {
                return Some(at);
            }
            at += 1;
            work::count(1);
        }
        self.missing = at;
        None
    }

    /// Returns whether a FORWARD-TSN waits to be sent.
    pub fn due(&self) -> bool {
        self.due
    }

    /// Returns whether the peer has not yet acknowledged a FORWARD-TSN.
    pub fn is_pending(&self) -> bool {
        self.timer.is_some()
    }

    pub fn timeout(&self) -> Option<Instant> {
        self.timer
    }

    /// Returns the number of FORWARD-TSNs sent since the point last advanced.
    pub fn tries(&self) -> u32 {
        self.tries
    }

    /// Sends a FORWARD-TSN again because it was not acknowledged.
    pub fn on_timeout(&mut self, now: Instant, rto: Duration) {
        self.due = true;
        self.tries += 1;
        self.timer = Some(now + rto);
    }

    /// Sends the FORWARD-TSN now, because a silence has ended in which it may have been lost. During the silence its
    /// timer was backed off.
    pub fn tell_again(&mut self, now: Instant, rto: Duration) {
        if self.is_pending() {
            (self.due, self.timer) = (true, Some(now + rto));
        }
    }

    /// Postpones the FORWARD-TSN. The FORWARD-TSN is tried again when its retransmission timer expires.
    pub fn withhold(&mut self) {
        self.due = false;
    }

    /// Returns a FORWARD-TSN of at most `room` bytes. The FORWARD-TSN contains the point, and for each ordered stream
    /// the highest abandoned SSN (C3, C4). The result is `None` if there is nothing to report.
    pub fn chunk(&self, rq: &RetransmissionQueue, room: usize) -> Option<ForwardTsn> {
        let mut streams: SmallVec<[(StreamId, Ssn); 4]> = SmallVec::new();
        let mut cum = rq.cum_acked();
        let most = room.saturating_sub(8) / 4;
        for c in rq.iter().take_while(|c| !c.info.tsn.is_after(self.point)) {
            work::count(1 + streams.len());
            if c.state == ChunkState::Abandoned && !c.unordered {
                match streams.iter().position(|(s, _)| *s == c.info.stream) {
                    Some(at) => streams[at].1 = c.ssn,
                    None if streams.len() < most => streams.push((c.info.stream, c.ssn)),
                    None => break,
                }
            }
            cum = c.info.tsn;
        }
        cum.is_after(rq.cum_acked()).then_some(ForwardTsn { new_cumulative_tsn: cum, streams })
    }
}

#[cfg(test)]
mod tests {
    use smallvec::smallvec;

    use super::*;
    use crate::policy::{ChunkInfo, PathViews};
    use crate::tx::{Carries, Outgoing};
    use crate::wire::Ppid;

    /// Returns a queue of chunks whose TSNs begin at 1. Each chunk has its state, its stream and its SSN.
    fn queue(chunks: &[(ChunkState, u16, u16)]) -> RetransmissionQueue {
        pieces(chunks, 1)
    }

    /// Returns a queue of chunks whose TSNs begin at 1, in messages of `each` chunks.
    fn pieces(chunks: &[(ChunkState, u16, u16)], each: usize) -> RetransmissionQueue {
        let mut rq = RetransmissionQueue::new(Tsn(1), false);
        for (n, (state, stream, ssn)) in chunks.iter().enumerate() {
            let info = ChunkInfo {
                tsn: rq.next_tsn(),
                len: 116,
                stream: StreamId(*stream),
                expires: None,
                importance: Default::default(),
                group: None,
                transmissions: smallvec![],
                losses: 0,
                symbol: None,
            };
            rq.push(
                &mut PathViews::default(),
                Outgoing {
                    info,
                    state: *state,
                    requeued: None,
                    carries: Carries::Message,
                    header: None,
                    payload: vec![0; 100].into(),
                    needless: Default::default(),
                    message: 0,
                    ssn: Ssn(*ssn),
                    ppid: Ppid(0),
                    unordered: false,
                    begin: n % each == 0,
                    end: n % each == each - 1,
                },
            );
        }
        rq
    }

    /// The third chunk is also given up, and a FORWARD-TSN reports it at once. The last chunk follows a chunk that is
    /// in flight.
    #[test]
    fn the_point_passes_what_a_peer_has_that_keeps_it() {
        use ChunkState::{Abandoned, GapAcked, InFlight};
        let states = [Abandoned, GapAcked, Abandoned, GapAcked, InFlight, Abandoned].map(|s| (s, 0, 0));
        let mut rq = queue(&states);
        let advanced = |rq: &RetransmissionQueue, keeps| {
            let mut forward = ForwardPoint::new(Tsn(1));
            forward.advance(Instant::ZERO, rq, Tsn(0), Duration::from_secs(1), keeps);
            forward.point
        };
        assert_eq!((advanced(&rq, false), advanced(&rq, true)), (Tsn(1), Tsn(3)));
        // A part of a message is useless without the others: it is not passed over while they may still arrive.
        let whole = [Abandoned, Abandoned, GapAcked, InFlight, Abandoned, Abandoned].map(|s| (s, 0, 0));
        rq = pieces(&whole, 2);
        assert_eq!(advanced(&rq, true), Tsn(2));
        // Four messages of three chunks: given up, acknowledged, given up, and one with a chunk in flight.
        let three = |state| [state; 3];
        let parts =
            [three(Abandoned), three(GapAcked), three(Abandoned), [GapAcked, InFlight, GapAcked]].concat();
        rq = pieces(&parts.into_iter().map(|s| (s, 0, 0)).collect::<Vec<_>>(), 3);
        assert_eq!((advanced(&rq, false), advanced(&rq, true)), (Tsn(3), Tsn(9)));
    }

    /// RFC 3758 §3.5 C2: the point moves over a run of abandoned TSNs, up to the first TSN that is not abandoned. C3,
    /// C4: FORWARD-TSN has the last SSN of each stream.
    #[test]
    fn the_point_moves_over_abandoned_chunks_alone() {
        use ChunkState::{Abandoned, InFlight};
        let rq = queue(&[
            (Abandoned, 0, 4),
            (Abandoned, 1, 7),
            (Abandoned, 0, 5),
            (InFlight, 0, 6),
            (Abandoned, 0, 7),
        ]);
        let mut forward = ForwardPoint::new(Tsn(1));
        forward.advance(Instant::ZERO, &rq, Tsn(0), Duration::from_secs(1), false);
        assert!(forward.due() && forward.timeout() == Some(Instant::from_millis(1000)));
        let chunk = forward.chunk(&rq, 1000).expect("three chunks are given up");
        assert_eq!(chunk.new_cumulative_tsn, Tsn(3));
        assert_eq!(chunk.streams[..], [(StreamId(0), Ssn(5)), (StreamId(1), Ssn(7))]);
        // There is room for one stream: the point stops where its data end.
        let short = forward.chunk(&rq, 12).expect("one chunk fits");
        assert_eq!((short.new_cumulative_tsn, short.streams.len()), (Tsn(1), 1));
    }

    #[test]
    fn it_is_repeated_until_the_peer_has_moved_on() {
        let rq = queue(&[(ChunkState::Abandoned, 0, 0)]);
        let mut forward = ForwardPoint::new(Tsn(1));
        forward.advance(Instant::ZERO, &rq, Tsn(0), Duration::from_secs(1), false);
        forward.withhold();
        forward.on_timeout(Instant::from_millis(1000), Duration::from_secs(1));
        assert_eq!(
            (forward.due(), forward.tries(), forward.timeout()),
            (true, 1, Some(Instant::from_millis(2000)))
        );
        forward.advance(
            Instant::from_millis(2000),
            &RetransmissionQueue::new(Tsn(2), false),
            Tsn(1),
            Duration::from_secs(1),
            false,
        );
        assert!(!forward.due() && !forward.is_pending());
    }

    /// The timer of FORWARD-TSN was backed off during the silence.
    #[test]
    fn after_a_silence_it_is_told_at_once() {
        let mut forward = ForwardPoint::new(Tsn(1));
        forward.tell_again(Instant::ZERO, Duration::from_secs(1));
        assert_eq!((forward.due(), forward.timeout()), (false, None), "nothing to tell");
        let rq = queue(&[(ChunkState::Abandoned, 1, 1)]);
        forward.advance(Instant::ZERO, &rq, Tsn(0), Duration::from_secs(60), false);
        forward.withhold();
        forward.tell_again(Instant::from_millis(1000), Duration::from_secs(1));
        assert_eq!((forward.due(), forward.timeout()), (true, Some(Instant::from_millis(2000))));
    }
}

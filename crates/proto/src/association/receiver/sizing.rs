//! Size of the receive buffer, which grows with the use of the paths. See [`crate::association::right_sizing`].

use bytes::{BufMut as _, BytesMut};

use super::Receiver;
use crate::association::context::Context;
use crate::policy::{PathId, PathState};
use crate::time::{Duration, Instant};
use crate::wire::chunk::Heartbeat;

/// Smallest round-trip time that counts. A shorter time would consist mainly of delays of timers and of the operating
/// system's scheduling.
const MIN_ROUND: Duration = Duration::from_millis(1);
/// Minimum interval between two measurements of a path's round-trip time.
const SOUND_EVERY: Duration = Duration::from_millis(200);
/// Minimum number of bytes of data between two measurements. This minimum size of data keeps heartbeats below 0.2 % of
/// the data.
const SOUND_BYTES: u64 = 1 << 16;
/// Time after which an unanswered measuring heartbeat is dropped. An unanswered measuring heartbeat does not count as
/// an error of the path.
const SOUND_LOST: Duration = Duration::from_secs(3);
/// Divisor of the association's allowed heap. A window is at most the quotient.
const OF_ALLOWED: usize = 4;

impl Receiver {
    /// Adjusts the receive buffer after data have arrived.
    pub(super) fn fit_receive_buffer(&mut self, cx: &mut Context, now: Instant) {
        let Some(limit) = cx.config.buffer_limit else { return };
        let Some(round) = self.round(cx) else {
            self.size.due = now + SOUND_LOST;
            self.sound(cx, now);
            return;
        };
        let ends = self.size.since.0 + round;
        if now < ends {
            self.size.due = ends;
            return;
        }
        self.sound(cx, now);
        let least = cx.config.receive_buffer as usize;
        let most = limit.min(self.allowed / OF_ALLOWED).max(least);
        let rx = &mut self.size;
        let (need, earned) = rx.end_round(now, round, cx.stats.bytes_received);
        let wanted = need.min(least as u64 + earned);
        rx.wanted = usize::try_from(wanted).unwrap_or(usize::MAX).clamp(least, most);
        rx.size = rx.size.max(rx.wanted);
        rx.due = now + round;
    }

    /// Shrinks a buffer that is larger than needed, by the `len` bytes that the application has just read.
    pub(super) fn shrink_size(&mut self, len: usize) {
        if self.size.size <= self.size.wanted {
            return;
        }
        let size = self.size.size - len.min(self.size.size - self.size.wanted);
        // The heap of small chunks must not exceed the limit for a smaller buffer.
        if self.chunks_heap() <= size {
            self.size.size = size;
        }
    }

    /// Returns the longest round-trip time of the paths by which data arrive.
    fn round(&self, cx: &Context) -> Option<Duration> {
        let rx = &self.size;
        let received_on = rx.received_on.iter().chain(rx.received_on_before.iter());
        let longest = received_on.filter_map(|p| cx.paths.get(p.index())?.sounding.rtt).max();
        longest.map(|rtt| rtt.max(MIN_ROUND))
    }

    /// Measures the round-trip times of paths by which data arrive.
    fn sound(&mut self, cx: &mut Context, now: Instant) {
        for path in self.size.received_on.iter() {
            let (p, view) = cx.paths.row_mut(path.index());
            let proven = p.confirmed && view.state != PathState::Closed;
            let lost = p.sounding.pending.is_some_and(|(_, sent)| now - sent >= SOUND_LOST);
            let (last, arrived) = p.sounding.last;
            let first = p.sounding.rtt.is_none() && p.sounding.pending.is_none();
            let due = now - last >= SOUND_EVERY && self.size.arrived - arrived >= SOUND_BYTES;
            if !proven || !(first || lost || (due && p.sounding.pending.is_none())) {
                continue;
            }
            let nonce = cx.random.u64();
            p.sounding.pending = Some((nonce, now));
            p.sounding.last = (now, self.size.arrived);
            let mut info = BytesMut::with_capacity(12);
            info.put_u64(nonce);
            info.put_u32(u32::from(path.0));
            cx.push_control(path, Heartbeat { info: info.freeze() });
        }
    }

    /// Handles the answer to a heartbeat that measures a round-trip time. Returns `false` if the nonce belongs to
    /// another heartbeat.
    pub fn sounded(&mut self, cx: &mut Context, now: Instant, path: PathId, nonce: u64) -> bool {
        let Some(p) = cx.paths.get_mut(path.index()) else { return false };
        let Some((_, sent)) = p.sounding.pending.filter(|(n, _)| *n == nonce) else { return false };
        p.sounding.pending = None;
        let rtt = now - sent;
        // The buffer must also cover a queue that appears only at times.
        p.sounding.rtt = Some(p.sounding.rtt.map_or(rtt, |before| rtt.max(before * 7 / 8)));
        if self.size.since.0 == Instant::ZERO {
            self.size.since = (now, self.size.arrived);
        }
        self.size.due = self.size.due.min(now);
        true
    }
}

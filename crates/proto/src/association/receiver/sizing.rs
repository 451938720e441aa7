//! The receive buffer grows with what the paths need (see [`crate::association::right_sizing`]).

use bytes::{BufMut as _, BytesMut};

use super::Receiver;
use crate::association::context::Context;
use crate::policy::{PathId, PathState};
use crate::time::{Duration, Instant};
use crate::wire::chunk::Heartbeat;

/// The least that counts as a round trip: below it timers and scheduling are what takes time.
const MIN_ROUND: Duration = Duration::from_millis(1);
/// A path's round trip is measured at most this often,
const SOUND_EVERY: Duration = Duration::from_millis(200);
/// and no more than once for so many bytes of data, so that heartbeats stay below 0.2 % of them.
const SOUND_BYTES: u64 = 1 << 16;
/// A heartbeat that was not answered by then is forgotten; it says nothing of the path.
const SOUND_LOST: Duration = Duration::from_secs(3);
/// A window is no larger than this part of what the association may hold.
const OF_ALLOWED: usize = 4;

impl Receiver {
    /// Looks whether the receive buffer fits; data came.
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

    /// The application read `len` bytes: a buffer larger than needed shrinks by so much.
    pub(super) fn shrink_size(&mut self, len: usize) {
        if self.size.size <= self.size.wanted {
            return;
        }
        let size = self.size.size - len.min(self.size.size - self.size.wanted);
        // What is held for small chunks must not outgrow what a smaller buffer may take.
        if self.chunks_heap() <= size {
            self.size.size = size;
        }
    }

    /// The longest round trip of the paths by which data come.
    fn round(&self, cx: &Context) -> Option<Duration> {
        let rx = &self.size;
        let received_on = rx.received_on.iter().chain(rx.received_on_before.iter());
        let longest = received_on.filter_map(|p| cx.paths.get(p.index())?.sounding.rtt).max();
        longest.map(|rtt| rtt.max(MIN_ROUND))
    }

    /// Measures the round trips of paths by which data come.
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

    /// Takes the answer to one of those heartbeats; `false`: it is none.
    pub fn sounded(&mut self, cx: &mut Context, now: Instant, path: PathId, nonce: u64) -> bool {
        let Some(p) = cx.paths.get_mut(path.index()) else { return false };
        let Some((_, sent)) = p.sounding.pending.filter(|(n, _)| *n == nonce) else { return false };
        p.sounding.pending = None;
        let rtt = now - sent;
        // A queue that comes and goes is needed for.
        p.sounding.rtt = Some(p.sounding.rtt.map_or(rtt, |before| rtt.max(before * 7 / 8)));
        if self.size.since.0 == Instant::ZERO {
            self.size.since = (now, self.size.arrived);
        }
        self.size.due = self.size.due.min(now);
        true
    }
}

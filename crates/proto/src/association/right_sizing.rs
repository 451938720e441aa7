//! Buffers that grow with what the paths need: dynamic right-sizing (Fisk and Feng 2001), over several paths.
//!
//! The receive buffer: twice what arrives in the longest round trip of the paths by which data come, or twice what waited
//! for a missing chunk if that is more, since a chunk that was lost is missing for another round trip. Round trips are
//! measured with heartbeats of their own, because who only receives acknowledges and is not acknowledged. Without an answer,
//! which only the peer itself can give (RFC 9260 §5.4), nothing grows, and no faster than the application reads.
//!
//! The send buffer: twice what all congestion windows carry in the longest round trip, or twice what arrived and is kept
//! for a missing chunk if that is more.
//!
//! Either shrinks when less was needed for a while, the receive buffer only as the application reads: what was offered
//! to the peer stays so.

use bytes::{BufMut as _, BytesMut};

use super::state::Association;
use crate::policy::{PathId, PathState};
use crate::time::{Duration, Instant};
use crate::wire::chunk::Heartbeat;

/// The least that counts as a round trip: below it timers and scheduling are what takes time.
const LEAST_ROUND: Duration = Duration::from_millis(1);
/// A path's round trip is measured at most this often,
const SOUND_EVERY: Duration = Duration::from_millis(200);
/// and no more than once for so many bytes of data, so that heartbeats stay below 0.2 % of them.
const SOUND_BYTES: u64 = 1 << 16;
/// A heartbeat that was not answered by then is forgotten; it says nothing of the path.
const SOUND_LOST: Duration = Duration::from_secs(3);
/// A window is no larger than this part of what the association may hold.
const OF_ALLOWED: usize = 4;

/// One of the buffers of an association.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub struct Buffer {
    /// Bytes it may hold now.
    pub size: usize,
    /// Bytes in it now.
    pub used: usize,
    /// The most there ever were.
    pub most_used: usize,
}

/// Both.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub struct Buffers {
    /// What neither may exceed; `None`: they do not grow.
    pub limit: Option<usize>,
    /// Payload of messages that were handed in and not yet acknowledged. Messages with a lifetime may go beyond its size, up
    /// to [`crate::config::TransportConfig::buffer_limit`]: they leave by themselves.
    pub send: Buffer,
    /// What waits for its order, for the rest of its message or for the application, 16 bytes for each chunk included.
    pub receive: Buffer,
}

/// The round trip of a path by which data come, measured by whoever receives them.
#[derive(Debug, Default)]
pub(crate) struct Sounding {
    /// The heartbeat that is under way.
    pending: Option<(u64, Instant)>,
    /// What the last ones took.
    rtt: Option<Duration>,
    /// When the last one left, and what had arrived by then.
    last: (Instant, u64),
}

impl Association {
    /// Its buffers.
    pub fn buffers(&self) -> Buffers {
        let (tx, rx) = (&self.tx.size, &self.rx.size);
        Buffers {
            limit: self.config.buffer_limit,
            send: Buffer { size: tx.size, used: self.tx.buffered, most_used: tx.most },
            receive: Buffer { size: rx.size, used: self.rx.reassembly.buffered_bytes(), most_used: rx.most },
        }
    }

    /// Payload that may wait for being sent and acknowledged if the next message is one with a lifetime, or is not.
    pub(super) fn send_room(&self, expires: bool) -> usize {
        match self.config.buffer_limit {
            Some(limit) if expires => limit.max(self.tx.size.size),
            _ => self.tx.size.size,
        }
    }

    /// Fits the send buffer to the congestion windows, if it may grow.
    pub(super) fn fit_send_buffer(&mut self, now: Instant) {
        let Some(limit) = self.config.buffer_limit else { return };
        let usable = self.paths.usable();
        let views = || self.paths.views().iter().filter(|v| usable.contains(v.id));
        let longest = views().filter_map(|v| v.srtt).max().unwrap_or_default().as_secs_f64();
        let carried = views().map(|v| match v.srtt.map(|srtt| srtt.as_secs_f64()) {
            Some(srtt) if srtt > 0.0 => v.limit.cwnd as f64 * longest / srtt,
            _ => v.limit.cwnd as f64,
        });
        let carried = carried.sum::<f64>() as u64;
        let held = (self.outstanding_bytes() as u64).saturating_sub(self.paths.seen().in_flight());
        let least = self.config.send_buffer;
        self.tx.size.fit(now, 2 * carried.max(held), least, limit.max(least));
    }

    /// Looks whether the receive buffer fits; data came.
    pub(super) fn fit_receive_buffer(&mut self, now: Instant) {
        let Some(limit) = self.config.buffer_limit else { return };
        let Some(round) = self.round() else {
            self.rx.size.due = now + SOUND_LOST;
            self.sound(now);
            return;
        };
        let ends = self.rx.size.since.0 + round;
        if now < ends {
            self.rx.size.due = ends;
            return;
        }
        self.sound(now);
        let least = self.config.receive_buffer as usize;
        let most = limit.min(self.rx.allowed / OF_ALLOWED).max(least);
        let rx = &mut self.rx.size;
        let (need, earned) = rx.end_round(now, round, self.stats.bytes_received);
        let wanted = need.min(least as u64 + earned);
        rx.wanted = usize::try_from(wanted).unwrap_or(usize::MAX).clamp(least, most);
        rx.size = rx.size.max(rx.wanted);
        rx.due = now + round;
    }

    /// The application read `len` bytes: a buffer larger than needed shrinks by so much.
    pub(super) fn shrink_receive_buffer(&mut self, len: usize) {
        let size = self.rx.size.size - len.min(self.rx.size.size - self.rx.size.wanted);
        // What is held for small chunks must not outgrow what a smaller buffer may take.
        if self.rx.reassembly.heap() + self.rx.tracker.heap() <= size {
            self.rx.size.size = size;
        }
    }

    /// The longest round trip of the paths by which data come.
    fn round(&self) -> Option<Duration> {
        let rx = &self.rx.size;
        let heard = rx.heard.iter().chain(rx.heard_before.iter());
        let longest = heard.filter_map(|p| self.paths.get(p.index())?.sounding.rtt).max();
        longest.map(|rtt| rtt.max(LEAST_ROUND))
    }

    /// Measures the round trips of paths by which data come.
    fn sound(&mut self, now: Instant) {
        for path in self.rx.size.heard.iter() {
            let (p, view) = self.paths.row_mut(path.index());
            let proven = p.confirmed && view.state != PathState::Closed;
            let lost = p.sounding.pending.is_some_and(|(_, sent)| now - sent >= SOUND_LOST);
            let (last, arrived) = p.sounding.last;
            let first = p.sounding.rtt.is_none() && p.sounding.pending.is_none();
            let due = now - last >= SOUND_EVERY && self.rx.size.arrived - arrived >= SOUND_BYTES;
            if !proven || !(first || lost || (due && p.sounding.pending.is_none())) {
                continue;
            }
            let nonce = self.random.u64();
            p.sounding.pending = Some((nonce, now));
            p.sounding.last = (now, self.rx.size.arrived);
            let mut info = BytesMut::with_capacity(12);
            info.put_u64(nonce);
            info.put_u32(u32::from(path.0));
            self.push_control(path, Heartbeat { info: info.freeze() });
        }
    }

    /// Takes the answer to one of those heartbeats; `false`: it is none.
    pub(super) fn sounded(&mut self, now: Instant, path: PathId, nonce: u64) -> bool {
        let Some(p) = self.paths.get_mut(path.index()) else { return false };
        let Some((_, sent)) = p.sounding.pending.filter(|(n, _)| *n == nonce) else { return false };
        p.sounding.pending = None;
        let rtt = now - sent;
        // A queue that comes and goes is needed for.
        p.sounding.rtt = Some(p.sounding.rtt.map_or(rtt, |before| rtt.max(before * 7 / 8)));
        if self.rx.size.since.0 == Instant::ZERO {
            self.rx.size.since = (now, self.rx.size.arrived);
        }
        self.rx.size.due = self.rx.size.due.min(now);
        true
    }
}

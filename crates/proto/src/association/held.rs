//! What keeps the sender's data waiting, for those who measure: looking changes nothing.

use super::state::{Association, State};
use crate::policy::PathSet;
use crate::time::Instant;
use crate::wire::Tsn;

/// What keeps new data from being sent.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[non_exhaustive]
pub enum HeldBy {
    /// The handshake is not done.
    Handshake,
    /// Only the peer's receive window: some path has room.
    ReceiveWindow,
    /// The congestion windows of all usable paths are full.
    CongestionWindow,
    /// The scheme's limit over all paths is reached, while some path has room.
    AggregateWindow,
    /// Congestion windows have room, but it is not yet time for the next packet.
    Pacing,
    /// Congestion windows have room, but Max.Burst packets have left since the last SACK (RFC 9260 §6.1 D).
    Burst,
    /// The scheduler sends nothing by the paths that have room.
    Scheduler,
    /// No path is usable.
    NoPath,
}

/// What keeps new data waiting, and on which of the usable paths.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct HeldBack {
    /// The reason.
    pub by: HeldBy,
    /// Usable paths whose congestion window is full.
    pub full: PathSet,
    /// Usable paths that would take another packet now.
    pub open: PathSet,
}

impl Association {
    /// What keeps new data from being sent, once there is nothing more to send at `now`; `None` if none wait. The handshake
    /// counts whether data wait or not.
    pub fn held_back(&self, now: Instant) -> Option<HeldBack> {
        if matches!(self.state, State::CookieWait | State::CookieEchoed) {
            let none = PathSet::default();
            return Some(HeldBack { by: HeldBy::Handshake, full: none, open: none });
        }
        let (len, _) = self.tx.queue.next_chunk(self.tx.max_payload)?;
        let usable = self.paths.usable();
        let paths = |take: fn(&crate::policy::PathView) -> bool| -> PathSet {
            let views = usable.iter().filter_map(|p| self.paths.views().get(p.index()));
            views.filter(|v| take(v)).map(|v| v.id).collect()
        };
        let full = paths(|v| v.in_flight >= v.limit.cwnd);
        let open = paths(|v| v.has_room());
        let window = len as u64 + 16 <= self.paths.seen().rwnd() || self.paths.seen().in_flight() == 0;
        let paced = || usable.iter().any(|p| self.paths[p.index()].pace > now);
        let by = match () {
            () if usable.is_empty() => HeldBy::NoPath,
            () if open.is_empty() && full == usable => HeldBy::CongestionWindow,
            () if open.is_empty() && paced() => HeldBy::Pacing,
            () if open.is_empty() => HeldBy::Burst,
            () if !window => HeldBy::ReceiveWindow,
            () if self.driver.aggregate().is_some_and(|most| self.paths.seen().in_flight() >= most) => {
                HeldBy::AggregateWindow
            }
            () => HeldBy::Scheduler,
        };
        Some(HeldBack { by, full, open })
    }

    /// The receive window that the peer advertised last (a_rwnd), bytes: what is in flight is not yet taken off.
    pub fn peer_rwnd(&self) -> u64 {
        self.paths.seen().a_rwnd()
    }

    /// The first TSN that the peer has not acknowledged cumulatively.
    pub fn first_unacknowledged(&self) -> Tsn {
        self.tx.outstanding.cum_acked() + 1
    }

    /// Bytes of the receive buffer in use: what waits for its order, for the rest of its message or for the application.
    pub fn receive_buffered(&self) -> u64 {
        self.rx.reassembly.buffered_bytes() as u64
    }
}

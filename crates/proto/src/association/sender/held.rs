//! What keeps the sender's data waiting, for those who measure: looking changes nothing.

use super::Sender;
use crate::association::context::Context;
use crate::policy::PathSet;
use crate::time::Instant;

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

impl Sender {
    /// What keeps new data from being sent, once there is nothing more to send at `now`; `None` if none wait. The handshake
    /// counts whether data wait or not.
    pub fn held_back(&self, cx: &Context, now: Instant) -> Option<HeldBack> {
        if cx.state.is_opening() {
            let none = PathSet::default();
            return Some(HeldBack { by: HeldBy::Handshake, full: none, open: none });
        }
        let len = self.next_user_data(cx)?;
        let usable = cx.paths.usable();
        let paths = |take: fn(&crate::policy::PathView) -> bool| -> PathSet {
            let views = usable.iter().filter_map(|p| cx.paths.views().get(p.index()));
            views.filter(|v| take(v)).map(|v| v.id).collect()
        };
        let full = paths(|v| v.in_flight >= v.limit.cwnd);
        let open = paths(|v| v.has_room());
        let window = len as u64 + 16 <= cx.paths.seen().rwnd() || cx.paths.seen().in_flight() == 0;
        let paced = || usable.iter().any(|p| cx.paths[p.index()].pace > now);
        let by = match () {
            () if usable.is_empty() => HeldBy::NoPath,
            () if open.is_empty() && full == usable => HeldBy::CongestionWindow,
            () if open.is_empty() && paced() => HeldBy::Pacing,
            () if open.is_empty() => HeldBy::Burst,
            () if !window => HeldBy::ReceiveWindow,
            () if cx.driver.aggregate().is_some_and(|most| cx.paths.seen().in_flight() >= most) => {
                HeldBy::AggregateWindow
            }
            () => HeldBy::Scheduler,
        };
        Some(HeldBack { by, full, open })
    }
}

//! Reasons for which the sender's data wait, for measurements. Reading these reasons changes nothing.

use super::Sender;
use crate::association::context::Context;
use crate::policy::PathSet;
use crate::time::{Duration, Instant};

/// Reason why new data cannot be sent.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[non_exhaustive]
pub enum HeldBy {
    /// The handshake is not complete.
    Handshake,
    /// The peer's receive window is full, although the congestion window of some path has room.
    ReceiveWindow,
    /// The congestion windows of all usable paths have no room.
    CongestionWindow,
    /// The scheme's limit over all paths is reached, although some path has room.
    AggregateWindow,
    /// Congestion windows have room, but the pacing time of the next packet has not come.
    Pacing,
    /// Congestion windows have room, but Max.Burst packets were sent since the last SACK (RFC 9260 §6.1 D).
    Burst,
    /// Some paths have room, but the scheduler sends nothing on them.
    Scheduler,
    /// No path is usable.
    NoPath,
}

impl HeldBy {
    /// All reasons.
    pub const ALL: [HeldBy; 8] = [
        HeldBy::Handshake,
        HeldBy::ReceiveWindow,
        HeldBy::CongestionWindow,
        HeldBy::AggregateWindow,
        HeldBy::Pacing,
        HeldBy::Burst,
        HeldBy::Scheduler,
        HeldBy::NoPath,
    ];

    /// Name of the reason in outputs.
    pub fn name(self) -> &'static str {
        match self {
            HeldBy::Handshake => "handshake",
            HeldBy::ReceiveWindow => "receive-window",
            HeldBy::CongestionWindow => "congestion-window",
            HeldBy::AggregateWindow => "aggregate-window",
            HeldBy::Pacing => "pacing",
            HeldBy::Burst => "burst",
            HeldBy::Scheduler => "scheduler",
            HeldBy::NoPath => "no-path",
        }
    }
}

/// Times for which new data waited, by reason.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub struct HeldTimes([Duration; HeldBy::ALL.len()]);

impl HeldTimes {
    /// Returns the time for which data waited for one reason.
    pub fn of(&self, by: HeldBy) -> Duration {
        self.0[by as usize]
    }

    /// Adds a time for one reason.
    pub fn add(&mut self, by: HeldBy, time: Duration) {
        self.0[by as usize] += time;
    }

    /// Returns each reason with its time.
    pub fn iter(&self) -> impl Iterator<Item = (HeldBy, Duration)> {
        HeldBy::ALL.into_iter().zip(self.0)
    }

    /// Returns the sums of these times and `others`.
    pub fn plus(&self, others: &HeldTimes) -> HeldTimes {
        HeldTimes(core::array::from_fn(|at| self.0[at] + others.0[at]))
    }

    /// Returns the differences between these times and `earlier` times.
    pub fn since(&self, earlier: &HeldTimes) -> HeldTimes {
        HeldTimes(core::array::from_fn(|at| self.0[at].saturating_sub(earlier.0[at])))
    }
}

/// The reason why new data wait, and the states of the usable paths.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct HeldBack {
    /// Reason why new data wait.
    pub by: HeldBy,
    /// Usable paths whose congestion window is full.
    pub full: PathSet,
    /// Usable paths on which another packet could be sent now.
    pub open: PathSet,
}

impl Sender {
    /// Returns the reason why no more data can be sent at `now`; `None` if no data wait. All possible output must have
    /// been sent before. During the handshake, [`HeldBy::Handshake`] is returned even if no data wait.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_reason_has_a_name_and_a_time_of_its_own() {
        let mut times = HeldTimes::default();
        for (at, by) in HeldBy::ALL.into_iter().enumerate() {
            times.add(by, Duration::from_millis(1 << at));
        }
        let names: std::collections::BTreeSet<_> = HeldBy::ALL.iter().map(|by| by.name()).collect();
        assert_eq!(names.len(), HeldBy::ALL.len());
        let listed: Vec<_> = times.iter().map(|(by, time)| (by, time.as_millis())).collect();
        let expected: Vec<_> = HeldBy::ALL.into_iter().zip((0..8).map(|at| 1_u128 << at)).collect();
        assert_eq!(listed, expected);
        let twice = times.plus(&times);
        assert_eq!(twice.since(&times), times);
        assert_eq!(times.since(&twice), HeldTimes::default());
        assert_eq!(times.of(HeldBy::Pacing), Duration::from_millis(16));
    }
}

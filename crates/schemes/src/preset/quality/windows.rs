//! Changes of windows: growth, Algorithm 2, Algorithm 3, and the effect of a loss (eqs 14 to 16).

use smallvec::SmallVec;
use strandcast_proto::policy::{AckInfo, Limit, LossCause, LossTrigger, PathId, View};
use strandcast_proto::rfc::Window;
use strandcast_proto::wire::serial::Tsn;

use super::driver::QualityAware;
use super::model::{After, QualityModel, Reduction};
use crate::congestion::{Balance, FAST_RETRANSMIT_COUNTS, Member, Members, TIMEOUT_COUNTS};

impl<J: QualityModel> QualityAware<J> {
    /// Σ cwnd(init) of the active paths, bytes.
    fn least(&self, view: &View<'_>) -> u64 {
        self.active(view).iter().filter_map(|p| self.lane(p)).map(|l| l.initial).sum()
    }

    fn sum(&self, view: &View<'_>) -> u64 {
        let windows = self.active(view).iter().filter_map(|p| self.lane(p)).map(|l| l.window.cwnd());
        windows.fold(0, u64::saturating_add)
    }

    /// Reduces windows when data are queued after a time without data. fwnd is also reduced, because otherwise Reward
    /// would undo the reduction.
    pub(super) fn on_queued(&mut self, view: &View<'_>) {
        let before = self.sum(view);
        for (lane, path) in self.lanes.iter_mut().zip(view.paths) {
            if let Some(lane) = lane {
                lane.window.decay(view.now, path.rto);
            }
        }
        if self.friendliness.is_some() && view.in_flight == 0 {
            let (after, least) = (self.sum(view), self.least(view));
            if let Some(f) = &mut self.friendliness {
                f.silent(before, after, least);
            }
        }
    }

    /// Applies the growth of RFC 9260 §7.2, limits it by Algorithm 2, and then runs Algorithm 3.
    pub(super) fn on_acked(&mut self, view: &View<'_>, ack: &AckInfo) {
        // Only Algorithm 2 needs the number of paths.
        let paths = if self.friendliness.is_some() { self.active(view).len() } else { 1 };
        for (i, lane) in self.lanes.iter_mut().enumerate() {
            if i != ack.path.index()
                && let Some(lane) = lane
            {
                lane.window.on_acked_elsewhere(ack);
            }
        }
        let Some(lane) = self.lanes.get_mut(ack.path.index()).and_then(Option::as_mut) else { return };
        let (before, mtu) = (lane.window.cwnd(), view[ack.path].mtu);
        lane.window.on_acked(ack, || mtu as f64);
        let Some(f) = &mut self.friendliness else { return };
        if ack.flight_before.saturating_add(mtu) > before {
            f.acked(ack.newly_acked, mtu);
        }
        let delta = lane.window.cwnd().saturating_sub(before);
        if delta > 0 {
            let grown = f.grow(delta, paths) + lane.carry;
            lane.carry = grown - libm::floor(grown);
            lane.window.set_cwnd(before.saturating_add(grown as u64));
            self.balance(view);
        }
    }

    /// Handles a loss: changes the window and fwnd (Algorithm 2), and then runs Algorithm 3.
    pub(super) fn on_loss(
        &mut self,
        view: &View<'_>,
        path: PathId,
        trigger: LossTrigger,
        highest: Tsn,
        cause: LossCause,
    ) {
        let least = self.least(view);
        let floor = self.floor(view, path);
        let Some(lane) = self.lanes.get_mut(path.index()).and_then(Option::as_mut) else { return };
        match trigger {
            LossTrigger::Timeout => {
                // Eq. 16.
                lane.window.on_timeout(lane.window.ssthresh_after_loss(0.5));
                lane.timed_out = true;
                lane.fault(TIMEOUT_COUNTS);
                if let Some(f) = &mut self.friendliness {
                    f.timeout(least);
                }
            }
            LossTrigger::HeadOfLine => {
                // This is not a loss. It affects neither fcount nor fwnd nor Reward.
                lane.window.on_penalty(lane.window.ssthresh_after_loss(0.5), highest);
                return;
            }
            LossTrigger::FastRetransmit if !lane.window.counts_loss() => return,
            LossTrigger::FastRetransmit => {
                let rate = lane.rate.bytes_per_second();
                let reduction = self.model.reduction(&lane.model_state, rate, cause);
                let round_trip = lane.round_trip(&view[path]).as_secs_f64();
                reduce(&mut lane.window, reduction, round_trip, floor);
                lane.fault(FAST_RETRANSMIT_COUNTS);
                let congestion = cause != LossCause::Wireless;
                *(if congestion { &mut self.counters.congestion } else { &mut self.counters.wireless }) += 1;
                if congestion {
                    lane.window.enter_recovery(highest);
                }
                if let Some(f) = &mut self.friendliness {
                    f.fast_retransmit(congestion, least);
                }
            }
        }
        self.balance(view);
    }

    /// Takes back the last losses of `path`, because they were spurious.
    pub(super) fn undo(&mut self, view: &View<'_>, path: PathId, before: &Limit) {
        if let Some(lane) = self.lane_mut(path) {
            lane.window.undo(before);
            self.balance(view);
        }
    }

    /// Floor of eqs 14 to 16 and of Penalize in bytes.
    fn floor(&self, view: &View<'_>, path: PathId) -> u64 {
        u64::from(self.config.windows.half_floor_mtus) * view[path].mtu
    }

    /// Runs Algorithm 3.
    pub(super) fn balance(&mut self, view: &View<'_>) {
        let Some(f) = &self.friendliness else { return };
        let balance = f.balance(self.sum(view));
        if balance == Balance::Fair {
            return;
        }
        let mut members = self.members(view);
        let halved = if balance == Balance::Reward {
            f.reward(&mut members);
            self.counters.rewards += 1;
            SmallVec::new()
        } else {
            f.penalize(&mut members)
        };
        self.counters.penalties += halved.len() as u64;
        for m in members {
            let Some(lane) = self.lane_mut(m.id) else { continue };
            if halved.contains(&m.id) {
                lane.window.cap_at_ssthresh(m.cwnd);
                lane.banned = true;
                lane.count = m.count;
            } else {
                lane.window.set_cwnd(m.cwnd);
            }
        }
    }

    fn members(&self, view: &View<'_>) -> Members {
        let exempt = self.config.exempt;
        let member = |id: PathId| {
            let lane = self.lane(id)?;
            Some(Member {
                id,
                cwnd: lane.window.cwnd(),
                rate: lane.rate.bytes_per_second(),
                count: lane.count,
                floor: self.floor(view, id),
                exempt: exempt && lane.timed_out,
            })
        };
        self.active(view).iter().filter_map(member).collect()
    }
}

/// Applies eqs 14 and 15 with `floor` = 4 MTU: ssthresh = max {rate · RTT_ref, cwnd/2, floor}.
pub(super) fn reduce(window: &mut Window, reduction: Reduction, round_trip_s: f64, floor: u64) {
    let product = (reduction.rate * round_trip_s) as u64;
    let ssthresh = product.max(window.cwnd() / 2).max(floor);
    match reduction.window {
        After::Kept => window.set_ssthresh(ssthresh),
        After::AtMost => window.cap_at_ssthresh(ssthresh),
        After::Threshold => window.set_ssthresh_and_cwnd(ssthresh),
    }
}

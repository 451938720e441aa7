//! Distribution of data: periods, PathList, and the choice of the path for the next packet.

use smallvec::SmallVec;
use strandcast_proto::policy::{Assignment, Backlog, PathId, PathSet, PathView, View};

use super::driver::QualityAware;
use super::model::QualityModel;
use crate::schedule::{Allocation, Offer, most, weight};

/// Number of packets that Algorithm 4 as printed sends if it has stalled and nothing is in flight.
const STALLED: u32 = 4;

impl<J: QualityModel> QualityAware<J> {
    /// Returns the path for the next packets.
    pub(super) fn distribute(&mut self, view: &View<'_>, backlog: &Backlog) -> Option<Assignment> {
        if self.distribution.is_over(view.now) {
            self.begin_period(view);
        }
        let active = self.active(view);
        self.lift_last_ban(view, active);
        if let Some(found) = self.by_credit(view, active, backlog) {
            return Some(found);
        }
        if self.distribution.allocation() == Allocation::Literal {
            self.held = true;
            return if view.in_flight == 0 { self.without_credit(view, active, STALLED) } else { None };
        }
        if !self.has_room(view, active) {
            return self.unless_mute(view, active);
        }
        if self.distribution.may_restart(view.now) {
            self.counters.early_periods += 1;
            self.begin_period(view);
            self.lift_last_ban(view, active);
            if let Some(found) = self.by_credit(view, active, backlog) {
                return Some(found);
            }
        }
        self.without_credit(view, active, 1)
    }

    /// Room in the window of a path that takes part. The room follows from the current window of this scheme, because
    /// Algorithm 3 may have changed the window after the view was made.
    fn room(&self, path: &PathView) -> u64 {
        let own = self.lane(path.id).map_or(0, |l| l.window.cwnd().max(path.mtu));
        path.room().min(own.saturating_sub(path.in_flight))
    }

    fn is_banned(&self, path: PathId) -> bool {
        self.lane(path).is_some_and(|l| l.banned)
    }

    fn has_room(&self, view: &View<'_>, active: PathSet) -> bool {
        active.iter().any(|p| !self.is_banned(p) && self.room(&view[p]) > 0)
    }

    /// Returns the first path of PathList that has credit and room.
    fn by_credit(&self, view: &View<'_>, active: PathSet, backlog: &Backlog) -> Option<Assignment> {
        let len = backlog.next_len.max(1);
        self.distribution.list().iter().find_map(|entry| {
            let path = entry.path;
            if entry.credit <= 0.0 || self.is_banned(path) || !active.contains(path) {
                return None;
            }
            let room = self.room(&view[path]).div_ceil(len);
            let credit = (entry.credit.max(1.0) as u64).div_ceil(len);
            let chunks = u32::try_from(room.min(credit)).unwrap_or(u32::MAX);
            (chunks > 0).then(|| Assignment::on(path, chunks))
        })
    }

    /// Returns the path for packets without credit. It is needed if credits are used up and the next period must wait.
    /// It is the first path of PathList that has room, or else any path with room.
    fn without_credit(&mut self, view: &View<'_>, active: PathSet, packets: u32) -> Option<Assignment> {
        let open = |p: &PathId| active.contains(*p) && !self.is_banned(*p) && self.room(&view[*p]) > 0;
        let listed = self.distribution.list().iter().map(|e| e.path).find(open);
        let path = listed.or_else(|| active.iter().find(open))?;
        self.counters.guards += 1;
        Some(Assignment::on(path, packets))
    }

    /// Holds data if no active path that may take data has room. If nothing is in flight, one packet is sent
    /// nevertheless, because otherwise no event would follow.
    fn unless_mute(&mut self, view: &View<'_>, active: PathSet) -> Option<Assignment> {
        let mute = view.in_flight == 0;
        let path = active.iter().find(|p| mute && view[*p].has_room())?;
        self.counters.guards += 1;
        Some(Assignment::on(path, 1))
    }

    /// If all active paths are banned, ends the ban of the fastest one.
    fn lift_last_ban(&mut self, view: &View<'_>, active: PathSet) {
        if self.spare_fastest(active) {
            self.distribution.end();
            self.begin_period_after_bans(view);
        }
    }

    /// If all active paths are banned, ends the ban of the fastest one. Returns whether a ban was ended.
    fn spare_fastest(&mut self, active: PathSet) -> bool {
        if active.iter().any(|p| !self.is_banned(p)) {
            return false;
        }
        let rate = |p: &PathId| self.lane(*p).map_or(0.0, |l| l.rate.bytes_per_second());
        let fastest = active.iter().min_by(|a, b| rate(b).total_cmp(&rate(a)));
        let Some(lane) = fastest.and_then(|p| self.lane_mut(p)) else { return false };
        lane.banned = false;
        self.counters.guards += 1;
        true
    }

    /// Begins a distribution period. Earlier bans end, and paths that Penalize takes get no data in the new period.
    fn begin_period(&mut self, view: &View<'_>) {
        for lane in self.lanes.iter_mut().flatten() {
            lane.banned = false;
        }
        self.balance(view);
        // This comes before the new period is computed. The new period uses the losses that were counted since the last
        // one.
        self.spare_fastest(self.active(view));
        self.begin_period_after_bans(view);
    }

    /// Computes eqs 9 to 13 for all active paths, and the PathList of the active paths without a ban.
    fn begin_period_after_bans(&mut self, view: &View<'_>) {
        let active = self.active(view);
        let mut offers: SmallVec<[Offer; 8]> = SmallVec::new();
        for path in active.iter() {
            let w = self.weight(path);
            let Some(lane) = self.lanes.get_mut(path.index()).and_then(Option::as_mut) else { continue };
            lane.counted = 0;
            let model_state = &mut lane.model_state;
            let measured =
                super::model::Measured { now: view.now, rate: &lane.rate, srtt: view[path].srtt, weight: w };
            self.model.period(model_state, &measured);
            let offer = Offer {
                path,
                cwnd: lane.window.cwnd(),
                in_flight: view[path].in_flight,
                rate: self.model.handling_rate(&lane.model_state),
                rank: self.model.rank(&lane.model_state),
                quota: self.model.quota(&lane.model_state),
                round_trip: lane.round_trip(&view[path]),
            };
            self.counters.guards += u64::from(offer.rate.is_none_or(|r| r <= 0.0));
            if !lane.banned {
                offers.push(offer);
            }
        }
        let free = active.iter().map(|p| view[p].limit.cwnd.saturating_sub(view[p].in_flight));
        let most = most(free, view.rwnd);
        self.distribution.begin(view.now, &mut offers, most);
        self.counters.periods += 1;
    }

    /// w of eq. 9. The value is 1 without a friendliness window.
    fn weight(&self, path: PathId) -> f64 {
        match (&self.friendliness, self.lane(path)) {
            (Some(f), Some(lane)) => weight(lane.window.cwnd(), f.window(), lane.counted, self.beta),
            _ => 1.0,
        }
    }
}

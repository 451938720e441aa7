//! The path with the lowest loss rate comes first (Liu et al. 2019, Algorithm 2).
//!
//! | Algorithm 2 | here |
//! |---|---|
//! | steps 1-2, lines 1-8: active paths in ascending order of PLR, the first is the candidate | the least `Estimate::loss` in [`LossOrdered::next`] |
//! | step 4, lines 9-12: among paths with the smallest PLR the smallest jitter indicator | the tie break there |
//! | step 5, lines 13-15: the next path while the candidate's window is full | only paths with room are compared |
//!
//! `ASSUMED`: the paper's text lacks the condition of line 9. The words of step 4 replace it. Loss rates within `tie`
//! (1 %) count as equal. If they are equal, the lowest round-trip time decides, and then the lowest id. A path without
//! an estimate ranks last. The choice is made again for each packet. `demote-unreliable=on` ranks paths in an
//! unreliable condition after all others. The paper describes how to detect this condition, but not how to use it.

use strandcast_keys::keys;
use strandcast_proto::policy::{Assignment, Backlog, PathView, Policy, Scheduler, View};
use strandcast_proto::time::Duration;

use crate::estimate::{JITTER, LossRate, LossRateConfig, UNRELIABLE};
use crate::part::{Estimators, SchedulerPart};

keys! {
    /// The keys of [`LossOrdered`] and of the loss rate that it reads.
    pub struct LossOrderedConfig {
        with rate: LossRateConfig,
        /// loss rates this near each other are equal
        tie: f64 [0.0, 1.0] = 0.01,
        /// paths whose loss rate stands out and rises come last
        demote_unreliable: bool = false,
    }
}

impl SchedulerPart for LossOrderedConfig {
    fn build(&self) -> Box<dyn Scheduler> {
        Box::new(LossOrdered { tie: self.tie, demote_unreliable: self.demote_unreliable })
    }

    fn estimators(&self, estimators: &mut Estimators) {
        estimators.add(LossRate::new(self.rate));
    }
}

/// Scheduler that prefers the path with the lowest loss rate. The scheduler fills the paths in this order, so that all
/// paths are used while there are enough data.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct LossOrdered {
    /// Greatest difference between two loss rates that count as equal, as a share of the smaller rate.
    pub tie: f64,
    /// True if paths in an unreliable condition rank last.
    pub demote_unreliable: bool,
}

impl Default for LossOrdered {
    fn default() -> Self {
        LossOrdered { tie: 0.01, demote_unreliable: false }
    }
}

impl LossOrdered {
    fn demoted(&self, path: &PathView) -> bool {
        self.demote_unreliable && path.est.extra(UNRELIABLE).is_some_and(|u| u > 0.0)
    }
}

fn loss(path: &PathView) -> f64 {
    path.est.loss.unwrap_or(1.0)
}

impl Policy for LossOrdered {}

impl Scheduler for LossOrdered {
    fn next(&mut self, view: &View<'_>, _: &Backlog) -> Option<Assignment> {
        // This function is called for each packet. Iterating over the few paths several times takes less time than
        // collecting them.
        let usable = view.usable();
        let with_room = || view.paths.iter().filter(|p| usable.contains(p.id) && p.has_room());
        let demoted = self.demote_unreliable && with_room().all(|p| self.demoted(p));
        let candidates = || with_room().filter(|p| self.demoted(p) == demoted);
        let mut losses = candidates().map(|p| (p, loss(p)));
        let (first, mut least) = losses.next()?;
        let mut alone = true;
        for (_, other) in losses {
            alone = false;
            if other.total_cmp(&least).is_lt() {
                least = other;
            }
        }
        if alone {
            return Some(Assignment::on(first.id, 1));
        }
        let ties = candidates().filter(|p| loss(p) <= least * (1.0 + self.tie));
        let jitter = |p: &PathView| p.est.extra(JITTER).unwrap_or(0.0);
        let order = |a: &&PathView, b: &&PathView| {
            let rest = |p: &PathView| (p.srtt.unwrap_or(Duration::MAX), p.id);
            jitter(a).total_cmp(&jitter(b)).then_with(|| rest(a).cmp(&rest(b)))
        };
        ties.min_by(order).map(|p| Assignment::on(p.id, 1))
    }
}

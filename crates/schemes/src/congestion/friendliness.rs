//! The friendliness window (fwnd): a window for the whole association that behaves like TCP's. The sum of the paths'
//! windows is compared with it.
//!
//! | Xu et al. (2015), section V | here |
//! |---|---|
//! | eq. 7, Σ cwnd in [α fwnd, β fwnd] | [`Friendliness::balance`] |
//! | Algorithm 2, fwnd = Σ cwnd(init) | [`Friendliness::path_met`] |
//! | Algorithm 2, slow start, congestion avoidance, Δcwnd / n | [`Friendliness::grow`], [`Friendliness::acked`] |
//! | Algorithm 2, fast retransmission, timeout | [`Friendliness::fast_retransmit`], [`Friendliness::timeout`] |
//! | Algorithm 2, fcount | [`FAST_RETRANSMIT_COUNTS`], [`TIMEOUT_COUNTS`]; the count is [`Member::count`] |
//! | Algorithm 3, Reward | [`Friendliness::reward`] |
//! | Algorithm 3, Penalize | [`Friendliness::penalize`], [`penalized`] |
//!
//! Constants: α = 0.5, β = 1.5 (section VII).
//!
//! `ASSUMED`:
//! - in slow start fwnd grows by as many bytes as the path's window. In congestion avoidance it grows by one MTU for
//!   each fwnd of bytes acknowledged over all paths. Bytes count only if the path's window was full, as they do for
//!   that window (RFC 9260 §7.2.2): otherwise Reward would enlarge the windows of an application that sends little;
//! - each loss event changes fwnd once, however many chunks were lost;
//! - a path that joins adds cwnd(init) to fwnd, and a path that leaves takes it away; fwnd does not depend otherwise on
//!   the number n of paths, and is at least n cwnd(init);
//! - a loss that the radio caused does not change fwnd, as in Algorithm 2; section V's text says that fwnd "decreases
//!   by half when any retransmission is needed" (`fwnd-cut=any`);
//! - if all counts are 0, Algorithm 3 as printed reads the R_e of a path q that is null; here the first candidate is
//!   taken regardless of its count;
//! - Penalize may take the same path several times, as in the printed Algorithm 3 (the text says "another path");
//! - if all R_e are 0, Reward gives the same amount to all paths;
//! - Reward gives nothing to a path whose last loss was a timeout and on which nothing has been acknowledged since,
//!   because a gain would undo eq. 16 at once (a key turns this off);
//! - if all paths were idle for so long that their windows were reduced, fwnd is reduced in the same proportion.

use smallvec::SmallVec;
use strandcast_proto::policy::PathId;

/// Increase of a path's count by a fast retransmission.
pub const FAST_RETRANSMIT_COUNTS: u32 = 1;
/// Increase of a path's count by a timeout.
pub const TIMEOUT_COUNTS: u32 = 2;

/// An active path as Algorithm 3 sees it.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct Member {
    /// Id of the path.
    pub id: PathId,
    /// Window of the path, bytes.
    pub cwnd: u64,
    /// R_e, bytes per second.
    pub rate: f64,
    /// fcount: number of losses for which Penalize has not yet reduced the window.
    pub count: u32,
    /// Size in bytes down to which Penalize may reduce the window: 4 MTU in the paper. A window of this size or smaller
    /// is not penalized.
    pub floor: u64,
    /// True if Reward gives nothing to this path.
    pub exempt: bool,
}

/// All active paths.
pub type Members = SmallVec<[Member; 8]>;

/// Result of Algorithm 3 for the sum of windows.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Balance {
    /// The sum is below α fwnd.
    Reward,
    /// The sum is within eq. 7.
    Fair,
    /// The sum is above β fwnd.
    Penalize,
}

/// fwnd, and the state from which it changes.
#[derive(Clone, Debug)]
pub struct Friendliness {
    alpha: f64,
    beta: f64,
    /// True if any fast retransmission halves fwnd, not only one by congestion.
    any_loss: bool,
    /// fwnd, bytes.
    window: f64,
    /// fthresh, bytes.
    threshold: f64,
    /// Bytes acknowledged in congestion avoidance that have not moved fwnd yet.
    acked: f64,
}

impl Friendliness {
    /// Makes the state without any path. `threshold` is ssthresh(init) in bytes; `None` means that it is arbitrarily
    /// high.
    pub fn new(alpha: f64, beta: f64, threshold: Option<u64>) -> Self {
        let threshold = threshold.map_or(f64::INFINITY, |t| t as f64);
        Friendliness { alpha, beta, any_loss: false, window: 0.0, threshold, acked: 0.0 }
    }

    /// Sets whether any fast retransmission halves fwnd, as in section V's text, not only one by congestion.
    pub fn cut_by_any_loss(self, any_loss: bool) -> Self {
        Friendliness { any_loss, ..self }
    }

    /// Records a new path, which adds `initial` bytes, cwnd(init).
    pub fn path_met(&mut self, initial: u64) {
        self.window += initial as f64;
    }

    /// Records that a path left, which takes away `initial` bytes, cwnd(init). `least` is n cwnd(init) in bytes for the
    /// remaining paths.
    pub fn path_left(&mut self, initial: u64, least: u64) {
        self.window = (self.window - initial as f64).max(least as f64);
    }

    /// fwnd, bytes.
    pub fn window(&self) -> f64 {
        self.window
    }

    /// fthresh, bytes; infinite until it is set.
    pub fn threshold(&self) -> f64 {
        self.threshold
    }

    /// Grows fwnd when a path's window would grow by `delta` bytes, with `paths` active paths. Returns the bytes by
    /// which the path's window may grow.
    pub fn grow(&mut self, delta: u64, paths: usize) -> f64 {
        let delta = delta as f64;
        if self.window < self.threshold {
            self.window += delta;
            delta
        } else {
            delta / paths.max(1) as f64
        }
    }

    /// Records that `bytes` were acknowledged on a path whose window was full. Call it before [`Friendliness::grow`]
    /// for the same SACK.
    pub fn acked(&mut self, bytes: u64, mtu: u64) {
        if self.window < self.threshold {
            return;
        }
        self.acked += bytes as f64;
        // Once a window as in RFC 9260 §7.2.2: what was filled is the window before the growth.
        if self.acked >= self.window {
            self.acked -= self.window;
            self.window += mtu as f64;
        }
    }

    /// Records a loss that fast retransmission found, caused by congestion or by the radio. `least` is n cwnd(init) in
    /// bytes.
    pub fn fast_retransmit(&mut self, congestion: bool, least: u64) {
        if !congestion && !self.any_loss {
            return;
        }
        self.threshold = self.half(least);
        self.window = self.threshold;
        self.acked = 0.0;
    }

    /// Records a timeout. `least` is n cwnd(init) in bytes.
    pub fn timeout(&mut self, least: u64) {
        self.threshold = self.half(least);
        self.window = least as f64;
        self.acked = 0.0;
    }

    fn half(&self, least: u64) -> f64 {
        (self.window / 2.0).max(least as f64)
    }

    /// Records that the sum of windows fell from `before` to `after` bytes because nothing was sent.
    pub fn silent(&mut self, before: u64, after: u64, least: u64) {
        if after < before {
            self.window = (self.window * after as f64 / before as f64).max(least as f64);
        }
    }

    /// Returns the action of Algorithm 3 for windows whose sum is `sum` bytes.
    pub fn balance(&self, sum: u64) -> Balance {
        let sum = sum as f64;
        if sum < self.alpha * self.window {
            Balance::Reward
        } else if sum > self.beta * self.window {
            Balance::Penalize
        } else {
            Balance::Fair
        }
    }

    /// Lifts the windows of `members` so that their sum is fwnd, each in proportion to its rate.
    pub fn reward(&self, members: &mut [Member]) {
        let missing = self.window - sum(members) as f64;
        let rates: f64 = members.iter().map(|m| m.rate).sum();
        let equal = 1.0 / members.len().max(1) as f64;
        for m in members.iter_mut().filter(|m| !m.exempt) {
            let share = if rates > 0.0 { m.rate / rates } else { equal };
            m.cwnd = m.cwnd.saturating_add((missing * share) as u64);
        }
    }

    /// Halves windows until their sum is within β fwnd or no member is left; returns the halved paths, once per
    /// halving.
    pub fn penalize(&self, members: &mut [Member]) -> SmallVec<[PathId; 8]> {
        let mut halved = SmallVec::new();
        while self.balance(sum(members)) == Balance::Penalize {
            let Some(q) = penalized(members) else { break };
            let q = &mut members[q];
            q.cwnd = (q.cwnd / 2).max(q.floor);
            q.count = q.count.saturating_sub(1);
            halved.push(q.id);
        }
        halved
    }
}

fn sum(members: &[Member]) -> u64 {
    members.iter().fold(0, |sum, m| sum.saturating_add(m.cwnd))
}

/// Index of the member that Penalize takes next. It is a member above its floor with the highest count; the lowest rate
/// and then the first position break ties; `None` if all are at their floor.
pub fn penalized(members: &[Member]) -> Option<usize> {
    let mut chosen: Option<usize> = None;
    for (i, m) in members.iter().enumerate().filter(|(_, m)| m.cwnd > m.floor) {
        let better = |q: &Member| m.count > q.count || (m.count == q.count && m.rate < q.rate);
        if chosen.is_none_or(|q| better(&members[q])) {
            chosen = Some(i);
        }
    }
    chosen
}

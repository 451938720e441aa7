//! The friendliness window (fwnd) is a window for the whole association. The friendliness window behaves like the
//! window of a TCP. The sum of the paths' windows is compared with fwnd.
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
//! * In slow start, fwnd grows by the same number of bytes as the path's window. In congestion avoidance, fwnd grows by
//!   one MTU each time that fwnd bytes have been acknowledged over all paths. Bytes count only if the path's window was
//!   full, as for the path's window itself (RFC 9260 §7.2.2). Otherwise Reward would enlarge the windows of an
//!   application that sends little.
//! * Each loss event changes fwnd once, whatever the number of lost chunks.
//! * A path that joins adds cwnd(init) to fwnd, and a path that leaves subtracts it. The number n of paths has one
//!   other effect: fwnd is at least n cwnd(init).
//! * A loss that the radio caused does not change fwnd, as in Algorithm 2. According to the text of section V, however,
//!   fwnd "decreases by half when any retransmission is needed" (`fwnd-cut=any`).
//! * If all counts are 0, Algorithm 3 as printed reads the R_e of a path q that is null. The implementation takes the
//!   first candidate, whatever its count.
//! * Penalize may take the same path several times, as in the printed Algorithm 3. The paper's text says "another
//!   path".
//! * If all R_e are 0, Reward gives the same amount to all paths.
//! * Reward gives nothing to a path if its last loss was a timeout and nothing has been acknowledged on it since.
//!   Otherwise the gain would undo eq. 16 at once. A key turns this exception off.
//! * If all paths were idle for so long that their windows were reduced, fwnd is reduced in the same proportion.

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
    /// Size in bytes down to which Penalize may reduce the window. In the paper it is 4 MTU. A window of this size or
    /// smaller is not penalized.
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
    /// The sum is within the bounds of eq. 7.
    Fair,
    /// The sum is above β fwnd.
    Penalize,
}

/// The friendliness window, and the state from which it changes.
#[derive(Clone, Debug)]
pub struct Friendliness {
    alpha: f64,
    beta: f64,
    /// True if any fast retransmission halves fwnd. False if only a fast retransmission by congestion does.
    any_loss: bool,
    /// fwnd, bytes.
    window: f64,
    /// fthresh, bytes.
    threshold: f64,
    /// Bytes acknowledged in congestion avoidance that have not changed fwnd yet.
    acked: f64,
}

impl Friendliness {
    /// Makes the state without any path. `threshold` is ssthresh(init) in bytes. `None` means an arbitrarily high
    /// threshold.
    pub fn new(alpha: f64, beta: f64, threshold: Option<u64>) -> Self {
        let threshold = threshold.map_or(f64::INFINITY, |t| t as f64);
        Friendliness { alpha, beta, any_loss: false, window: 0.0, threshold, acked: 0.0 }
    }

    /// Sets whether any fast retransmission halves fwnd, as in the text of section V. If not, only a fast
    /// retransmission by congestion halves fwnd.
    pub fn cut_by_any_loss(self, any_loss: bool) -> Self {
        Friendliness { any_loss, ..self }
    }

    /// Records a new path. It adds `initial` bytes, which are cwnd(init).
    pub fn path_met(&mut self, initial: u64) {
        self.window += initial as f64;
    }

    /// Records that a path left. The cwnd(init) of this path, `initial` bytes, is subtracted. `least` is n cwnd(init)
    /// in bytes for the remaining paths.
    pub fn path_left(&mut self, initial: u64, least: u64) {
        self.window = (self.window - initial as f64).max(least as f64);
    }

    /// fwnd, bytes.
    pub fn window(&self) -> f64 {
        self.window
    }

    /// fthresh in bytes. The value is infinite until it is set.
    pub fn threshold(&self) -> f64 {
        self.threshold
    }

    /// Grows fwnd when a path's window would grow by `delta` bytes. `paths` is the number of active paths. Returns the
    /// bytes by which the path's window may grow.
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
        // fwnd grows once a window, as in RFC 9260 §7.2.2. The window before the growth is the amount that had to be
        // acknowledged.
        if self.acked >= self.window {
            self.acked -= self.window;
            self.window += mtu as f64;
        }
    }

    /// Records a loss that fast retransmission found. Congestion or the radio has caused the loss. `least` is n
    /// cwnd(init) in bytes.
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

    /// Enlarges the windows of `members` until their sum is fwnd. Each window grows in proportion to the rate of its
    /// path.
    pub fn reward(&self, members: &mut [Member]) {
        let missing = self.window - sum(members) as f64;
        let rates: f64 = members.iter().map(|m| m.rate).sum();
        let equal = 1.0 / members.len().max(1) as f64;
        for m in members.iter_mut().filter(|m| !m.exempt) {
            let share = if rates > 0.0 { m.rate / rates } else { equal };
            m.cwnd = m.cwnd.saturating_add((missing * share) as u64);
        }
    }

    /// Halves windows until their sum is within β fwnd, or until no member is left. Returns the halved paths, one entry
    /// per halving.
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

/// Index of the member that Penalize takes next. It is the member with the highest count among the members whose window
/// is above its floor. If counts are equal, the lowest rate decides, and then the first position. Returns `None` if no
/// window is above its floor.
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

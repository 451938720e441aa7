//! Opportunistic linked increases (OLIA): coupled windows. Growth moves to the paths that deliver the most data between
//! two losses.
//!
//! Khalili R., Gast N., Popovic M., Upadhyay U., Le Boudec J.-Y., "MPTCP is not Pareto-optimal: performance issues and
//! a possible solution", CoNEXT 2012; draft-khalili-mptcp-congestion-control-05.
//!
//! | draft, §3 | here |
//! |---|---|
//! | ℓ₁: bytes acknowledged between the last two losses, ℓ₂: since the last loss | [`Bytes`], kept by [`Olia::on_signal`] |
//! | ℓ = max(ℓ₁, ℓ₂), best paths: the largest ℓ²/rtt | [`Olia::worth`] |
//! | paths with the largest window; collected paths: best ones without the largest window | [`Olia::alpha`] |
//! | α: 1/(n·collected), −1/(n·largest), or 0 | [`Olia::alpha`] |
//! | an ACK: w_r += (w_r/rtt_r²)/(Σ w_k/rtt_k)² + α_r/w_r | [`Olia::increase`], in bytes: times acked·SMSS |
//! | a loss: w_r −= w_r/2, slow start as in TCP | [`TcpWindows`](super::TcpWindows) |
//!
//! An increase may be negative. α takes growth from the paths with the largest window and gives the growth to the
//! collected paths. [`TcpWindows`](super::TcpWindows) keeps every window at one segment or more.
//!
//! With one path, the increase is 1/w, and the window is Reno's window. `ASSUMED`:
//! * Values within 1 % of the largest value count as equal to it (`tolerance`), because measured values are never
//!   equal.
//! * MPTCP v0.95 of Linux ranks paths by ℓ/rtt², which is the square of a TCP's rate (`ranking=kernel`).
//! * Thresholds after a loss are at least two segments, as in TCP (`floor` of TCP and MPTCP flows).
//! * Paths that are inactive or have no round-trip time are left out of all sums, and follow Reno ([`Coupled`]). There
//!   is no key for this, because the draft has no such paths.

use strandcast_keys::{keys, words};
use strandcast_proto::policy::{LossTrigger, PathId, Signal, View};
use strandcast_proto::rfc::{Avoidance, Progress};

use super::coupled::{Coupled, closed};
use super::window::AvoidancePart;

words! {
    /// Measure that ranks the paths.
    pub enum Ranking {
        /// ℓ²/rtt.
        Draft = "draft",
        /// ℓ/rtt².
        Kernel = "kernel",
    }
}

keys! {
    /// Keys of OLIA.
    #[derive(Copy)]
    pub struct OliaConfig {
        /// paths are ranked by bytes² between losses over round-trip time, or by bytes over round-trip time²
        ranking: Ranking = Ranking::Draft,
        /// tolerance below the largest rank or window with which a path still counts as largest
        tolerance: f64 [0.0, 0.5] = 0.01,
    }
}

impl AvoidancePart for OliaConfig {
    const PAPER: &'static str = "draft-khalili-mptcp-congestion-control-05";
    const SUMMARY: &'static str =
        "increases coupled over all paths, which move to those with most bytes between losses";

    fn avoidance(&self) -> impl Avoidance + 'static {
        Olia::new(*self)
    }
}

/// Counts of bytes acknowledged on a path.
#[derive(Copy, Clone, Debug, Default)]
struct Bytes {
    /// ℓ₁: bytes between the last two losses.
    between_losses: u64,
    /// ℓ₂: bytes since the last loss.
    since_loss: u64,
}

impl Bytes {
    /// ℓ: the larger of ℓ₁ and ℓ₂.
    fn most(self) -> f64 {
        self.between_losses.max(self.since_loss) as f64
    }
}

/// The windows of the draft.
#[derive(Clone, Debug)]
pub struct Olia {
    config: OliaConfig,
    /// Bytes by path slot.
    bytes: Vec<Bytes>,
}

/// State of all paths that determines the increase of one path.
#[derive(Copy, Clone, Debug, Default)]
struct All {
    paths: f64,
    /// Σ w/rtt, bytes per second.
    rate: f64,
    most_worth: f64,
    largest: f64,
}

impl Olia {
    /// The state before the first ACK.
    pub fn new(config: OliaConfig) -> Self {
        Olia { config, bytes: Vec::new() }
    }

    fn of(&mut self, path: PathId) -> &mut Bytes {
        if self.bytes.len() <= path.index() {
            self.bytes.resize(path.index() + 1, Bytes::default());
        }
        &mut self.bytes[path.index()]
    }

    fn worth(&self, path: &Coupled) -> f64 {
        let most = self.bytes.get(path.path.index()).map_or(0.0, |bytes| bytes.most());
        match self.config.ranking {
            Ranking::Draft => most * most / path.rtt,
            Ranking::Kernel => most / (path.rtt * path.rtt),
        }
    }

    fn all(&self, view: &View<'_>) -> All {
        Coupled::all(view).fold(All::default(), |all, path| All {
            paths: all.paths + 1.0,
            rate: all.rate + path.rate(),
            most_worth: all.most_worth.max(self.worth(&path)),
            largest: all.largest.max(path.cwnd),
        })
    }

    /// α of `own`.
    fn alpha(&self, view: &View<'_>, own: &Coupled, all: All) -> f64 {
        let near = 1.0 - self.config.tolerance;
        let is_largest = |c: &Coupled| c.cwnd >= near * all.largest;
        let is_collected = |c: &Coupled| !is_largest(c) && self.worth(c) >= near * all.most_worth;
        let (mut collected, mut largest) = (0.0, 0.0);
        for path in Coupled::all(view) {
            if is_largest(&path) {
                largest += 1.0;
            } else if is_collected(&path) {
                collected += 1.0;
            }
        }
        if is_collected(own) {
            1.0 / (all.paths * collected)
        } else if is_largest(own) && collected > 0.0 {
            -1.0 / (all.paths * largest)
        } else {
            0.0
        }
    }
}

impl Avoidance for Olia {
    fn on_signal(&mut self, view: &View<'_>, signal: &Signal<'_>) {
        match signal {
            Signal::Acked(ack) => self.of(ack.path).since_loss += ack.newly_acked,
            Signal::LossEvent { path, trigger, .. } if *trigger != LossTrigger::HeadOfLine => {
                let bytes = self.of(*path);
                // Between a timeout and a further timeout, no data are acknowledged. The time between the two timeouts
                // is not an interval without losses. The same applies to the loss of data that were sent again.
                if bytes.since_loss > 0 {
                    *bytes = Bytes { between_losses: bytes.since_loss, since_loss: 0 };
                }
            }
            Signal::PathChanged(path) if closed(view, *path) => {
                *self.of(*path) = Bytes::default();
            }
            _ => {}
        }
    }

    fn increase(&mut self, now: &Progress<'_>) -> f64 {
        let own = Coupled::of(now.view, now.path).filter(|own| own.cwnd > 0.0);
        let all = self.all(now.view);
        let Some(own) = own.filter(|_| all.paths > 1.0) else { return now.reno() };
        let shared = own.cwnd / (own.rtt * own.rtt * all.rate * all.rate);
        (shared + self.alpha(now.view, &own, all) / own.cwnd) * now.acked * now.segment
    }

    fn gauges(&self, path: PathId, out: &mut Vec<(&'static str, f64)>) {
        out.extend(self.bytes.get(path.index()).map(|bytes| ("between_losses_bytes", bytes.most())));
    }
}

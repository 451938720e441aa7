//! Weighted Vegas (wVegas): each path keeps a number of segments in queues. The number is proportional to the path's
//! share of the total rate.
//!
//! Cao Y., Xu M., Fu X., "Delay-based congestion control for multipath TCP", ICNP 2012. The implementation in MPTCP
//! v0.95 of Linux (`mptcp_wvegas.c`) is the source of the constants and of the order of steps in a round.
//!
//! | algorithm, once per round trip | here |
//! |---|---|
//! | base: the least round-trip time; rtt: the mean of the round | [`Path::sample`], [`Path::finish`] |
//! | diff = w·(rtt − base)/rtt: segments in queues | [`Path::queued`] |
//! | slow start ends when diff > γ; w ← min(w, w·base/rtt + 1) | [`Wvegas::ends_slow_start`], [`Path::leave`] |
//! | diff ≥ α_r: x_r = w/rtt, weight = x_r/Σx, α_r = max(2, weight·total) | [`Wvegas::weigh`] |
//! | diff > α_r: w −= 1; diff < α_r: w += 1 | [`Path::step`] |
//! | q = rtt − base, its least since the last time; q ≥ 2·least: w ← w·base/(2·rtt) | [`Path::drain`] |
//! | at least 2 segments after a round; fewer than 3 samples: Reno's step | [`Wvegas::increase`] |
//! | after a loss half of the window; weight and α begin anew | [`TcpWindows`](super::TcpWindows), [`Path::forget_round`] |
//!
//! Constants of the kernel: total α 10, first α 2, γ 1 (`total-alpha`, `initial-alpha`, `gamma`). α is at least 2
//! segments.
//!
//! With one path, wVegas is Vegas with α = total, and not Reno. wVegas has three limits. The base round-trip time is
//! never measured again. A loss-based sender fills the queue, so that wVegas gives way to it. Third, wVegas halves the
//! window whenever the queue of a round is twice the smallest queue so far. On a path without other traffic, this
//! happens long before the queue reaches α segments.
//!
//! `ASSUMED`:
//! * diff and α are whole segments, as in the kernel. A window therefore stays constant once it has its share. This
//!   choice has no key, because fractions would never be equal.
//! * If there is no queue, nothing is drained. With `drain=off`, draining never occurs. Without a queue, the kernel's
//!   arithmetic halves the window.
//! * After draining, slow start returns the window to 3/4 of its former size, unless a queue of γ segments appears. The
//!   kernel has no such key. It sets its threshold to 3/4 of the window as a part of draining.
//! * Σx includes active paths with a round-trip time that have had a queue of α segments since their last loss
//!   ([`Coupled`]). Other paths follow Reno.
//! * After a loss, Vegas continues with the first round. [`TcpWindows`](super::TcpWindows) does not let windows grow in
//!   recovery.

use strandcast_keys::keys;
use strandcast_proto::policy::{AckInfo, LossTrigger, PathId, Signal, View};
use strandcast_proto::rfc::{Avoidance, Progress};
use strandcast_proto::time::{Duration, Instant};
use strandcast_proto::wire::Tsn;

use super::coupled::{Coupled, closed};
use super::window::AvoidancePart;

/// Least number of segments that each path may keep in queues, whatever its weight.
const MIN_ALPHA: f64 = 2.0;
/// Least number of round-trip times in a round. With fewer, the mean of the round does not count.
const SAMPLES: u32 = 3;
/// Least window after a round, in segments.
const FLOOR: f64 = 2.0;
/// Share of the window before draining. Afterwards, slow start enlarges the window up to this share.
const REFILL: f64 = 0.75;

keys! {
    /// Keys of wVegas.
    #[derive(Copy)]
    pub struct WvegasConfig {
        /// segments that all paths together may keep in queues
        total_alpha: f64 [2.0, 1000.0, "segments"] = 10.0,
        /// segments that a path may keep in queues before its rate is known
        initial_alpha: f64 [1.0, 1000.0, "segments"] = 2.0,
        /// queue beyond which slow start ends
        gamma: f64 [0.0, 1000.0, "segments"] = 1.0,
        /// drain queues that have become twice as long
        drain: bool = true,
    }
}

impl AvoidancePart for WvegasConfig {
    const PAPER: &'static str = "Cao, Xu and Fu 2012; Linux MPTCP v0.95";
    const SUMMARY: &'static str = "keeps queues short: segments in queues, shared among paths by their rates";

    fn avoidance(&self) -> impl Avoidance + 'static {
        Wvegas::new(*self)
    }
}

/// The windows of all paths.
#[derive(Clone, Debug)]
pub struct Wvegas {
    config: WvegasConfig,
    /// Paths by slot.
    paths: Vec<Path>,
}

/// The state of a path. Windows are in segments, times in seconds unless they are [`Duration`]s.
#[derive(Clone, Debug, Default)]
struct Path {
    base: Option<Duration>,
    /// Sum of the round-trip times of this round in nanoseconds, and the number of round-trip times.
    sum: u64,
    samples: u32,
    /// Highest segment that left.
    sent: Option<Tsn>,
    /// Last segment of the round. The acknowledgement of a later segment ends the round.
    round_end: Option<Tsn>,
    /// Last round that ended. The last round is stored until the window handles it.
    ended: Option<Round>,
    /// α_r in segments. `None` until the queue has reached this length.
    alpha: Option<f64>,
    /// x_r in segments per second, measured at the same time as α_r.
    rate: Option<f64>,
    /// Least queueing delay since the last draining.
    least_queue: Option<f64>,
    /// True if the window follows the queue, even if it is below the threshold.
    follows_queue: bool,
    /// Window in segments at which slow start after draining ends.
    refill: f64,
    /// Window at the end of slow start.
    leaving: Option<f64>,
}

/// Result of a finished round trip.
#[derive(Copy, Clone, PartialEq, Debug)]
enum Round {
    /// Too few round-trip times were measured.
    Unmeasured,
    /// Mean round-trip time of the round, and least round-trip time ever, in seconds.
    Measured { rtt: f64, base: f64 },
}

impl Path {
    /// Takes a round-trip time that lies between two bounds. The peer may have delayed the SACK. The delay of the SACK
    /// does not count as a queue.
    fn sample(&mut self, (least, most): (Duration, Duration)) {
        // A path without any delay would cause a division by zero.
        let most = most.max(Duration::from_micros(1));
        let base = self.base.map_or(most, |b| b.min(most));
        self.base = Some(base);
        self.sum = self.sum.saturating_add(least.max(base).as_nanos() as u64);
        self.samples += 1;
    }

    fn on_acked(&mut self, now: Instant, ack: &AckInfo) {
        // SCTP measures one chunk per round trip. The departure time of the newest chunk is known more often.
        let newest = ack.newest_rtt(now);
        if let Some(rtt) = newest.or(ack.rtt.map(|rtt| (rtt, rtt))) {
            self.sample(rtt);
        }
        let newest = ack.newly_acked_range.map(|(_, high)| high);
        if let (Some(end), Some(newest)) = (self.round_end, newest)
            && newest.is_after(end)
        {
            self.finish();
        }
    }

    fn finish(&mut self) {
        let base = self.base.filter(|_| self.samples >= SAMPLES);
        self.ended = Some(base.map_or(Round::Unmeasured, |base| Round::Measured {
            rtt: self.sum as f64 / f64::from(self.samples) / 1e9,
            base: base.as_nanos() as f64 / 1e9,
        }));
        (self.sum, self.samples) = (0, 0);
        self.round_end = self.sent;
    }

    /// Begins a new round with the next segment. Only the base round-trip time is kept.
    fn forget_round(&mut self) {
        *self = Path { base: self.base, sent: self.sent, round_end: self.sent, ..Path::default() };
    }

    /// diff for a window of `w`, in whole segments.
    fn queued(w: f64, rtt: f64, base: f64) -> f64 {
        libm::floor(w * (rtt - base).max(0.0) / rtt)
    }

    /// Ends slow start or the refill after draining. Returns the window, less the length of the queue.
    fn leave(&mut self, w: f64, rtt: f64, base: f64) -> f64 {
        (self.follows_queue, self.refill) = (true, 0.0);
        w.min(w * base / rtt + 1.0)
    }

    /// Step of Vegas: the window grows or shrinks by one segment. α determines the direction.
    fn step(&mut self, diff: f64, alpha: f64) -> f64 {
        if diff > alpha {
            self.follows_queue = true;
            -1.0
        } else if diff < alpha {
            1.0
        } else {
            0.0
        }
    }

    /// Returns the share of the window of `w` that remains after draining. Returns `None` if the queue has not doubled.
    fn drain(&mut self, w: f64, rtt: f64, base: f64) -> f64 {
        let queue = rtt - base;
        if queue <= 0.0 {
            return 1.0;
        }
        let least = self.least_queue.map_or(queue, |q| q.min(queue));
        self.least_queue = Some(least);
        if queue < 2.0 * least {
            return 1.0;
        }
        (self.least_queue, self.follows_queue, self.refill) = (None, false, REFILL * w);
        base / (2.0 * rtt)
    }
}

impl Wvegas {
    /// The state before the first ACK.
    pub fn new(config: WvegasConfig) -> Self {
        Wvegas { config, paths: Vec::new() }
    }

    fn of(&mut self, path: PathId) -> &mut Path {
        if self.paths.len() <= path.index() {
            self.paths.resize_with(path.index() + 1, Path::default);
        }
        &mut self.paths[path.index()]
    }

    /// Returns α of `path` with the window `w`. It is a share of the total α, in proportion to the rates of all paths.
    fn weigh(&mut self, view: &View<'_>, path: PathId, w: f64, rtt: f64) -> f64 {
        let rate = w / rtt;
        self.of(path).rate = Some(rate);
        let rates = Coupled::all(view).filter_map(|c| self.paths.get(c.path.index())?.rate);
        let weight = rate / rates.sum::<f64>();
        let alpha = libm::floor(weight * self.config.total_alpha).max(MIN_ALPHA);
        self.of(path).alpha = Some(alpha);
        alpha
    }

    /// Returns the new window after a round of congestion avoidance with the window `w`.
    fn follow(&mut self, now: &Progress<'_>, w: f64, rtt: f64, base: f64) -> f64 {
        let WvegasConfig { initial_alpha, drain, .. } = self.config;
        let diff = Path::queued(w, rtt, base);
        let mut alpha = self.of(now.path).alpha.unwrap_or(initial_alpha);
        if diff >= alpha {
            alpha = self.weigh(now.view, now.path, w, rtt);
        }
        let path = self.of(now.path);
        let stepped = w + path.step(diff, alpha);
        if drain { stepped * path.drain(w, rtt, base) } else { stepped }
    }
}

impl Avoidance for Wvegas {
    fn on_signal(&mut self, view: &View<'_>, signal: &Signal<'_>) {
        match signal {
            Signal::Sent(chunk) => {
                let path = self.of(chunk.path());
                if path.sent.is_none_or(|sent| chunk.tsn.is_after(sent)) {
                    path.sent = Some(chunk.tsn);
                    path.round_end = path.round_end.or(path.sent);
                }
            }
            // A SACK that acknowledges nothing repeats the round-trip time of the next SACK.
            Signal::Acked(ack) if ack.newly_acked > 0 => self.of(ack.path).on_acked(view.now, ack),
            Signal::LossEvent { path, trigger, .. } if *trigger != LossTrigger::HeadOfLine => {
                self.of(*path).forget_round();
            }
            Signal::PathChanged(path) if closed(view, *path) => {
                *self.of(*path) = Path::default();
            }
            _ => {}
        }
    }

    fn ends_slow_start(&mut self, now: &Progress<'_>) -> bool {
        if Coupled::of(now.view, now.path).is_none() {
            return false;
        }
        let (w, gamma) = (now.cwnd / now.segment, self.config.gamma);
        let path = self.of(now.path);
        if !path.follows_queue
            && let Some(Round::Measured { rtt, base }) = path.ended.take()
            && Path::queued(w, rtt, base) > gamma
        {
            path.leaving = Some(path.leave(w, rtt, base));
        }
        path.follows_queue
    }

    fn increase(&mut self, now: &Progress<'_>) -> f64 {
        if Coupled::of(now.view, now.path).is_none() {
            return now.reno();
        }
        let (w, gamma) = (now.cwnd / now.segment, self.config.gamma);
        let path = self.of(now.path);
        let (ended, refill) = (path.ended.take(), path.refill);
        let after = if let Some(left) = path.leaving.take() {
            left.min(w)
        } else if w < refill {
            match ended {
                Some(Round::Measured { rtt, base }) if Path::queued(w, rtt, base) > gamma => {
                    path.leave(w, rtt, base)
                }
                _ => return now.acked.min(now.segment).min(refill * now.segment - now.cwnd),
            }
        } else {
            path.refill = 0.0;
            match ended {
                None => return 0.0,
                Some(Round::Unmeasured) => return now.reno(),
                Some(Round::Measured { rtt, base }) => self.follow(now, w, rtt, base),
            }
        };
        (after.max(FLOOR) - w) * now.segment
    }

    fn pause(&mut self, path: PathId) {
        let path = self.of(path);
        path.forget_round();
        path.base = None;
    }

    fn gauges(&self, path: PathId, out: &mut Vec<(&'static str, f64)>) {
        let Some(path) = self.paths.get(path.index()) else { return };
        out.push(("wvegas_alpha", path.alpha.unwrap_or(self.config.initial_alpha)));
        if let Some(base) = path.base {
            out.push(("base_rtt_ms", base.as_secs_f64() * 1e3));
        }
    }
}

//! Cap on redundancy: the bytes that parts of a scheme may send in addition to the necessary ones
//! ([`crate::config::TransportConfig::redundancy`]).
//!
//! The allowance is at most the amount that the media of the last ten seconds earned, so that savings of a long time do
//! not leave as one burst.

use super::Sender;
use crate::association::context::Context;
use crate::ledger::Ledger;
use crate::time::Instant;

/// Number of seconds over which redundancy is saved up.
const SECONDS: usize = 10;

/// The cap, if there is one.
#[derive(Debug, Default)]
pub(super) struct Redundancy {
    cap: Option<Cap>,
    /// True if a due repair symbol was refused and none has left since.
    short: bool,
}

#[derive(Debug)]
struct Cap {
    share: f64,
    ledger: Ledger,
    /// Bytes of media in each of the last seconds.
    media: [u64; SECONDS],
    /// Second that is counted now.
    second: u64,
}

impl Redundancy {
    /// Creates a cap of `share` of the bytes of media; `None`: there is no cap.
    pub fn new(share: Option<f64>) -> Self {
        let cap = |share| Cap { share, ledger: Ledger::new(share, 0), media: [0; SECONDS], second: 0 };
        Redundancy { cap: share.map(cap), short: false }
    }

    /// Counts media of `bytes` that leave for the first time.
    #[inline]
    pub fn earn(&mut self, now: Instant, bytes: usize) {
        if let Some(cap) = &mut self.cap {
            cap.pass(now);
            cap.media[cap.second as usize % SECONDS] += bytes as u64;
            cap.bound();
            cap.ledger.earn(bytes);
        }
    }

    /// Returns whether `bytes` of redundancy may leave now.
    pub fn admits(&mut self, now: Instant, bytes: usize) -> bool {
        self.cap.as_mut().is_none_or(|cap| {
            cap.pass(now);
            cap.ledger.allows(bytes)
        })
    }

    /// Spends `bytes` if they may leave. Returns whether they may.
    pub fn spend(&mut self, now: Instant, bytes: usize) -> bool {
        let admitted = self.admits(now, bytes);
        if let Some(cap) = self.cap.as_mut().filter(|_| admitted) {
            cap.ledger.spend(bytes);
        }
        admitted
    }

    /// Panics if more was spent than the cap allows.
    #[cfg(any(test, feature = "testing"))]
    pub fn assert_kept(&self) {
        self.cap.iter().for_each(|cap| cap.ledger.assert_kept());
    }
}

impl Cap {
    /// Drops counts of seconds that are outside the period.
    fn pass(&mut self, now: Instant) {
        let second = now.as_nanos() / 1_000_000_000;
        if second == self.second {
            return;
        }
        let passed = (second - self.second).min(SECONDS as u64);
        for past in 0..passed {
            self.media[(second - past) as usize % SECONDS] = 0;
        }
        self.second = second;
        self.bound();
    }

    fn bound(&mut self) {
        let media: u64 = self.media.iter().sum();
        self.ledger.bound((self.share * media as f64).ceil() as u64);
    }
}

impl Sender {
    /// Returns whether the cap permits `bytes` of redundant user data. Asking does not spend them.
    pub fn admits_redundancy(&mut self, now: Instant, bytes: usize) -> bool {
        self.redundancy.admits(now, bytes)
    }

    /// Spends `bytes` of redundant user data, unless the cap forbids it. A refusal is counted.
    pub fn spend_redundancy(&mut self, cx: &mut Context, now: Instant, bytes: usize) -> bool {
        let spent = self.redundancy.spend(now, bytes);
        cx.stats.redundancy_refused += u64::from(!spent);
        spent
    }

    /// Returns whether the cap permits a due repair symbol. The cap is spent only when it leaves. Consecutive refusals
    /// are counted once.
    pub fn admits_repair(&mut self, cx: &mut Context, now: Instant, bytes: usize) -> bool {
        let admitted = self.redundancy.admits(now, bytes);
        cx.stats.redundancy_refused += u64::from(!admitted && !self.redundancy.short);
        self.redundancy.short = !admitted;
        admitted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(s: f64) -> Instant {
        Instant::from_nanos((s * 1e9) as u64)
    }

    #[test]
    fn without_a_cap_everything_may_leave() {
        let mut none = Redundancy::new(None);
        assert!(none.spend(at(0.0), usize::MAX) && none.spend(at(0.0), usize::MAX));
    }

    #[test]
    fn it_is_a_share_of_what_left() {
        let mut cap = Redundancy::new(Some(0.05));
        assert!(!cap.spend(at(1.0), 1));
        (0..20).for_each(|_| cap.earn(at(1.0), 1000));
        assert!(cap.admits(at(1.0), 1000) && cap.spend(at(1.0), 1000) && !cap.spend(at(1.0), 1));
        cap.assert_kept();
    }

    /// 5 % of 1 Mbyte/s for a minute are 3 Mbyte, of which the share of the last ten seconds is left.
    #[test]
    fn ten_seconds_are_saved_and_no_more() {
        let mut cap = Redundancy::new(Some(0.05));
        for n in 0..60_000 {
            cap.earn(at(f64::from(n) / 1000.0), 1000);
        }
        assert!(!cap.admits(at(59.999), 500_001) && cap.admits(at(59.999), 499_000));
        assert!(!cap.admits(at(65.0), 300_000) && cap.admits(at(65.0), 200_000), "half of it is too old");
        assert!(!cap.admits(at(1000.0), 1), "all of it is");
    }
}

//! Cap on redundancy: the bytes that a scheme may send in addition to the media
//! ([`crate::config::TransportConfig::redundancy`]).
//!
//! The allowance is at most the amount that the media of the last ten seconds earned. Savings of a longer time
//! therefore cannot leave as one burst.

use super::Sender;
use crate::association::context::Context;
use crate::ledger::Ledger;
use crate::time::Instant;

/// Number of seconds over which unused redundancy is saved.
const SECONDS: usize = 10;

/// The cap; `None` if redundancy is unlimited.
#[derive(Debug, Default)]
pub(super) struct Redundancy {
    cap: Option<Cap>,
    /// True if the cap refused a repair symbol that was due, and no repair symbol has left since.
    short: bool,
}

#[derive(Debug)]
struct Cap {
    share: f64,
    ledger: Ledger,
    /// Bytes of media in each of the last seconds, by second.
    media: [u64; SECONDS],
    /// The current second.
    second: u64,
}

impl Redundancy {
    /// Creates a cap of `share` times the bytes of media. `None` creates no cap.
    pub fn new(share: Option<f64>) -> Self {
        let cap = |share| Cap { share, ledger: Ledger::new(share, 0), media: [0; SECONDS], second: 0 };
        Redundancy { cap: share.map(cap), short: false }
    }

    /// Counts `bytes` of media that are sent for the first time.
    #[inline]
    pub fn earn(&mut self, now: Instant, bytes: usize) {
        if let Some(cap) = &mut self.cap {
            cap.pass(now);
            cap.media[cap.second as usize % SECONDS] += bytes as u64;
            cap.bound();
            cap.ledger.earn(bytes);
        }
    }

    /// Returns whether `bytes` of redundancy may be sent now.
    pub fn admits(&mut self, now: Instant, bytes: usize) -> bool {
        self.cap.as_mut().is_none_or(|cap| {
            cap.pass(now);
            cap.ledger.allows(bytes)
        })
    }

    /// Spends `bytes` of redundancy, if they may be sent. Returns whether they may be sent.
    pub fn spend(&mut self, now: Instant, bytes: usize) -> bool {
        let admitted = self.admits(now, bytes);
        if let Some(cap) = self.cap.as_mut().filter(|_| admitted) {
            cap.ledger.spend(bytes);
        }
        admitted
    }

    /// Panics if more redundancy was spent than the cap allows.
    #[cfg(any(test, feature = "testing"))]
    pub fn assert_kept(&self) {
        self.cap.iter().for_each(|cap| cap.ledger.assert_kept());
    }
}

impl Cap {
    /// Drops the counts of seconds before the last ten.
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
    /// Returns whether the cap permits `bytes` of redundant user data. The call does not spend these bytes.
    pub fn admits_redundancy(&mut self, now: Instant, bytes: usize) -> bool {
        self.redundancy.admits(now, bytes)
    }

    /// Spends `bytes` of redundant user data, unless the cap forbids it. A refusal is counted in the association's
    /// counters.
    pub fn spend_redundancy(&mut self, cx: &mut Context, now: Instant, bytes: usize) -> bool {
        let spent = self.redundancy.spend(now, bytes);
        cx.stats.redundancy_refused += u64::from(!spent);
        spent
    }

    /// Returns whether the cap permits a due repair symbol. The symbol's bytes are spent only when it is sent.
    /// Consecutive refusals count as one.
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

    /// 5 % of 1 Mbyte/s over a minute are 3 Mbyte. Only the share of the last ten seconds stays available.
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

//! Limits of the work of decoding. The agreement of the handshake limits memory. This module limits work. Work is
//! counted in bytes of matrix rows that decoders read or write
//! ([`WindowReceiver::work`](strandcast_coding::windows::WindowReceiver::work)). Arriving bytes permit work of the
//! receiver. The permitted work is the work for the repair that a sender's own ledger would permit for these bytes.
//!
//! | is | by |
//! |---|---|
//! | earned with each byte of a source symbol (in blocks: of any symbol) | the most work that an honest sender causes with it |
//! | earned with time | [`EACH_SECOND`], about a hundredth of a processor's time: short messages and small blocks cost more than their bytes say |
//! | spent on each symbol that is decoded | the work that it was |
//! | saved | a burst: what it takes to give half a window back |
//!
//! A symbol is decoded while the saved work is positive. Decoding may cost more than the savings. Later symbols then
//! wait until the debt is paid. Over any time, the work is therefore at most the earnings, a burst and the work of one
//! symbol. Nothing is earned before the application reads from an association
//! ([`EndpointConfig::decodes_unasked`](crate::endpoint::EndpointConfig::decodes_unasked)). Until then only the initial
//! savings are available, for the association's first messages.

use core::ops::RangeInclusive;

use super::agreement::{Agreed, Mode};
use crate::time::{Duration, Instant};

/// Work per second that is earned without symbols while the application reads. By measurement it is about a hundredth
/// of a processor. The value was chosen.
const EACH_SECOND: u64 = 32 << 20;
/// Bounds of the work credit before the application reads. The upper bound applies if the application can read nothing
/// before the first block is decoded.
const UNWANTED: RangeInclusive<u64> = 1 << 20..=16 << 20;
/// Bounds of the saved work. When the application begins to read, an association has the lower bound in addition to
/// [`UNWANTED`]. The values were chosen.
const BURST: RangeInclusive<u64> = 16 << 20..=256 << 20;
/// Bounds of the work that an arriving byte earns. Within the bounds, a byte earns the work that an honest sender of
/// the agreed shape can cause.
const PER_BYTE: RangeInclusive<u64> = 256..=2048;

/// Maximum work of one symbol. The maximum work of a symbol occurs when a window drops all its content. A symbol with
/// the maximum work may cost more than the savings.
#[cfg(any(test, feature = "testing"))]
const ONE: u64 = 64 << 20;

/// Returns the maximum work over `time` with `bytes` of symbols, for tests and fuzzers. No sequence of symbols may
/// exceed this work.
#[cfg(any(test, feature = "testing"))]
pub fn most(bytes: u64, time: Duration) -> u64 {
    let seconds = time.as_nanos().div_ceil(1_000_000_000) as u64;
    PER_BYTE.end() * bytes + EACH_SECOND * seconds + UNWANTED.end() + BURST.start() + ONE
}

/// Budget of the work of decoding; see the [module](self).
#[derive(Clone, Debug)]
pub(super) struct Budget {
    /// Work earned per arriving byte.
    rate: u64,
    most: i64,
    /// Maximum saved work while the application does not read.
    unwanted: i64,
    /// Saved work. A negative value is a debt.
    saved: i64,
    /// Time up to which earnings have been added.
    paid: Instant,
    /// True if the application reads received data.
    wanted: bool,
}

impl Budget {
    pub fn new(agreed: &Agreed, wanted: bool) -> Self {
        let (sources, length) = (usize::from(agreed.sources), usize::from(agreed.symbol_length));
        let held = if agreed.code.slides() { agreed.window().held } else { sources };
        let each = agreed.code.fair_work(sources, held, length);
        let rate = each.div_ceil(length as u64).clamp(*PER_BYTE.start(), *PER_BYTE.end());
        let half_a_window = each * sources as u64 / 2;
        let most = half_a_window.clamp(*BURST.start(), *BURST.end());
        let first = if agreed.mode == Mode::Blocks { half_a_window } else { 0 };
        let unwanted = first.clamp(*UNWANTED.start(), *UNWANTED.end());
        let (most, unwanted) = (most as i64, unwanted as i64);
        let mut budget = Budget { rate, most, unwanted, saved: unwanted, paid: Instant::ZERO, wanted: false };
        budget.want(wanted);
        budget
    }

    /// Sets whether the application reads received data from now on.
    pub fn want(&mut self, wanted: bool) {
        match (self.wanted, wanted) {
            (false, true) => self.save(*BURST.start()),
            (true, false) => self.saved = self.saved.min(self.unwanted),
            _ => {}
        }
        self.wanted = wanted;
    }

    /// Advances the budget's clock to `now`.
    pub fn advance(&mut self, now: Instant) {
        let since = self.paid;
        self.paid = since.max(now);
        if since > Instant::ZERO && self.wanted {
            let passed = (self.paid - since).min(Duration::from_secs(1)).as_nanos() as u64;
            self.save(passed * EACH_SECOND / 1_000_000_000);
        }
    }

    /// Adds credit for a symbol of `bytes` bytes that may contribute to a repair.
    pub fn earn(&mut self, bytes: usize) {
        if self.wanted {
            self.save(self.rate * bytes as u64);
        }
    }

    fn save(&mut self, work: u64) {
        let work = i64::try_from(work).unwrap_or(i64::MAX);
        self.saved = self.saved.saturating_add(work).min(self.most);
    }

    /// Returns whether a symbol may be decoded.
    pub fn allows(&self) -> bool {
        self.saved > 0
    }

    /// Spends the work of a decoded symbol.
    pub fn spend(&mut self, work: u64) {
        self.saved = self.saved.saturating_sub(i64::try_from(work).unwrap_or(i64::MAX));
    }

    /// Returns the time at which a symbol may be decoded even if no other symbol arrives. Returns `None` if it may be
    /// decoded now, or only once the application reads.
    pub fn allows_at(&self) -> Option<Instant> {
        let owed = u64::try_from(1 - self.saved).ok().filter(|owed| *owed > 0 && self.wanted)?;
        // At most a second is paid at a time, as in `advance`.
        let nanos = (owed.min(EACH_SECOND) * 1_000_000_000).div_ceil(EACH_SECOND);
        Some(self.paid + Duration::from_nanos(nanos))
    }
}

#[cfg(test)]
mod tests {
    use strandcast_coding::Code;

    use super::*;

    fn agreed(mode: Mode, code: Code) -> Agreed {
        Agreed { mode, code, sources: 128, symbol_length: 1344, blocks: 1 }
    }

    #[test]
    fn what_is_spent_was_earned_but_for_one_symbol() {
        let mut budget = Budget::new(&agreed(Mode::Repair, Code::Sliding), true);
        budget.advance(Instant::from_millis(1));
        assert!(budget.allows() && budget.allows_at().is_none());
        budget.spend(100 << 20);
        assert!(!budget.allows());
        // A source symbol of 1344 bytes pays for the work of 128 such symbols.
        let missing = |b: &Budget| -b.saved;
        let before = missing(&budget);
        budget.earn(1344);
        let each = before - missing(&budget);
        assert!((4 * 128 * (256 + 1344)..2048 * 1344).contains(&each), "{each}");
        // Time also pays, at most a second at a time.
        let mut waited = Duration::ZERO;
        while let Some(at) = budget.allows_at() {
            waited += at - budget.paid;
            budget.advance(at);
        }
        assert!(budget.allows());
        assert_eq!(waited.as_secs(), 2, "{waited:?}");
    }

    #[test]
    fn before_it_is_wanted_nothing_is_earned() {
        for (mode, code) in [(Mode::Repair, Code::Sliding), (Mode::Blocks, Code::Rlc)] {
            let mut budget = Budget::new(&agreed(mode, code), false);
            let first = budget.saved as u64;
            assert!(UNWANTED.contains(&first));
            budget.spend(first + 1);
            for second in 1..100 {
                budget.earn(100_000);
                budget.advance(Instant::from_millis(1000 * second));
            }
            assert!(!budget.allows() && budget.allows_at().is_none(), "it is not wanted");
            budget.want(true);
            assert!(budget.allows());
            budget.want(false);
            assert!(budget.saved as u64 <= *UNWANTED.end());
        }
    }

    #[test]
    fn what_is_saved_has_a_bound() {
        let mut budget = Budget::new(&agreed(Mode::Repair, Code::RaptorQ), true);
        (0..1000).for_each(|_| budget.earn(1 << 20));
        assert!(BURST.contains(&(budget.saved as u64)), "{}", budget.saved);
        let saved = budget.saved;
        budget.earn(1 << 30);
        assert_eq!(budget.saved, saved, "it is the bound");
    }
}

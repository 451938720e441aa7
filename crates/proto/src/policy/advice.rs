//! Advice of a scheme to the application.

/// Rates that a scheme recommends to an encoder, in payload bits per second.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Advice {
    /// Rate of data that now arrive in time.
    pub rate_bps: u64,
    /// Rate of data that would still arrive in time if the path with the most data failed.
    pub safe_bps: u64,
}

impl Advice {
    /// Returns true if a rate differs from the same rate of `other` by at least 2 % of the rate of `other`.
    pub(crate) fn differs(self, other: Advice) -> bool {
        let differs = |a: u64, b: u64| a.abs_diff(b).saturating_mul(50) >= b.max(1);
        differs(self.rate_bps, other.rate_bps) || differs(self.safe_bps, other.safe_bps)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_percent_make_a_difference() {
        let advice = |rate_bps, safe_bps| Advice { rate_bps, safe_bps };
        let last = advice(1000, 100);
        assert!(!advice(1019, 101).differs(last) && advice(1020, 100).differs(last));
        assert!(advice(980, 100).differs(last) && advice(1000, 98).differs(last));
        assert!(advice(1, 0).differs(advice(0, 0)) && !advice(0, 0).differs(advice(0, 0)));
    }
}

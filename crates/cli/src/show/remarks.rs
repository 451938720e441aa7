//! What schemes have to say, told once.

use std::time::Duration;
use strandcast_proto::time::Instant;

/// How long a remark must have held: what a scheme misses at first may come yet.
const HOLD: Duration = Duration::from_secs(2);

/// Remembers which remarks were told.
#[derive(Debug, Default)]
pub(crate) struct Remarks {
    /// Those that hold, and since when.
    holding: Vec<(&'static str, Instant)>,
    told: Vec<&'static str>,
    scheme: String,
}

impl Remarks {
    /// Takes in the remarks that `scheme` makes now; lines for those that are to be told now.
    pub(crate) fn look(&mut self, now: Instant, scheme: &str, remarks: &[&'static str]) -> Vec<String> {
        if self.scheme != scheme {
            self.scheme = scheme.to_owned();
        }
        self.holding.retain(|(held, _)| remarks.contains(held));
        for remark in remarks {
            if !self.holding.iter().any(|(held, _)| held == remark) {
                self.holding.push((remark, now));
            }
        }
        self.tell(|since| now - since >= HOLD)
    }

    /// At the end, lines for those that hold and were not told.
    pub(crate) fn rest(&mut self) -> Vec<String> {
        self.tell(|_| true)
    }

    /// Another association: nothing holds yet. What was told is not told again.
    pub(crate) fn restart(&mut self) {
        self.holding.clear();
    }

    fn tell(&mut self, due: impl Fn(Instant) -> bool) -> Vec<String> {
        let Remarks { holding, told, scheme } = self;
        let mut lines = Vec::new();
        for (remark, since) in holding.iter() {
            if due(*since) && !told.contains(remark) {
                told.push(remark);
                lines.push(format!("scheme {scheme}: {remark}"));
            }
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn told_once_and_only_if_they_last() {
        let mut remarks = Remarks::default();
        let at = Instant::from_millis;
        assert_eq!(remarks.look(at(0), "s", &["a", "b"]), Vec::<String>::new());
        // One is over before its time, and begins anew.
        assert_eq!(remarks.look(at(1999), "s", &["b"]), Vec::<String>::new());
        assert_eq!(remarks.look(at(2000), "s", &["a", "b"]), ["scheme s: b"]);
        assert_eq!(remarks.look(at(3999), "s", &["a", "b"]), Vec::<String>::new());
        assert_eq!(remarks.look(at(4000), "s", &["a", "b"]), ["scheme s: a"]);
        assert_eq!(remarks.look(at(5000), "s", &[]), Vec::<String>::new());
        assert_eq!(remarks.look(at(9000), "s", &["a"]), Vec::<String>::new());
        assert_eq!(remarks.rest(), Vec::<String>::new());
    }

    #[test]
    fn the_end_and_another_association() {
        let mut remarks = Remarks::default();
        remarks.look(Instant::from_millis(900), "s", &["a", "b"]);
        // Another association's clock begins anew, and with it what holds.
        remarks.restart();
        assert_eq!(remarks.look(Instant::ZERO, "s", &["b"]), Vec::<String>::new());
        assert_eq!(remarks.rest(), ["scheme s: b"]);
        assert_eq!(remarks.rest(), Vec::<String>::new());
    }
}

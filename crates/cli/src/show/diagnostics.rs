//! Diagnostics of schemes, each reported once.

use std::time::Duration;

use strandcast_proto::time::Instant;

/// How long a diagnostic must hold before it is reported: what is missing at first may arrive soon.
const HOLD: Duration = Duration::from_secs(2);

/// Remembers reported diagnostics.
#[derive(Debug, Default)]
pub(crate) struct Diagnostics {
    /// Current diagnostics and their start.
    holding: Vec<(&'static str, Instant)>,
    reported: Vec<&'static str>,
    scheme: String,
}

impl Diagnostics {
    /// Updates with the current diagnostics of `scheme`; returns lines to report.
    pub(crate) fn update(&mut self, now: Instant, scheme: &str, diagnostics: &[&'static str]) -> Vec<String> {
        if self.scheme != scheme {
            self.scheme = scheme.to_owned();
        }
        self.holding.retain(|(held, _)| diagnostics.contains(held));
        for diagnostic in diagnostics {
            if !self.holding.iter().any(|(held, _)| held == diagnostic) {
                self.holding.push((diagnostic, now));
            }
        }
        self.report(|since| now - since >= HOLD)
    }

    /// At the end, lines for current diagnostics not yet reported.
    pub(crate) fn rest(&mut self) -> Vec<String> {
        self.report(|_| true)
    }

    /// Resets for another association. Reported diagnostics are not repeated.
    pub(crate) fn restart(&mut self) {
        self.holding.clear();
    }

    fn report(&mut self, due: impl Fn(Instant) -> bool) -> Vec<String> {
        let Diagnostics { holding, reported, scheme } = self;
        let mut lines = Vec::new();
        for (diagnostic, since) in holding.iter() {
            if due(*since) && !reported.contains(diagnostic) {
                reported.push(diagnostic);
                lines.push(format!("scheme {scheme}: {diagnostic}"));
            }
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reported_once_and_only_if_they_last() {
        let mut diagnostics = Diagnostics::default();
        let at = Instant::from_millis;
        assert_eq!(diagnostics.update(at(0), "s", &["a", "b"]), Vec::<String>::new());
        // One ends too early and starts again.
        assert_eq!(diagnostics.update(at(1999), "s", &["b"]), Vec::<String>::new());
        assert_eq!(diagnostics.update(at(2000), "s", &["a", "b"]), ["scheme s: b"]);
        assert_eq!(diagnostics.update(at(3999), "s", &["a", "b"]), Vec::<String>::new());
        assert_eq!(diagnostics.update(at(4000), "s", &["a", "b"]), ["scheme s: a"]);
        assert_eq!(diagnostics.update(at(5000), "s", &[]), Vec::<String>::new());
        assert_eq!(diagnostics.update(at(9000), "s", &["a"]), Vec::<String>::new());
        assert_eq!(diagnostics.rest(), Vec::<String>::new());
    }

    #[test]
    fn the_end_and_another_association() {
        let mut diagnostics = Diagnostics::default();
        diagnostics.update(Instant::from_millis(900), "s", &["a", "b"]);
        // Another association's clock starts at zero, and so do its diagnostics.
        diagnostics.restart();
        assert_eq!(diagnostics.update(Instant::ZERO, "s", &["b"]), Vec::<String>::new());
        assert_eq!(diagnostics.rest(), ["scheme s: b"]);
        assert_eq!(diagnostics.rest(), Vec::<String>::new());
    }
}

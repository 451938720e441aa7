//! Diagnostics of schemes, each reported once.

use std::fmt;
use std::time::Duration;

use strandcast_proto::time::Instant;

/// Time for which a diagnostic must hold before it is reported. Data that are missing at the start may arrive soon.
const HOLD: Duration = Duration::from_secs(2);

/// A scheme's diagnostic of its own state.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Diagnostic {
    /// Name of the scheme.
    pub scheme: String,
    /// Text of the diagnostic, for example data that the scheme lacks.
    pub text: &'static str,
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "scheme {}: {}", self.scheme, self.text)
    }
}

/// Diagnostics that were reported, and diagnostics that may be reported later.
#[derive(Debug, Default)]
pub struct Diagnostics {
    /// Current diagnostics, each with the time of its start.
    holding: Vec<(&'static str, Instant)>,
    reported: Vec<&'static str>,
    scheme: String,
}

impl Diagnostics {
    /// Takes the current diagnostics of `scheme`. Returns the diagnostics to report.
    pub fn update(&mut self, now: Instant, scheme: &str, diagnostics: &[&'static str]) -> Vec<Diagnostic> {
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

    /// Returns current diagnostics that are not reported yet, at the end of a stream.
    pub fn rest(&mut self) -> Vec<Diagnostic> {
        self.report(|_| true)
    }

    /// Resets for another association. Reported diagnostics are not repeated.
    pub fn restart(&mut self) {
        self.holding.clear();
    }

    fn report(&mut self, due: impl Fn(Instant) -> bool) -> Vec<Diagnostic> {
        let Diagnostics { holding, reported, scheme } = self;
        let mut found = Vec::new();
        for (diagnostic, since) in holding.iter() {
            if due(*since) && !reported.contains(diagnostic) {
                reported.push(diagnostic);
                found.push(Diagnostic { scheme: scheme.clone(), text: diagnostic });
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(of: Vec<Diagnostic>) -> Vec<String> {
        of.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn reported_once_and_only_if_they_last() {
        let mut diagnostics = Diagnostics::default();
        let at = Instant::from_millis;
        assert_eq!(lines(diagnostics.update(at(0), "s", &["a", "b"])), Vec::<String>::new());
        // A diagnostic ends too early and starts again.
        assert_eq!(lines(diagnostics.update(at(1999), "s", &["b"])), Vec::<String>::new());
        assert_eq!(lines(diagnostics.update(at(2000), "s", &["a", "b"])), ["scheme s: b"]);
        assert_eq!(lines(diagnostics.update(at(3999), "s", &["a", "b"])), Vec::<String>::new());
        assert_eq!(lines(diagnostics.update(at(4000), "s", &["a", "b"])), ["scheme s: a"]);
        assert_eq!(lines(diagnostics.update(at(5000), "s", &[])), Vec::<String>::new());
        assert_eq!(lines(diagnostics.update(at(9000), "s", &["a"])), Vec::<String>::new());
        assert_eq!(lines(diagnostics.rest()), Vec::<String>::new());
    }

    #[test]
    fn the_end_and_another_association() {
        let mut diagnostics = Diagnostics::default();
        diagnostics.update(Instant::from_millis(900), "s", &["a", "b"]);
        // The clock of another association starts at zero, so that its diagnostics start again.
        diagnostics.restart();
        assert_eq!(lines(diagnostics.update(Instant::ZERO, "s", &["b"])), Vec::<String>::new());
        assert_eq!(lines(diagnostics.rest()), ["scheme s: b"]);
        assert_eq!(lines(diagnostics.rest()), Vec::<String>::new());
    }
}

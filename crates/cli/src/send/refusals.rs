//! What a sender makes of a receiver that refuses it.

use crate::args::Retry;
use std::time::Duration;
use tokio::time::Instant;

/// An association that has lasted so long was let in: at the receiver's door the wait is shorter.
const LET_IN: Duration = Duration::from_secs(5);

/// Remembers refusals, and whether there was anything else. A refusal need not be the receiver's own word: whoever has
/// seen a packet can say it in its name.
#[derive(Debug)]
pub(super) struct Refusals {
    /// The user has said how long to try.
    pub(super) asked: bool,
    /// Some association was let in.
    pub(super) let_in: bool,
    /// When the association was made.
    up: Instant,
    /// When the first refusal came of those since the stream was last received.
    since: Option<Instant>,
}

impl Refusals {
    /// An association was made `now`; `asked`: the user has said how long to try.
    pub(super) fn new(asked: bool, now: Instant) -> Self {
        Refusals { asked, let_in: false, up: now, since: None }
    }

    /// Another association was made; whether people should hear of it. Among refusals they need not.
    pub(super) fn connected(&mut self, now: Instant) -> bool {
        self.up = now;
        self.since.is_none()
    }

    /// The association is there, still; whether people should hear that it is received again.
    pub(super) fn holds(&mut self, now: Instant) -> bool {
        let holds = now - self.up >= LET_IN;
        self.let_in |= holds;
        holds && self.since.take().is_some()
    }

    /// Whether a refusal is no reason to end.
    pub(super) fn endures(&self, retry: Retry, busy: bool) -> bool {
        self.asked || self.let_in && (busy || retry == Retry::Forever)
    }

    /// The association was refused. `None`: that is the end. Else whether it is the first refusal of several.
    pub(super) fn refused(&mut self, now: Instant, retry: Retry, busy: bool) -> Option<bool> {
        self.holds(now);
        let first = self.since.is_none();
        let since = *self.since.get_or_insert(now);
        let over = matches!(retry, Retry::For(time) if now - since >= time);
        (self.endures(retry, busy) && !over).then_some(first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: Retry = Retry::For(Duration::from_secs(60));

    #[test]
    fn for_as_long_as_asked() {
        let begun = Instant::now();
        let at = |s: u64| begun + Duration::from_secs(s);
        let mut refusals = Refusals::new(true, begun);
        assert_eq!(refusals.refused(at(1), MINUTE, false), Some(true));
        for s in (2..61).step_by(2) {
            assert!(!refusals.connected(at(s)), "once is enough");
            assert_eq!(refusals.refused(at(s), MINUTE, false), Some(false), "after {s} s");
        }
        assert_eq!(refusals.refused(at(61), MINUTE, false), None);
        let mut forever = Refusals::new(true, begun);
        assert!((1..100_000).step_by(100).all(|s| {
            forever.connected(at(s));
            forever.refused(at(s), Retry::Forever, false).is_some()
        }));
    }

    #[test]
    fn unasked_only_what_was_received_before_is_tried_again() {
        let begun = Instant::now();
        let at = |s: u64| begun + Duration::from_secs(s);
        for (retry, busy, goes_on) in
            [(MINUTE, true, true), (Retry::Forever, false, true), (MINUTE, false, false)]
        {
            assert_eq!(Refusals::new(false, begun).refused(at(1), retry, busy), None, "at the first try");
            let mut later = Refusals::new(false, begun);
            assert!(!later.holds(at(4)) && !later.holds(at(5)));
            assert_eq!(later.refused(at(9), retry, busy).is_some(), goes_on, "{retry:?}, busy {busy}");
        }
    }

    #[test]
    fn time_counts_from_when_the_stream_was_last_received() {
        let begun = Instant::now();
        let at = |s: u64| begun + Duration::from_secs(s);
        let mut refusals = Refusals::new(true, begun);
        refusals.refused(at(1), MINUTE, true);
        refusals.connected(at(2));
        assert!(!refusals.holds(at(6)) && refusals.holds(at(7)) && !refusals.holds(at(8)));
        assert_eq!(refusals.refused(at(100), MINUTE, true), Some(true));
        refusals.connected(at(101));
        assert_eq!(refusals.refused(at(159), MINUTE, true), Some(true), "it was received for 58 s");
    }
}

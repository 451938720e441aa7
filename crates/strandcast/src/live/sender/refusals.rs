//! A sender's reaction to refusals.

use std::time::Duration;

use tokio::time::Instant;

use crate::live::retry::Retry;

/// Time after which an association counts as accepted, if the receiver does not report whether it plays a stream. Every
/// Strandcast receiver reports this, but other programs may not.
const LET_IN: Duration = Duration::from_secs(5);

/// Records whether the receiver has refused or accepted this sender. A refusal does not prove that the receiver sent
/// it, because anyone who observes a packet can forge a refusal.
#[derive(Debug)]
pub(super) struct Refusals {
    /// True if the user has set the retry time.
    pub(super) asked: bool,
    /// True if the receiver accepted an association of this stream.
    pub(super) let_in: bool,
    /// Time at which the association was established.
    up: Instant,
    /// Time of the first refusal since the stream was last accepted.
    since: Option<Instant>,
}

impl Refusals {
    /// Makes the state after an association was established at `now`. `asked` is true if the user has set the retry
    /// time.
    pub(super) fn new(asked: bool, now: Instant) -> Self {
        Refusals { asked, let_in: false, up: now, since: None }
    }

    /// Records that another association was established. Returns whether to report the association. An association
    /// between refusals is not reported.
    pub(super) fn connected(&mut self, now: Instant) -> bool {
        self.up = now;
        self.since.is_none()
    }

    /// Records that the receiver plays the stream. Returns whether to report that the receiver no longer refuses.
    pub(super) fn admitted(&mut self) -> bool {
        self.let_in = true;
        self.since.take().is_some()
    }

    /// Returns whether an association counts as accepted by a receiver that never reports acceptance.
    pub(super) fn holds(&self, now: Instant) -> bool {
        now - self.up >= LET_IN
    }

    /// Returns whether to continue after a refusal.
    pub(super) fn retries_refusals(&self, retry: Retry, busy: bool) -> bool {
        self.asked || self.let_in && (busy || retry == Retry::Forever)
    }

    /// Records that the association was refused. Returns `None` if the sender must give up. If the sender may continue,
    /// returns whether the refusal is the first of consecutive refusals.
    pub(super) fn refused(&mut self, now: Instant, retry: Retry, busy: bool) -> Option<bool> {
        let first = self.since.is_none();
        let since = *self.since.get_or_insert(now);
        let over = matches!(retry, Retry::For(time) if now - since >= time);
        (self.retries_refusals(retry, busy) && !over).then_some(first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: Retry = Retry::For(Duration::from_secs(60));

    #[test]
    fn retries_for_the_requested_time() {
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
    fn by_default_only_accepted_streams_are_retried() {
        let begun = Instant::now();
        let at = |s: u64| begun + Duration::from_secs(s);
        for (retry, busy, goes_on) in
            [(MINUTE, true, true), (Retry::Forever, false, true), (MINUTE, false, false)]
        {
            assert_eq!(Refusals::new(false, begun).refused(at(1), retry, busy), None, "at the first try");
            let mut later = Refusals::new(false, begun);
            assert!(!later.admitted());
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
        assert!(!refusals.holds(at(6)) && refusals.holds(at(7)), "for those that do not say");
        assert!(refusals.admitted() && !refusals.admitted(), "reported once");
        assert_eq!(refusals.refused(at(100), MINUTE, true), Some(true));
        refusals.connected(at(101));
        refusals.admitted();
        assert_eq!(refusals.refused(at(159), MINUTE, true), Some(true), "it was received for 58 s");
    }
}

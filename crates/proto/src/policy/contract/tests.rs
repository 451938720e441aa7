//! The contract test itself: it accepts what is right and refuses what is broken.

use super::{check, replay};
use crate::policy::{
    Assignment, Backlog, CongestionControl, Limit, Parts, PathId, Policy, Scheduler, Scheme, View,
};
use crate::rfc;
use crate::time::Instant;

#[test]
fn the_rfc_default_keeps_the_contract() {
    check("sctp", || Box::new(rfc::scheme()));
}

#[derive(Debug)]
struct Mute;
impl Policy for Mute {}
impl Scheduler for Mute {
    fn next(&mut self, _: &View<'_>, _: &Backlog) -> Option<Assignment> {
        None
    }
}

#[test]
#[should_panic(expected = "nothing in flight, data waiting")]
fn a_scheduler_that_never_sends_is_refused() {
    replay("mute", 0, || Box::new(Parts { scheduler: Box::new(Mute), ..rfc::scheme() }));
}

/// Needs an estimate before it sends, and nothing gives one.
#[derive(Debug)]
struct Waits;
impl Policy for Waits {}
impl CongestionControl for Waits {
    fn limit(&self, _: PathId) -> Limit {
        Limit::default()
    }
}

#[test]
#[should_panic(expected = "has no window")]
fn a_window_of_nothing_is_refused() {
    replay("waits", 0, || Box::new(Parts { cc: Box::new(Waits), ..rfc::scheme() }));
}

/// Its timer never moves.
#[derive(Debug)]
struct Stuck;
impl Policy for Stuck {
    fn poll_timeout(&self) -> Option<Instant> {
        Some(Instant::from_millis(5100))
    }
}
impl crate::policy::Feedback for Stuck {}

#[test]
#[should_panic(expected = "after Tick")]
fn a_timer_that_does_not_move_on_is_refused() {
    replay("stuck", 0, || Box::new(Parts { feedback: Box::new(Stuck), ..rfc::scheme() }));
}

/// Remembers something from outside its input.
#[derive(Debug)]
struct Fickle(u64);
impl Policy for Fickle {}
impl CongestionControl for Fickle {
    fn limit(&self, _: PathId) -> Limit {
        Limit { cwnd: 10_000 + self.0, ssthresh: None, pacing: None }
    }
}

#[test]
#[should_panic(expected = "same input, other output")]
fn a_scheme_that_does_not_repeat_is_refused() {
    let calls = core::cell::Cell::new(0);
    let build = || -> Box<dyn Scheme> {
        calls.set(calls.get() + 1);
        Box::new(Parts { cc: Box::new(Fickle(calls.get())), ..rfc::scheme() })
    };
    replay("fickle", 0, build);
}

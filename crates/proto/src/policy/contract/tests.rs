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

/// Says what it sees, twice.
#[derive(Debug)]
struct Talks;
impl Policy for Talks {
    fn remarks(&self, view: &View<'_>, out: &mut Vec<&'static str>) {
        if !view.peer_reports {
            out.extend(["alone", "alone"]);
        }
    }

    fn counters(&self, out: &mut Vec<(&'static str, u64)>) {
        out.push(("talks", 2));
    }
}
impl crate::policy::Feedback for Talks {}

#[test]
fn what_parts_say_is_what_the_scheme_says() {
    let talks = Parts { feedback: Box::new(Talks), ..rfc::scheme() };
    let view = View {
        now: Instant::ZERO,
        paths: &[],
        rwnd: 0,
        in_flight: 0,
        last_path_used: None,
        primary: PathId(0),
        peer_reports: false,
    };
    let (mut said, mut counted) = (Vec::new(), Vec::new());
    talks.remarks(&view, &mut said);
    talks.counters(&mut counted);
    assert_eq!(
        (said.as_slice(), counted.as_slice()),
        (["alone", "alone"].as_slice(), [("talks", 2)].as_slice())
    );
    rfc::scheme().remarks(&view, &mut said);
    assert_eq!(said.len(), 2, "RFC 9260 has nothing to say");
}

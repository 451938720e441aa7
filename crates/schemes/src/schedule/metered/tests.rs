use strandcast_proto::policy::fixture::{MTU, Picture};
use strandcast_proto::policy::{Assignment, Backlog, Scheduler};

use super::*;
use crate::part::SchedulerPart;
use crate::schedule::WaryConfig;

/// Path 0 is free, path 1 of class 2; a round trip of 20 ms on both.
fn picture() -> Picture {
    let mut picture = Picture::new(2);
    for p in &mut picture.paths {
        p.est.reference_rtt = Some(Duration::from_millis(20));
        (p.srtt, p.min_rtt) = (p.est.reference_rtt, p.est.reference_rtt);
        p.limit.cwnd = 20 * MTU;
    }
    picture.paths[1].tariff.class = METERED;
    picture
}

/// Path of a chunk that is worthless `left_ms` from now on (`None`: never).
fn takes(scheduler: &mut dyn Scheduler, p: &Picture, left_ms: Option<u64>) -> Option<Assignment> {
    let next_expires = left_ms.map(|ms| p.now + Duration::from_millis(ms));
    let backlog =
        Backlog { bytes: 10 * MTU, messages: 10, next_len: MTU, next_expires, ..Backlog::default() };
    scheduler.next(&p.view(), &backlog)
}

fn on(assignment: Option<Assignment>) -> Option<u8> {
    assignment.and_then(|a| a.paths.first().map(|p| p.0))
}

fn full(p: &mut Picture, path: usize) {
    p.paths[path].in_flight = p.paths[path].limit.cwnd;
}

#[test]
fn a_metered_path_is_left_alone_while_free_ones_suffice() {
    let (mut scheduler, mut p) = (WaryConfig::default().build(), picture());
    for _ in 0..1000 {
        p.now += Duration::from_millis(10);
        assert_eq!(on(takes(&mut *scheduler, &p, Some(500))), Some(0));
        assert_eq!(on(takes(&mut *scheduler, &p, None)), Some(0));
    }
    full(&mut p, 0);
    assert_eq!(on(takes(&mut *scheduler, &p, Some(500))), None, "it waits");
    assert_eq!(on(takes(&mut *scheduler, &p, None)), None, "so does what has no deadline");
}

/// The free path is full, so that what has 31 ms left can not be lost there and still come.
#[test]
fn a_class_opens_when_lower_ones_are_late_and_closes_after_five_seconds() {
    let (mut scheduler, mut p) = (WaryConfig::default().build(), picture());
    full(&mut p, 0);
    assert_eq!(on(takes(&mut *scheduler, &p, Some(31))), Some(1));
    assert_eq!(on(takes(&mut *scheduler, &p, Some(400))), None, "there is time to wait for the free one");
    p.paths[0].in_flight = 0;
    assert_eq!(on(takes(&mut *scheduler, &p, Some(400))), Some(0), "open is not a reason to use it");
    let mut metered = Metered { open: METERED, needed: p.now, ..Metered::default() };
    for (ms, open) in [(4999, METERED), (5000, 0)] {
        let mut later = p.clone();
        later.now += Duration::from_millis(ms);
        let view = later.view();
        let choices = crate::schedule::EarliestArrival::default().choices(&view, MTU);
        assert!(metered.barred(&view, &choices, Some(0.5)).contains(view.paths[1].id));
        assert_eq!(metered.open, open, "after {ms} ms");
    }
}

#[test]
fn the_only_path_left_is_used_at_once_whatever_it_costs() {
    let (mut scheduler, mut p) = (WaryConfig::default().build(), picture());
    p.paths[0].state = strandcast_proto::policy::PathState::Inactive;
    assert_eq!(on(takes(&mut *scheduler, &p, Some(500))), Some(1));
    assert_eq!(on(takes(&mut *scheduler, &p, None)), Some(1));
}

#[test]
fn nothing_leaves_beyond_the_cap() {
    let (mut scheduler, mut p) = (WaryConfig::default().build(), picture());
    p.paths[0].state = strandcast_proto::policy::PathState::Inactive;
    p.paths[1].tariff.left = Some(0);
    for left in [Some(500), Some(30), Some(1), None] {
        assert_eq!(takes(&mut *scheduler, &p, left), None, "{left:?}");
    }
    p.paths[1].tariff.left = Some(1);
    assert_eq!(on(takes(&mut *scheduler, &p, Some(500))), Some(1));
}

/// 36 MB for an hour, less a twentieth: 9500 bytes per second, and ten minutes of it at first.
#[test]
fn an_allowance_is_spread_over_its_time() {
    let mut p = picture();
    let until = p.now + Duration::from_secs(3600);
    let left = |p: &mut Picture, bytes| {
        p.paths[1].tariff =
            strandcast_proto::policy::Tariff { left: Some(bytes), until: Some(until), ..p.paths[1].tariff }
    };
    let mut metered = Metered::default();
    left(&mut p, 36_000_000);
    assert!(!metered.spent(&p.view(), &p.paths[1]));
    left(&mut p, 36_000_000 - 6_000_000);
    assert!(metered.spent(&p.view(), &p.paths[1]), "5.7 MB were saved up");
    let choices = |p: &Picture| {
        let view = p.view();
        let choices = crate::schedule::EarliestArrival::default().choices(&view, MTU);
        Metered { buckets: metered.buckets.clone(), ..Metered::default() }.barred(&view, &choices, Some(0.01))
    };
    assert!(choices(&p).contains(p.paths[1].id), "though the free one is late");
    p.paths[0].state = strandcast_proto::policy::PathState::Inactive;
    assert!(choices(&p).is_empty(), "there is no other one");
    p.now += Duration::from_secs(60);
    assert!(!metered.spent(&p.view(), &p.paths[1]), "earned again within a minute");
}

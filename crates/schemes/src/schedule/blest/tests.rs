use strandcast_proto::policy::fixture::{MTU, Picture, ack, chunk};
use strandcast_proto::policy::{Blocked, BlockedBy, LossCause, PathId, PathSet};
use strandcast_proto::wire::Tsn;

use super::super::LowestRtt;
use super::*;

fn waiting() -> Backlog {
    Backlog {
        bytes: 500 * MTU,
        messages: 1,
        next_len: MTU,
        next_expires: None,
        retransmission: false,
        tried: PathSet::default(),
        ..Backlog::default()
    }
}

/// 10 ms and a full window of 10 packets, and 40 ms and 3 packets of a window of 20; both have had a loss. `offered` is
/// the peer's whole window in bytes, of which 13 packets are in flight.
fn picture(offered: u64) -> Picture {
    let mut picture = Picture::new(2);
    for (p, (rtt, window, flight)) in picture.paths.iter_mut().zip([(10, 10, 10), (40, 20, 3)]) {
        p.srtt = Some(Duration::from_millis(rtt));
        p.limit.cwnd = window * MTU;
        p.limit.ssthresh = Some(5 * MTU);
        p.in_flight = flight * MTU;
    }
    offer(&mut picture, offered);
    picture
}

fn offer(picture: &mut Picture, offered: u64) {
    let flight: u64 = picture.paths.iter().map(|p| p.in_flight).sum();
    picture.rwnd = offered - flight;
}

fn blest() -> Blest {
    Blest::new(BlestConfig::default())
}

fn takes(scheduler: &mut dyn Scheduler, picture: &Picture) -> Option<u8> {
    scheduler.next(&picture.view(), &waiting()).map(|a| a.paths[0].0)
}

/// The least offered window with which the slow path takes a chunk.
fn needed(scheduler: &Blest, picture: &Picture) -> u64 {
    let mut picture = picture.clone();
    let (mut low, mut high) = (picture.view().in_flight, 100_000_000);
    while low < high {
        let middle = low.midpoint(high);
        offer(&mut picture, middle);
        match takes(&mut Blest { offered: 0, ..scheduler.clone() }, &picture) {
            Some(_) => high = middle,
            None => low = middle + 1,
        }
    }
    low
}

/// The chunk lingers 40 ms, ⌊40/10⌋ + 1 = 5 round trips of the fast path, which sends 5 · (10 + 2) packets in them,
/// times 1.2
/// 72 packets. With 3 + 1 packets on the slow path the window has to be 76.
#[test]
fn skips_a_slow_path_that_would_block_the_window() {
    for (offered, chosen) in [(76_000, Some(1)), (75_999, None), (30_000, None), (500_000, Some(1))] {
        let picture = picture(offered);
        assert_eq!(takes(&mut blest(), &picture), chosen, "a window of {offered} bytes");
        assert_eq!(takes(&mut LowestRtt, &picture), Some(1), "lowest-rtt sends whatever it blocks");
    }
    let mut room = picture(30_000);
    room.paths[0].in_flight = 9 * MTU;
    assert_eq!(takes(&mut blest(), &room), Some(0), "the fast path has room");
    let lost = Backlog { retransmission: true, tried: PathSet::one(PathId(0)), ..waiting() };
    let again = blest().next(&room.view(), &lost).map(|a| a.paths[0]);
    assert_eq!(again, Some(PathId(1)), "nothing waits for a path that has room");
    room.paths[0].blocked = true;
    let again = blest().next(&room.view(), &lost).map(|a| a.paths[0]);
    assert_eq!(again, Some(PathId(1)), "nor for one that lost it");
}

/// Before the first loss windows double: 10 · (2⁵ - 1) packets, times 1.2 372. With ssthresh above the window, growth
/// continues from there: 5 · (31 + 2) packets, times 1.2 198. 16 doublings at most: 10 · 65,535 packets, times 1.2
/// 786,420.
#[test]
fn counts_on_the_growth_of_the_fast_window() {
    let mut picture = picture(400_000);
    picture.paths[0].limit.ssthresh = Some(30 * MTU);
    assert_eq!(needed(&blest(), &picture), 202_000);
    picture.paths[0].limit.ssthresh = None;
    assert_eq!(needed(&blest(), &picture), 376_000);
    picture.paths[1].srtt = Some(Duration::from_secs(1));
    let most = blest().sends(&picture.paths[0], 101);
    assert!((most - 786_420_000.0).abs() < 1.0, "{most}");
}

/// The slow path had 40 to 80 ms. With 4 packets in a window of 20, T is 40 + 40 · 4/20 = 48 ms, 5 rounds of 10 ms;
/// with 16 of them
/// 72 ms, 8 rounds: 8 · (10 + 3) packets, times 1.2 124.8; with all 80 ms, 9 rounds: 9 · (10 + 4), times 1.2 151.2.
/// Once the smoothed round-trip time is more than that it counts.
#[test]
fn a_chunk_lingers_longer_the_fuller_the_path_is() {
    let mut picture = picture(500_000);
    let mut blest = blest();
    picture.paths[1].srtt = Some(Duration::from_millis(80));
    takes(&mut blest, &picture);
    picture.paths[1].srtt = Some(Duration::from_millis(40));
    for (flight, needs) in [(3, 76_000), (15, 124_800 + 16_000), (19, 151_200 + 20_000)] {
        picture.paths[1].in_flight = flight * MTU;
        assert_eq!(needed(&blest, &picture), needs, "{flight} packets in flight");
    }
    // The fast path had 10 to 30 ms: rounds of 20 ms. 75 ms are ⌊75/20⌋ + 1 = 4 of them: 4 · (10 + 1), times 1.2 52.8.
    picture.paths[0].srtt = Some(Duration::from_millis(30));
    takes(&mut blest, &picture);
    picture.paths[0].srtt = Some(Duration::from_millis(10));
    picture.paths[1].srtt = Some(Duration::from_millis(75));
    picture.paths[1].in_flight = 3 * MTU;
    assert_eq!(needed(&blest, &picture), 52_800 + 4_000);
}

fn after(picture: &mut Picture, ms: u64) -> &Picture {
    picture.now += Duration::from_millis(ms);
    picture
}

fn close_to(lambda: f64, wanted: f64) {
    assert!((lambda - wanted).abs() < 1e-9, "{lambda} is not {wanted}");
}

/// Down by 0.01 once per least round-trip time of the slow path, up by 0.04 when the window was blocked since, from 1.0
/// to 1.3.
#[test]
fn lambda_follows_what_was_blocked() {
    let (mut picture, mut blest) = (picture(500_000), blest());
    for (ms, lambda) in [(0, 1.2), (39, 1.2), (1, 1.19), (39, 1.19), (1, 1.18)] {
        takes(&mut blest, after(&mut picture, ms));
        close_to(blest.lambda(), lambda);
    }
    let blocked = Blocked { by: BlockedBy::ReceiveWindow, tsn: Tsn(1), path: PathId(1), since: picture.now };
    picture.blocked = Some(blocked);
    blest.on_signal(&picture.view(), &Signal::Acked(&ack(0, 4, (2, 2), 3000)));
    picture.blocked = None;
    takes(&mut blest, after(&mut picture, 39));
    close_to(blest.lambda(), 1.18);
    takes(&mut blest, after(&mut picture, 1));
    close_to(blest.lambda(), 1.22);
    takes(&mut blest, after(&mut picture, 40));
    close_to(blest.lambda(), 1.21);
    for _ in 0..30 {
        takes(&mut blest, after(&mut picture, 40));
    }
    close_to(blest.lambda(), 1.0);
    for _ in 0..30 {
        picture.blocked = Some(blocked);
        takes(&mut blest, after(&mut picture, 40));
    }
    close_to(blest.lambda(), 1.3);
}

/// A penalty, and a copy of what is in flight, are what the kernel does about a blocked window; a chunk that was lost,
/// or copies that leave together, are not.
#[test]
fn lambda_rises_after_copies_and_penalties() {
    let penalty = Signal::LossEvent {
        path: PathId(1),
        trigger: LossTrigger::HeadOfLine,
        highest: Tsn(9),
        cause: LossCause::Congestion,
    };
    let mut copy = chunk(5, &[1, 0]);
    let together = Signal::Sent(&copy.clone());
    let step = |signal: &Signal<'_>| {
        let (mut picture, mut blest) = (picture(500_000), blest());
        takes(&mut blest, &picture);
        blest.on_signal(&picture.view(), signal);
        takes(&mut blest, after(&mut picture, 40));
        blest.lambda()
    };
    close_to(step(&penalty), 1.24);
    close_to(step(&together), 1.19);
    copy.transmissions[1].at += Duration::from_millis(5);
    close_to(step(&Signal::Sent(&copy)), 1.24);
    copy.losses = 1;
    close_to(step(&Signal::Sent(&copy)), 1.19);
}

/// Data that the peer holds out of order count neither as free space nor as in flight: the greatest sum counts until
/// a SACK has no gaps.
#[test]
fn the_offered_window_includes_what_waits_out_of_order() {
    let (mut picture, mut blest) = (picture(76_000), blest());
    assert_eq!(takes(&mut blest, &picture), Some(1));
    offer(&mut picture, 60_000);
    let mut gap = ack(0, 4, (7, 8), 3000);
    blest.on_signal(&picture.view(), &Signal::Acked(&gap));
    assert_eq!(takes(&mut blest, &picture), Some(1));
    gap.cum_tsn = gap.highest_reported;
    blest.on_signal(&picture.view(), &Signal::Acked(&gap));
    assert_eq!(takes(&mut blest, &picture), None);
}

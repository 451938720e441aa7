use strandcast_proto::policy::fixture::{MTU, Picture};
use strandcast_proto::policy::{PathId, PathSet};
use strandcast_proto::time::Duration;
use strandcast_proto::units::Rate;

use super::super::LowestRtt;
use super::*;

/// Waiting data, in packets.
fn waiting(packets: u64) -> Backlog {
    Backlog {
        bytes: packets * MTU,
        messages: 1,
        next_len: MTU,
        next_expires: None,
        retransmission: false,
        tried: PathSet::default(),
        ..Backlog::default()
    }
}

/// 10 ms and a window of 10 packets, 40 ms and 40 packets, after a loss: both have a rate of 1.2 · 1 MB/s. `flight`
/// packets are in flight.
fn picture(flight: [u64; 2]) -> Picture {
    let mut picture = Picture::new(2);
    for (p, (rtt, flight)) in picture.paths.iter_mut().zip([10, 40].into_iter().zip(flight)) {
        p.srtt = Some(Duration::from_millis(rtt));
        p.limit.cwnd = rtt * MTU;
        p.limit.ssthresh = Some(2 * MTU);
        p.in_flight = flight * MTU;
    }
    picture
}

fn linux() -> Linux {
    Linux::new(LinuxConfig::default())
}

fn takes(picture: &Picture, packets: u64) -> Option<u8> {
    linux().next(&picture.view(), &waiting(packets)).map(|a| a.paths[0].0)
}

/// 8 packets at 1.2 MB/s take 6.7 ms, 4 take 3.3 ms: the path with four times the round-trip time is sooner free.
#[test]
fn prefers_the_path_with_the_least_queue_per_rate() {
    assert_eq!(takes(&picture([8, 4]), 100), Some(1));
    assert_eq!(LowestRtt.next(&picture([8, 4]).view(), &waiting(100)).unwrap().paths[0], PathId(0));
    assert_eq!(takes(&picture([4, 8]), 100), Some(0));
    assert_eq!(takes(&picture([5, 5]), 100), Some(0), "the first of equal ones");
}

/// Below half of ssthresh, or before the first loss, the rate is twice the window per round trip: 8 packets take 4 ms,
/// as long as 4.8 on the other path.
#[test]
fn slow_start_counts_as_a_higher_rate() {
    for (ssthresh, five) in [(None, 0), (Some(21 * MTU), 0), (Some(20 * MTU), 1)] {
        let mut four = picture([8, 4]);
        four.paths[0].limit.ssthresh = ssthresh;
        assert_eq!(takes(&four, 100), Some(1));
        four.paths[1].in_flight = 5 * MTU;
        assert_eq!(takes(&four, 100), Some(five), "{ssthresh:?}");
    }
    let mut paced = picture([8, 4]);
    paced.paths[0].limit.pacing = Some(Rate::from_bytes_per_s(2.5e6));
    assert_eq!(takes(&paced, 100), Some(0), "3.2 ms at the rate of its own pacing");
}

/// The first path's window is full. With 5 packets waiting for it 15 would take 12.5 ms, as long as 15 on the other
/// path; with more than its send buffer of 6 windows takes, 50 ms.
#[test]
fn waits_for_a_full_path_that_would_still_be_first() {
    for (packets, flight, chosen) in [
        (5, 14, Some(1)),
        (5, 15, None),
        (5, 20, None),
        (29, 39, None),
        (30, 39, Some(1)),
        (9000, 39, Some(1)),
    ] {
        assert_eq!(takes(&picture([10, flight]), packets), chosen, "{packets} wait, {flight} in flight");
    }
    let mut short = Linux::new(LinuxConfig { linux_queue: 2.0, ..LinuxConfig::default() });
    for (flight, chosen) in [(19, Some(PathId(1))), (20, None)] {
        let chosen_now = short.next(&picture([10, flight]).view(), &waiting(9000)).map(|a| a.paths[0]);
        assert_eq!(chosen_now, chosen, "two windows are 16.7 ms");
    }
}

/// 65,428 bytes, what is left of the receive window, or what waits; a chunk if the window is full.
#[test]
fn a_decision_is_for_a_burst() {
    let chunks = |rwnd, packets| {
        let mut picture = picture([0, 0]);
        picture.rwnd = rwnd;
        linux().next(&picture.view(), &waiting(packets)).unwrap().chunks
    };
    assert_eq!(chunks(1 << 20, 500), 66);
    assert_eq!(chunks(10_500, 500), 11);
    assert_eq!(chunks(0, 500), 1);
    assert_eq!(chunks(1 << 20, 3), 3);
}

/// The rate that counts moves with each choice, by the share of the burst in what is queued then: after 8000 bytes
/// at 1.2 MB/s a burst at 0.6 MB/s makes it (1.2 · 8000 + 0.6 · 65,428)/73,428 = 0.66537 MB/s.
#[test]
fn rates_are_averages_over_bursts() {
    let (mut picture, mut linux) = (picture([0, 0]), linux());
    let mut next = |picture: &Picture| linux.next(&picture.view(), &waiting(500)).map(|a| a.paths[0].0);
    assert_eq!(next(&picture), Some(0));
    picture.paths[0].in_flight = 8 * MTU;
    picture.paths[0].srtt = Some(Duration::from_millis(20));
    // 6.7 ms as on the other path: the new rate does not count before a choice.
    picture.paths[1].in_flight = 9 * MTU;
    assert_eq!(next(&picture), Some(0));
    assert_eq!(next(&picture), Some(1), "8 packets take 12 ms now, 9 there 7.5 ms");
    let average = linux.average[0].unwrap();
    assert!((average - 665_370.7).abs() < 1.0, "{average}");
}

/// Without a round-trip time a path is taken while it has room, and then left out. A lost chunk goes to a path that has
/// not carried it.
#[test]
fn unmeasured_and_tried_paths() {
    let mut unmeasured = picture([1, 0]);
    unmeasured.paths[1].srtt = None;
    unmeasured.paths[1].in_flight = 39 * MTU;
    assert_eq!(takes(&unmeasured, 100), Some(1));
    unmeasured.paths[1].in_flight = 40 * MTU;
    assert_eq!(takes(&unmeasured, 100), Some(0));
    let lost = Backlog { retransmission: true, tried: PathSet::one(PathId(0)), ..waiting(10) };
    let again = |flight| linux().next(&picture(flight).view(), &lost).map(|a| a.paths[0].0);
    assert_eq!(again([0, 20]), Some(1));
    assert_eq!(again([0, 40]), Some(0), "the other one has no room");
}

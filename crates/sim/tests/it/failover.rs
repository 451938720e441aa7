//! Outages of the best path: silent in one direction or both, and a link that goes down.
//! `cargo test -p strandcast-sim --test it failover -- --nocapture` prints the table.

use core::time::Duration;

use strandcast_netem::topology::{PathNetwork, field};
use strandcast_proto::policy::{PathId, PathState};
use strandcast_sim::host::{BulkSender, Cbr, Direction};

use crate::common::*;

#[derive(Clone, Copy, PartialEq, Debug)]
enum Outage {
    Forward,
    Reverse,
    Both,
    Down,
}

const OUTAGES: [Outage; 4] = [Outage::Forward, Outage::Reverse, Outage::Both, Outage::Down];

#[derive(Clone, Copy, PartialEq, Debug)]
enum Traffic {
    /// As fast as possible.
    Bulk,
    /// 1 Mbit/s of video, here reliable and in order.
    Video,
}

fn set(s: &mut Harness, outage: Outage, on: bool) {
    let path = s.paths[0];
    let hole = |s: &mut Harness, d| s.net.set_black_hole(path, d, on);
    match outage {
        Outage::Forward => hole(s, Direction::Forward),
        Outage::Reverse => hole(s, Direction::Reverse),
        Outage::Both => [Direction::Forward, Direction::Reverse].into_iter().for_each(|d| hole(s, d)),
        Outage::Down => {
            for d in [Direction::Forward, Direction::Reverse] {
                s.net.set_down(path, d, on);
            }
        }
    }
}

fn sent_on_first(s: &Harness) -> u64 {
    s.association().path_stats(PathId(0)).expect("the first path").chunks_sent
}

/// Times at which in-order delivery continued after the first path died at 10 s, and at which data used it
/// again after 20 s.
struct Outcome {
    resumed: Duration,
    back: Option<Duration>,
}

fn play(spec: &str, networks: &[PathNetwork], outage: Outage, traffic: Traffic, seed: u64) -> Outcome {
    let mut s = Harness::new(spec, networks, 1 << 20, seed);
    match traffic {
        Traffic::Bulk => s.net.add_app(s.client, BulkSender::new(FULL)),
        Traffic::Video => {
            let mut video = Cbr::new(1340, Duration::from_micros(10_528), None);
            video.options.unordered = false;
            s.net.add_app(s.client, video)
        }
    };
    let (from, to) = (at(10.0), at(20.0));
    s.net.run_until(from);
    set(&mut s, outage, true);
    s.net.run_until(to);
    set(&mut s, outage, false);
    let before = sent_on_first(&s);
    let mut back = None;
    while back.is_none() && s.net.now() < at(90.0) {
        s.net.run_for(Duration::from_millis(10));
        back = (sent_on_first(&s) > before).then(|| s.net.now() - to);
    }
    s.net.run_until(s.net.now().max(at(30.0)));
    assert_eq!((s.sink().damaged, s.sink().out_of_order), (0, 0), "everything, in order");
    assert!(!s.association().is_closed());
    // The stall of the outage begins after delivery of the packets under way.
    let (_, resumed) = s.sink().longest_gap(from, at(14.0));
    Outcome { resumed, back }
}

#[test]
fn cmt_resumes_within_1_5_s_and_returns_within_3_s() {
    let two = [clean("a", 10_000_000), clean("b", 10_000_000)];
    let cases: [(&str, &[PathNetwork], Traffic); 2] =
        [("2 x 10 Mbit/s", &two, Traffic::Bulk), ("field", &field(), Traffic::Video)];
    for (name, networks, traffic) in cases {
        for outage in OUTAGES {
            for seed in 1..=5 {
                let o = play("cmt", networks, outage, traffic, seed);
                println!(
                    "{name} {traffic:?} {outage:?} seed {seed}: resumed after {:?}, back after {:?}",
                    o.resumed, o.back
                );
                assert!(
                    o.resumed <= Duration::from_millis(1500),
                    "{name} {outage:?} seed {seed}: {:?}",
                    o.resumed
                );
                let back = o.back.expect("data on the path again");
                assert!(back <= Duration::from_secs(3), "{name} {outage:?} seed {seed}: {back:?}");
            }
        }
    }
}

/// RFC 9260 §8.2, §6.4.1: after Path.Max.Retrans consecutive timeouts (1 + 2 + 4 + 8 + 16 + 32 s) the primary
/// path is inactive and data move; before that, each timeout's retransmissions use the alternate path.
#[test]
fn sctp_moves_when_path_max_retrans_is_exceeded() {
    let mut s = Harness::new("sctp", &[clean("a", 10_000_000), clean("b", 10_000_000)], 1 << 20, 1);
    s.net.add_app(s.client, Cbr::new(1000, Duration::from_millis(10), None));
    s.net.run_until(at(5.0));
    assert_eq!(s.association().paths()[1].last_sent, None, "one path at a time");
    set(&mut s, Outage::Both, true);
    let mut moved = None;
    while moved.is_none() && s.net.now() < at(200.0) {
        s.net.run_for(Duration::from_millis(100));
        moved = (s.association().paths()[0].state == PathState::Inactive).then(|| s.net.now() - at(5.0));
    }
    let moved = moved.expect("the primary becomes inactive").as_secs_f64();
    println!("sctp: inactive after {moved:.1} s");
    assert!((60.0..70.0).contains(&moved), "63 s and the delivery of retransmissions: {moved:.1}");
    s.net.run_for(Duration::from_secs(5));
    let delivered = s.sink().longest_gap(at(75.0), s.net.now());
    assert!(delivered.1 < Duration::from_millis(200), "data flow on the alternate: {delivered:?}");
    set(&mut s, Outage::Both, false);
    let before = sent_on_first(&s);
    s.net.run_for(Duration::from_secs(70));
    assert!(sent_on_first(&s) > before, "back on the primary once a heartbeat is answered");
}

//! The demo's network and outage, in simulated time: a megabit of video over three bad links; the best one is
//! silent from 10 s to 15 s. `cargo test -p strandcast-sim --test it field -- --nocapture` prints each seed's
//! outcome.

use core::time::Duration;

use strandcast_netem::topology::field;
use strandcast_proto::association::Event;
use strandcast_proto::policy::PathId;
use strandcast_sim::host::{Cbr, Direction};

use crate::common::*;

const LATENCY: Duration = Duration::from_secs(2);
const INTERVAL: Duration = Duration::from_micros(10_528);
const MESSAGES: u64 = 2280;

/// Fraction of messages late or lost, and each path's fraction of the bytes.
fn play(seed: u64) -> (f64, Vec<f64>) {
    let mut s = Harness::new("cmt", &field(), 1 << 20, seed);
    s.net.add_app(s.client, Cbr::new(1336, INTERVAL, Some(LATENCY)));
    for (at_s, on) in [(10.0, true), (15.0, false)] {
        s.net.run_until(at(at_s));
        for direction in [Direction::Forward, Direction::Reverse] {
            let best = s.paths[0];
            s.net.set_black_hole(best, direction, on);
        }
    }
    s.net.run_until(at(30.0));
    let connected = |e: &&(_, Event)| matches!(e.1, Event::Connected { .. });
    let begin = s.sink().events.iter().find(connected).expect("connected").0;
    let in_time = |number: u64, when| when <= begin + INTERVAL.mul_f64(number as f64) + LATENCY;
    let good = s.sink().deliveries.iter().filter(|d| d.number < MESSAGES && in_time(d.number, d.at)).count();
    let sent = |i: u8| s.association().path_stats(PathId(i)).expect("three paths").payload_sent as f64;
    let total: f64 = (0..3).map(sent).sum();
    (1.0 - good as f64 / MESSAGES as f64, (0..3).map(|i| sent(i) / total).collect())
}

#[test]
fn nearly_every_message_is_in_time_and_every_path_takes_part() {
    let outcomes: Vec<_> = (1..=20).map(|seed| (seed, play(seed))).collect();
    for (seed, (missing, shares)) in &outcomes {
        println!("seed {seed}: {:.2} % late or lost, shares {shares:.2?}", missing * 100.0);
        assert!(*missing <= 0.05, "seed {seed}: {missing}");
        assert!(shares.iter().all(|s| *s >= 0.05), "seed {seed}: {shares:?}");
    }
    let within = outcomes.iter().filter(|(_, (missing, _))| *missing <= 0.01).count();
    assert!(within >= 19, "{within} of 20 seeds within 1 %");
}

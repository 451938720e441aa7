//! Two paths and the pause in delivery when one falls silent (`TransportConfig::live`).
//! `cargo test -p strandcast-sim --test it silence -- --nocapture` prints the table.

use core::time::Duration;

use strandcast_netem::link::{LinkConfig, Queue, Rate};
use strandcast_netem::number::Number;
use strandcast_netem::topology::PathNetwork;
use strandcast_sim::host::{BulkSender, Cbr, Direction};

use crate::common::*;

const MS: fn(u64) -> Duration = Duration::from_millis;

/// `mbps` Mbit/s, `delay` ms one way, a queue of 50 ms.
fn path(name: &str, mbps: u64, delay: u64) -> PathNetwork {
    let link = LinkConfig {
        rate: Rate::Constant(mbps * 1_000_000),
        delay: Number::from(MS(delay)),
        queue: Queue::packets((mbps * 50_000 / 8 / 1400) as usize),
        ..LinkConfig::default()
    };
    PathNetwork { name: name.into(), forward: link.clone(), reverse: link }
}

/// The longest gap in delivery when path `dead` is a black hole from 5 s to 9 s of 12 s.
fn gap(spec: &str, dead: usize, bulk: bool, seed: u64) -> Duration {
    let networks = [path("a", 20, 10), path("b", 10, 40)];
    let mut s = Harness::live(spec, &networks, seed);
    if bulk {
        s.net.add_app(s.client, BulkSender::new(FULL));
    } else {
        let mut video = Cbr::new(1316, Duration::from_micros(2632), None);
        video.options.unordered = false;
        s.net.add_app(s.client, video);
    }
    // Seeds begin at different points of a round trip.
    let from = at(5.0) + Duration::from_micros(7919 * seed);
    for (when, on) in [(from, true), (at(9.0), false)] {
        s.net.run_until(when);
        for direction in [Direction::Forward, Direction::Reverse] {
            let path = s.paths[dead];
            s.net.set_black_hole(path, direction, on);
        }
    }
    s.net.run_until(at(12.0));
    assert_eq!(s.sink().damaged, 0);
    s.sink().longest_gap(at(4.0), at(11.5)).1
}

fn a_black_hole_holds_delivery_up(seeds: u64) {
    let mut worst = Vec::new();
    for spec in ["bond", "cmt", "lia"] {
        for bulk in [false, true] {
            for dead in [0, 1] {
                let gaps: Vec<Duration> = (1..=seeds).map(|seed| gap(spec, dead, bulk, seed)).collect();
                let most = gaps.iter().max().copied().unwrap_or_default();
                let mean = gaps.iter().sum::<Duration>() / gaps.len() as u32;
                println!("{spec}, bulk {bulk}, path {dead} dead: mean {mean:?}, most {most:?}");
                worst.push((most, spec, bulk, dead));
            }
        }
    }
    for (most, spec, bulk, dead) in worst {
        assert!(most <= MS(300), "{spec}, bulk {bulk}, path {dead} dead: {most:?}");
    }
}

#[test]
fn a_black_hole_holds_delivery_up_for_0_3_s_at_most() {
    a_black_hole_holds_delivery_up(2);
}

mod thorough {
    #[test]
    fn a_black_hole_holds_delivery_up_for_0_3_s_at_most() {
        super::a_black_hole_holds_delivery_up(10);
    }
}

//! Every preset over links that lose, reorder and double packets, and through an outage of its first path:
//! all messages arrive once, unchanged and in order.

use core::time::Duration;

use strandcast_netem::link::{LinkConfig, Reorder};
use strandcast_netem::loss::LossModel;
use strandcast_netem::topology::PathNetwork;
use strandcast_proto::policy::PathView;
use strandcast_schemes::presets;
use strandcast_sim::host::{BulkSender, Direction};

use crate::common::*;

const MESSAGES: u64 = 8000;

fn bad(name: &str, rate_bps: u64, loss: f64) -> PathNetwork {
    let clean = clean(name, rate_bps);
    let spoil = |link: LinkConfig| LinkConfig {
        losses: vec![LossModel::uniform(loss)],
        reorder: Some(Reorder { probability: 0.02, extra: Duration::from_millis(15) }),
        duplicate: 0.01,
        corrupt: 0.005,
        ..link
    };
    PathNetwork { name: clean.name, forward: spoil(clean.forward), reverse: spoil(clean.reverse) }
}

/// Sends [`MESSAGES`] over three bad paths, with the first path down for five seconds, and checks all
/// arrivals.
fn delivers(spec: &str, seed: u64) -> Harness {
    let networks = [bad("a", 4_000_000, 0.01), bad("b", 2_000_000, 0.03), bad("c", 1_000_000, 0.05)];
    let mut s = Harness::new(spec, &networks, 1 << 18, seed);
    s.net.add_app(s.client, BulkSender::new(FULL).limited(MESSAGES));
    s.net.run_until(at(4.0));
    for d in [Direction::Forward, Direction::Reverse] {
        s.net.set_down(s.paths[0], d, true);
    }
    s.net.run_until(at(9.0));
    for d in [Direction::Forward, Direction::Reverse] {
        s.net.set_down(s.paths[0], d, false);
    }
    while s.sink().deliveries.len() < MESSAGES as usize && s.net.now() < at(900.0) {
        s.net.run_for(Duration::from_secs(1));
    }
    let sink = s.sink();
    assert_eq!(sink.deliveries.len(), MESSAGES as usize, "{spec}, seed {seed}, at {:?}", s.net.now());
    assert_eq!((sink.damaged, sink.out_of_order), (0, 0), "{spec}, seed {seed}");
    println!("{spec}, seed {seed}: all delivered after {:.1} s", s.net.now().as_secs_f64());
    s
}

#[test]
fn every_preset_delivers_everything() {
    for preset in presets() {
        for seed in 1..=2 {
            delivers(preset.name, seed);
        }
    }
}

/// Lost chunks follow each scheduler's choice: on one path after the other, or copied on all of them.
#[test]
fn what_is_lost_may_go_where_the_scheduler_says() {
    for spec in ["cmt,rtx=scheduler", "lia,rtx=scheduler", "redundant,rtx=scheduler", "cmt-la,rtx=scheduler"]
    {
        let s = delivers(spec, 1);
        let stats = |p: &PathView| s.association().path_stats(p.id).expect("it exists").retransmissions;
        let again: Vec<u64> = s.association().paths().iter().map(stats).collect();
        // Copies repair most losses before any retransmission.
        let least = if spec.starts_with("redundant") { 20 } else { 50 };
        assert!(again.iter().sum::<u64>() > least, "{spec}: {again:?}");
    }
}

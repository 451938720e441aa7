//! Fraction of several paths that concurrent transfer uses.
//! `cargo test -p strandcast-sim --test it aggregation -- --nocapture` prints the fractions.

use strandcast_netem::topology::{PathNetwork, xu2015};
use strandcast_sim::host::BulkSender;

use crate::common::*;

/// Goodput from 5 s to 65 s as a fraction of the paths' payload capacity, mean of `seeds` seeds.
fn share(networks: &[PathNetwork], window: u32, seeds: u64) -> f64 {
    let one = |seed| {
        let mut s = Harness::new("cmt", networks, window, seed);
        s.net.add_app(s.client, BulkSender::new(FULL));
        s.net.run_until(at(65.0));
        assert_eq!((s.sink().damaged, s.sink().out_of_order), (0, 0), "seed {seed}");
        s.sink().bytes_between(at(5.0), at(65.0)) as f64 * 8.0 / 60.0 / capacity_bps(networks)
    };
    (1..=seeds).map(one).sum::<f64>() / seeds as f64
}

fn equal_paths(seeds: u64) {
    let share = share(&[clean("a", 20_000_000), clean("b", 20_000_000)], 1 << 20, seeds);
    println!("20 + 20 Mbit/s, 1 MB: {share:.3}");
    assert!(share >= 0.97, "{share:.3}");
}

fn unequal_paths(seeds: u64) {
    let share = share(&[clean("a", 20_000_000), clean("b", 5_000_000)], 1 << 20, seeds);
    println!("20 + 5 Mbit/s, 1 MB: {share:.3}");
    assert!(share >= 0.97, "{share:.3}");
}

fn the_papers_paths(seeds: u64) {
    let networks: Vec<PathNetwork> = xu2015().into_iter().map(PathNetwork::lossless).collect();
    let large = share(&networks, 4 << 20, seeds);
    let small = share(&networks, 1 << 20, seeds);
    println!("xu2015 without loss: {large:.3} with a window of 4 MB, {small:.3} with 1 MB");
    assert!(large >= 0.90, "{large:.3}");
}

#[test]
fn two_paths_of_20_mbit() {
    equal_paths(1);
}

#[test]
fn paths_of_20_and_5_mbit() {
    unequal_paths(1);
}

#[test]
fn the_papers_three_paths_without_loss() {
    the_papers_paths(1);
}

mod thorough {
    use super::*;

    #[test]
    fn two_paths_of_20_mbit() {
        equal_paths(10);
    }

    #[test]
    fn paths_of_20_and_5_mbit() {
        unequal_paths(10);
    }

    #[test]
    fn the_papers_three_paths_without_loss() {
        the_papers_paths(10);
    }
}

/// Equal seeds give equal trajectories; another seed gives another one.
#[test]
fn runs_repeat_bit_for_bit() {
    let run = |seed| {
        let mut s = Harness::new("cmt", &strandcast_netem::topology::field(), 1 << 20, seed);
        s.net.add_app(s.client, BulkSender::new(FULL));
        s.net.run_until(at(10.0));
        s.net.fingerprint().to_string()
    };
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
}

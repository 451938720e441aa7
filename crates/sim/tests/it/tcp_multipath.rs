//! MPTCP over pairs of links: capacity of both, and no loss when one dies.

use core::time::Duration;

use strandcast_netem::link::{LinkConfig, Queue, Rate};
use strandcast_proto::seeds::Seeds;
use strandcast_proto::time::Instant;
use strandcast_sim::tcp::{Config, Profile};

use crate::tcp_common::{Connection, loses, wire};

fn config() -> Config {
    Config { multipath: true, ..Config::from(Profile::Rfc) }
}

/// Rate, delay in each direction, queue of 50 packets, random loss of data.
fn path(rate_bps: u64, delay_ms: u64, p: f64) -> [LinkConfig; 2] {
    let delay = Duration::from_millis(delay_ms);
    let back = LinkConfig { queue: Queue::packets(50), ..wire(delay, Rate::Constant(rate_bps)) };
    [loses(p, back.clone()), back]
}

fn connect(cc: &str, paths: Vec<[LinkConfig; 2]>, seed: u64) -> Connection {
    Connection::new(config(), cc, paths, &Seeds::new(seed, 0))
}

/// Payload bit/s over links of `bps` filled with full segments.
fn payload_bps(bps: f64) -> f64 {
    let config = config();
    bps * f64::from(config.segment) / f64::from(config.segment + config.header + config.mapping_bytes)
}

/// Two paths of equal delay without random loss: the sum of both, with either window.
#[test]
fn two_paths_carry_their_sum() {
    for cc in ["reno", "lia"] {
        let paths = vec![path(4_000_000, 20, 0.0), path(8_000_000, 25, 0.0)];
        let mut c = connect(cc, paths, 1);
        c.sender.write_endless();
        c.run(Instant::from_millis(5_000), |_| {});
        let before = c.receiver.delivered();
        c.run(Instant::from_millis(35_000), |_| {});
        let rate = (c.receiver.delivered() - before) as f64 * 8.0 / 30.0;
        let share = rate / payload_bps(12e6);
        assert!((0.95..=1.001).contains(&share), "{cc}: {share}");
    }
}

/// A finite transfer over two lossy paths; one dies silently during it: every byte arrives, over the other.
#[test]
fn a_dying_path_takes_nothing_with_it() {
    for seed in 0..5 {
        let mut c = connect("lia", vec![path(4_000_000, 20, 0.002), path(4_000_000, 40, 0.005)], seed);
        c.sender.write(4_000_000);
        c.run(Instant::from_millis(2_000), |_| {});
        assert!(!c.sender.is_done() && c.sender.stats(0).bytes_acked > 0, "seed {seed}");
        c.links[0].iter_mut().for_each(|link| link.set_black_hole(true));
        let mut stall = Duration::ZERO;
        let mut last = (c.now, c.receiver.delivered());
        c.run(Instant::from_millis(60_000), |c| {
            if c.receiver.delivered() > last.1 {
                stall = stall.max(c.now - last.0);
                last = (c.now, c.receiver.delivered());
            }
        });
        assert_eq!(c.receiver.delivered(), 4_000_000, "seed {seed}");
        assert!(c.sender.is_done(), "seed {seed}");
        // Data on the dead path arrive after its retransmission timeout, a second here.
        assert!(stall < Duration::from_millis(2_500), "seed {seed}: {stall:?}");
        assert!(c.sender.stats(1).reinjections > 0, "seed {seed}");
    }
}

/// A subflow joins later, another one leaves.
#[test]
fn subflows_join_and_leave() {
    let mut c = connect("lia", vec![path(2_000_000, 20, 0.0)], 3);
    c.sender.write_endless();
    c.run(Instant::from_millis(10_000), |_| {});
    let alone = c.receiver.delivered();
    assert!(alone as f64 > 0.9 * payload_bps(2e6) / 8.0 * 10.0, "one path: {alone}");
    c.join(path(2_000_000, 30, 0.0));
    c.run(Instant::from_millis(20_000), |_| {});
    let both = c.receiver.delivered() - alone;
    assert!(both as f64 > 1.8 * alone as f64, "alone {alone}, both {both}");
    c.sender.remove_subflow(c.now, 0);
    c.run(Instant::from_millis(30_000), |_| {});
    let last = c.receiver.delivered() - both - alone;
    assert!(last as f64 > 0.9 * alone as f64, "alone {alone}, after leaving {last}");
}

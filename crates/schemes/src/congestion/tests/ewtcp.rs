//! Numbers by hand from Lee and Chung 2017, eq. 2, with segments of 1000 bytes.

use strandcast_proto::policy::PathState;

use super::play::{Play, near};

/// Bytes that an ACK of a segment adds to path 0's window of 10 segments, with `others` paths.
fn step(spec: &str, others: u8, change: impl Fn(&mut Play)) -> f64 {
    let mut play = Play::new(spec, 1 + others, 10, Some(1));
    change(&mut play);
    play.ack(1);
    (play.cwnd() - 10.0) * 1000.0
}

/// a/w: 1000·1000/10000 bytes for a TCP, by n² or √n for n paths.
#[test]
fn increases_are_weighted_by_the_number_of_paths() {
    for (others, square, root) in [(0, 100.0, 100.0), (1, 25.0, 70.71), (2, 11.11, 57.74), (3, 6.25, 50.0)] {
        near(step("ewtcp", others, |_| {}), square, 1.0);
        near(step("ewtcp,literal=on", others, |_| {}), root, 1.0);
    }
}

/// Paths that are not active, or have no round-trip time, are not in n, and grow as a TCP.
#[test]
fn only_paths_that_count_are_counted() {
    near(step("ewtcp", 2, |play| play.picture.paths[2].state = PathState::Inactive), 25.0, 1.0);
    near(step("ewtcp", 2, |play| play.picture.paths[1].srtt = None), 25.0, 1.0);
    near(step("ewtcp", 2, |play| play.picture.paths[0].srtt = None), 100.0, 1.0);
}

/// The other windows don't matter.
#[test]
fn the_weight_is_equal_on_all_paths() {
    near(step("ewtcp", 1, |play| play.picture.paths[1].limit.cwnd = 1_000_000), 25.0, 1.0);
    let mut play = Play::new("ewtcp", 2, 10, None);
    play.recover();
    assert_eq!(play.cwnd(), 5.0);
}

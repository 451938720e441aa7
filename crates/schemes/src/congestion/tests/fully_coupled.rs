//! Numbers by hand from Lee and Chung 2017, eq. 3, with segments of 1000 bytes.

use strandcast_proto::policy::LossTrigger::{FastRetransmit, Timeout};
use strandcast_proto::policy::PathState;
use strandcast_proto::policy::fixture::MTU;

use super::play::{Play, near};

/// Path 0 has 40 segments, path 1 `other`.
fn two(keys: &str, other: u64) -> Play {
    let mut play = Play::new(&format!("coupled{keys}"), 2, 40, Some(1));
    play.picture.paths[1].limit.cwnd = other * MTU;
    play
}

/// 1/w_T an ACK: a million bytes by the sum of both windows.
#[test]
fn an_ack_adds_a_segment_by_all_windows() {
    for (other, bytes) in [(0, 25.0), (40, 12.5), (160, 5.0)] {
        let mut play = two("", other);
        play.ack(1);
        near((play.cwnd() - 40.0) * 1000.0, bytes, 1.0);
    }
}

/// w_T/2 a loss, at least one segment; of the window, whatever is in flight.
#[test]
fn a_loss_takes_half_of_all_windows() {
    for (keys, other, left) in [
        ("", 0, 20.0),
        ("", 20, 10.0),
        ("", 38, 1.0),
        ("", 40, 1.0),
        ("", 4000, 1.0),
        (",beta=0.2", 40, 24.0),
        (",floor=2", 40, 2.0),
        (",cut=flight", 20, 5.0), // a quarter of 20 in flight
    ] {
        let mut play = two(keys, other);
        play.lose(FastRetransmit, 20);
        assert_eq!((play.cwnd(), play.ssthresh()), (left, Some(left)), "{keys} beside {other}");
        let mut play = two(keys, other);
        play.lose(Timeout, 20);
        assert_eq!((play.cwnd(), play.ssthresh()), (1.0, Some(left)), "{keys} beside {other}");
    }
}

/// A path that does not count is not in the sum, and halves by itself.
#[test]
fn paths_that_do_not_count_are_apart() {
    for (path, left) in [(0, 20.0), (1, 20.0)] {
        for without_rtt in [true, false] {
            let mut play = two("", 30);
            if without_rtt {
                play.picture.paths[path].srtt = None;
            } else {
                play.picture.paths[path].state = PathState::Inactive;
            }
            play.lose(FastRetransmit, 40);
            assert_eq!(play.cwnd(), left);
        }
    }
}

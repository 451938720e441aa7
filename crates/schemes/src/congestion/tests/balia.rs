//! Numbers by hand from draft-walid-mptcp-congestion-control §3, with segments of 1000 bytes.

use strandcast_proto::policy::LossTrigger::{self, FastRetransmit, Timeout};
use strandcast_proto::policy::fixture::MTU;
use strandcast_proto::policy::{LossCause, PathId, PathState, Signal};
use strandcast_proto::rfc::{Aimd, WindowConfig};
use strandcast_proto::time::Duration;
use strandcast_proto::wire::Tsn;

use super::play::{Play, near};
use crate::congestion::{Balia, WindowSetup, congestion};

/// Windows in segments and round-trip times in ms of TCP subflows in congestion avoidance.
fn tcp(paths: &[(u64, u64)]) -> Play {
    let setup = WindowSetup { initial_window_bytes: 100 * MTU, initial_ssthresh_bytes: Some(1) };
    let cc = congestion("balia,cut=window", setup).expect("a window that exists");
    spread(Play::with(cc, paths.len() as u8), paths)
}

/// SCTP paths, each of which has acknowledged all but one segment of a window.
fn sctp(paths: &[(u64, u64)]) -> Play {
    let config =
        WindowConfig { initial_mtus: Some(100), initial_ssthresh: Some(1), ..WindowConfig::default() };
    spread(Play::with(Box::new(Aimd::new(config, Balia)), paths.len() as u8), paths)
}

/// All windows begin at 100 segments; the view is given the other windows that a test needs.
fn spread(mut play: Play, paths: &[(u64, u64)]) -> Play {
    for (p, (window, rtt_ms)) in play.picture.paths.iter_mut().zip(paths) {
        p.limit.cwnd = window * MTU;
        p.srtt = Some(Duration::from_millis(*rtt_ms));
    }
    play
}

/// The share of path 0's window that is left.
fn left(mut play: Play, trigger: LossTrigger) -> f64 {
    let (highest, cause) = (Tsn(9), LossCause::Congestion);
    play.tell(&Signal::LossEvent { path: PathId(0), trigger, highest, cause });
    play.ssthresh().expect("a threshold") / 100.0
}

/// x₀ = 100/0.1 = 1000 segments/s. α = max(x)/x₀: 1 when it is the best, then 1.2, 1.5, and no more.
#[test]
fn a_loss_takes_half_of_the_window_times_alpha_up_to_one_and_a_half() {
    for (other, share) in [
        ((10, 100), 0.5),   // the best itself
        ((120, 100), 0.4),  // α = 1.2
        ((60, 50), 0.4),    // the same rate, another round trip
        ((150, 100), 0.25), // α = 1.5
        ((400, 20), 0.25),  // α = 20, bounded
    ] {
        let paths = [(100, 100), other];
        near(left(tcp(&paths), FastRetransmit), share, 1e-9);
        near(left(sctp(&paths), FastRetransmit), share, 1e-9);
        near(left(tcp(&paths), Timeout), share, 1e-9);
        near(left(sctp(&paths), Timeout), share, 1e-9);
    }
}

/// Paths that are not active, or have no round-trip time, do not count.
#[test]
fn alone_it_is_reno() {
    for change in [
        |p: &mut Play| p.picture.paths[1].state = PathState::Inactive,
        |p: &mut Play| {
            p.picture.paths[1].srtt = None;
        },
    ] {
        let mut play = tcp(&[(100, 100), (400, 20)]);
        change(&mut play);
        near(left(play, FastRetransmit), 0.5, 1e-9);
    }
    let mut play = tcp(&[(100, 100)]);
    play.ack(1);
    near(play.cwnd(), 100.01, 1e-9);
}

/// An ACK of a segment: x/(rtt·(Σx)²) · (1 + α)/2 · (4 + α)/5 segments.
#[test]
fn an_ack_adds_what_the_draft_says() {
    for (other, step) in [
        // Two equal paths: α = 1, 1000/(0.1·2000²) = 1/400.
        ((100, 100), 1.0 / 400.0),
        // x₁ = 2000: α = 2, 1000/(0.1·3000²) · 3/2 · 6/5 = 0.002.
        ((200, 100), 0.002),
        // x₁ = 500: path 0 is the best, α = 1, 1000/(0.1·1500²).
        ((50, 100), 1.0 / 225.0),
        // The same rate over half the round trip: only rates count.
        ((25, 50), 1.0 / 225.0),
    ] {
        let mut play = tcp(&[(100, 100), other]);
        for _ in 0..10 {
            play.picture.paths[1].limit.cwnd = other.0 * MTU;
            play.ack(1);
        }
        near(play.cwnd(), 100.0 + 10.0 * step, 1.5e-3);
        // SCTP takes the step of a window's worth of ACKs at once: 100 of them, to the byte.
        let mut play = sctp(&[(100, 100), other]);
        play.ack_of(0, 50, 100 * MTU, None);
        play.picture.paths[1].limit.cwnd = other.0 * MTU;
        play.ack_of(0, 50, 100 * MTU, None);
        near(play.cwnd(), 100.0 + 100.0 * step, 1e-3);
    }
}

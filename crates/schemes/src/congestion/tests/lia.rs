use proptest::prelude::*;
use strandcast_proto::policy::fixture::{MTU, Picture, ack};
use strandcast_proto::policy::{
    AckInfo, CongestionControl, LossCause, LossTrigger, PathId, PathState, Policy, Signal,
};
use strandcast_proto::rfc::{Aimd, Avoidance as _, Progress, Reno, WindowConfig};
use strandcast_proto::time::Duration;
use strandcast_proto::wire::Tsn;

use super::play::{Play, near};
use crate::congestion::{Balia, Lia};

fn picture(windows: &[(u64, u64)]) -> Picture {
    let mut picture = Picture::new(windows.len() as u8);
    for (p, (packets, ms)) in picture.paths.iter_mut().zip(windows) {
        p.limit.cwnd = packets * MTU;
        p.srtt = Some(Duration::from_millis(*ms));
    }
    picture
}

fn step(picture: &Picture, path: u8) -> u64 {
    let (view, path) = (picture.view(), PathId(path));
    let (segment, cwnd) = (view[path].mtu as f64, view[path].limit.cwnd as f64);
    let now = Progress { view: &view, path, acked: cwnd, segment, cwnd, passed: Duration::ZERO };
    (Lia.increase(&now) + 0.5) as u64
}

#[test]
fn equal_paths_share_one_increase() {
    // n equal windows: alpha = 1/n, so each grows by MTU/n² a window, all by MTU/n a round trip.
    for n in 1..=4 {
        let p = picture(&vec![(20, 50); n]);
        let (alpha, total) = Lia::alpha(&p.view()).expect("all paths count");
        assert!((alpha - 1.0 / n as f64).abs() < 1e-12 && total == 20_000.0 * n as f64);
        assert!(step(&p, 0).abs_diff(1000 / (n * n) as u64) <= 1, "to the byte");
    }
}

#[test]
fn alpha_of_unequal_paths_by_hand() {
    // 10 packets at 10 ms and 40 at 100 ms: alpha = 50·(10/0.01²)/((10/0.01)+(40/0.1))² = 5·10⁶/1400² = 2.5510…
    let p = picture(&[(10, 10), (40, 100)]);
    let (alpha, _) = Lia::alpha(&p.view()).expect("both count");
    assert!((alpha - 5e6 / 1.96e6).abs() < 1e-9, "{alpha}");
    assert_eq!(step(&p, 0), 510, "1000·2.551·10/50");
    assert_eq!(step(&p, 1), 1000, "the bound: no more than TCP on that path");
}

#[test]
fn paths_that_do_not_count_are_left_out() {
    let mut p = picture(&[(20, 50), (20, 50), (20, 50)]);
    p.paths[1].state = PathState::Inactive;
    p.paths[2].srtt = None;
    assert_eq!(step(&p, 0), 1000, "alone");
    assert_eq!(step(&p, 2), 1000, "uncoupled until it is measured");
    p.paths[0].srtt = None;
    assert_eq!(step(&p, 0), 1000);
}

/// RFC 6356 §3 for an ACK of a segment: min(alpha·acked·mss/total, acked·mss/cwnd). Two equal paths take a quarter of
/// TCP's step each, 1/4·1000·1000/20000 bytes.
#[test]
fn tcp_grows_by_the_ack() {
    let tcp = |windows: [u64; 2], rtts: [u64; 2], spec: &str| {
        let mut play = Play::new(spec, 2, 20, Some(1));
        for path in 0..2u8 {
            let (window, p) = (windows[usize::from(path)], &mut play.picture.paths[usize::from(path)]);
            p.srtt = Some(Duration::from_millis(rtts[usize::from(path)]));
            p.limit.cwnd = window * MTU;
        }
        let view = play.picture.clone();
        [0, 1].map(|path| {
            play.picture = view.clone();
            play.ack_of(path, 2, 20 * MTU, None);
            (play.cwnd_of(usize::from(path)) - 20.0) * MTU as f64
        })
    };
    let equal = tcp([20, 20], [50, 50], "lia");
    near(equal[0], 12.5, 1.0);
    near(equal[1], 12.5, 1.0);
    let bytes = tcp([20, 20], [50, 50], "lia,count=bytes");
    near(bytes[0], 25.0, 1.0);
    // 10 segments at 10 ms and 40 at 100 ms: alpha = 2.551, so 51.02 bytes, but no more than alone: the windows that
    // grow are of 20 segments, 1000·1000/20000.
    near(tcp([10, 40], [10, 100], "lia")[0], 50.0, 1.0);
    // 20 at 10 ms and 20 at 100 ms: alpha = 40·(20/0.01²)/(20/0.01 + 20/0.1)² = 8·10⁶/2200² = 1.6529; ·10⁶/40000.
    let unequal = tcp([20, 20], [10, 100], "lia");
    near(unequal[0], 41.32, 1.0);
    near(unequal[1], 41.32, 1.0);
}

#[derive(Clone, Debug)]
enum Op {
    Acked { chunks: u32, filled: bool, all: bool },
    Loss(bool),
    Rtt(u64),
    Idle(u64),
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        8 => (1..20u32, any::<bool>(), any::<bool>()).prop_map(|(chunks, filled, all)| Op::Acked { chunks, filled, all }),
        1 => any::<bool>().prop_map(Op::Loss),
        1 => (1..2000u64).prop_map(Op::Rtt),
        1 => (1..4000u64).prop_map(Op::Idle),
    ]
}

/// Plays `ops` on one path; the window after each.
fn windows(mut cc: impl CongestionControl, ops: &[Op]) -> Vec<u64> {
    let mut p = Picture::new(1);
    let tell = |cc: &mut dyn Policy, p: &Picture, signal: &Signal<'_>| cc.on_signal(&p.view(), signal);
    tell(&mut cc, &p, &Signal::PathChanged(PathId(0)));
    let mut out = Vec::new();
    let mut tsn = 0;
    for op in ops {
        p.paths[0].limit = cc.limit(PathId(0));
        match op {
            Op::Acked { chunks, filled, all } => {
                let flight = if *filled { p.paths[0].limit.cwnd } else { 500 };
                tsn += chunks;
                let ack = ack(0, tsn, (tsn - chunks + 1, tsn), flight);
                tell(&mut cc, &p, &Signal::Acked(&AckInfo { all_acked: *all, ..ack }));
            }
            Op::Loss(timeout) => {
                let trigger = if *timeout { LossTrigger::Timeout } else { LossTrigger::FastRetransmit };
                let (path, highest, cause) = (PathId(0), Tsn(tsn + 5), LossCause::Congestion);
                tell(&mut cc, &p, &Signal::LossEvent { path, trigger, highest, cause });
            }
            Op::Rtt(ms) => p.paths[0].srtt = Some(Duration::from_millis(*ms)),
            Op::Idle(ms) => {
                p.now += Duration::from_millis(*ms);
                tell(&mut cc, &p, &Signal::Queued);
            }
        }
        out.push(cc.limit(PathId(0)).cwnd);
    }
    out
}

/// The square of a round-trip time in seconds.
fn rtt2(ms: u64) -> f64 {
    let rtt = ms as f64 / 1e3;
    rtt * rtt
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn one_path_is_the_rfc_window(ops in prop::collection::vec(op(), 1..200)) {
        let config = WindowConfig::default();
        let reno = windows(Aimd::new(config, Reno), &ops);
        prop_assert_eq!(&reno, &windows(Aimd::new(config, Lia), &ops));
        prop_assert_eq!(&reno, &windows(Aimd::new(config, Balia), &ops));
    }

    /// RFC 6356 §3: on no path more than TCP, and together no more than one TCP on the best path: the rates' sum grows
    /// in a second by at most max_i MTU/rtt_i².
    #[test]
    fn no_more_than_tcp(paths in prop::collection::vec((4..500u64, 1..1000u64), 1..6)) {
        let p = picture(&paths);
        let mut growth = 0.0;
        for (i, (_, ms)) in paths.iter().enumerate() {
            let bytes = step(&p, i as u8);
            prop_assert!(bytes <= MTU);
            // One window is acknowledged a round trip; rounding to bytes may add half a byte.
            growth += (bytes as f64 - 0.5) / rtt2(*ms);
        }
        let best = paths.iter().map(|(_, ms)| MTU as f64 / rtt2(*ms)).fold(0.0, f64::max);
        prop_assert!(growth <= best * (1.0 + 1e-9), "{growth} > {best}");
    }
}

use proptest::prelude::*;

use strandcast_proto::seeds::Seeds;

use super::play::Play;
use crate::congestion::{WindowSetup, congestion, congestions};

fn error(spec: &str) -> String {
    let setup = WindowSetup { initial_window_bytes: 4000, initial_ssthresh_bytes: None };
    congestion(spec, setup).expect_err(spec).to_string()
}

/// The windows that a TCP or MPTCP flow can have.
fn of_flows() -> impl Iterator<Item = &'static str> {
    congestions().into_iter().filter(|c| c.not_for_tcp.is_none()).map(|c| c.name)
}

#[test]
fn mistakes_get_one_line_that_helps() {
    let names = format!("choose from {}", of_flows().collect::<Vec<_>>().join(", "));
    assert_eq!(error("cubik"), format!("unknown congestion control 'cubik', did you mean cubic?; {names}"));
    assert_eq!(error("illinois"), format!("unknown congestion control 'illinois'; {names}"));
    assert_eq!(
        error("reno,beta=0.7"),
        "scheme reno has no key 'beta'; its keys are l, count, cut, floor, when-full, hystart"
    );
    assert!(error("cubic,bta=0.7").contains("has no key 'bta', did you mean beta?"));
    assert_eq!(error("cubic,beta=1"), "beta can't be '1'; it can be 0.1 to 0.99");
    assert_eq!(error("cubic,beta=NaN"), "beta can't be 'NaN'; it can be 0.1 to 0.99");
    assert_eq!(error("cubic,beta"), "'beta' is not key=value, as in cubic,beta=0.7");
    assert_eq!(error("reno,l=1,l=1"), "l is given twice");
    assert_eq!(
        error("rfc"),
        format!(
            "'rfc' is not a congestion control of a TCP or MPTCP flow: it is SCTP's window, TCP's is reno; {names}"
        )
    );
    assert!(error("receiver-rate").contains(
        "its rate comes from an SCTP receiver with feedback=rounds, which TCP flows do not have; choose from"
    ));
}

/// Registered once, a window is a word of `cc` for presets made of parts, and a name for TCP and MPTCP flows unless the
/// table gives a reason against it.
#[test]
fn the_table_is_what_presets_and_flows_can_name() {
    let cmt = crate::lookup("cmt").expect("cmt exists");
    let keys = cmt.keys();
    let cc = keys.iter().find(|k| k.name == "cc").expect("cmt has windows");
    let names: Vec<_> = congestions().iter().map(|c| c.name).collect();
    assert!(matches!(cc.values, crate::Values::OneOf(words) if words == names), "{:?}", cc.values);
    for one in congestions() {
        let base = if one.name == "receiver-rate" { "sctp-rev" } else { "cmt" };
        crate::parse_spec(&format!("{base},cc={}", one.name)).expect("a word of cc").build(&Seeds::new(1, 0));
        let setup = WindowSetup { initial_window_bytes: 4000, initial_ssthresh_bytes: None };
        assert_eq!(congestion(one.name, setup).is_ok(), one.not_for_tcp.is_none(), "{}", one.name);
    }
}

#[test]
fn keys_reach_the_windows() {
    for (spec, left) in [("cubic", 70.0), ("cubic,beta=0.8", 80.0), ("cubic, beta = 0.5 ", 50.0)] {
        let mut play = Play::new(spec, 1, 100, None);
        play.recover();
        assert!((play.cwnd() - left).abs() <= 1e-3, "{spec}: {}", play.cwnd());
    }
}

#[test]
fn every_default_is_a_value_of_its_key() {
    for choice in congestions() {
        assert_eq!(choice.keys.is_empty(), choice.not_for_tcp.is_some(), "{}", choice.name);
        for (key, default) in choice.keys {
            Play::new(&format!("{},{}={default}", choice.name, key.name), 1, 4, None);
        }
    }
    let cubic = congestions().into_iter().find(|c| c.name == "cubic").expect("it is in the table").keys;
    let of = |name| cubic.iter().find(|(key, _)| key.name == name).map(|(_, default)| default.as_str());
    assert_eq!((of("count"), of("beta"), of("floor")), (Some("bytes"), Some("0.7"), Some("2")));
}

/// RFC 4015 §3.2: after losses that turn out to be spurious a window is at least what it was, by miss indications or a
/// timeout, and so is its threshold.
#[test]
fn every_window_returns_after_spurious_losses() {
    use strandcast_proto::policy::LossTrigger::{FastRetransmit, Timeout};
    use strandcast_proto::policy::{PathId, Signal};
    for name in of_flows() {
        for trigger in [FastRetransmit, Timeout] {
            let mut play = Play::new(name, 1, 40, Some(30));
            (0..40).for_each(|_| play.ack(1));
            let before = play.picture.paths[0].limit;
            play.lose(trigger, 40);
            let cut = play.picture.paths[0].limit.cwnd;
            assert!(
                cut < before.cwnd || name.contains("bbr") || name == "delay-guard",
                "{name}, {trigger:?}"
            );
            play.tell(&Signal::Spurious { path: PathId(0), trigger, chunks: 3, before: None });
            assert_eq!(play.picture.paths[0].limit.cwnd, cut, "{name}: some of the losses were real");
            play.tell(&Signal::Spurious { path: PathId(0), trigger, chunks: 1, before: Some(before) });
            let after = play.picture.paths[0].limit;
            assert!(after.cwnd >= before.cwnd, "{name}, {trigger:?}: {after:?}, {before:?} before");
            let threshold = |of: Option<u64>| of.unwrap_or(u64::MAX);
            assert!(threshold(after.ssthresh) >= threshold(before.ssthresh), "{name}: {after:?}");
        }
    }
}

#[derive(Clone, Debug)]
enum Op {
    Ack { segments: u32, full: bool },
    Loss { timeout: bool, flight: u64 },
    Rtt(u64),
    Wait(u64),
    Send(u64),
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        8 => (1..20u32, any::<bool>()).prop_map(|(segments, full)| Op::Ack { segments, full }),
        1 => (any::<bool>(), 0..50u64).prop_map(|(timeout, flight)| Op::Loss { timeout, flight }),
        1 => (1..2000u64).prop_map(Op::Rtt),
        2 => (1..4000u64).prop_map(Op::Wait),
        1 => (0..5000u64).prop_map(Op::Send),
    ]
}

/// The window and threshold of path 0 after each of `ops`.
fn windows(spec: &str, ops: &[Op]) -> Vec<(f64, Option<f64>)> {
    use strandcast_proto::policy::LossTrigger::{FastRetransmit, Timeout};
    use strandcast_proto::time::Duration;
    let mut play = Play::new(spec, 1, 4, None);
    let step = |op: &Op| {
        match *op {
            Op::Ack { segments, full: true } => play.ack(segments),
            Op::Ack { segments, full: false } => play.ack_of(0, segments, 500, None),
            Op::Loss { timeout, flight } => play.lose(if timeout { Timeout } else { FastRetransmit }, flight),
            Op::Rtt(ms) => play.rtt(Duration::from_millis(ms)),
            Op::Wait(ms) => play.wait(Duration::from_millis(ms)),
            Op::Send(in_flight) => play.send(play.acked[0] + 1, in_flight),
        }
        (play.cwnd(), play.ssthresh())
    };
    ops.iter().map(step).collect()
}

/// Windows that are not Reno's with one path. Every other one in the table has to be. `coupled` is with Reno's defaults
/// (`alone.rs`); its own leave one segment.
const NOT_RENO: &[&str] =
    &["cubic", "coupled", "wvegas", "mpsqrt", "mpiad", "mpcubic", "mpmtp", "bbr", "delay-guard"];

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn windows_on_one_path_are_reno(ops in prop::collection::vec(op(), 1..200)) {
        for name in of_flows().filter(|name| !NOT_RENO.contains(name)) {
            prop_assert_eq!(windows("reno", &ops), windows(name, &ops), "{}", name);
        }
    }

    /// At least a segment; at an ACK no more than one segment or half of the window, with MPMTP one for each of the at
    /// most 19 that it acknowledges, and BBR goes back to what it had before a loss; thresholds of two segments, of one
    /// where losses may take all that a path has.
    #[test]
    fn windows_stay_in_bounds(ops in prop::collection::vec(op(), 1..200)) {
        for spec in of_flows().chain(["reno,hystart=on"]) {
            let (mut before, floor) = (4.0, if spec == "coupled" { 1.0 } else { 2.0 });
            let step = if ["mpmtp", "bbr", "delay-guard"].contains(&spec) { 19.0 } else { 1.0 };
            for (cwnd, ssthresh) in windows(spec, &ops) {
                let most = before + f64::max(step, before / 2.0) + 1e-2;
                prop_assert!(cwnd >= 1.0 && cwnd <= most, "{spec}: {before} to {cwnd}");
                prop_assert!(ssthresh.is_none_or(|s| s >= floor), "{spec}: {ssthresh:?}");
                before = cwnd;
            }
        }
    }
}

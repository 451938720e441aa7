//! Presets in whole associations, over wires that delay, lose and die: the purpose of each scheme, and that the core
//! loses nothing of it.

use std::sync::Arc;

use strandcast_proto::association::SendOptions;
use strandcast_proto::config::TransportConfig;
use strandcast_proto::endpoint::Input;
use strandcast_proto::path::PathStats;
use strandcast_proto::policy::{
    Estimate, LinkSample, Parts, PathEstimator, PathId, Policy, Scheme, Signal, View,
};
use strandcast_proto::rfc;
use strandcast_proto::seeds::Seeds;
use strandcast_proto::time::Duration;
use strandcast_schemes::{parse_spec, presets};
use strandcast_testing::endpoints::*;
use strandcast_testing::recording::RecordingScheme;

/// Client and server with this scheme, connected.
fn connected_pair(spec: &str, delays_ms: &[u64]) -> TestPair {
    let spec = parse_spec(spec).expect("a spec of this test");
    let mut transport = TransportConfig { send_buffer: 8 << 20, ..TransportConfig::default() };
    spec.tune(&mut transport);
    let accepted = spec.clone();
    let accept = Arc::new(move |seeds: &Seeds| accepted.build(seeds));
    let mut w = TestPair::with(delays_ms, [transport.clone(), transport], accept, 7);
    w.connect_with(spec.build(&Seeds::new(7, 1)));
    w.run(ms(3000));
    w
}

/// Sends `messages` of 1000 bytes, `apart` from each other, and runs until all are there; the longest time without one.
fn stream(w: &mut TestPair, messages: usize, apart: Duration) -> Duration {
    let before = w.received(SERVER).len();
    let (mut longest, mut last, mut seen) = (Duration::ZERO, w.now, w.apps[SERVER].messages.len());
    for i in 0..messages {
        w.send(CLIENT, pattern(before + i * 1000, 1000), SendOptions::default());
        let next = w.now + apart;
        w.run_until(apart, |w| w.apps[SERVER].messages.len() > seen);
        while w.now < next {
            if w.apps[SERVER].messages.len() > seen {
                longest = longest.max(w.now - last);
                (last, seen) = (w.now, w.apps[SERVER].messages.len());
            }
            let left = next - w.now;
            if !w.run_until(left, |w| w.apps[SERVER].messages.len() > seen) {
                w.now = next;
            }
        }
    }
    let all = before + messages * 1000;
    let done = w.run_until(ms(120_000), |w| w.received(SERVER).len() >= all);
    assert!(done, "{} of {all} bytes; {:?}", w.received(SERVER).len(), w.association(CLIENT).stats());
    assert_eq!(w.received(SERVER), pattern(0, all));
    longest.max(w.now - last)
}

fn stats(w: &TestPair, path: usize) -> PathStats {
    w.association(CLIENT).path_stats([P0, P1][path]).expect("the path exists").clone()
}

fn stats_of(w: &TestPair, path: PathId) -> u64 {
    w.association(CLIENT).path_stats(path).expect("the path exists").chunks_sent
}

#[test]
fn every_preset_delivers_everything_over_bad_wires() {
    let windows = ["cmt,cc=reno", "cmt,cc=cubic", "sctp,cc=cubic"];
    for spec in presets().iter().map(|p| p.name).chain(windows) {
        let mut w = connected_pair(spec, &[10, 40, 90]);
        for wire in &mut w.wires {
            (wire.loss, wire.jitter) = (0.08, ms(20));
        }
        stream(&mut w, 300, ms(1));
    }
}

#[test]
fn sctp_uses_one_path_and_the_others_all() {
    for (spec, both) in
        [("sctp", false), ("cmt", true), ("cmt,scheduler=primary", false), ("redundant", true)]
    {
        let mut w = connected_pair(spec, &[20, 30]);
        stream(&mut w, 900, Duration::ZERO);
        let share = |path| stats(&w, path).chunks_sent as f64 / 900.0;
        assert!(share(0) > 0.1, "{spec}");
        assert!(if both { share(1) > 0.1 } else { share(1) == 0.0 }, "{spec}: {:?}", stats(&w, 1));
    }
}

/// B.10 of classic concurrent transfer: without loss nothing is marked lost, however unequal the delays.
#[test]
fn split_fast_retransmit_is_not_fooled_by_unequal_delays() {
    let spurious = |spec: &str| {
        let mut w = connected_pair(spec, &[5, 150]);
        stream(&mut w, 1500, ms(1));
        stats(&w, 0).lost_fast + stats(&w, 1).lost_fast
    };
    assert_eq!(spurious("cmt"), 0);
    assert_eq!(spurious("cmt,dac=off"), 0);
    assert!(spurious("cmt,loss=rfc") > 20, "a single path's rule sees losses everywhere");
}

/// The better a path, the more it carries; none is left out while there is enough to send.
#[test]
fn cmt_la_prefers_the_paths_that_lose_least() {
    let mut w = connected_pair("cmt-la", &[20, 20, 20]);
    for (wire, loss) in w.wires.iter_mut().zip([0.12, 0.01, 0.05]) {
        wire.loss = loss;
    }
    for i in 0..4000 {
        w.send(CLIENT, pattern(i * 1000, 1000), SendOptions::default());
    }
    w.run(ms(30_000));
    assert_eq!(w.received(SERVER), pattern(0, 4_000_000));
    let sent: Vec<u64> = w.association(CLIENT).paths().iter().map(|p| stats_of(&w, p.id)).collect();
    assert!(sent[1] > sent[2] && sent[2] > sent[0] && sent[0] > 40, "{sent:?}");
}

/// A chunk that was declared lost leaves the retransmission queue once, however it ends: sent again and arrived, or
/// late and never lost.
#[derive(Debug, Default)]
struct Queue {
    entered: u64,
    left: u64,
}

impl Policy for Queue {
    fn on_signal(&mut self, _: &View<'_>, signal: &Signal<'_>) {
        match signal {
            Signal::Lost { chunk, .. } => self.entered += u64::from(chunk.losses == 1),
            Signal::Acked(ack) => self.left += u64::from(ack.newly_acked_again),
            _ => {}
        }
    }

    fn counters(&self, out: &mut Vec<(&'static str, u64)>) {
        out.extend([("entered", self.entered), ("left", self.left)]);
    }
}

impl PathEstimator for Queue {
    fn estimate(&self, _: PathId, _: &mut Estimate) {}
}

#[test]
fn what_was_lost_leaves_the_retransmission_queue_once() {
    let accept = Arc::new(|_: &Seeds| -> Box<dyn Scheme> { Box::new(rfc::scheme()) });
    let mut w = TestPair::with(&[20], [TransportConfig::default(), TransportConfig::default()], accept, 7);
    w.connect_with(Box::new(Parts { estimators: vec![Box::new(Queue::default())], ..rfc::scheme() }));
    w.run(ms(3000));
    (w.wires[0].loss, w.wires[0].jitter) = (0.05, ms(15));
    stream(&mut w, 1000, ms(1));
    w.run(ms(5000));
    let counters = w.association(CLIENT).scheme_counters();
    let spurious = w.association(CLIENT).stats().spurious;
    assert!(spurious > 0, "some of them were only late");
    assert_eq!(counters[0].1, counters[1].1, "{counters:?}, {spurious} late");
}

/// Rates arrive in SACKs, regardless of how SACKs are sent, and in HEARTBEAT ACKs for the path without data.
#[test]
fn the_receiver_s_rates_reach_the_sender() {
    for spec in ["sctp-rev", "sctp-rev,strict=on"] {
        let mut w = connected_pair(spec, &[20, 30]);
        stream(&mut w, 1000, ms(2));
        let rate = |path: usize| w.association(CLIENT).paths()[path].est.peer_rate.map(|r| r.bytes_per_s());
        assert!(rate(0).is_some_and(|r| r > 400e3), "{spec}: 1000 bytes every 2 ms came: {:?}", rate(0));
        assert!(rate(1).is_some(), "{spec}");
    }
}

/// The path in use dies: the receiver orders the other one within three round trips of its last packet. Data in
/// flight are found lost by three packets there, or by the timer that RTO.Min bounds: no failover after timeouts in a
/// row.
#[test]
fn the_receiver_leaves_a_dead_path_at_once() {
    let gap = |spec: &str, delays: [u64; 2], before: usize| {
        let mut w = connected_pair(spec, &delays);
        stream(&mut w, before, ms(2));
        let sent = [0, 1].map(|path| stats(&w, path).chunks_sent);
        stream(&mut w, 50, ms(2));
        let used = usize::from(stats(&w, 1).chunks_sent - sent[1] > stats(&w, 0).chunks_sent - sent[0]);
        w.wires[used].up = [false; 2];
        stream(&mut w, 1000, ms(2))
    };
    assert!(gap("sctp", [20, 20], 1000) > ms(1000), "RTO.Min");
    for spec in ["sctp-rev", "sctp-rev-plus"] {
        for (delays, before) in [([20, 20], 1000), ([20, 20], 1103), ([20, 35], 1000), ([35, 20], 1357)] {
            let longest = gap(spec, delays, before);
            assert!(longest < ms(1300), "{spec} {delays:?} after {before}: {longest:?}");
        }
    }
}

/// One path leaves nothing to choose: packet by packet it is `cmt`.
#[test]
fn with_one_path_cmt_la_is_cmt() {
    let run = |spec: &str| {
        let mut w = connected_pair(spec, &[30]);
        w.wires[0].loss = 0.03;
        stream(&mut w, 500, ms(1));
        (w.sent.clone(), w.data_log.clone(), w.now)
    };
    assert_eq!(run("cmt-la"), run("cmt"));
}

/// The core does not look at a scheme's name: under another one it sends the same packets at the same times.
#[test]
fn a_scheme_is_what_it_does_not_what_it_is_called() {
    for preset in presets() {
        let run = |disguised: bool| {
            let spec = parse_spec(preset.name).expect("a preset");
            let mut transport = config();
            spec.tune(&mut transport);
            let build = Arc::new(move |seeds: &Seeds| match disguised {
                true => RecordingScheme::boxed(spec.build(seeds), Default::default()),
                false => spec.build(seeds),
            });
            let mut w = TestPair::with(&[10, 30], [transport.clone(), transport], build.clone(), 7);
            w.connect_with(build(&Seeds::new(7, 1)));
            w.wires.iter_mut().for_each(|wire| wire.loss = 0.05);
            w.run(ms(3000));
            stream(&mut w, 200, ms(1));
            (w.sent.clone(), w.data_log.clone(), w.now)
        };
        assert_eq!(run(true), run(false), "{}", preset.name);
    }
}

/// Without CUC the fast path's window follows the slow path's cumulative TSN.
#[test]
fn windows_grow_by_their_own_path_s_progress() {
    let window = |spec: &str| {
        let mut w = connected_pair(spec, &[5, 50]);
        for _ in 0..60 {
            w.send(CLIENT, pattern(0, 15_000), SendOptions::default());
        }
        w.run(ms(60));
        w.association(CLIENT).paths()[0].limit.cwnd
    };
    let (with, without) = (window("cmt"), window("cmt,cuc=off"));
    assert!(with > 2 * without, "{with} with CUC, {without} without");
}

/// Half as many SACKs as packets, although the delays leave gaps all the time.
#[test]
fn delayed_acks_stay_delayed_across_gaps() {
    let sacks = |spec: &str| {
        let mut w = connected_pair(spec, &[5, 80]);
        let before = w.association(SERVER).stats().sacks_sent;
        stream(&mut w, 2000, ms(1));
        (w.association(SERVER).stats().sacks_sent - before) as f64 / 2000.0
    };
    let (with, without) = (sacks("cmt"), sacks("cmt,dac=off"));
    assert!(
        (0.45..0.6).contains(&with) && without > 0.9,
        "{with} SACKs per packet with DAC, {without} without"
    );
}

#[test]
fn a_dead_path_holds_nothing_up_for_long() {
    let dies = |spec: &str, up: [bool; 2]| {
        let mut w = connected_pair(spec, &[20, 45]);
        stream(&mut w, 500, ms(4));
        w.wires[0].up = up;
        let gap = stream(&mut w, 800, ms(4));
        assert!(gap < ms(1500), "{spec} {up:?}: {gap:?}");
        w.wires[0].up = [true; 2];
        w.run(ms(2000));
        let before = stats(&w, 0).chunks_sent;
        stream(&mut w, 250, ms(4));
        assert!(stats(&w, 0).chunks_sent > before, "{spec} {up:?}: back in use within three seconds");
    };
    for up in [[false, true], [true, false], [false, false]] {
        dies("cmt", up);
    }
    for spec in ["cmt-qa", "cmt-cl", "cmt-cl-fd"] {
        dies(spec, [false, false]);
    }
}

/// Copies hide a path's losses and its death: nothing waits for a timeout, and little for a retransmission (only chunks
/// that found no room on the other path).
#[test]
fn redundant_waits_for_nothing() {
    for (loss, up) in [(0.2, [true; 2]), (0.0, [false; 2]), (0.0, [true, false]), (0.0, [false, true])] {
        let mut w = connected_pair("redundant", &[20, 45]);
        stream(&mut w, 500, ms(4));
        (w.wires[0].loss, w.wires[0].up) = (loss, up);
        let gap = stream(&mut w, 500, ms(4));
        assert!(gap < ms(150), "loss {loss}, up {up:?}: {gap:?}");
    }
}

/// Guo, Liu and Lian 2010, §4: a lossy path of 10 ms and a clean one of 30 ms. Once both are measured, originals are on
/// the clean one, which Reno's window makes the wider; its losses then take the path of the least delay.
#[test]
fn mpr_parts_originals_from_retransmissions() {
    let mut w = connected_pair("mpr", &[10, 30]);
    let bulk = |w: &mut TestPair, loss: [f64; 2]| {
        (w.wires[0].loss, w.wires[1].loss) = (loss[0], loss[1]);
        (0..6000).for_each(|i| {
            w.send(CLIENT, pattern(i * 1000, 1000), SendOptions::default());
        });
        w.run(ms(120_000));
        [stats(w, 0), stats(w, 1)]
    };
    let before = bulk(&mut w, [0.1, 0.0]);
    let after = bulk(&mut w, [0.1, 0.003]);
    assert_eq!(w.apps[SERVER].messages.len(), 12_000);
    let again = |path: usize| after[path].retransmissions - before[path].retransmissions;
    let originals = |path: usize| after[path].chunks_sent - before[path].chunks_sent - again(path);
    assert!(originals(1) > 4 * originals(0), "originals: {} and {}", originals(0), originals(1));
    assert!(again(0) > 4 * again(1), "retransmissions: {} and {}", again(0), again(1));
}

#[test]
fn same_seeds_same_packets() {
    let run = || {
        let mut w = connected_pair("cmt,rtx=asap", &[10, 30]);
        w.wires.iter_mut().for_each(|wire| wire.loss = 0.05);
        stream(&mut w, 400, ms(1));
        (w.sent.clone(), w.data_log.clone(), w.now)
    };
    assert_eq!(run(), run());
}

/// One frame in five is in error on a link of one end: its own sender receives that, the other one where both ends
/// report.
#[test]
fn frame_errors_reach_the_cross_layer_schemes() {
    let rate = |spec: &str, side: usize| {
        let mut w = connected_pair(spec, &[20, 30]);
        stream(&mut w, 1, ms(5)); // who only receives has nothing to say of links
        let alone = w.association(CLIENT).diagnostics(w.now);
        assert!(alone[0].starts_with("no link reports frame errors"), "{alone:?}");
        for round in 1..=10 {
            let (frames, errors) = (100 * round, 20 * round);
            let link = w.association(side).paths()[0].link;
            let sample = if side == CLIENT {
                LinkSample { link, tx_frames: frames, tx_failed: errors, ..LinkSample::default() }
            } else {
                LinkSample { link, rx_frames: frames, rx_errors: errors, ..LinkSample::default() }
            };
            w.ends[side].handle_input(w.now, Input::Link(sample));
            stream(&mut w, 60, ms(5));
        }
        // The other link still reports nothing.
        let heard = w.association(CLIENT).diagnostics(w.now).iter().all(|r| r.starts_with("some links"));
        w.association(CLIENT).paths()[0].est.frame_error_rate.filter(|_| heard)
    };
    for spec in ["cmt-cl", "cmt-cl-fd,report-fer=on"] {
        let near = rate(spec, CLIENT).expect("the sender's link reported");
        assert!((0.19..0.22).contains(&near), "{spec}: {near}");
    }
    let far = rate("cmt-cl,report-fer=on", SERVER).expect("the receiver reported");
    assert!((0.19..0.22).contains(&far), "{far}");
    assert_eq!(rate("cmt-cl", SERVER), None, "off in the paper");
}

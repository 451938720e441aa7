//! The family as a whole, with numbers worked by hand: MTU 1000 bytes, RTT 100 ms, RTO 1 s, srtt + 4 rttvar = 150 ms.

use strandcast_proto::policy::fixture::{self, MTU, Picture};
use strandcast_proto::policy::{
    AckInfo, Assignment, Backlog, Estimate, HeartbeatInfo, LinkSample, LossCause, LossTrigger, PathId,
    PathSet, PathState, Retransmit, Scheme, Signal,
};
use strandcast_proto::rfc::{Window, WindowConfig};
use strandcast_proto::seeds::{Random, Seeds};
use strandcast_proto::time::{Duration, Instant};
use strandcast_proto::wire::serial::Tsn;

use super::model::{After, Reduction};
use super::windows::reduce;
use crate::{parse_spec, parse_spec_with};

const FAST: LossTrigger = LossTrigger::FastRetransmit;
const T3: LossTrigger = LossTrigger::Timeout;
const MS: fn(u64) -> Duration = Duration::from_millis;

/// A scheme and the picture it sees.
struct Rig {
    scheme: Box<dyn Scheme>,
    picture: Picture,
    tsn: u32,
}

impl Rig {
    fn new(spec: &str, paths: u8) -> Self {
        let scheme = parse_spec(spec).expect("a spec of this test").build(&Seeds::new(3, 0));
        let mut rig = Rig { scheme, picture: Picture::new(paths), tsn: 1 };
        rig.tell(&Signal::Queued);
        rig
    }

    fn tell(&mut self, signal: &Signal<'_>) {
        self.picture.signal(self.scheme.as_mut(), signal);
    }

    fn wait(&mut self, ms: u64) {
        self.picture.now += MS(ms);
    }

    fn cwnd(&self, path: u8) -> u64 {
        self.scheme.congestion().limit(PathId(path)).cwnd
    }

    fn ssthresh(&self, path: u8) -> Option<u64> {
        self.scheme.congestion().limit(PathId(path)).ssthresh
    }

    fn estimate(&self, path: u8) -> Estimate {
        let mut out = Estimate::default();
        self.scheme.estimate(PathId(path), &mut out);
        out
    }

    fn fwnd(&self) -> f64 {
        self.estimate(0).extra("fwnd_bytes").expect("the scheme has one")
    }

    fn count(&self, name: &str) -> u64 {
        let mut all = Vec::new();
        self.scheme.counters(&mut all);
        all.iter().find(|c| c.0 == name).unwrap_or_else(|| panic!("no {name} in {all:?}")).1
    }

    /// A SACK for `chunks` chunks of a full window, behind which more is in flight.
    fn ack(&mut self, path: u8, chunks: u32) {
        let last = self.tsn + chunks - 1;
        let flight = self.cwnd(path);
        let ack = AckInfo { all_acked: false, ..fixture::ack(path, last, (self.tsn, last), flight) };
        self.tsn = last + 1;
        self.tell(&Signal::Acked(&ack));
    }

    fn cause(&mut self, path: u8, trigger: LossTrigger) -> LossCause {
        self.scheme.loss().classify(&self.picture.view(), &fixture::chunk(1, &[path]), trigger)
    }

    fn lose(&mut self, path: u8, trigger: LossTrigger) -> LossCause {
        let cause = self.cause(path, trigger);
        let (path, highest) = (PathId(path), Tsn(self.tsn));
        self.tell(&Signal::LossEvent { path, trigger, highest, cause });
        cause
    }

    fn send(&mut self, path: u8) {
        let mut chunk = fixture::chunk(self.tsn, &[path]);
        chunk.transmissions[0].at = self.picture.now;
        self.tsn += 1;
        self.tell(&Signal::Sent(&chunk));
    }

    fn next(&mut self) -> Option<Assignment> {
        let backlog = Backlog {
            bytes: 1 << 20,
            messages: 1000,
            next_len: MTU,
            next_expires: None,
            retransmission: false,
            tried: PathSet::default(),
            ..Backlog::default()
        };
        self.scheme.scheduler().next(&self.picture.view(), &backlog)
    }

    /// The path and the number of packets of the next assignment.
    fn pick(&mut self) -> Option<(u8, u32)> {
        self.next().map(|a| (a.paths[0].0, a.chunks))
    }

    /// The access link sends a packet every 10 ms: 100 kB/s.
    fn departures(&mut self, path: u8) {
        for n in 0..50 {
            let departure = Some((self.picture.now + MS(10 * n), MTU));
            let sample =
                LinkSample { path: Some(PathId(path)), tx_frames: n + 1, departure, ..LinkSample::default() };
            self.tell(&Signal::Link(&sample));
        }
    }

    /// Both heartbeats of a pair are answered after `ms`.
    fn answer(&mut self, path: u8, ms: u64) {
        let (path, sent) = (PathId(path), self.picture.now);
        let info = HeartbeatInfo { path, rtt: Some(MS(ms)), probe: true, sent, late: false };
        self.tell(&Signal::Heartbeat(&info));
        self.tell(&Signal::Heartbeat(&info));
    }

    fn probes(&mut self) -> Vec<u8> {
        let mut out = Vec::new();
        while let Some(p) = self.scheme.feedback().probe(&self.picture.view()) {
            assert!(!p.padded && p.count == 2, "a pair");
            out.push(p.path.0);
        }
        out
    }

    fn diagnostics(&self) -> Vec<&'static str> {
        let mut out = Vec::new();
        self.scheme.diagnostics(&self.picture.view(), &mut out);
        out
    }
}

fn window(cwnd: u64) -> Window {
    let mut w = Window::new(WindowConfig::default(), MTU);
    w.set_cwnd(cwnd);
    w
}

/// cwnd 20 kB: 100 kB/s · 0.3 s = 30 kB is more than half of it, 100 kB/s · 0.05 s is less; 4 MTU at least.
#[test]
fn eqs_14_and_15_by_hand() {
    for (rate, rtt, cwnd, ssthresh) in [
        (1e5, 0.3, 20_000, 30_000),
        (1e5, 0.05, 20_000, 10_000),
        (0.0, 0.3, 5000, 4000),
        (1e5, 0.3, 3000, 30_000),
    ] {
        let after = |after| {
            let mut w = window(cwnd);
            reduce(&mut w, Reduction { rate, window: after }, rtt, 4 * MTU);
            assert_eq!(w.limit().ssthresh, Some(ssthresh));
            w.cwnd()
        };
        assert_eq!(after(After::Kept), cwnd, "eq. 14");
        assert_eq!(after(After::AtMost), cwnd.min(ssthresh), "eq. 15");
        assert_eq!(after(After::Threshold), ssthresh, "as in RFC 9260");
    }
}

#[test]
fn eq_16_at_timeouts() {
    for spec in ["cmt-qa", "cmt-cl", "cmt-cl-fd"] {
        for (initial, ssthresh) in [(20, 10_000), (6, 4000)] {
            let mut rig = Rig::new(&format!("{spec},initial-cwnd={initial}"), 2);
            assert_eq!(rig.lose(0, T3), LossCause::PathFailure);
            assert_eq!((rig.cwnd(0), rig.ssthresh(0)), (1000, Some(ssthresh)), "{spec}");
        }
    }
}

/// Settings of a profile for other schemes leave the paper's floor alone.
#[test]
fn a_profile_sets_what_there_is_to_set() {
    let ns2 = "initial-cwnd=2,initial-ssthresh=65536,half-floor=2,strict=on,rtx-again=off,probe-interval=0";
    let mut rig = Rig::new("cmt-cl", 1);
    rig.scheme =
        parse_spec_with("cmt-cl", ns2).expect("defaults are for who has them").build(&Seeds::new(3, 0));
    rig.tell(&Signal::Queued);
    assert_eq!((rig.cwnd(0), rig.ssthresh(0)), (2000, Some(65_536)));
    rig.lose(0, T3);
    assert_eq!(rig.ssthresh(0), Some(4000));
}

/// BW_e 100 kB/s, R_e 100 kB/s, RTT_ref 400 ms: both thresholds are 40 kB; which one, R_c decides.
#[test]
fn a_loss_is_the_radio_s_while_there_is_residual_capacity() {
    let rig = || {
        let mut rig = Rig::new("cmt-cl,initial-cwnd=60", 1);
        rig.departures(0);
        rig.send(0);
        rig.wait(900);
        rig.send(0);
        let ack = AckInfo { newly_acked: 90_000, flight_before: 0, ..fixture::ack(0, 2, (1, 2), 0) };
        rig.tell(&Signal::Acked(&ack));
        rig.wait(100);
        rig.tell(&Signal::Tick);
        assert_eq!(rig.estimate(0).delivery_rate.map(|r| r.bytes_per_s().round()), Some(100_000.0));
        assert_eq!(rig.probes(), [0]);
        rig.answer(0, 400);
        assert_eq!(rig.estimate(0).reference_rtt, Some(MS(400)));
        rig
    };
    let mut before = rig();
    assert_eq!(before.lose(0, FAST), LossCause::Congestion, "no R_c yet");
    assert_eq!(before.ssthresh(0), Some(before.cwnd(0)));
    assert!((39_990..=40_000).contains(&before.cwnd(0)), "{}", before.cwnd(0));
    let mut after = rig();
    after.next();
    assert_eq!(after.lose(0, FAST), LossCause::Wireless, "100 kB/s · 4.58 - 100 kB/s");
    assert_eq!((after.cwnd(0), after.ssthresh(0)), (60_000, Some(40_000)));
    assert_eq!((after.count("losses_judged_wireless"), before.count("losses_judged_congestion")), (1, 1));
}

/// n = 2, fwnd = Σ cwnd(init) = fthresh: congestion avoidance at once. Δ = 1000 gives 500; a MTU for each fwnd of
/// bytes.
#[test]
fn algorithm_2_takes_its_part_of_growth() {
    let mut rig = Rig::new("cmt-cl-fd,initial-cwnd=2,initial-ssthresh=4000", 2);
    assert_eq!(rig.fwnd(), 4000.0);
    rig.ack(0, 2);
    assert_eq!((rig.cwnd(0), rig.fwnd()), (2500, 4000.0));
    rig.ack(1, 2);
    assert_eq!((rig.cwnd(1), rig.fwnd()), (2500, 5000.0));
    // Without the friendliness window the path keeps all of it.
    let mut rig = Rig::new("cmt-cl,initial-cwnd=2,initial-ssthresh=4000", 2);
    rig.ack(0, 2);
    assert_eq!(rig.cwnd(0), 3000);
}

/// A sixth of 1000 bytes, thirty times: 5000, though no step is a whole number.
#[test]
fn algorithm_2_loses_no_fraction() {
    let mut rig = Rig::new("cmt-cl-fd,initial-cwnd=2,initial-ssthresh=12000", 6);
    for _ in 0..30 {
        rig.ack(0, 2);
    }
    assert!((6999..=7000).contains(&rig.cwnd(0)), "{}", rig.cwnd(0));
}

/// fwnd can't go below n cwnd(init), here 40 kB: windows shrink alone, and Reward lifts them when they are below half.
#[test]
fn algorithms_2_and_3_hear_of_losses() {
    let mut rig = Rig::new("cmt-cl-fd,initial-cwnd=20", 2);
    assert_eq!((rig.cwnd(0), rig.cwnd(1), rig.fwnd()), (20_000, 20_000, 40_000.0));
    rig.lose(0, FAST);
    assert_eq!((rig.fwnd(), rig.estimate(0).extra("fcount")), (40_000.0, Some(1.0)));
    rig.lose(0, T3);
    assert_eq!(rig.estimate(0).extra("fcount"), Some(3.0), "a timeout counts twice");
    assert_eq!(
        (rig.cwnd(0), rig.cwnd(1), rig.count("rewards")),
        (1000, 20_000, 0),
        "21 kB are more than half"
    );
    rig.lose(1, FAST);
    // 11 kB are less than half of 40 kB: 29 kB more, half of them for path 1; path 0 has nothing acknowledged since.
    assert_eq!((rig.cwnd(0), rig.cwnd(1), rig.count("rewards")), (1000, 24_500, 1));
    let mut all = Rig::new("cmt-cl-fd,initial-cwnd=20,reward-exempt=off", 2);
    all.lose(0, T3);
    all.lose(1, T3);
    assert_eq!((all.cwnd(0), all.cwnd(1)), (20_000, 20_000), "Reward undoes both timeouts");
}

/// Slow start of two paths to 20 kB each.
fn grown(spec: &str) -> Rig {
    let mut rig = Rig::new(spec, 2);
    while rig.cwnd(0) < 20_000 {
        rig.ack(0, 2);
        rig.ack(1, 2);
    }
    assert_eq!((rig.cwnd(0), rig.cwnd(1), rig.fwnd()), (20_000, 20_000, 40_000.0));
    rig
}

/// fwnd 40 kB. Congestion on path 0: windows 10 and 20 kB, fwnd 20 kB, which is 1.5 times. On path 1: 10 and 10 kB,
/// fwnd
/// 10 kB, which is too much: counts and rates are equal, path 0 is halved and sits the period out.
#[test]
fn algorithm_3_bans_for_a_period() {
    let mut rig = grown("cmt-cl-fd,initial-cwnd=2");
    assert_eq!(rig.pick(), Some((0, 20)));
    rig.lose(0, FAST);
    assert_eq!((rig.cwnd(0), rig.cwnd(1), rig.fwnd(), rig.count("penalties")), (10_000, 20_000, 20_000.0, 0));
    rig.lose(1, FAST);
    assert_eq!((rig.cwnd(0), rig.cwnd(1), rig.fwnd(), rig.count("penalties")), (5000, 10_000, 10_000.0, 1));
    assert_eq!(rig.ssthresh(0), Some(5000), "as if by fast retransmission");
    assert_eq!(rig.estimate(0).extra("fcount"), Some(0.0), "paid for");
    assert_eq!(rig.pick(), Some((1, 10)));
    rig.picture.paths[1].in_flight = 10_000;
    assert_eq!(rig.pick(), None, "held rather than given to the banned one");
    rig.wait(100);
    assert_eq!(rig.pick(), Some((0, 5)), "the next period");
}

/// The only path is never shut out: BW_e · RTT_ref keeps its window large while fwnd is halved.
#[test]
fn the_last_ban_is_lifted() {
    let mut rig = Rig::new("cmt-cl-fd,initial-cwnd=2", 1);
    while rig.cwnd(0) < 40_000 {
        rig.ack(0, 2);
    }
    assert_eq!(rig.pick(), Some((0, 40)), "the period begins without an R_c");
    rig.departures(0);
    rig.picture.paths[0].srtt = Some(MS(900));
    assert_eq!(rig.lose(0, FAST), LossCause::Congestion);
    assert_eq!((rig.count("penalties"), rig.cwnd(0)), (1, 20_000), "40 kB are twice fwnd");
    let guards = rig.count("guards");
    assert_eq!(rig.pick(), Some((0, 20)));
    assert_eq!(rig.count("guards"), guards + 1);
}

/// With one path fwnd is cwnd all along, in slow start and in congestion avoidance.
#[test]
fn with_one_path_the_friendliness_window_is_its_window() {
    let mut random = Seeds::new(5, 0).stream("one path");
    let spec = "initial-cwnd=2,initial-ssthresh=9000";
    let mut friendly = Rig::new(&format!("cmt-cl-fd,{spec}"), 1);
    let mut alone = Rig::new(&format!("cmt,{spec}"), 1);
    for _ in 0..300 {
        let chunks = 1 + random.below(3) as u32;
        friendly.ack(0, chunks);
        alone.ack(0, chunks);
        assert_eq!(friendly.cwnd(0), alone.cwnd(0));
        assert_eq!(friendly.fwnd(), friendly.cwnd(0) as f64);
    }
    assert!(alone.cwnd(0) > 20_000);
    assert_eq!((friendly.count("rewards"), friendly.count("penalties")), (0, 0));
}

/// As long as nothing is judged to be the radio's doing, windows are `cmt`'s: growth, cuts, timeouts, idle decay.
#[test]
fn without_wireless_verdicts_windows_are_those_of_cmt() {
    let mut random: Random = Seeds::new(6, 0).stream("three paths");
    let mut rigs = [Rig::new("cmt", 3), Rig::new("cmt-cl", 3)];
    for step in 0..3000 {
        let (path, chunks, what) = (random.below(3) as u8, 1 + random.below(4) as u32, random.below(60));
        for rig in &mut rigs {
            rig.wait(1);
            match what {
                0 => _ = rig.lose(path, T3),
                // Eq. 15 does not raise a window below 4 MTU, RFC 9260 does.
                1..4 if rig.cwnd(path) >= 4 * MTU => _ = rig.lose(path, FAST),
                4 if step % 7 == 0 => {
                    rig.wait(2500);
                    rig.tell(&Signal::Queued);
                }
                _ => rig.ack(path, chunks),
            }
        }
        let windows = |rig: &Rig| [0, 1, 2].map(|p| (rig.cwnd(p), rig.ssthresh(p)));
        assert_eq!(windows(&rigs[1]), windows(&rigs[0]), "step {step}");
    }
    assert_eq!(rigs[1].count("losses_judged_wireless"), 0);
    assert!(rigs[1].count("losses_judged_congestion") > 20);
}

#[test]
fn what_is_lost_goes_to_the_largest_window() {
    let mut rig = Rig::new("cmt-cl,initial-cwnd=4", 3);
    let target = |rig: &mut Rig| {
        rig.scheme.loss().retransmit(&rig.picture.view(), &fixture::chunk(1, &[0]), LossCause::Congestion)
    };
    assert_eq!(target(&mut rig), Retransmit::On(PathId(0)), "the first of equals");
    rig.ack(2, 2);
    assert_eq!(target(&mut rig), Retransmit::On(PathId(2)));
    rig.picture.paths[2].state = PathState::Inactive;
    assert_eq!(target(&mut rig), Retransmit::On(PathId(0)));
    rig.picture.paths.iter_mut().for_each(|p| p.state = PathState::Suspended);
    assert_eq!(target(&mut rig), Retransmit::Hold);
}

/// T3 every 120 ms, while srtt + 4 rttvar is 150 ms: one spacing is known with the second, three in a row with the
/// fourth.
#[test]
fn paths_with_timeouts_in_quick_succession_are_suspended() {
    let mut rig = Rig::new("cmt-cl,initial-cwnd=4", 2);
    for n in 1..=4 {
        assert_eq!(rig.count("paths_put_aside"), 0, "before timeout {n}");
        rig.lose(0, T3);
        rig.wait(120);
    }
    assert_eq!(rig.count("paths_put_aside"), 1);
    assert_eq!(rig.pick().map(|p| p.0), Some(1));
    rig.picture.paths[1].in_flight = 4000;
    assert_eq!(rig.pick(), None, "not even when the other one is full");
    // The last one stays whatever happens, and when the transport gives it up the other one is better than none.
    for _ in 0..6 {
        rig.lose(1, T3);
        rig.wait(120);
    }
    assert_eq!(rig.count("paths_put_aside"), 1);
    rig.picture.paths[1].state = PathState::Inactive;
    rig.tell(&Signal::PathChanged(PathId(1)));
    assert_eq!(rig.pick().map(|p| p.0), Some(0));
    rig.picture.paths[1].state = PathState::Active;
    rig.picture.paths[1].in_flight = 0;
    rig.tell(&Signal::PathChanged(PathId(1)));
    assert_eq!(rig.pick().map(|p| p.0), Some(1));
    rig.answer(0, 50);
    rig.wait(1000);
    assert_eq!(rig.pick().map(|p| p.0), Some(0), "back when it answered");
}

#[test]
fn slower_timeouts_suspend_nothing() {
    for (spec, pause) in [("cmt-cl", 160), ("cmt-cl,inactive=off", 120)] {
        let mut rig = Rig::new(spec, 2);
        for _ in 0..20 {
            rig.lose(0, T3);
            rig.wait(pause);
        }
        assert_eq!(rig.count("paths_put_aside"), 0, "{spec}");
    }
}

/// As printed, u ≤ RTO: u begins at 1 s, RTO is 1 s. The last path stays.
#[test]
fn the_literal_rule_suspends_what_loses_within_an_rto() {
    let mut rig = Rig::new("cmt-cl,inactive=literal", 3);
    rig.wait(1000);
    rig.tell(&Signal::Tick);
    assert_eq!(rig.count("paths_put_aside"), 2);
    rig.picture.paths.iter_mut().for_each(|p| p.rto = MS(500));
    rig.wait(1000);
    rig.tell(&Signal::Tick);
    rig.picture.paths[2].in_flight = 100_000;
    assert_eq!(rig.pick().map(|p| p.0), Some(0), "back when its losses are rarer than its RTO");
}

#[test]
fn intervals_end_by_time_or_loss_and_ask_for_a_pair_of_heartbeats() {
    let mut rig = Rig::new("cmt-qa", 2);
    assert_eq!(rig.scheme.poll_timeout(), Some(rig.picture.now + MS(1000)));
    rig.send(1);
    rig.wait(1000);
    rig.tell(&Signal::Tick);
    assert_eq!(rig.probes(), [1], "nothing is asked of a path that nothing was sent on");
    assert_eq!(rig.scheme.poll_timeout(), Some(rig.picture.now + MS(1000)));
    rig.wait(99);
    rig.lose(0, FAST);
    assert_eq!(rig.count("estimation_intervals"), 2, "not sooner than a round trip after the last");
    rig.wait(300);
    rig.send(0);
    rig.lose(0, FAST);
    assert_eq!(rig.count("estimation_intervals"), 3);
    assert_eq!(rig.probes(), [0]);
    rig.picture.paths[0].in_flight = 1000;
    rig.wait(1000);
    rig.tell(&Signal::Tick);
    rig.picture.paths[0].state = PathState::PotentiallyFailed;
    assert_eq!(rig.probes(), [1], "the transport probes paths that are not active");
}

/// Silence: windows fall from 20 to 5 kB in two RTOs, and fwnd with them, so that Reward has nothing to do.
#[test]
fn silence_costs_the_friendliness_window_as_much_as_the_paths() {
    let mut rig = grown("cmt-cl-fd,initial-cwnd=2");
    rig.send(0);
    rig.send(1);
    rig.wait(2000);
    rig.tell(&Signal::Queued);
    assert_eq!((rig.cwnd(0), rig.cwnd(1), rig.fwnd()), (5000, 5000, 10_000.0));
    rig.ack(0, 2);
    assert_eq!(rig.count("rewards"), 0);
}

/// BW_e is known of path 0 alone: path 1 comes first, to be tried. Then by R_c.
#[test]
fn unknown_paths_come_first_and_have_their_window_as_quota() {
    let mut rig = Rig::new("cmt-cl,initial-cwnd=4", 2);
    rig.departures(0);
    assert_eq!(rig.pick(), Some((1, 4)));
    rig.picture.paths[1].in_flight = 4000;
    assert_eq!(rig.pick(), Some((0, 4)));
    let mut qa = Rig::new("cmt-qa,initial-cwnd=4", 2);
    qa.send(1);
    qa.ack(1, 1);
    qa.wait(1000);
    qa.tell(&Signal::Tick);
    assert_eq!(qa.pick().map(|p| p.0), Some(1), "in CMT-QA they come last");
}

/// Four packets of credit, window of eight: when they are used up a new period begins, but not within 25 ms.
#[test]
fn periods_begin_early_when_credits_are_used_up() {
    let mut rig = Rig::new("cmt-cl,initial-cwnd=4", 1);
    assert_eq!(rig.pick(), Some((0, 4)));
    for _ in 0..4 {
        rig.send(0);
    }
    assert_eq!(rig.pick(), Some((0, 1)), "one by one meanwhile");
    assert_eq!((rig.count("distribution_periods"), rig.count("early_distribution_periods")), (1, 0));
    rig.wait(25);
    assert_eq!(rig.pick(), Some((0, 4)));
    assert_eq!((rig.count("distribution_periods"), rig.count("early_distribution_periods")), (2, 1));
}

/// Idle paths with capacity to spare get nothing from Algorithm 4 as printed.
#[test]
fn algorithm_4_as_printed_stalls() {
    let mut rig = Rig::new("cmt-cl,alg4=literal,initial-cwnd=10", 2);
    rig.departures(0);
    rig.departures(1);
    assert_eq!(rig.pick(), Some((0, 4)), "only because nothing is in flight");
    rig.picture.paths[0].in_flight = 1000;
    assert_eq!(rig.pick(), None);
    let over = rig.scheme.poll_timeout().expect("it waits for the period's end");
    assert!(over <= rig.picture.now + MS(1000));
    rig.picture.now = over;
    rig.tell(&Signal::Tick);
    assert_eq!(rig.pick(), None, "and so on");
    let mut credits = Rig::new("cmt-cl,initial-cwnd=10", 2);
    credits.departures(0);
    credits.departures(1);
    credits.picture.paths[0].in_flight = 1000;
    assert_eq!(credits.pick(), Some((0, 9)));
}

#[test]
fn people_are_told_once_that_no_link_reports_frame_errors() {
    let mut rig = Rig::new("cmt-cl,report-fer=on", 2);
    assert!(rig.diagnostics().is_empty(), "who only receives asks nothing of links");
    rig.picture.paths[0].last_sent = Some(rig.picture.now);
    assert_eq!(rig.diagnostics(), ["no link reports frame errors: runs on transport-layer estimates alone"]);
    assert_eq!(rig.estimate(0).frame_error_rate, None);
    rig.departures(1);
    assert_eq!(
        rig.diagnostics(),
        ["some links report no frame errors: their paths run on transport-layer estimates alone"]
    );
    rig.departures(0);
    assert!(rig.diagnostics().is_empty());
    assert!(rig.estimate(1).frame_error_rate.is_some());
    rig.picture.peer_reports = false;
    assert_eq!(rig.diagnostics().len(), 1, "the peer's links");
    assert!(Rig::new("cmt-qa", 2).diagnostics().is_empty());
}

#[test]
fn times_and_slots_without_sense_do_no_harm() {
    let mut rig = Rig::new("cmt-cl-fd", 1);
    rig.picture.paths[0].state = PathState::Closed;
    rig.tell(&Signal::PathChanged(PathId(0)));
    assert_eq!((rig.cwnd(0), rig.pick(), rig.scheme.poll_timeout()), (0, None, None), "no path at all");
    rig.picture.paths[0].state = PathState::Active;
    rig.picture.now = Instant::ZERO;
    rig.tell(&Signal::PathChanged(PathId(0)));
    assert_eq!(rig.fwnd(), 4000.0, "a path again, and its initial window");
    assert!(rig.pick().is_some());
}

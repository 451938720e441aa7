//! Numbers worked out by hand from Cao et al. (2016), with packets of 1000 bytes and a round trip of 100 ms.

use strandcast_proto::time::{Duration, Instant};

use super::*;
use crate::estimate::State;

fn near(got: f64, wanted: f64) {
    assert!((got - wanted).abs() < 1e-9 * wanted.abs().max(1.0), "{got}, not {wanted}");
}

#[test]
fn eq_1_gives_a_new_sample_one_eighth() {
    let mut trip = RoundTrip::default();
    assert_eq!((trip.rtt(), trip.least(), trip.rto()), (None, None, None));
    trip.sample(0.1);
    assert_eq!((trip.rtt(), trip.least()), (Some(0.1), Some(0.1)));
    near(trip.rto().expect("eq. 2: SRTT = s, RTTVAR = s/2"), 0.3);
    trip.sample(0.2);
    near(trip.rtt().expect("7/8 of 0.1 and 1/8 of 0.2"), 0.1125);
    near(trip.rto().expect("RTTVAR 3/4 of 0.05 and 1/4 of 0.1: 0.0625"), 0.3625);
    near(trip.least().expect("the least"), 0.1);
}

/// L and RTT of 1: rates are in packets per round trip.
fn round(packets: f64) -> Round {
    Round { packets, packet_bytes: 1.0, rtt: 1.0, growth: 2.0, congested: false }
}

#[test]
fn eq_4_adds_one_packet_a_round_trip() {
    let mut rate = 10.0;
    for wanted in [11.0, 12.0, 13.0] {
        rate = round(rate).rate(rate);
        near(rate, wanted);
    }
    near(Round { packet_bytes: 1500.0, rtt: 0.1, ..round(10.0) }.rate(150e3), 165e3);
}

#[test]
fn eq_4_adds_half_as_much_again_in_slow_start() {
    near(Round { growth: 10.0, ..round(10.0) }.rate(10.0), 15.0);
}

#[test]
fn eq_4_halves_when_congested() {
    near(Round { congested: true, ..round(14.0) }.rate(14.0), 7.0 + 0.5 / 14.0);
    near(Round { congested: true, ..round(0.0) }.rate(14.0), 7.0);
}

#[test]
fn eq_8_weights() {
    let weights: Vec<f64> = (1..=8).map(|s| weight(s, 8)).collect();
    for (got, wanted) in weights.iter().zip([1.0, 1.0, 1.0, 1.0, 0.8, 0.6, 0.4, 0.2]) {
        near(*got, wanted);
    }
    near(weights.iter().sum(), 6.0);
    // κ odd: half of 3 is 1.5.
    near(weight(1, 3), 1.0);
    near(weight(2, 3), 0.8);
    near(weight(3, 3), 0.4);
}

#[test]
fn eq_5_is_the_weighted_mean_of_what_there_is() {
    let mut smoothed = Smoothed::new(8);
    assert_eq!(smoothed.value(), None);
    smoothed.push(4.0);
    near(smoothed.value().expect("one rate"), 4.0);
    (0..3).for_each(|_| smoothed.push(4.0));
    (0..4).for_each(|_| smoothed.push(8.0));
    near(smoothed.value().expect("newest first"), (32.0 + 4.0 * 2.0) / 6.0);
    (0..8).for_each(|_| smoothed.push(3.0));
    near(smoothed.value().expect("older ones are forgotten"), 3.0);
    smoothed.clear();
    assert_eq!(smoothed.value(), None);
    let mut last = Smoothed::new(1);
    last.push(1.0);
    last.push(7.0);
    near(last.value().expect("κ = 1"), 7.0);
}

#[test]
fn the_most_of_five_to_ten_seconds() {
    let mut most = Most::default();
    let mut after = |s: u64, value| {
        most.push(Instant::from_millis(s * 1000), value);
        most.get()
    };
    let seen = [after(0, 9.0), after(4, 5.0), after(5, 4.0), after(9, 3.0), after(10, 2.0), after(100, 1.0)];
    assert_eq!(seen, [9.0, 9.0, 9.0, 9.0, 4.0, 1.0]);
}

/// A sender 50 ms away, and the path as its receiver sees it.
struct Play {
    path: PathRate,
    now: Instant,
    round: u32,
    number: u32,
}

const TRIP: Duration = Duration::from_millis(100);

impl Play {
    /// The path carries data.
    fn primary() -> Self {
        let mut play = Play::probed();
        play.path.take_over(None);
        play
    }

    /// The path is probed only.
    fn probed() -> Self {
        let path = PathRate::new(RateConfig::default());
        Play { path, now: Instant::from_millis(1000), round: 0, number: 0 }
    }

    fn packet(&mut self, probe: bool) {
        self.path.label(self.now, self.round, self.number);
        self.path.arrived(self.now, 1000, probe);
        self.number += 1;
    }

    fn grant(&mut self) -> Option<Grant> {
        self.path.grant(self.now)
    }

    /// A round of `packets` packets with even spaces, of which those numbered in `lost` do not arrive. The first is
    /// answered at once. Returns the answer.
    fn round(&mut self, packets: u32, lost: &[u32]) -> Option<Grant> {
        let mut granted = None;
        for i in 0..packets {
            if lost.contains(&i) {
                self.number += 1;
            } else {
                self.packet(false);
                granted = granted.or(self.grant());
            }
            self.now += TRIP / packets;
        }
        if let Some(grant) = granted {
            self.round = grant.round;
        }
        granted
    }

    /// A byte, and word that there is no more; the next comes a second later.
    fn keep_alive(&mut self, feedback_first: bool) {
        self.path.label(self.now, self.round, self.number);
        self.path.arrived(self.now, 17, false);
        self.number += 1;
        let granted = feedback_first.then(|| self.grant()).flatten();
        self.now += TRIP / 2;
        self.path.quiet();
        self.round = granted.or_else(|| self.grant()).expect("each is the first of its round").round;
        self.now += Duration::from_secs(1);
    }

    /// A pair of probes, `spacing_us` apart; the second may be lost.
    fn train(&mut self, spacing_us: u64, whole: bool) -> Option<f64> {
        self.packet(true);
        let grant = self.grant();
        if whole {
            let then = self.now;
            self.now += Duration::from_micros(spacing_us);
            self.packet(true);
            self.now = then;
        } else {
            self.number += 1;
        }
        self.now += TRIP;
        self.round = grant.expect("the first of a round").round;
        grant.and_then(|g| g.rate)
    }

    /// Rounds without loss until the path has a rate.
    fn until_a_rate(&mut self, packets: u32) {
        for _ in 0..20 {
            if self.path.rate().is_some() {
                return;
            }
            self.round(packets, &[]);
        }
        panic!("no rate after twenty rounds");
    }
}

#[test]
fn the_first_feedback_asks_for_no_rate() {
    let mut play = Play::primary();
    assert_eq!(play.grant(), None, "nothing came yet");
    play.packet(false);
    assert_eq!(play.grant(), Some(Grant { round: 1, rate: None }));
    assert_eq!(play.grant(), None, "once per round");
}

#[test]
fn rounds_measure_the_way_to_the_sender_and_back() {
    let mut play = Play::primary();
    play.round(10, &[]);
    assert_eq!(play.path.trip().rtt(), None);
    play.round(10, &[]);
    near(play.path.trip().rtt().expect("from the feedback to the round's first packet"), 0.1);
    play.round(10, &[]);
    near(play.path.trip().rtt().expect("again"), 0.1);
}

/// Definition 2: feedback without effect is repeated after the RTO of eq. 2, and its answer is ambiguous (Karn).
#[test]
fn lost_feedback_is_repeated_and_is_no_sample() {
    let mut play = Play::primary();
    play.round(10, &[]);
    play.round(10, &[]);
    play.packet(false);
    let first = play.grant().expect("a new round");
    play.now += Duration::from_millis(240);
    play.packet(false);
    assert_eq!(play.grant(), None, "RTO is 0.1 + 4·0.0375 s after two samples");
    play.now += Duration::from_millis(900);
    play.packet(false);
    assert_eq!(play.grant(), Some(first), "the same round");
    play.now += Duration::from_millis(20);
    play.round = first.round;
    play.packet(false);
    near(play.path.trip().rtt().expect("not 20 ms, not 1.2 s"), 0.1);
}

#[test]
fn no_rate_before_the_end_of_slow_start_then_what_is_received() {
    let mut play = Play::primary();
    play.round(10, &[]);
    play.round(10, &[]);
    assert_eq!((play.path.rate(), play.path.tear().state()), (None, State::SlowStart));
    play.round(10, &[]); // 32 packets: the virtual window reaches its threshold within this round
    play.round(10, &[]);
    let grant = play.round(10, &[]).expect("each round");
    // The round trip is 100 ms, then 7/8 of that and 1/8 of 95 ms: half a pause of 10 ms is not the path's.
    near(
        grant.rate.expect("the mean of 10 packets in 100 ms, and one more a round trip"),
        100e3 + 500.0 / 0.099375,
    );
}

/// Eqs 4 and 5: +1 packet per round trip for `rate`, of which the smoothed one follows; the sender follows it.
#[test]
fn rates_grow_and_the_smoothed_one_follows() {
    let mut play = Play::primary();
    play.until_a_rate(10);
    near(play.path.rate().expect("one"), 100e3);
    play.round(10, &[]);
    near(play.path.rate().expect("the mean of this one and one packet more"), 100e3 + 500.0 / 0.099375);
    let mut before = 0.0;
    for packets in [10, 11, 11, 11, 12, 12] {
        play.round(packets, &[]);
        let rate = play.path.rate().expect("a rate");
        assert!((before..125e3).contains(&rate), "{before} then {rate}");
        before = rate;
    }
}

/// A loss in a round of 10: average (1/10)/4 = 0.025 ≥ 0.02. In a round of 40: 0.00625.
#[test]
fn a_loss_halves_where_the_loss_rate_reaches_the_threshold() {
    for (packets, halved) in [(10, true), (40, false)] {
        let mut play = Play::primary();
        play.until_a_rate(packets);
        let before = play.path.rate().expect("a rate");
        play.round(packets, &[4]);
        play.round(packets, &[]);
        let after = play.path.rate().expect("a rate");
        assert_eq!(after < before, halved, "{packets} packets per round: {before} then {after}");
    }
}

#[test]
fn one_loss_halves_once() {
    let mut play = Play::primary();
    play.until_a_rate(4);
    play.round(4, &[1]);
    play.round(4, &[]); // closes the round with the loss: average 1/16 from now on, above the threshold for four rounds
    let low = play.path.rate().expect("halved");
    play.round(4, &[]);
    let next = play.path.rate().expect("a round without loss");
    assert!(next >= low, "not again: {low} then {next}");
}

#[test]
fn a_packet_that_came_late_was_not_lost() {
    let mut play = Play::primary();
    play.until_a_rate(10);
    let before = play.path.rate().expect("a rate");
    play.round(10, &[4]);
    play.path.label(play.now, play.round - 1, play.number - 6);
    play.path.arrived(play.now, 1000, false);
    play.round(10, &[]);
    assert!(play.path.rate().expect("a rate") >= before);
}

#[test]
fn an_application_with_less_to_send_costs_it_no_rate() {
    let mut play = Play::primary();
    play.until_a_rate(20);
    for _ in 0..3 {
        play.round(20, &[]);
    }
    play.round(5, &[]);
    let before = play.path.rate();
    for _ in 0..20 {
        play.round(5, &[]);
    }
    assert_eq!(play.path.rate(), before, "5 of 20 packets, nothing lost");
}

/// A message of a byte every second, with feedback before the sender says that it has nothing more to send, and after
/// it.
#[test]
fn keep_alives_are_no_rate_and_no_round_trip() {
    for feedback_first in [true, false] {
        let mut play = Play::primary();
        play.until_a_rate(20);
        play.round(20, &[]);
        let mut before = None;
        for _ in 0..30 {
            play.keep_alive(feedback_first);
            let (rate, rtt) = (play.path.rate(), play.path.trip().rtt());
            let before = *before.get_or_insert((rate, rtt));
            assert_eq!((rate, rtt), before, "feedback first: {feedback_first}");
        }
    }
}

/// It halves the rate as any loss does, however little was sent.
#[test]
fn a_lost_keep_alive_is_one_loss() {
    let mut play = Play::primary();
    play.until_a_rate(20);
    play.round(20, &[]);
    for _ in 0..12 {
        play.keep_alive(true);
    }
    let before = play.path.rate().expect("a rate");
    play.number += 1;
    for _ in 0..3 {
        play.keep_alive(true);
    }
    let after = play.path.rate().expect("a rate");
    assert!((0.8 * before..before).contains(&after), "one of eight rates is halved: {before} to {after}");
}

/// The data went elsewhere while there was nothing to send: probes measure the path as ever.
#[test]
fn a_path_that_was_left_while_it_was_quiet_is_measured() {
    let mut play = Play::primary();
    play.until_a_rate(20);
    play.path.quiet();
    play.path.step_down(play.now);
    play.path.quiet();
    let before = play.path.trip().rtt().expect("rounds went by");
    for _ in 0..3 {
        play.train(1000, true);
        play.now += 3 * TRIP;
    }
    let after = play.path.trip().rtt().expect("trains were answered");
    assert!(after > 1.2 * before, "trips of four times as long: {before} to {after}");
}

#[test]
fn silence_becomes_a_timeout() {
    let mut play = Play::primary();
    play.until_a_rate(10);
    play.round(10, &[]);
    let last = play.now - TRIP / 10;
    let deadline = play.path.deadline().expect("data came");
    let waited = deadline - last;
    assert!((TRIP..2 * TRIP + TRIP).contains(&waited), "twice ten packets of 10 ms each: {waited:?}");
    let dead = play.path.dead_at().expect("data came") - last;
    assert!((2 * TRIP - TRIP / 10..=2 * TRIP).contains(&dead), "two round trips: {dead:?}");
    let before = play.path.rate().expect("a rate");
    play.now = deadline;
    play.path.timed_out();
    assert!(play.path.is_silent());
    assert_eq!(
        (play.path.tear().state(), play.path.deadline()),
        (State::Timeout, None),
        "one timeout a silence"
    );
    let grant = play.grant().expect("at once");
    assert!(grant.rate.expect("a rate") < before);
    play.round = grant.round;
    let rtt = play.path.trip().rtt();
    play.packet(false);
    assert_eq!((play.path.is_silent(), play.path.tear().state()), (false, State::SlowStart));
    assert_eq!(play.path.trip().rtt(), rtt, "the answer to it is not a sample");
}

#[test]
fn a_quiet_sender_is_not_a_silent_path() {
    let mut play = Play::primary();
    play.until_a_rate(10);
    play.path.quiet();
    assert_eq!(play.path.deadline(), None);
    play.now += Duration::from_secs(7);
    play.round(10, &[]);
    assert!(
        play.path.deadline().is_some_and(|t| t < play.now + 3 * TRIP),
        "7 s are not a space between packets"
    );
    near(play.path.trip().rtt().expect("and no round trip"), 0.1);
}

/// The pause between two packets is not the path's: at a packet per round trip it would double it.
#[test]
fn the_senders_pause_is_no_part_of_the_round_trip() {
    let mut play = Play::primary();
    play.until_a_rate(10);
    play.packet(false);
    play.path.take_over(Some(10e3)); // a packet every 100 ms: 50 ms until its turn, on average
    play.round = play.grant().expect("a new round").round;
    let rtt = play.path.trip().rtt().expect("samples");
    play.now += TRIP + TRIP / 2;
    play.packet(false);
    near(play.path.trip().rtt().expect("one more"), rtt * 7.0 / 8.0 + 0.1 / 8.0);
}

/// Each probe moves the virtual window as a packet would: +1 in slow start, from 2; eq. 4 follows it.
#[test]
fn a_probed_path_is_rated_by_its_virtual_window() {
    let mut play = Play::probed();
    assert_eq!(play.train(0, true), None);
    near(play.train(0, true).expect("window 4, in packets per round trip"), 40e3);
    near(play.train(0, true).expect("window 6: 40/2 + 60/2 = 50; of two"), 45e3);
    for _ in 0..12 {
        play.train(0, true);
    }
    assert_eq!((play.path.tear().state(), play.path.tear().window()), (State::CongestionAvoidance, 32.0));
    play.train(0, true);
    near(play.path.tear().window(), 32.0 + 2.0 / 32.0);
    play.train(0, false);
    play.train(0, true);
    play.train(0, true);
    assert!((16.0..17.0).contains(&play.path.tear().window()), "halved: {}", play.path.tear().window());
}

/// As many packets as a window holds are lost as often on a probed path: rates of both kinds can be compared.
#[test]
fn a_probe_stands_for_one_packet() {
    let mut play = Play::probed();
    let mut sum = 0.0;
    for i in 0..4000 {
        play.train(0, i % 10 != 9); // 1 of 20 probes
        sum += if i >= 400 { play.path.tear().window() } else { 0.0 };
    }
    let mean = sum / 3600.0;
    // TCP's √(3/2p) is 5.5, with losses at regular intervals.
    assert!((4.5..6.5).contains(&mean), "{mean}");
}

/// 1000 bytes in 4 ms: 250 kB/s, of which 80 %.
#[test]
fn what_two_probes_show_bounds_a_probed_path() {
    let mut play = Play::probed();
    for _ in 0..60 {
        play.train(4000, true);
    }
    near(play.path.rate().expect("a rate"), 200e3);
}

#[test]
fn a_former_primary_path_is_trusted_with_half_as_much_again() {
    let mut play = Play::primary();
    play.until_a_rate(10);
    let former = play.path.rate().expect("a rate");
    play.path.step_down(play.now);
    for _ in 0..60 {
        play.train(0, true);
    }
    near(play.path.rate().expect("a rate"), 1.5 * former);
    for _ in 0..60 {
        play.train(0, true);
    }
    let later = play.path.rate().expect("a rate");
    assert!(later > 1.5 * former, "its rate ten seconds ago no longer counts: {later}");
}

#[test]
fn nothing_hostile_makes_a_rate_that_is_none() {
    let mut path = PathRate::new(RateConfig::default());
    for (i, round) in [0, u32::MAX, 7, 8, 8, 1 << 31, 9].into_iter().enumerate() {
        let now = Instant::from_nanos(u64::MAX - 40 + 5 * i as u64);
        path.label(now, round, round.wrapping_mul(77));
        path.arrived(now, [0, u64::MAX, 1][i % 3], i % 2 == 0);
        path.take_over((i % 2 == 0).then_some(0.0));
        let _ = path.grant(now);
        path.timed_out();
        path.step_down(now);
        assert!(path.rate().is_none_or(|r| r.is_finite() && r > 0.0), "{path:?}");
    }
}

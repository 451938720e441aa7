use strandcast_proto::policy::fixture::{Picture, ack, chunk};
use strandcast_proto::policy::{LossCause, LossTrigger};
use strandcast_proto::wire::Tsn;

use super::*;

const C: f64 = 1.2247;

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

fn near(got: f64, wanted: f64) {
    assert!((got - wanted).abs() <= 1e-9 * wanted.abs().max(1e-3), "{got}, not {wanted}");
}

/// Liu eq. 4: 15000 bytes every 50 ms.
#[test]
fn eq_4_goodput() {
    near(goodput(15_000, ms(50)), 300_000.0);
    near(goodput(0, ms(50)), 0.0);
    near(goodput(15_000, Duration::ZERO), 0.0);
}

/// Liu eqs 1 and 3: Mathis' goodput at PLR 1 %, RTT 100 ms, MSS 1500, C 1.2247 is 1837.05 / (0.1 · 0.1) = 183705 B/s.
#[test]
fn eq_3_inverts_eq_1() {
    near(loss_rate(C, 1500.0, ms(100), 183_705.0), 0.01);
    near(loss_rate(C, 1500.0, ms(100), 2.0 * 183_705.0), 0.0025);
    near(loss_rate(C, 1500.0, ms(200), 183_705.0), 0.0025);
}

#[test]
fn eq_3_has_bounds() {
    near(loss_rate(C, 1500.0, ms(100), 0.0), 1.0);
    near(loss_rate(C, 1500.0, Duration::ZERO, 1e6), 1.0);
    near(loss_rate(C, 1500.0, ms(100), 1.0), 1.0);
    near(loss_rate(C, 1500.0, ms(100), 1e12), 1e-6);
}

/// The paths of a picture with these windows in segments of 1500 bytes.
fn picture(windows: &[u64]) -> Picture {
    let mut picture = Picture::new(windows.len() as u8);
    for (p, w) in picture.paths.iter_mut().zip(windows) {
        p.limit.cwnd = w * 1500;
    }
    picture
}

/// A SACK for `path`, `rtt` after what it acknowledges was sent; loss rate, jitter and condition after it.
fn sack(e: &mut LossRate, p: &Picture, path: u8, rtt: Option<Duration>) -> (f64, f64, bool) {
    let ack = AckInfo { rtt, ..ack(path, 10, (9, 10), 3000) };
    e.on_signal(&p.view(), &Signal::Acked(&ack));
    says(e, path)
}

fn says(e: &LossRate, path: u8) -> (f64, f64, bool) {
    let mut out = Estimate::default();
    e.estimate(PathId(path), &mut out);
    let extra = |name| out.extra(name).unwrap_or(0.0);
    (out.loss.unwrap_or(f64::NAN), extra(JITTER), extra(UNRELIABLE) > 0.0)
}

/// Eqs 3 and 4 together, RTT = RTT_min: 1.5 / window² (C = 1.2247 gives 1.49989).
#[test]
fn the_window_tells_the_loss_rate() {
    for (segments, wanted) in [(4, 0.093_743), (10, 0.014_998_9), (20, 0.003_749_7), (44, 0.000_774_74)] {
        let p = picture(&[segments]);
        let (rate, ..) = sack(&mut LossRate::new(LossRateConfig::default()), &p, 0, Some(ms(100)));
        assert!((rate / wanted - 1.0).abs() < 1e-4, "{segments}: {rate}");
    }
}

/// A queue that doubles the round-trip time quarters the estimate; less than RTT_min counts as RTT_min.
#[test]
fn queueing_discounts_the_estimate() {
    let mut p = picture(&[10]);
    let (rate, ..) = sack(&mut LossRate::new(LossRateConfig::default()), &p, 0, Some(ms(200)));
    near(rate, C * C / 400.0);
    p.paths[0].min_rtt = Some(ms(300));
    let (rate, ..) = sack(&mut LossRate::new(LossRateConfig::default()), &p, 0, Some(ms(200)));
    near(rate, C * C / 100.0);
}

/// Eq. 2 with ψ = 7/8: 100 ms, then 7/8·100 + 1/8·180 = 110 ms.
#[test]
fn eq_2_smooths_the_round_trip_time() {
    let mut e = LossRate::new(LossRateConfig::default());
    let mut p = picture(&[10]);
    near(sack(&mut e, &p, 0, Some(ms(100))).0, C * C / 100.0);
    p.now += ms(100);
    near(sack(&mut e, &p, 0, Some(ms(180))).0, C * C / 100.0 / (1.1 * 1.1));
    let mut newest = LossRate::new(LossRateConfig { psi: 0.0, ..LossRateConfig::default() });
    sack(&mut newest, &p, 0, Some(ms(100)));
    p.now += ms(100);
    near(sack(&mut newest, &p, 0, Some(ms(200))).0, C * C / 400.0);
}

/// The paper's "minimum in all paths" makes the slower of two equal windows look less lossy.
#[test]
fn the_global_least_round_trip_time_prefers_the_slower_path() {
    let mut p = picture(&[10, 10]);
    for (path, rtt) in p.paths.iter_mut().zip([50, 200]) {
        path.min_rtt = Some(ms(rtt));
    }
    let mut own = LossRate::new(LossRateConfig::default());
    let mut global = LossRate::new(LossRateConfig { rtt_min: RttMin::Global, ..LossRateConfig::default() });
    let both =
        |e: &mut LossRate, p: &Picture| [sack(e, p, 0, Some(ms(50))).0, sack(e, p, 1, Some(ms(200))).0];
    let [fast, slow] = both(&mut own, &p);
    near(fast, slow);
    let [fast, slow] = both(&mut global, &p);
    near(fast, C * C / 100.0);
    near(slow, C * C / 1600.0);
    p.paths[0].state = PathState::Inactive;
    p.now += ms(200);
    near(sack(&mut global, &p, 1, Some(ms(200))).0, C * C / 100.0);
}

/// Algorithm 1, a round trip apart: eqs 5-7 over the samples 1.4999 %, 0.3750 %, 1.4999 %: mean 1.1249 %, range 1.1249
/// %.
#[test]
fn the_jitter_is_that_of_the_samples() {
    let mut e = LossRate::new(LossRateConfig::default());
    let mut p = picture(&[10]);
    let mut at = |window: u64, after: u64| {
        p.now += ms(after);
        p.paths[0].limit.cwnd = window * 1500;
        sack(&mut e, &p, 0, Some(ms(100)))
    };
    assert_eq!(at(10, 0), (C * C / 100.0, 0.0, false));
    let (rate, jitter, unreliable) = at(20, 100);
    near(rate, C * C / 400.0);
    near(jitter, -0.5);
    assert!(!unreliable);
    assert_eq!(at(10, 99).0, rate, "once per round trip");
    let (_, jitter, unreliable) = at(10, 1);
    near(jitter, 1.0 / 3.0);
    assert!(unreliable, "positive and rising");
    let (_, jitter, unreliable) = at(10, 100);
    near(jitter, 0.25);
    assert!(!unreliable, "positive, falling");
}

/// The halved window shows with the next SACK: four times the loss rate.
#[test]
fn a_loss_is_seen_at_once() {
    let mut e = LossRate::new(LossRateConfig::default());
    let mut p = picture(&[20]);
    near(sack(&mut e, &p, 0, Some(ms(100))).0, C * C / 400.0);
    let loss = Signal::LossEvent {
        path: PathId(0),
        trigger: LossTrigger::FastRetransmit,
        highest: Tsn(20),
        cause: LossCause::Congestion,
    };
    e.on_signal(&p.view(), &loss);
    p.paths[0].limit.cwnd = 10 * 1500;
    p.now += ms(1);
    near(sack(&mut e, &p, 0, None).0, C * C / 100.0);
}

#[test]
fn without_a_round_trip_time_the_window_alone_tells() {
    let mut e = LossRate::new(LossRateConfig::default());
    let mut p = picture(&[2, 2]);
    assert!(says(&e, 0).0.is_nan(), "nothing was sent");
    e.on_signal(&p.view(), &Signal::Sent(&chunk(1, &[0])));
    near(says(&e, 0).0, C * C / 4.0);
    near(sack(&mut e, &p, 0, None).0, C * C / 4.0);
    p.paths[0].limit.cwnd = 0;
    e.on_signal(&p.view(), &Signal::Sent(&chunk(2, &[0])));
    near(says(&e, 0).0, 1.0);
    assert!(says(&e, 1).0.is_nan());
}

#[test]
fn a_path_that_comes_back_starts_anew() {
    let mut e = LossRate::new(LossRateConfig::default());
    let mut p = picture(&[10]);
    sack(&mut e, &p, 0, Some(ms(100)));
    p.paths[0].state = PathState::PotentiallyFailed;
    e.on_signal(&p.view(), &Signal::PathChanged(PathId(0)));
    assert!(says(&e, 0).0.is_nan());
    assert!(sack(&mut e, &p, 0, Some(ms(100))).0.is_nan(), "only active paths are in the list");
    p.paths[0].state = PathState::Active;
    e.on_signal(&p.view(), &Signal::PathChanged(PathId(0)));
    near(sack(&mut e, &p, 0, Some(ms(400))).0, C * C / 1600.0);
}

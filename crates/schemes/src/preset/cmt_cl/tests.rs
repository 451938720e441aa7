//! Judgement of paths by Xu et al. (2015), with numbers worked by hand: eqs 3, 8-10 and the causes of losses.

use strandcast_keys::Keyed as _;

use super::*;
use crate::estimate::TransmissionRate;

const RTT: Option<Duration> = Some(Duration::from_millis(100));
const PAUSE: Duration = Duration::from_millis(200);

fn model(spec: &str) -> CrossLayer {
    let mut keys = ClKeys::default();
    for (key, text) in spec.split(',').skip(1).filter_map(|word| word.split_once('=')) {
        assert_eq!(keys.set(key, text), Ok(true), "{spec}");
    }
    CrossLayer::of(&keys)
}

fn ms(ms: u64) -> Instant {
    Instant::from_millis(ms)
}

fn sample(frames: u64, retries: u64, failed: u64) -> LinkSample {
    LinkSample {
        tx_frames: frames,
        tx_retries: retries,
        tx_failed: failed,
        frame_bytes: Some(1500.0),
        ..LinkSample::default()
    }
}

/// A packet of 1000 bytes every 10 ms: BW_e 100 kB/s.
fn steady(model: &CrossLayer) -> Capacity {
    let mut path = model.path();
    for n in 0..100 {
        model.sent(&mut path, ms(10 * n), 1000, PAUSE);
    }
    path
}

/// R_c with R_e = 100 kB/s and this w.
fn residual(model: &CrossLayer, path: &mut Capacity, weight: f64) -> f64 {
    let mut rate = TransmissionRate::new(ms(0));
    rate.sent(ms(0));
    rate.sent(ms(1000));
    rate.acked(100_000);
    rate.close(ms(1000), RTT);
    model.close(path, rate.bytes_per_second(), ms(1000));
    model.period(path, &Measured { now: ms(1000), rate: &rate, srtt: RTT, weight });
    path.residual.expect("a bandwidth is known")
}

/// The verdict on a loss now.
fn cause(model: &CrossLayer, path: &Capacity) -> LossCause {
    let rate = TransmissionRate::new(ms(0));
    model.cause(path, &Measured { now: ms(1000), rate: &rate, srtt: RTT, weight: 1.0 })
}

/// QPSK, FER 0.01 (before any frame): log₂(23.93) = 4.5807. w = 1: +358 kB/s; 1.5: +205; 4.4, after four losses: +4.
/// FER (0 + ½)/(4 + 1) = 0.1, ESNR 18.4, log₂(19.4) = 4.28: -2.8 kB/s.
#[test]
fn eqs_9_and_10_and_the_cause_of_a_loss() {
    let model = model("cmt-cl");
    for (weight, frames, expected, verdict) in [
        (1.0, 0, 358_070.0, LossCause::Wireless),
        (1.5, 0, 205_380.0, LossCause::Wireless),
        (4.4, 0, 4_107.0, LossCause::Wireless),
        (4.4, 4, -2_760.0, LossCause::Congestion),
    ] {
        let mut path = steady(&model);
        model.link(&mut path, &sample(10, 0, 0), false, PAUSE);
        model.link(&mut path, &sample(10 + frames, 0, 0), false, PAUSE);
        let found = residual(&model, &mut path, weight);
        assert!((found - expected).abs() < 300.0, "w = {weight}, {frames} frames: {found}");
        assert_eq!(cause(&model, &path), verdict);
        assert_eq!(model.rank(&path), found);
        assert_eq!(model.quota(&path), Quota::Residual(found));
    }
}

#[test]
fn nothing_known_is_congestion_and_the_first_to_be_tried() {
    let model = model("cmt-cl");
    let mut path = model.path();
    assert_eq!(cause(&model, &path), LossCause::Congestion);
    assert_eq!((model.rank(&path), model.quota(&path)), (f64::INFINITY, Quota::Window));
    let rate = TransmissionRate::new(ms(0));
    model.period(&mut path, &Measured { now: ms(0), rate: &rate, srtt: None, weight: 1.5 });
    assert_eq!(path.residual, None, "no bandwidth");
}

/// A loss at a full queue looks the same as a loss by a radio: without a radio's counters nothing speaks for the
/// radio.
#[test]
fn without_frame_counters_a_loss_is_congestion_for_the_friendly_scheme() {
    let needing = CrossLayer { needs_counters: true, ..model("cmt-cl") };
    let frames = |path: &mut Capacity, far| {
        needing.link(path, &sample(10, 0, 0), far, PAUSE);
        needing.link(path, &sample(1010, 10, 0), far, PAUSE);
    };
    let mut silent = steady(&needing);
    let mut idle = steady(&needing);
    needing.link(&mut idle, &sample(0, 0, 0), false, PAUSE);
    let (mut near, mut far) = (steady(&needing), steady(&needing));
    frames(&mut near, false);
    frames(&mut far, true);
    for (path, verdict) in [
        (&mut silent, LossCause::Congestion),
        (&mut idle, LossCause::Congestion),
        (&mut near, LossCause::Wireless),
        (&mut far, LossCause::Wireless),
    ] {
        assert!(residual(&needing, path, 1.0) > 0.0, "by capacity alone the radio would be blamed");
        assert_eq!(cause(&needing, path), verdict);
        assert_eq!(
            cause(&model("cmt-cl"), path),
            LossCause::Wireless,
            "cmt-cl and the key: by capacity alone"
        );
    }
}

#[test]
fn a_bandwidth_of_zero_is_no_capacity() {
    let model = model("cmt-cl");
    let mut path = model.path();
    for n in 0..3 {
        model.sent(&mut path, ms(10 * n), 0, PAUSE);
    }
    assert_eq!(residual(&model, &mut path, 1.0), -100_000.0);
    assert_eq!(cause(&model, &path), LossCause::Congestion);
}

/// Eq. 14 by R_e, eq. 15 by BW_e.
#[test]
fn reductions_take_the_rate_that_the_cause_calls_for() {
    let model = model("cmt-cl");
    let path = steady(&model);
    let wireless = model.reduction(&path, 70_000.0, LossCause::Wireless);
    assert_eq!(wireless, Reduction { rate: 70_000.0, window: After::Kept });
    let congestion = model.reduction(&path, 70_000.0, LossCause::Congestion);
    assert_eq!(congestion.window, After::AtMost);
    assert!((congestion.rate - 100_000.0).abs() < 1e-6);
    assert_eq!(model.reduction(&model.path(), 0.0, LossCause::Congestion).rate, 0.0);
}

/// FER 0 and 1, whichever way they are counted.
#[test]
fn eq_3_stays_finite_at_both_ends() {
    let model = model("cmt-cl");
    for (retries, failed) in [(0, 0), (1000, 0), (0, 1000), (900, 100), (u64::MAX, u64::MAX)] {
        let mut path = steady(&model);
        model.link(&mut path, &sample(1, 0, 0), false, PAUSE);
        model.link(&mut path, &sample(1001, retries, failed), false, PAUSE);
        let found = residual(&model, &mut path, 1.5);
        let fer = path.snr.frame_error_rate();
        assert!(found.is_finite() && (-100_000.0..400_000.0).contains(&found), "{retries} {failed}: {found}");
        assert!(if retries.max(failed) == 0 { fer < 0.001 } else { fer > 0.999 }, "{fer}");
    }
}

#[test]
fn frames_of_an_interval_are_differences_of_counters() {
    let mut frames = Frames::default();
    assert!(!frames.reported());
    let none = FrameCount { frames: 0, errors: 0, length: 0.0 };
    assert_eq!(frames.close(), none);
    frames.hear(&sample(0, 0, 0));
    assert!(!frames.reported(), "a link that sent nothing says nothing");
    frames.hear(&sample(1000, 20, 5));
    assert_eq!(frames.close(), FrameCount { length: 1500.0, ..none }, "what was before the path counts not");
    frames.hear(&sample(1100, 30, 7));
    frames.hear(&LinkSample { frame_bytes: Some(500.0), ..sample(1200, 30, 8) });
    assert_eq!(frames.close(), FrameCount { frames: 200, errors: 13, length: 1000.0 });
    frames.hear(&sample(3, 0, 0));
    assert_eq!(frames.close().frames, 0, "the interface was taken down");
    frames.hear(&sample(13, 1, 0));
    assert_eq!(frames.close(), FrameCount { frames: 10, errors: 1, length: 1500.0 });
}

/// 100 frames, 3 in error here and 4 at the other end: (7 + ½)/101.
#[test]
fn the_receiver_s_frame_errors_add_to_ours() {
    let model = model("cmt-cl,report-fer=on");
    let fer = |near: bool| {
        let mut path = model.path();
        for (frames, here, there) in [(1, 0, 0), (101, 3, 4)] {
            if near {
                model.link(&mut path, &sample(frames, 0, here), false, PAUSE);
            }
            model.link(&mut path, &sample(frames, 0, there), true, PAUSE);
        }
        model.close(&mut path, 0.0, ms(0));
        path.snr.frame_error_rate()
    };
    assert!((fer(true) - 7.5 / 101.0).abs() < 1e-12);
    assert!((fer(false) - 4.5 / 101.0).abs() < 1e-12, "a link of ours without reports");
}

/// The sender's calls come in bursts of ten every 100 ms; within a burst the link sends one every 5 ms: 200 kB/s.
#[test]
fn the_link_s_departures_replace_the_sender_s_calls() {
    let feed = |spec: &str| {
        let model = model(spec);
        let mut path = model.path();
        for n in 0..2000 {
            let (burst, place) = (100 * (n / 10), n % 10);
            model.sent(&mut path, ms(burst), 1000, PAUSE);
            let departure = Some((ms(burst + 5 * place), 1000));
            model.link(&mut path, &LinkSample { departure, ..sample(n + 1, 0, 0) }, false, PAUSE);
        }
        (path.stamped, path.bandwidth.bytes_per_second().expect("thousands of packets"))
    };
    let (by_link, by_call) = (feed("cmt-cl"), feed("cmt-cl,bw-stamp=send"));
    assert!(by_link.0 && !by_call.0);
    assert!((by_link.1 - 100_000.0).abs() < 10_000.0 && (by_call.1 - 100_000.0).abs() < 10_000.0);
}

/// QPSK at 22.93 is 13.60 dB: log₂(14.60) = 3.868.
#[test]
fn decibels_are_an_ablation() {
    let model = model("cmt-cl,snr=db");
    let found = residual(&model, &mut steady(&model), 1.0);
    assert!((found - 286_800.0).abs() < 300.0, "{found}");
    assert_eq!(model.scale(Snr::ZERO), 0.0, "minus infinity");
}

/// FER 0.001 is all that the path can: C = BW_max / w. With FER 0.01, 4.5807/4.89 of it.
#[test]
fn the_normalised_capacity_is_a_share_of_the_best_rate() {
    let model = model("cmt-cl,rc=normalised");
    let mut clean = steady(&model);
    model.link(&mut clean, &sample(1, 0, 0), false, PAUSE);
    model.link(&mut clean, &sample(500, 0, 0), false, PAUSE);
    assert!(residual(&model, &mut clean, 1.0).abs() < 1e-6, "R_e is the best rate");
    let mut dirty = steady(&model);
    let found = residual(&model, &mut dirty, 1.0);
    assert!((-12_000.0..-4_000.0).contains(&found), "{found}");
    let mut idle = model.path();
    let rate = TransmissionRate::new(ms(0));
    model.period(&mut idle, &Measured { now: ms(0), rate: &rate, srtt: None, weight: 1.0 });
    assert_eq!(idle.residual, None, "no rate was seen");
}

//! Background load: its mean, the draws of its load, frequencies of sizes and protocols.

use core::time::Duration;

use strandcast_proto::seeds::Seeds;
use strandcast_proto::time::Instant;

use super::{Level, assert_mean, drawn, mean, s, steps};
use crate::traffic::{BackgroundEvent, BackgroundLoad, BackgroundSource, PacketSize, Via};

const LINK_BPS: f64 = 384e3;
/// 49 % 44 bytes, 1.2 % 576, 2.1 % 628, 1.7 % 1300, 46 % 1500.
const MIX: [(u32, f64); 5] = [(44, 0.49), (576, 0.012), (628, 0.021), (1300, 0.017), (1500, 0.46)];

fn background(mix: &[(u32, f64)], sources: u32) -> BackgroundLoad {
    let size = |&(bytes, share): &(u32, f64)| PacketSize { bytes, share };
    BackgroundLoad {
        tcp_share: 0.9,
        sizes: mix.iter().map(size).collect(),
        on: Duration::from_millis(500),
        off: Duration::from_millis(500),
        shape: 1.5,
        sources,
    }
}

fn run(
    background: &BackgroundLoad,
    load: impl Level + 'static,
    seed: u64,
    stop: Instant,
) -> BackgroundSource {
    BackgroundSource::new(
        background,
        Box::new(load),
        LINK_BPS,
        &Seeds::new(seed, 0).child("cross"),
        s(0),
        stop,
    )
}

/// Load offered in a run, as a fraction of the link.
fn offered(background: &BackgroundLoad, load: impl Level + 'static, seed: u64, seconds: u64) -> f64 {
    let mut source = run(background, load, seed, s(seconds));
    source.by_ref().for_each(drop);
    let offered = source.offered();
    8.0 * (offered.tcp.bytes + offered.udp.bytes) as f64 / LINK_BPS / seconds as f64
}

/// Many short runs, whose mean is the load from the first moment on, within 4 of its standard errors and
/// within 1 %; bursts have hundreds of packets, a few, or less than one on average.
#[test]
fn what_is_offered_is_the_load() {
    for (load, sources, runs, seconds) in
        [(0.5, 1, 5000, 50), (0.25, 4, 2500, 50), (0.01, 2, 5000, 120), (0.002, 1, 2500, 300)]
    {
        let background = background(&MIX, sources);
        let loads: Vec<_> = (0..runs).map(|seed| offered(&background, load, seed, seconds)).collect();
        let off = mean(&loads) / load - 1.0;
        let square: Vec<_> = loads.iter().map(|l| (l - mean(&loads)) * (l - mean(&loads))).collect();
        let error = (mean(&square) / runs as f64).sqrt() / load;
        let what = format!("load {load}, {sources} sources: {off:+.5} off, standard error {error:.5}");
        assert!(off.abs() < 4.0 * error && off.abs() < 0.01 && error < 0.005, "{what}");
    }
}

/// The mean over one long time, with a load that is redrawn every 10 s.
#[test]
fn a_changing_load_is_offered_in_the_mean() {
    let period = Duration::from_secs(10);
    for sources in [1, 2] {
        let load = drawn(0.5, period, 2);
        let (mut loads, mut source) = (Vec::new(), run(&background(&MIX, sources), load, 2, s(400_000)));
        for event in source.by_ref() {
            if let BackgroundEvent::Redraw { at, load } = event {
                assert_eq!(at, s(0) + period * loads.len() as u32);
                loads.push(load);
            }
        }
        assert_eq!(loads.len(), 40_000);
        assert_mean("loads", &loads, 0.25, 0.25 / 12.0);
        let offered =
            8.0 * (source.offered().tcp.bytes + source.offered().udp.bytes) as f64 / LINK_BPS / 400_000.0;
        assert!(
            (offered / mean(&loads) - 1.0).abs() < 0.01,
            "{sources} sources: {offered} of {}",
            mean(&loads)
        );
    }
}

/// Each redrawn load holds at once: none during a stretch without load, the new one right after it.
#[test]
fn a_new_load_holds_at_once() {
    let load = steps(&[(0, 0.5), (20, 0.0), (40, 0.25)]);
    let share = |events: &[BackgroundEvent], from: Instant, to: Instant| -> f64 {
        let bytes = events.iter().map(|event| match event {
            BackgroundEvent::Packet { at, bytes, .. } if (from..to).contains(at) => f64::from(*bytes),
            _ => 0.0,
        });
        8.0 * bytes.sum::<f64>() / LINK_BPS / (to - from).as_secs_f64()
    };
    let (mut high, mut low) = (Vec::new(), Vec::new());
    for seed in 0..1000 {
        let events: Vec<_> = run(&background(&MIX, 4), load.clone(), seed, s(60)).collect();
        let redraws: Vec<_> =
            events.iter().filter(|event| matches!(event, BackgroundEvent::Redraw { .. })).collect();
        let expected =
            [(s(0), 0.5), (s(20), 0.0), (s(40), 0.25)].map(|(at, load)| BackgroundEvent::Redraw { at, load });
        assert_eq!(redraws, expected.iter().collect::<Vec<_>>());
        assert_eq!(share(&events, s(20), s(40)), 0.0);
        high.push(share(&events, s(0), s(20)));
        low.push(share(&events, s(40), s(41)));
    }
    for (what, shares, load) in [("first 20 s", high, 0.5), ("1 s behind a draw", low, 0.25)] {
        let square: Vec<_> = shares.iter().map(|l| (l - mean(&shares)) * (l - mean(&shares))).collect();
        assert_mean(what, &shares, load, mean(&square));
    }
}

#[test]
fn sizes_and_protocols_are_drawn_by_count() {
    // The other paper's mix, in fractions that do not add up to 1.
    let mix = [(44, 2.0), (576, 1.0), (1500, 1.0)];
    for (mix, seed) in [(&MIX[..], 1), (&mix[..], 2)] {
        let packets: Vec<_> = run(&background(mix, 1), 0.5, seed, s(8000))
            .filter_map(|event| match event {
                BackgroundEvent::Packet { bytes, via, .. } => Some((bytes, via)),
                BackgroundEvent::Redraw { .. } => None,
            })
            .collect();
        let total: f64 = mix.iter().map(|size| size.1).sum();
        for &(size, share) in mix {
            let of: Vec<_> = packets.iter().map(|&(bytes, _)| f64::from(bytes == size)).collect();
            let p = share / total;
            assert_mean(&format!("{size} bytes, seed {seed}"), &of, p, p * (1.0 - p));
            // The fraction counts packets of all sizes.
            let tcp: Vec<_> =
                packets.iter().filter(|p| p.0 == size).map(|p| f64::from(p.1 == Via::Tcp)).collect();
            assert_mean(&format!("TCP of {size} bytes, seed {seed}"), &tcp, 0.9, 0.09);
        }
        assert!(packets.iter().all(|p| mix.iter().any(|size| size.0 == p.0)));
    }
}

/// A source that is on sends at load·(on + off)/on: packets at equal intervals.
#[test]
fn peak_rate_is_twice_the_load_for_equal_times() {
    let times: Vec<_> = run(&background(&[(1200, 1.0)], 1), 0.25, 1, s(1000))
        .filter_map(|event| if let BackgroundEvent::Packet { at, .. } = event { Some(at) } else { None })
        .collect();
    // 9600 bits at 192 kbit/s.
    let peak = Duration::from_millis(50);
    let apart: Vec<_> = times.iter().zip(times.iter().skip(1)).map(|(a, b)| *b - *a).collect();
    let ns = Duration::from_nanos(1);
    assert!(apart.iter().all(|&gap| gap >= peak - ns), "{:?}", apart.iter().min());
    let within = apart.iter().filter(|&&gap| gap <= peak + ns).count();
    assert!(within > apart.len() * 3 / 4, "{within} of {}", apart.len());
}

#[test]
fn without_off_times_it_is_constant() {
    let background = BackgroundLoad { off: Duration::ZERO, ..background(&[(1200, 1.0)], 1) };
    assert!((offered(&background, 0.25, 1, 100) / 0.25 - 1.0).abs() < 0.002);
}

#[test]
fn nonsense_offers_nothing_and_ends() {
    for load in [0.0, -1.0, f64::NAN] {
        assert_eq!(run(&background(&MIX, 2), load, 1, s(1000)).count(), 1, "{load}");
        assert_eq!(offered(&background(&MIX, 2), load, 1, 1000), 0.0);
    }
    assert_eq!(run(&background(&[], 2), 0.5, 1, s(1000)).count(), 1);
    assert_eq!(run(&background(&MIX, 2), 0.5, 1, s(0)).count(), 0);
}

#[test]
fn same_seed_same_packets_and_each_draw_has_its_own_stream() {
    let events = |background: &BackgroundLoad, seed| run(background, 0.5, seed, s(100)).collect::<Vec<_>>();
    let base = background(&MIX, 2);
    assert_eq!(events(&base, 1), events(&base, 1));
    assert_ne!(events(&base, 1), events(&base, 2));
    // Another TCP fraction gives the same packets; other sizes of equal mean give the same times.
    let packets = |background: &BackgroundLoad| {
        let packet = |event| match event {
            BackgroundEvent::Packet { at, bytes, .. } => (at, bytes),
            BackgroundEvent::Redraw { at, .. } => (at, 0),
        };
        events(background, 1).into_iter().map(packet).collect::<Vec<_>>()
    };
    assert_eq!(packets(&base), packets(&BackgroundLoad { tcp_share: 0.5, ..base.clone() }));
    let times =
        |background: &BackgroundLoad| packets(background).into_iter().map(|p| p.0).collect::<Vec<_>>();
    assert_eq!(times(&background(&[(500, 1.0), (1500, 1.0)], 2)), times(&background(&[(1000, 1.0)], 2)));
}

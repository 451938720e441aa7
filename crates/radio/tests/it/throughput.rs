//! Throughput compared with closed forms: one hop, Bianchi's saturation throughput, chains.

use strandcast_radio::{DcfConfig, Eifs, MediumConfig, RadioConfig, Retries, StationId, Timeout};
use strandcast_testing::radio::{Net, circle, line, to};

/// DIFS, 15 slots, RTS, CTS, data of 1000 + 40 + 34 bytes at 11 Mbit/s, ACK, three SIFS.
const EXCHANGE: f64 = 50.0 + 300.0 + 352.0 + 304.0 + (192.0 + 8.0 * 1074.0 / 11.0) + 304.0 + 30.0;

fn chain(hops: usize, seed: u64) -> f64 {
    let mut net = Net::new(&RadioConfig::default(), &line(hops + 1, 200.0), seed);
    net.keep_log = false;
    for i in 1..hops {
        net.next[i] = Some((StationId(i as u32 + 1), 1040));
    }
    net.saturate(0, to(1), 1040);
    net.run(2.0);
    let before = net.received[hops];
    net.run(30.0);
    (net.received[hops] - before) as f64 / 30.0
}

#[test]
fn one_hop_carries_what_the_durations_add_up_to() {
    let expected = 1e6 / EXCHANGE;
    let got = chain(1, 1);
    assert!((got / expected - 1.0).abs() < 0.02, "{got} packets per second, expected {expected}");
}

#[test]
fn chains_carry_their_share_of_one_hop() {
    let one = chain(1, 1);
    let share = |hops| {
        let rates: Vec<f64> = (1..=5).map(|seed| chain(hops, seed) / one).collect();
        rates.iter().sum::<f64>() / 5.0
    };
    for (hops, low, high) in [(2, 0.4, 0.6), (3, 0.25, 0.4), (5, 0.18, 0.27), (8, 0.13, 0.22)] {
        let share = share(hops);
        println!("{hops} hops: {share:.3}");
        assert!((low..=high).contains(&share), "{hops} hops: {share} of one hop");
    }
}

/// The assumptions of Bianchi (2000): all in range, a window of 32 · 2^i slots up to i = 5, unlimited
/// retries; no EIFS, no capture; stations whose frames collided contend again with all others.
fn bianchi_config(rts: bool) -> RadioConfig {
    let dcf = DcfConfig {
        rts_threshold: if rts { 0 } else { 100_000 },
        short_retry_limit: None,
        long_retry_limit: None,
        inclusive_draw: true,
        eifs: Eifs::Off,
        timeout: Timeout::Start,
        rx_start_delay: 0,
        difs_after_timeout: false,
        retries: Retries::Packet,
        ..DcfConfig::default()
    };
    let medium = MediumConfig { capture: 100.0, basic_capture: 100.0, ..MediumConfig::default() };
    RadioConfig { medium, dcf, ..RadioConfig::default() }
}

/// Packets per second of `n` saturated stations: Bianchi's fixed point of τ and p by bisection, then his throughput.
fn bianchi(n: u32, rts: bool) -> f64 {
    let (w, m) = (32.0, 5);
    let power = |x: f64, n: u32| libm::pow(x, f64::from(n));
    let tau_of = |p: f64| {
        // 1 + 2p + (2p)² + … instead of (1 - (2p)^m)/(1 - 2p), which is 0/0 at p = 1/2.
        let sum: f64 = (0..m).map(|i| power(2.0 * p, i)).sum();
        2.0 / (w + 1.0 + p * w * sum)
    };
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..100 {
        let tau = (low + high) / 2.0;
        let p = 1.0 - power(1.0 - tau, n - 1);
        if tau < tau_of(p) { low = tau } else { high = tau }
    }
    let tau = (low + high) / 2.0;
    let some = 1.0 - power(1.0 - tau, n);
    let success = f64::from(n) * tau * power(1.0 - tau, n - 1);
    let data = 192.0 + 8.0 * 1074.0 / 11.0;
    let (good, bad) = match rts {
        true => (352.0 + 304.0 + data + 304.0 + 30.0 + 50.0, 352.0 + 50.0),
        false => (data + 10.0 + 304.0 + 50.0, data + 50.0),
    };
    success * 1e6 / ((1.0 - some) * 20.0 + success * good + (some - success) * bad)
}

fn saturation(config: &RadioConfig, n: u32, seconds: f64) -> f64 {
    let mut net = Net::new(config, &circle(n as usize + 1, 50.0), 7);
    net.keep_log = false;
    for i in 0..n {
        net.saturate(i, to(n), 1040);
    }
    net.run(1.0);
    let before = net.received[n as usize];
    net.run(seconds);
    (net.received[n as usize] - before) as f64 / seconds
}

#[test]
fn saturation_throughput_is_bianchis() {
    for rts in [false, true] {
        for n in [1, 2, 5, 10, 20, 50] {
            let (got, expected) = (saturation(&bianchi_config(rts), n, 60.0), bianchi(n, rts));
            let off = got / expected - 1.0;
            println!(
                "RTS {rts}, {n} stations: {got:.1} packets per second, model {expected:.1}, {:+.2} %",
                off * 100.0
            );
            assert!(off.abs() < 0.03, "{n} stations, RTS {rts}: {got}, expected {expected}");
        }
    }
}

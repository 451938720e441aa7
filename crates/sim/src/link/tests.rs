//! Links against closed forms, properties and scripts.

use super::{Count, Delay, Link, LinkConfig, LinkConfigError, Payload, Reorder};
use crate::loss::LossModel;
use bytes::Bytes;
use core::time::Duration;
use proptest::prelude::*;
use strandcast_proto::seeds::{Random, Seeds};
use strandcast_proto::time::Instant;

/// A numbered packet; damage sets the flag.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Packet {
    id: usize,
    damaged: bool,
}

impl Payload for Packet {
    fn corrupt(&mut self, _: &mut Random) {
        self.damaged = true;
    }
}

fn packet(id: usize) -> Packet {
    Packet { id, damaged: false }
}

fn link(config: LinkConfig, seed: u64) -> Link<Packet> {
    Link::new(config, &Seeds::new(seed, 0), "link")
}

fn ms(ms: u64) -> Instant {
    Instant::from_millis(ms)
}

/// 1000 bytes take 1 ms.
fn megabyte_a_second(config: LinkConfig) -> LinkConfig {
    LinkConfig { rate_bps: Some(8_000_000), ..config }
}

fn fixed(ms: u64) -> Delay {
    Delay::Fixed(Duration::from_millis(ms))
}

/// Everything still to arrive, each at the moment it does.
fn drain(link: &mut Link<Packet>) -> Vec<(Instant, Packet)> {
    let mut arrived = Vec::new();
    while let Some(now) = link.poll_timeout() {
        while let Some(packet) = link.poll(now) {
            arrived.push((now, packet));
        }
    }
    arrived
}

fn ids(arrived: &[(Instant, Packet)]) -> Vec<usize> {
    arrived.iter().map(|(_, packet)| packet.id).collect()
}

#[test]
fn packets_arrive_after_serialisation_and_delay() {
    let mut link = link(megabyte_a_second(LinkConfig { delay: fixed(10), ..LinkConfig::default() }), 1);
    for (id, len) in [(0, 1000), (1, 500), (2, 2000)] {
        assert!(link.enqueue(ms(5), packet(id), len));
    }
    link.enqueue(ms(30), packet(3), 1000);
    assert_eq!(link.poll(ms(16) - Duration::from_nanos(1)), None);
    let times: Vec<_> =
        drain(&mut link).into_iter().map(|(at, packet)| (at.as_nanos() / 1000, packet.id)).collect();
    assert_eq!(times, [(16_000, 0), (16_500, 1), (18_500, 2), (41_000, 3)]);
    assert_eq!(link.busy_time(ms(31)), Duration::from_micros(4500));
    assert_eq!(link.busy_time(ms(30)), Duration::from_micros(3500));
    assert_eq!(link.stats().delivered, Count { packets: 4, bytes: 4500 });
}

#[test]
fn an_infinite_rate_takes_no_time() {
    let mut link = link(LinkConfig { queue_packets: 0, ..LinkConfig::default() }, 1);
    assert!((0..100).all(|id| link.enqueue(ms(1), packet(id), 1500)));
    assert!(drain(&mut link).iter().all(|&(at, _)| at == ms(1)));
}

proptest! {
    /// Packet n of a busy period ends at ⌊8 · bytes so far / rate⌋ ns: rounding does not add up.
    #[test]
    fn serialisation_is_exact(rate in 1_000..10_000_000_000u64, lens in prop::collection::vec(1..65_536usize, 1..100)) {
        let mut link = link(LinkConfig { rate_bps: Some(rate), ..LinkConfig::default() }, 1);
        for (id, &len) in lens.iter().enumerate() {
            link.enqueue(Instant::ZERO, packet(id), len);
        }
        let mut bits = 0u128;
        for ((at, _), len) in drain(&mut link).into_iter().zip(lens) {
            bits += len as u128 * 8;
            prop_assert_eq!(u128::from(at.as_nanos()), bits * 1_000_000_000 / u128::from(rate));
        }
    }
}

/// 8 bits at 3 Gbit/s take 2⅔ ns. The thirds add up to a nanosecond within a busy period, and only there.
#[test]
fn an_idle_transmitter_starts_afresh() {
    let mut link = link(LinkConfig { rate_bps: Some(3_000_000_000), ..LinkConfig::default() }, 1);
    for (id, at) in [0, 0, 100, 200].into_iter().enumerate() {
        link.enqueue(Instant::from_nanos(at), packet(id), 1);
    }
    let times: Vec<u64> = drain(&mut link).into_iter().map(|(at, _)| at.as_nanos()).collect();
    assert_eq!(times, [2, 5, 102, 202]);
}

#[test]
fn the_queue_limit_counts_waiting_packets() {
    let mut link = link(megabyte_a_second(LinkConfig { queue_packets: 3, ..LinkConfig::default() }), 1);
    let taken: Vec<bool> = (0..6).map(|id| link.enqueue(ms(0), packet(id), 1000)).collect();
    assert_eq!(taken, [true, true, true, true, false, false], "one in service, three waiting");
    assert_eq!(link.waiting(ms(0)), 3);
    assert!(!link.enqueue(ms(1) - Duration::from_nanos(1), packet(6), 1000));
    assert!(link.enqueue(ms(1), packet(7), 1000), "one has left the queue for the transmitter");
    assert_eq!(link.waiting(ms(2)), 2);
    assert_eq!(ids(&drain(&mut link)), [0, 1, 2, 3, 7]);
    assert_eq!(link.stats().dropped_queue, Count { packets: 3, bytes: 3000 });
    assert_eq!(link.stats().max_queue, 3);
}

/// Twice the rate, evenly: every second packet is dropped once the queue is full.
#[test]
fn overload_by_two_drops_half() {
    let mut link = link(megabyte_a_second(LinkConfig { queue_packets: 10, ..LinkConfig::default() }), 1);
    for id in 0..2000 {
        let now = Instant::from_nanos(id as u64 * 500_000);
        while link.poll(now).is_some() {}
        link.enqueue(now, packet(id), 1000);
    }
    // 1000 ms of service, and the ten packets that wait at the end; one more is in service.
    assert_eq!(link.stats().dropped_queue.packets, 2000 - 1000 - 10);
    assert_eq!(link.stats().max_queue, 10);
}

#[test]
fn a_lost_packet_waits_and_uses_its_serialisation_time() {
    // Loses packets 0, 2, 4, ...
    let alternating =
        LossModel::Markov { p_good_to_bad: 1.0, p_bad_to_good: 1.0, loss_good: 0.0, loss_bad: 1.0 };
    let config = LinkConfig { losses: vec![alternating], queue_packets: 2, ..LinkConfig::default() };
    let mut link = link(megabyte_a_second(config), 1);
    let taken: Vec<bool> = (0..4).map(|id| link.enqueue(ms(0), packet(id), 1000)).collect();
    assert_eq!(taken, [true, true, true, false]);
    assert!(link.enqueue(ms(1), packet(4), 1000));
    let arrived: Vec<_> = drain(&mut link).into_iter().map(|(at, packet)| (at, packet.id)).collect();
    assert_eq!(arrived, [(ms(2), 1), (ms(4), 4)], "a packet the queue refused does not move the chain");
    assert_eq!(link.busy_time(ms(9)), Duration::from_millis(4));
    assert_eq!(link.stats().dropped_loss, Count { packets: 2, bytes: 2000 });
}

/// The second chain loses packets 0, 2, 4 and so on by itself; it must not miss those the first model lost.
#[test]
fn every_packet_moves_every_loss_model() {
    let second = LossModel::Markov { p_good_to_bad: 1.0, p_bad_to_good: 1.0, loss_good: 0.0, loss_bad: 1.0 };
    let config = LinkConfig { losses: vec![LossModel::Uniform { p: 0.5 }, second], ..LinkConfig::default() };
    for seed in 0..20 {
        let mut link = link(config.clone(), seed);
        for id in 0..100 {
            link.enqueue(ms(id as u64), packet(id), 1000);
        }
        let arrived = ids(&drain(&mut link));
        assert!(!arrived.is_empty() && arrived.iter().all(|id| id % 2 == 1), "seed {seed}: {arrived:?}");
    }
}

#[test]
fn a_black_hole_swallows_what_arrives_meanwhile() {
    let mut link = link(megabyte_a_second(LinkConfig { delay: fixed(10), ..LinkConfig::default() }), 1);
    for (id, at) in [(0, 0), (1, 5), (2, 20)] {
        link.enqueue(ms(at), packet(id), 1000);
    }
    assert_eq!(link.poll(ms(11)), Some(packet(0)));
    link.set_black_hole(true);
    assert_eq!(link.poll(ms(20)), None, "1 was on its way");
    link.set_black_hole(false);
    assert_eq!(link.poll(ms(31)), Some(packet(2)), "sent before the end, arrived after it");
    link.set_black_hole(true);
    assert!(link.enqueue(ms(40), packet(3), 1000), "the sender notices nothing");
    assert_eq!(drain(&mut link), []);
    assert_eq!(link.stats().dropped_black_hole, Count { packets: 2, bytes: 2000 });
}

#[test]
fn a_link_going_down_drops_what_is_inside_and_refuses_more() {
    let mut link = link(megabyte_a_second(LinkConfig { delay: fixed(1), ..LinkConfig::default() }), 1);
    for id in 0..5 {
        link.enqueue(ms(0), packet(id), 1000);
    }
    assert_eq!(link.poll(ms(2)), Some(packet(0)));
    link.set_down(ms(2), true);
    assert_eq!((link.poll_timeout(), link.waiting(ms(2))), (None, 0));
    assert!(!link.enqueue(ms(3), packet(5), 1000));
    assert_eq!(link.stats().dropped_down, Count { packets: 5, bytes: 5000 });
    link.set_down(ms(3), false);
    assert!(link.enqueue(ms(3), packet(6), 1000));
    let arrived = drain(&mut link);
    assert_eq!(arrived, [(ms(5), packet(6))], "the transmitter is free at once");
    assert_eq!(link.busy_time(ms(9)), Duration::from_millis(3), "two packets until 2 ms, one since");
}

#[test]
fn held_up_packets_arrive_later_by_the_extra_delay() {
    let reorder = Some(Reorder { probability: 0.5, extra: Duration::from_millis(5) });
    let mut link = link(LinkConfig { delay: fixed(10), reorder, ..LinkConfig::default() }, 1);
    for id in 0..1000 {
        link.enqueue(ms(id as u64), packet(id), 1000);
    }
    let arrived = drain(&mut link);
    let late: Vec<u64> =
        arrived.iter().map(|&(at, packet)| at.as_nanos() / 1_000_000 - packet.id as u64 - 10).collect();
    assert!(late.iter().all(|&late| late == 0 || late == 5));
    let held_up = late.iter().filter(|&&late| late == 5).count();
    assert_eq!(link.stats().reordered.packets, held_up as u64);
    assert!((held_up as f64 - 500.0).abs() < 5.0 * 250f64.sqrt(), "{held_up}");
    assert!(!ids(&arrived).is_sorted(), "nothing was overtaken");
}

#[test]
fn duplicates_and_damage_come_as_often_as_asked() {
    let config = LinkConfig { duplicate: 0.1, corrupt: 0.2, ..LinkConfig::default() };
    let mut link = link(config, 1);
    let n = 10_000;
    for id in 0..n {
        link.enqueue(ms(id as u64), packet(id), 100);
    }
    let arrived = drain(&mut link);
    let binomial = |count: usize, n: f64, p: f64| {
        assert!((count as f64 - n * p).abs() < 5.0 * (n * p * (1.0 - p)).sqrt(), "{count} of {n}");
    };
    binomial(arrived.len() - n, n as f64, 0.1);
    let damaged = arrived.iter().filter(|(_, packet)| packet.damaged).count();
    binomial(damaged, arrived.len() as f64, 0.2);
    assert_eq!(link.stats().duplicated.packets, (arrived.len() - n) as u64);
    assert_eq!(link.stats().corrupted.packets, damaged as u64);
}

proptest! {
    #[test]
    fn damage_flips_one_bit(bytes in prop::collection::vec(any::<u8>(), 0..50), seed: u64) {
        let mut random = Seeds::new(seed, 0).stream("corrupt");
        let original = Bytes::from(bytes);
        let mut damaged = original.clone();
        damaged.corrupt(&mut random);
        let flipped: u32 = original.iter().zip(&damaged).map(|(a, b)| (a ^ b).count_ones()).sum();
        prop_assert_eq!(original.len(), damaged.len());
        prop_assert_eq!(flipped, u32::from(!original.is_empty()));
    }
}

#[test]
fn damage_finds_every_bit() {
    let mut random = Seeds::new(1, 0).stream("corrupt");
    let mut seen = [0u8; 3];
    for _ in 0..1000 {
        let mut bytes = vec![0; 3];
        bytes.corrupt(&mut random);
        seen.iter_mut().zip(bytes).for_each(|(seen, byte)| *seen |= byte);
    }
    assert_eq!(seen, [0xff; 3]);
}

/// Poisson arrivals at a fixed service time wait ρ/(2μ(1-ρ)) on average (Pollaczek-Khinchine).
#[test]
fn mean_wait_is_that_of_m_d_1() {
    const RUNS: u64 = 30;
    let service = 1e-3;
    for rho in [0.3, 0.6, 0.8] {
        let expected = rho * service / (2.0 * (1.0 - rho));
        let waits: Vec<f64> = (0..RUNS).map(|seed| mean_wait(rho, service, seed)).collect();
        let mean = waits.iter().sum::<f64>() / RUNS as f64;
        let variance =
            waits.iter().map(|wait| (wait - mean) * (wait - mean)).sum::<f64>() / (RUNS - 1) as f64;
        let error = (variance / RUNS as f64).sqrt();
        assert!(error < 0.02 * expected, "rho {rho}: too few packets to tell");
        assert!(
            (mean - expected).abs() < 4.0 * error,
            "rho {rho}: {mean} s, expected {expected} ± {error} s"
        );
    }
}

/// Mean wait in seconds of 20000 packets of 1000 bytes, after 1000 to warm up.
fn mean_wait(rho: f64, service: f64, seed: u64) -> f64 {
    let mut link = link(megabyte_a_second(LinkConfig::default()), seed);
    let mut random = Seeds::new(seed, 0).stream("arrivals");
    let mut clock = 0.0;
    let mut sent = Vec::new();
    for id in 0..21_000 {
        clock -= libm::log(1.0 - random.unit()) * service / rho;
        sent.push(Instant::from_secs_f64(clock));
        link.enqueue(sent[id], packet(id), 1000);
    }
    let waits = drain(&mut link).into_iter().skip(1000);
    waits.map(|(at, packet)| (at - sent[packet.id]).as_secs_f64() - service).sum::<f64>() / 20_000.0
}

#[test]
fn labels_and_seeds_give_links_their_own_draws() {
    let arrivals = |seed, label: &str, reorder| {
        let losses = vec![LossModel::Uniform { p: 0.5 }];
        let mut link =
            Link::new(LinkConfig { losses, reorder, ..LinkConfig::default() }, &Seeds::new(seed, 0), label);
        for id in 0..64 {
            link.enqueue(ms(id as u64), packet(id), 100);
        }
        let mut ids = ids(&drain(&mut link));
        ids.sort_unstable();
        ids
    };
    let base = arrivals(1, "a", None);
    assert_eq!(base, arrivals(1, "a", None));
    assert_ne!(base, arrivals(2, "a", None));
    assert_ne!(base, arrivals(1, "b", None));
    let reorder = Some(Reorder { probability: 0.5, extra: Duration::from_millis(5) });
    assert_eq!(base, arrivals(1, "a", reorder), "reordering does not move the draws of loss");
}

#[test]
fn rings_do_not_grow_in_steady_state() {
    let config = LinkConfig { delay: fixed(20), queue_packets: 50, ..LinkConfig::default() };
    let mut link = link(megabyte_a_second(config), 1);
    let mut run = |from: usize, to: usize| {
        for id in from..to {
            let now = Instant::from_nanos(id as u64 * 900_000);
            while link.poll(now).is_some() {}
            link.enqueue(now, packet(id), 1000);
        }
        link.capacity()
    };
    assert_eq!(run(0, 1000), run(1000, 100_000));
}

#[test]
fn impossible_links_are_refused() {
    let (min, max) = (Duration::from_millis(2), Duration::from_millis(1));
    let half = LossModel::bursts(0.1, 0.5);
    for (config, error) in [
        (LinkConfig { rate_bps: Some(0), ..LinkConfig::default() }, LinkConfigError::ZeroRate),
        (
            LinkConfig { delay: Delay::Uniform { min, max }, ..LinkConfig::default() },
            LinkConfigError::Delay { min, max },
        ),
        (LinkConfig { losses: vec![half], ..LinkConfig::default() }, LinkConfigError::Loss(half)),
        (LinkConfig { duplicate: 1.5, ..LinkConfig::default() }, LinkConfigError::Probability(1.5)),
        (LinkConfig { corrupt: -0.1, ..LinkConfig::default() }, LinkConfigError::Probability(-0.1)),
    ] {
        assert_eq!(config.validate(), Err(error));
    }
}

/// What a test does to a link, `after` the operation before.
#[derive(Clone, Debug)]
enum Op {
    Enqueue(usize),
    Poll,
    BlackHole(bool),
    Down(bool),
}

fn op() -> impl Strategy<Value = (u64, Op)> {
    let op = prop_oneof![
        10 => (1..2000usize).prop_map(Op::Enqueue),
        5 => Just(Op::Poll),
        1 => any::<bool>().prop_map(Op::BlackHole),
        1 => any::<bool>().prop_map(Op::Down),
    ];
    (0..3_000_000u64, op)
}

fn config(reorder: bool) -> impl Strategy<Value = LinkConfig> {
    let rate = prop::option::of(100_000..100_000_000u64);
    (rate, 0..20u64, 0..20u64, 0..10usize, 0.0..0.5f64, 0.0..0.5f64, 0.0..0.5f64).prop_map(
        move |(rate_bps, min, more, queue_packets, loss, duplicate, corrupt)| LinkConfig {
            rate_bps,
            delay: Delay::Uniform { min: Duration::from_millis(min), max: Duration::from_millis(min + more) },
            queue_packets,
            losses: vec![LossModel::bursts(loss, 2.0)],
            reorder: reorder.then_some(Reorder { probability: 0.3, extra: Duration::from_millis(7) }),
            duplicate,
            corrupt,
        },
    )
}

/// Runs `ops` and gives what arrived, when it was polled, with the moment each packet was sent. `eager`: polls at
/// every timeout besides, as a simulator does.
fn play(link: &mut Link<Packet>, ops: &[(u64, Op)], eager: bool) -> (Vec<(Instant, Packet)>, Vec<Instant>) {
    let (mut now, mut sent, mut arrived) = (Instant::ZERO, Vec::new(), Vec::new());
    for (after, op) in ops {
        now += Duration::from_nanos(*after);
        while let Some(at) = link.poll_timeout().filter(|&at| eager && at <= now) {
            arrived.extend(link.poll(at).map(|packet| (at, packet)));
        }
        // These two look at what has arrived so far, so that a late caller must poll as well.
        if matches!(op, Op::Poll | Op::BlackHole(_) | Op::Down(_)) {
            arrived.extend(core::iter::from_fn(|| link.poll(now)).map(|packet| (now, packet)));
        }
        match *op {
            Op::Enqueue(len) => {
                link.enqueue(now, packet(sent.len()), len);
                sent.push(now);
            }
            Op::Poll => {}
            Op::BlackHole(on) => link.set_black_hole(on),
            Op::Down(down) => {
                link.set_down(now, down);
                assert!(!down || link.poll_timeout().is_none(), "nothing arrives over a link that is down");
            }
        }
    }
    arrived.extend(drain(link));
    (arrived, sent)
}

proptest! {
    /// What goes in comes out, or is counted as dropped for one reason.
    #[test]
    fn packets_are_conserved(config in config(true), seed: u64, ops in prop::collection::vec(op(), 0..200)) {
        let mut link = link(config, seed);
        let (arrived, _) = play(&mut link, &ops, true);
        let stats = *link.stats();
        let mut entered = stats.offered;
        entered += stats.duplicated;
        let mut left = stats.delivered;
        for dropped in [stats.dropped_queue, stats.dropped_loss, stats.dropped_black_hole, stats.dropped_down] {
            left += dropped;
        }
        prop_assert_eq!(entered, left);
        prop_assert_eq!(arrived.len() as u64, stats.delivered.packets);
    }

    /// Without reordering packets keep their order, none is faster than the shortest delay, and a caller who polls
    /// late gets the same packets.
    #[test]
    fn order_is_kept_and_late_polls_change_nothing(
        config in config(false), seed: u64, ops in prop::collection::vec(op(), 0..200)
    ) {
        let Delay::Uniform { min, .. } = config.delay else { unreachable!("config() draws a range") };
        let mut eager = link(config.clone(), seed);
        let (arrived, sent) = play(&mut eager, &ops, true);
        prop_assert!(ids(&arrived).is_sorted());
        prop_assert!(arrived.is_sorted_by_key(|&(at, _)| at));
        prop_assert!(arrived.iter().all(|&(at, packet)| at >= sent[packet.id] + min));
        let mut late = link(config, seed);
        let (arrived_late, _) = play(&mut late, &ops, false);
        let packets = |arrived: Vec<(Instant, Packet)>| arrived.into_iter().map(|(_, p)| p).collect::<Vec<_>>();
        prop_assert_eq!(packets(arrived), packets(arrived_late));
        prop_assert_eq!(eager.stats(), late.stats());
    }
}

/// Links move between threads with the driver that owns them.
#[test]
fn links_are_send() {
    fn send<T: Send>() {}
    send::<Link<Bytes>>();
}

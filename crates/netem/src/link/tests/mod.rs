//! Links compared with closed forms, properties and scripts.

mod arq;
mod managed;
mod order;
mod queueing;
mod random;
mod rates;

use core::time::Duration;

use bytes::Bytes;
use proptest::prelude::*;
use strandcast_proto::seeds::{Random, Seeds};
use strandcast_proto::time::Instant;

use super::{
    Codel, Count, Discipline, EnqueueOutcome, FqCodel, Link, LinkConfig, LinkConfigError, Payload, Policer,
    Queue, QueueLimit, Rate, Reorder,
};
use crate::loss::LossModel;
use crate::number::{Every, Number, NumberError};

/// A numbered packet; damage sets the flag. Every third belongs to the same flow.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Packet {
    id: usize,
    damaged: bool,
}

impl Payload for Packet {
    fn corrupt(&mut self, _: &mut Random) {
        self.damaged = true;
    }

    fn flow(&self) -> u64 {
        self.id as u64 % 3
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
    LinkConfig { rate: Rate::Constant(8_000_000), ..config }
}

fn fixed(ms: u64) -> Number {
    Duration::from_millis(ms).into()
}

/// A time after all events.
const END: Instant = Instant::from_millis(1 << 40);

/// Returns whether the link accepted the packet.
fn take(link: &mut Link<Packet>, now: Instant, id: usize, len: usize) -> bool {
    matches!(link.enqueue(now, packet(id), len), EnqueueOutcome::Taken { .. })
}

/// Sends packets 0.9 ms apart and returns the capacity of the rings.
fn room_after(link: &mut Link<Packet>, packets: core::ops::Range<usize>) -> [usize; 3] {
    for id in packets {
        let now = Instant::from_nanos(id as u64 * 900_000);
        while link.poll(now).is_some() {}
        link.enqueue(now, packet(id), 1000);
    }
    link.capacity()
}

/// Returns all future arrivals, each with its time.
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
        assert!(take(&mut link, ms(5), id, len));
    }
    link.enqueue(ms(30), packet(3), 1000);
    assert_eq!(link.poll(ms(16) - Duration::from_nanos(1)), None);
    let times: Vec<_> =
        drain(&mut link).into_iter().map(|(at, packet)| (at.as_nanos() / 1000, packet.id)).collect();
    assert_eq!(times, [(16_000, 0), (16_500, 1), (18_500, 2), (41_000, 3)]);
    assert_eq!(link.stats_at(ms(31)).busy_time, Duration::from_micros(4500));
    assert_eq!(link.stats_at(ms(30)).busy_time, Duration::from_micros(3500));
    assert_eq!(link.stats_at(END).delivered, Count { packets: 4, bytes: 4500 });
}

#[test]
fn an_infinite_rate_takes_no_time() {
    let mut link = link(LinkConfig { queue: Queue::packets(0), ..LinkConfig::default() }, 1);
    assert!((0..100).all(|id| take(&mut link, ms(1), id, 1500)));
    assert!(drain(&mut link).iter().all(|&(at, _)| at == ms(1)));
}

proptest! {
    /// Packet n of a busy period ends at ⌊8 · bytes up to it / rate⌋ ns: rounding does not add up.
    #[test]
    fn serialisation_is_exact(rate in 1_000..10_000_000_000u64, lens in prop::collection::vec(1..65_536usize, 1..100)) {
        let mut link = link(LinkConfig { rate: Rate::Constant(rate), ..LinkConfig::default() }, 1);
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
    let mut link = link(LinkConfig { rate: Rate::Constant(3_000_000_000), ..LinkConfig::default() }, 1);
    for (id, at) in [0, 0, 100, 200].into_iter().enumerate() {
        link.enqueue(Instant::from_nanos(at), packet(id), 1);
    }
    let times: Vec<u64> = drain(&mut link).into_iter().map(|(at, _)| at.as_nanos()).collect();
    assert_eq!(times, [2, 5, 102, 202]);
}

#[test]
fn the_queue_limit_counts_waiting_packets() {
    let mut link =
        link(megabyte_a_second(LinkConfig { queue: Queue::packets(3), ..LinkConfig::default() }), 1);
    let taken: Vec<bool> = (0..6).map(|id| take(&mut link, ms(0), id, 1000)).collect();
    assert_eq!(taken, [true, true, true, true, false, false], "one in service, three waiting");
    assert_eq!(link.waiting(ms(0)), 3);
    assert!(!take(&mut link, ms(1) - Duration::from_nanos(1), 6, 1000));
    assert!(take(&mut link, ms(1), 7, 1000), "one has left the queue for the transmitter");
    assert_eq!(link.waiting(ms(2)), 2);
    assert_eq!(ids(&drain(&mut link)), [0, 1, 2, 3, 7]);
    assert_eq!(link.stats_at(END).dropped_queue, Count { packets: 3, bytes: 3000 });
    assert_eq!(link.stats_at(END).max_queue, 3);
}

/// Twice the rate, evenly spaced: every second packet is dropped once the queue is full.
#[test]
fn overload_by_two_drops_half() {
    let mut link =
        link(megabyte_a_second(LinkConfig { queue: Queue::packets(10), ..LinkConfig::default() }), 1);
    for id in 0..2000 {
        let now = Instant::from_nanos(id as u64 * 500_000);
        while link.poll(now).is_some() {}
        link.enqueue(now, packet(id), 1000);
    }
    // 1000 ms of service, and the ten packets waiting at the end; one more is in service.
    assert_eq!(link.stats_at(END).dropped_queue.packets, 2000 - 1000 - 10);
    assert_eq!(link.stats_at(END).max_queue, 10);
}

#[test]
fn a_lost_packet_waits_and_uses_its_serialisation_time() {
    // Loses packets 0, 2, 4, ...
    let alternating =
        LossModel::Markov { p_good_to_bad: 1.0, p_bad_to_good: 1.0, loss_good: 0.0, loss_bad: 1.0 };
    let config = LinkConfig { losses: vec![alternating], queue: Queue::packets(2), ..LinkConfig::default() };
    let mut link = link(megabyte_a_second(config), 1);
    let taken: Vec<bool> = (0..4).map(|id| take(&mut link, ms(0), id, 1000)).collect();
    assert_eq!(taken, [true, true, true, false]);
    assert!(take(&mut link, ms(1), 4, 1000));
    let arrived: Vec<_> = drain(&mut link).into_iter().map(|(at, packet)| (at, packet.id)).collect();
    assert_eq!(arrived, [(ms(2), 1), (ms(4), 4)], "a packet the queue refused does not move the chain");
    assert_eq!(link.stats_at(ms(9)).busy_time, Duration::from_millis(4));
    assert_eq!(link.stats_at(END).dropped_loss, Count { packets: 2, bytes: 2000 });
}

/// The second chain itself loses packets 0, 2, 4 and so on; it must also process those that the first model
/// lost.
#[test]
fn every_packet_moves_every_loss_model() {
    let second = LossModel::Markov { p_good_to_bad: 1.0, p_bad_to_good: 1.0, loss_good: 0.0, loss_bad: 1.0 };
    let config = LinkConfig { losses: vec![LossModel::uniform(0.5), second], ..LinkConfig::default() };
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
    assert!(take(&mut link, ms(40), 3, 1000), "the sender notices nothing");
    assert_eq!(drain(&mut link), []);
    assert_eq!(link.stats_at(END).dropped_black_hole, Count { packets: 2, bytes: 2000 });
}

#[test]
fn a_link_going_down_drops_what_is_inside_and_refuses_more() {
    let mut link = link(megabyte_a_second(LinkConfig { delay: fixed(1), ..LinkConfig::default() }), 1);
    for id in 0..5 {
        link.enqueue(ms(0), packet(id), 1000);
    }
    assert_eq!(link.poll(ms(2)), Some(packet(0)));
    assert_eq!(link.stats_at(ms(2)).served.packets, 2);
    link.set_down(ms(2), true);
    assert_eq!((link.poll_timeout(), link.waiting(ms(2))), (None, 0));
    assert_eq!(link.enqueue(ms(3), packet(5), 1000), EnqueueOutcome::Down);
    assert_eq!(link.stats_at(END).dropped_down, Count { packets: 5, bytes: 5000 });
    link.set_down(ms(3), false);
    assert!(take(&mut link, ms(3), 6, 1000));
    let arrived = drain(&mut link);
    assert_eq!(arrived, [(ms(5), packet(6))], "the transmitter is free at once");
    assert_eq!(link.stats_at(ms(9)).busy_time, Duration::from_millis(3), "two packets until 2 ms, one since");
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
    assert_eq!(link.stats_at(END).reordered.packets, held_up as u64);
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
    assert_eq!(link.stats_at(END).duplicated.packets, (arrived.len() - n) as u64);
    assert_eq!(link.stats_at(END).corrupted.packets, damaged as u64);
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

#[test]
fn labels_and_seeds_give_links_their_own_draws() {
    let arrivals = |seed, label: &str, reorder| {
        let losses = vec![LossModel::uniform(0.5)];
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
    let config = LinkConfig { delay: fixed(20), queue: Queue::packets(50), ..LinkConfig::default() };
    let mut link = link(megabyte_a_second(config), 1);
    assert_eq!(room_after(&mut link, 0..1000), room_after(&mut link, 1000..100_000));
}

#[test]
fn impossible_links_are_refused() {
    let uniform = |low, high, every| Number::Uniform { low, high, every };
    let half = LossModel::bursts(0.1, 0.5);
    let default = LinkConfig::default;
    let no_room = Queue { in_service: true, ..Queue::packets(0) };
    let empty = NumberError::Range { low: 2e-3, high: 1e-3 };
    for (config, error) in [
        (LinkConfig { rate: Rate::Constant(0), ..default() }, LinkConfigError::ZeroRate),
        (LinkConfig { rate: Rate::Varying(0.2.into()), ..default() }, LinkConfigError::ZeroRate),
        (
            LinkConfig { rate: Rate::Varying(uniform(0.0, 1e6, Every::Packet)), ..default() },
            LinkConfigError::ZeroRate,
        ),
        (
            LinkConfig { rate: Rate::Varying(uniform(-1.0, 1e6, Every::Run)), ..default() },
            LinkConfigError::NegativeRate(-1.0),
        ),
        (
            LinkConfig { rate: Rate::Varying(Number::Steps(vec![])), ..default() },
            LinkConfigError::Rate(NumberError::Empty),
        ),
        (LinkConfig { delay: (-0.5).into(), ..default() }, LinkConfigError::NegativeDelay(-0.5)),
        (
            LinkConfig { delay: uniform(2e-3, 1e-3, Every::Packet), ..default() },
            LinkConfigError::Delay(empty),
        ),
        (LinkConfig { queue: no_room, ..default() }, LinkConfigError::NoRoom),
        (LinkConfig { losses: vec![half.clone()], ..default() }, LinkConfigError::Loss(half)),
        (LinkConfig { duplicate: 1.5, ..default() }, LinkConfigError::Probability(1.5)),
        (LinkConfig { corrupt: -0.1, ..default() }, LinkConfigError::Probability(-0.1)),
    ] {
        assert_eq!(config.validate(), Err(error));
    }
}

/// Links move between threads with the driver that owns them.
#[test]
fn links_are_send() {
    fn send<T: Send>() {}
    send::<Link<Bytes>>();
}

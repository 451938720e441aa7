//! Queues: their limits, closed forms, and statistics.

use super::*;

/// Poisson arrivals at a fixed service time wait ρ/(2μ(1-ρ)) on average (Pollaczek-Khinchine).
#[test]
fn mean_wait_is_that_of_m_d_1() {
    const RUNS: u64 = 30;
    let service = 1e-3;
    for rho in [0.5, 0.8, 0.95] {
        let expected = rho * service / (2.0 * (1.0 - rho));
        let packets = if rho > 0.9 { 400_000 } else { 20_000 };
        let waits: Vec<f64> = (0..RUNS).map(|seed| mean_wait(rho, service, seed, packets)).collect();
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

/// Mean wait in seconds of `packets` packets of 1000 bytes, after a tenth of that number to warm up.
fn mean_wait(rho: f64, service: f64, seed: u64, packets: usize) -> f64 {
    let mut link = link(megabyte_a_second(LinkConfig::default()), seed);
    let mut random = Seeds::new(seed, 0).stream("arrivals");
    let warm_up = packets / 10;
    let (mut clock, mut waits) = (0.0, 0.0);
    for id in 0..warm_up + packets {
        clock -= libm::log(1.0 - random.unit()) * service / rho;
        let now = Instant::from_secs_f64(clock);
        while link.poll(now).is_some() {}
        let EnqueueOutcome::Taken { departs, .. } = link.enqueue(now, packet(id), 1000) else {
            panic!("no limit")
        };
        if id >= warm_up {
            waits += (departs - now).as_secs_f64() - service;
        }
    }
    waits / packets as f64
}

/// Packets that waited when the link went down take no room afterwards.
#[test]
fn an_outage_empties_a_queue_of_bytes() {
    let queue = Queue { limit: QueueLimit::Bytes(2500), in_service: true, ..Queue::default() };
    let mut link = link(megabyte_a_second(LinkConfig { queue, ..LinkConfig::default() }), 1);
    for outage in 0..3 {
        let now = ms(10 * outage);
        assert!(take(&mut link, now, 0, 1500) && take(&mut link, now, 1, 1000), "outage {outage}");
        assert!(!take(&mut link, now, 2, 1));
        link.set_down(now, true);
        link.set_down(now, false);
    }
}

/// `in_service` with a limit of q equals `false` with one of q - 1, once a packet is present.
#[test]
fn the_packet_in_service_counts_if_asked() {
    let taken = |limit, in_service, lens: &[usize]| -> Vec<bool> {
        let queue = Queue { limit, in_service, ..Queue::default() };
        let mut link = link(megabyte_a_second(LinkConfig { queue, ..LinkConfig::default() }), 1);
        lens.iter().map(|&len| take(&mut link, ms(0), 0, len)).collect()
    };
    let (yes, no) = (true, false);
    assert_eq!(taken(QueueLimit::Packets(3), true, &[1000; 5]), [yes, yes, yes, no, no]);
    assert_eq!(taken(QueueLimit::Packets(2), false, &[1000; 5]), [yes, yes, yes, no, no]);
    assert_eq!(taken(QueueLimit::Packets(1), true, &[1000; 2]), [yes, no]);
    assert_eq!(taken(QueueLimit::Unlimited, true, &[1000; 3]), [yes, yes, yes]);
    let lens = [1000, 1000, 600, 500, 400];
    assert_eq!(taken(QueueLimit::Bytes(2500), false, &lens), [yes, yes, yes, yes, yes]);
    assert_eq!(taken(QueueLimit::Bytes(2499), false, &lens), [yes, yes, yes, yes, no]);
    assert_eq!(
        taken(QueueLimit::Bytes(2500), true, &lens),
        [yes, yes, no, yes, no],
        "500 fit where 600 did not"
    );
    assert_eq!(taken(QueueLimit::Bytes(999), true, &[1000]), [no]);
    assert_eq!(taken(QueueLimit::Bytes(0), false, &[1000, 1]), [yes, no]);
}

/// Three packets of 1 ms at 0 ms, one of them lost, and one more at 10 ms.
#[test]
fn statistics_are_those_of_the_moment() {
    let alternating =
        LossModel::Markov { p_good_to_bad: 1.0, p_bad_to_good: 1.0, loss_good: 0.0, loss_bad: 1.0 };
    let config = LinkConfig { losses: vec![alternating], ..LinkConfig::default() };
    let mut link = link(megabyte_a_second(config), 1);
    for (id, at) in [0, 0, 0, 10].into_iter().enumerate() {
        link.enqueue(ms(at), packet(id), 1000);
    }
    let at = |us: u64| {
        let stats = link.stats_at(Instant::from_nanos(us * 1000));
        let counts = (stats.offered.packets, stats.served.packets, stats.dropped_loss.packets);
        (counts, stats.busy_time.as_micros(), stats.queue_time.as_micros())
    };
    assert_eq!(at(10_000), ((4, 3, 2), 3000, 1000 + 2000));
    assert_eq!(at(10_999), ((4, 3, 2), 3999, 3000));
    assert_eq!(at(11_000), ((4, 4, 2), 4000, 3000));
    let mut link = self::link(megabyte_a_second(LinkConfig::default()), 1);
    assert!((0..3).all(|id| take(&mut link, ms(0), id, 1000)));
    let at = |us: u64| {
        let stats = link.stats_at(Instant::from_nanos(us * 1000));
        (stats.served.bytes, stats.busy_time.as_micros(), stats.queue_time.as_micros())
    };
    assert_eq!(at(0), (0, 0, 0));
    assert_eq!(at(500), (0, 500, 1000));
    assert_eq!(at(1500), (1000, 1500, 2500));
    assert_eq!(at(2500), (2000, 2500, 3000));
    assert_eq!(at(9000), (3000, 3000, 3000));
}

proptest! {
    /// The queue's integral is the sum of all waits, each up to the requested time; the transmitter is busy
    /// whenever it has a packet; and a packet is served when its last bit has left.
    #[test]
    fn statistics_add_up_at_any_moment(
        packets in prop::collection::vec((0..2_000_000u64, 1..3000usize), 1..60), limit in 0..20usize, at in 0..200_000_000u64
    ) {
        let mut link = link(megabyte_a_second(LinkConfig { queue: Queue::packets(limit), ..LinkConfig::default() }), 1);
        let (mut now, mut free) = (0, 0);
        let (mut stays, mut offered) = (Vec::new(), 0);
        for (after, len) in packets {
            // Statistics of the past are not available.
            if now + after > at {
                break;
            }
            now += after;
            offered += 1;
            if let EnqueueOutcome::Taken { departs, .. } = link.enqueue(Instant::from_nanos(now), packet(0), len) {
                stays.push((now, free.max(now), departs.as_nanos()));
                free = departs.as_nanos();
            }
        }
        let stats = link.stats_at(Instant::from_nanos(at));
        let sum = |part: &dyn Fn(&(u64, u64, u64)) -> u64| Duration::from_nanos(stays.iter().map(part).sum());
        prop_assert_eq!(stats.queue_time, sum(&|&(came, start, _)| start.min(at) - came));
        prop_assert_eq!(stats.busy_time, sum(&|&(_, start, end)| end.min(at).saturating_sub(start)));
        prop_assert_eq!(stats.served.packets, stays.iter().filter(|stay| stay.2 <= at).count() as u64);
        prop_assert_eq!(stats.offered.packets, offered);
        prop_assert_eq!(stats.dropped_queue.packets, offered - stays.len() as u64);
    }
}

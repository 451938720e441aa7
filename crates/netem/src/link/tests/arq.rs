//! Packets that the link retransmits.

use std::sync::Arc;

use super::*;
use crate::loss::LossList;

/// A link that loses the transmissions with these ordinals, in a repeated list.
fn losing(text: &str, retries: u8) -> Link<Packet> {
    let list = Arc::new(LossList::parse(text).expect("a list"));
    let losses = vec![LossModel::List { list, repeat: false }];
    let config = LinkConfig { losses, retries, delay: fixed(10), ..LinkConfig::default() };
    link(megabyte_a_second(config), 1)
}

/// Transmissions 1, 3 and 4 are lost: packet 0 leaves after 2 ms, packet 1 with its third transmission after 5 ms, packet 2
/// after 6 ms.
#[test]
fn a_retransmission_takes_its_time_and_the_others_wait() {
    let mut link = losing("1\n3\n4\n", 2);
    let fates: Vec<EnqueueOutcome> = (0..3).map(|id| link.enqueue(ms(0), packet(id), 1000)).collect();
    let taken = |at, retransmissions| EnqueueOutcome::Taken { departs: ms(at), lost: false, retransmissions };
    assert_eq!(fates, [taken(2, 1), taken(5, 2), taken(6, 0)]);
    assert_eq!(link.waiting(ms(3)), 1, "one is being sent again");
    let arrived: Vec<(Instant, usize)> = drain(&mut link).into_iter().map(|(at, p)| (at, p.id)).collect();
    assert_eq!(arrived, [(ms(12), 0), (ms(15), 1), (ms(16), 2)]);
    let stats = link.stats_at(END);
    assert_eq!(stats.served, Count { packets: 3, bytes: 3000 });
    assert_eq!(stats.repeated, Count { packets: 3, bytes: 3000 });
    assert_eq!(stats.delivered.packets, 3);
    assert_eq!(stats.busy_time, Duration::from_millis(6));
    assert_eq!(stats.queue_time, Duration::from_millis(2 + 5));
}

#[test]
fn a_packet_is_given_up_after_its_retries() {
    let mut link = losing("1\n2\n3\n", 2);
    assert_eq!(
        link.enqueue(ms(0), packet(0), 1000),
        EnqueueOutcome::Taken { departs: ms(3), lost: true, retransmissions: 2 }
    );
    assert_eq!(
        link.enqueue(ms(0), packet(1), 1000),
        EnqueueOutcome::Taken { departs: ms(4), lost: false, retransmissions: 0 }
    );
    assert_eq!(ids(&drain(&mut link)), [1]);
    let stats = link.stats_at(END);
    assert_eq!((stats.dropped_loss.packets, stats.repeated.packets), (1, 2));
}

/// A packet that is still being sent counts with its last transmission.
#[test]
fn repetitions_count_when_the_packet_has_left() {
    let mut link = losing("1\n", 1);
    link.enqueue(ms(0), packet(0), 1000);
    let at = |link: &Link<Packet>, ms_| link.stats_at(ms(ms_));
    assert_eq!((at(&link, 1).served.packets, at(&link, 1).repeated.packets), (0, 0));
    assert_eq!((at(&link, 2).served.packets, at(&link, 2).repeated.packets), (1, 1));
}

/// A packet with loss probability p per transmission and n retries is lost with p^(n+1) and is sent (1 -
/// p^(n+1))/(1 - p) times on average.
#[test]
fn residual_loss_and_transmissions_have_their_closed_forms() {
    const PACKETS: usize = 100_000;
    for (p, n, seed) in [(0.1, 1u8, 1), (0.3, 0, 2), (0.3, 2, 3), (0.5, 4, 4), (0.8, 7, 5)] {
        let config = LinkConfig { losses: vec![LossModel::uniform(p)], retries: n, ..LinkConfig::default() };
        let mut link = link(config, seed);
        for id in 0..PACKETS {
            link.enqueue(ms(0), packet(id), 1000);
        }
        let stats = link.stats_at(END);
        let sent: f64 = (0..=i32::from(n)).map(|k| libm::pow(p, f64::from(k))).sum();
        let lost = libm::pow(p, f64::from(n) + 1.0);
        assert!((link.config().mean_loss() - lost).abs() < 1e-12);
        let error = (lost * (1.0 - lost) / PACKETS as f64).sqrt();
        let z = (stats.dropped_loss.packets as f64 / PACKETS as f64 - lost) / error;
        assert!(z.abs() < 4.0, "p {p}, {n} retries: residual loss {z} standard errors off");
        // The number of transmissions is geometric, cut off: E[T²] = Σ (2k + 1) P(T > k), P(T > k) = p^k.
        let squares: f64 =
            (0..=i32::from(n)).map(|k| f64::from(2 * k + 1) * libm::pow(p, f64::from(k))).sum();
        let error = ((squares - sent * sent) / PACKETS as f64).sqrt().max(1e-12);
        let found = 1.0 + stats.repeated.packets as f64 / PACKETS as f64;
        assert!((found - sent).abs() < 4.0 * error, "p {p}, {n} retries: {found} transmissions, not {sent}");
    }
}

/// A link that never delivers abandons each packet, at any rate.
#[test]
fn certain_loss_ends() {
    for rate in
        [Rate::Infinite, Rate::Constant(8_000_000), Rate::Varying(Number::Steps(vec![(Duration::ZERO, 0.0)]))]
    {
        let losses = vec![LossModel::uniform(1.0)];
        let mut link = link(LinkConfig { rate, losses, retries: 255, ..LinkConfig::default() }, 1);
        for id in 0..10 {
            assert!(take(&mut link, ms(0), id, 1000));
        }
        assert_eq!(drain(&mut link), []);
    }
}

/// Retries without loss change nothing, and zero retries equal a link without them.
#[test]
fn retries_without_loss_are_none() {
    let arrivals = |retries, losses: Vec<LossModel>| {
        let config = LinkConfig { retries, losses, delay: fixed(3), ..LinkConfig::default() };
        let mut link = link(megabyte_a_second(config), 9);
        for id in 0..200 {
            take(&mut link, ms(id as u64), id, 700);
        }
        drain(&mut link)
    };
    assert_eq!(arrivals(9, vec![]), arrivals(0, vec![]));
    assert_ne!(arrivals(9, vec![LossModel::uniform(0.2)]), arrivals(0, vec![LossModel::uniform(0.2)]));
}

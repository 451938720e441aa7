//! Random use.

use std::sync::Arc;

use super::*;
use crate::link::Opportunities;
use crate::loss::LossList;

/// An operation on a link, `after` the previous one.
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

fn rate() -> impl Strategy<Value = Rate> {
    let step = Duration::from_millis(7);
    let mahimahi = Opportunities::parse("0\n1\n1\n9\n").expect("a trace");
    prop_oneof![
        Just(Rate::Infinite),
        (100_000..100_000_000u64).prop_map(Rate::Constant),
        Just(Rate::Opportunities(Arc::new(mahimahi))),
        (0.0..1e7, 0.0..1e7).prop_map(move |(a, b)| {
            Rate::Varying(Number::Steps(vec![(Duration::ZERO, a), (step, b), (step * 2, 0.0), (step * 3, a)]))
        }),
        (1e5..1e7).prop_map(move |high| {
            Rate::Varying(Number::Uniform { low: 0.0, high, every: Every::Period(step) })
        }),
    ]
}

fn losses() -> impl Strategy<Value = Vec<LossModel>> {
    let ms = Duration::from_millis;
    let list = Arc::new(LossList::parse("3\n5\n").expect("a list"));
    let by_time =
        LossModel::MarkovByTime { mean_good: ms(20), mean_bad: ms(5), loss_good: 0.0, loss_bad: 0.9 };
    (0.0..0.5f64).prop_map(move |loss| {
        let list = LossModel::List { list: list.clone(), repeat: true };
        vec![LossModel::bursts(loss, 2.0), LossModel::uniform(loss), by_time.clone(), list]
    })
}

/// The shortest delay in milliseconds, and a link whose packets keep their order, or also one whose packets
/// need not.
fn config(ordered: bool) -> impl Strategy<Value = (u64, LinkConfig)> {
    let limit = prop_oneof![
        Just(QueueLimit::Unlimited),
        (1..10usize).prop_map(QueueLimit::Packets),
        (1..9000u64).prop_map(QueueLimit::Bytes),
    ];
    let quick = Codel { target: Duration::from_micros(500), interval: Duration::from_millis(2) };
    let fair = Discipline::FqCodel(FqCodel { codel: quick, quantum: 700, flows: 2 });
    let discipline = prop_oneof![
        2 => Just(Discipline::DropTail),
        1 => Just(Discipline::Codel(quick)),
        // Packets of different flows overtake each other.
        1 => Just(if ordered { Discipline::Codel(quick) } else { fair }),
    ];
    let queue = (discipline, limit, any::<bool>()).prop_map(|(discipline, limit, in_service)| Queue {
        discipline,
        limit,
        in_service,
    });
    let policer = prop_oneof![
        3 => Just(None),
        1 => (100_000..10_000_000u64, 1..9000u64).prop_map(|(rate, burst)| Some(Policer { rate, burst })),
    ];
    let order = any::<bool>().prop_map(move |keeps| keeps || ordered);
    (rate(), 0..20u64, 0..20u64, order, (policer, queue), losses(), 0..4u8, 0.0..0.5f64, 0.0..0.5f64)
        .prop_map(
            move |(rate, min, more, keep_order, (policer, queue), losses, retries, duplicate, corrupt)| {
                let (low, high) = (min as f64 / 1e3, (min + more) as f64 / 1e3);
                let config = LinkConfig {
                    rate,
                    delay: Number::Uniform { low, high, every: Every::Packet },
                    keep_order,
                    policer,
                    queue,
                    losses,
                    retries,
                    reorder: (!ordered)
                        .then_some(Reorder { probability: 0.3, extra: Duration::from_millis(7) }),
                    duplicate,
                    corrupt,
                    origin: Instant::ZERO,
                };
                (min, config)
            },
        )
}

/// Runs `ops` and returns the arrivals with the time of their poll, and the send time of each packet. `eager`
/// also polls at every timeout, as a simulator does.
fn play(link: &mut Link<Packet>, ops: &[(u64, Op)], eager: bool) -> (Vec<(Instant, Packet)>, Vec<Instant>) {
    let (mut now, mut sent, mut arrived) = (Instant::ZERO, Vec::new(), Vec::new());
    for (after, op) in ops {
        now += Duration::from_nanos(*after);
        while let Some(at) = link.poll_timeout().filter(|&at| eager && at <= now) {
            arrived.extend(link.poll(at).map(|packet| (at, packet)));
        }
        // These two operations affect arrived packets, so a late caller must poll as well.
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
    /// Every packet arrives, or is counted as dropped for one reason, or stays for ever.
    #[test]
    fn packets_are_conserved((_, config) in config(false), seed: u64, ops in prop::collection::vec(op(), 0..200)) {
        let mut link = link(config, seed);
        let (arrived, _) = play(&mut link, &ops, true);
        link.set_down(END, true);
        let stats = link.stats_at(END);
        let mut entered = stats.offered;
        entered += stats.duplicated;
        let mut left = stats.delivered;
        for dropped in [stats.dropped_queue, stats.dropped_loss, stats.dropped_black_hole, stats.dropped_down] {
            left += dropped;
        }
        prop_assert_eq!(entered, left);
        prop_assert_eq!(arrived.len() as u64, stats.delivered.packets);
    }

    /// Packets that overtake each other arrive in order of time, none before the shortest delay, and a caller
    /// who polls late gets the same packets.
    #[test]
    fn whatever_the_order_late_polls_change_nothing(
        (min, config) in config(false), seed: u64, ops in prop::collection::vec(op(), 0..200)
    ) {
        let min = Duration::from_millis(min);
        let mut eager = link(config.clone(), seed);
        let (arrived, sent) = play(&mut eager, &ops, true);
        prop_assert!(arrived.is_sorted_by_key(|&(at, _)| at));
        prop_assert!(arrived.iter().all(|&(at, packet)| at >= sent[packet.id] + min));
        let mut late = link(config, seed);
        let (arrived_late, _) = play(&mut late, &ops, false);
        prop_assert_eq!(ids(&arrived), ids(&arrived_late));
        prop_assert_eq!(eager.stats_at(END), late.stats_at(END));
    }

    /// Packets keep their order without reordering, none is faster than the shortest delay, and a caller who
    /// polls late gets the same packets.
    #[test]
    fn order_is_kept_and_late_polls_change_nothing(
        (min, config) in config(true), seed: u64, ops in prop::collection::vec(op(), 0..200)
    ) {
        let min = Duration::from_millis(min);
        let mut eager = link(config.clone(), seed);
        let (arrived, sent) = play(&mut eager, &ops, true);
        prop_assert!(ids(&arrived).is_sorted());
        prop_assert!(arrived.is_sorted_by_key(|&(at, _)| at));
        prop_assert!(arrived.iter().all(|&(at, packet)| at >= sent[packet.id] + min));
        let mut late = link(config, seed);
        let (arrived_late, _) = play(&mut late, &ops, false);
        let packets = |arrived: Vec<(Instant, Packet)>| arrived.into_iter().map(|(_, p)| p).collect::<Vec<_>>();
        prop_assert_eq!(packets(arrived), packets(arrived_late));
        prop_assert_eq!(eager.stats_at(END), late.stats_at(END));
    }
}

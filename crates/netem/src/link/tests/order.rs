//! Packets that overtake each other.

use super::*;

/// U(low, high) milliseconds for each packet; packets may overtake each other.
fn jitter(low: f64, high: f64) -> LinkConfig {
    let delay = Number::Uniform { low: low / 1e3, high: high / 1e3, every: Every::Packet };
    LinkConfig { delay, keep_order: false, ..LinkConfig::default() }
}

/// Sends a packet each `every` microseconds from 0 on and returns the arrivals in order.
fn run(link: &mut Link<Packet>, packets: usize, every: u64) -> Vec<(Instant, Packet)> {
    for id in 0..packets {
        assert!(take(link, Instant::from_nanos(id as u64 * every * 1000), id, 1000));
    }
    drain(link)
}

/// Milliseconds from sending to arrival, in order of sending.
fn delays(arrived: &[(Instant, Packet)], every: u64) -> Vec<f64> {
    let mut delays = vec![f64::NAN; arrived.len()];
    for &(at, packet) in arrived {
        delays[packet.id] = (at.as_nanos() as f64 - (packet.id as u64 * every * 1000) as f64) / 1e6;
    }
    delays
}

/// Maximum distance between the distribution of `values` and the uniform one, times the root of their number:
/// one run in a hundred exceeds 1.63 (Kolmogorov).
fn distance_from_uniform(mut values: Vec<f64>, low: f64, high: f64) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let n = values.len() as f64;
    let far = |(i, value): (usize, &f64)| {
        let share = (value - low) / (high - low);
        (share - i as f64 / n).abs().max((share - (i + 1) as f64 / n).abs())
    };
    values.iter().enumerate().map(far).fold(0.0, f64::max) * n.sqrt()
}

/// Number of packets that arrive before one that was sent earlier.
fn overtakers(arrived: &[(Instant, Packet)]) -> u64 {
    let mut at = vec![Instant::ZERO; arrived.len()];
    arrived.iter().for_each(|&(when, packet)| at[packet.id] = when);
    let mut latest = Instant::ZERO;
    let overtakes = |at: &Instant| {
        let overtakes = *at < latest;
        latest = latest.max(*at);
        overtakes
    };
    at.iter().copied().filter(overtakes).count() as u64
}

/// `netem delay 40ms 20ms`: each delay is as drawn, even for packets in immediate succession.
#[test]
fn each_packet_has_the_delay_that_was_drawn_for_it() {
    for every in [0, 100, 5000] {
        let mut link = link(jitter(20.0, 60.0), 1);
        let arrived = run(&mut link, 20_000, every);
        let far = distance_from_uniform(delays(&arrived, every), 20.0, 60.0);
        assert!(far < 1.63, "a packet each {every} us: {far}");
        assert!(!ids(&arrived).is_sorted() && arrived.is_sorted_by_key(|&(at, _)| at));
        let stats = link.stats_at(END);
        assert_eq!((stats.delivered.packets, stats.reordered.packets), (20_000, overtakers(&arrived)));
    }
}

/// The draws equal those of a link that keeps order, which bunches packets.
#[test]
fn order_costs_delay_and_moves_no_draw() {
    let free = delays(&run(&mut link(jitter(20.0, 60.0), 1), 1000, 1000), 1000);
    let ordered = LinkConfig { keep_order: true, ..jitter(20.0, 60.0) };
    let kept = delays(&run(&mut link(ordered, 1), 1000, 1000), 1000);
    let mut latest = f64::MIN;
    for (id, (free, kept)) in free.iter().zip(&kept).enumerate() {
        latest = latest.max(free + id as f64);
        assert!((kept + id as f64 - latest).abs() < 1e-6, "packet {id}");
    }
}

/// A handover to a nearer satellite: packets sent after it arrive before those sent just before it.
#[test]
fn a_delay_that_steps_down_lets_later_packets_overtake() {
    let steps = Number::Steps(vec![(Duration::ZERO, 0.05), (Duration::from_millis(100), 0.03)]);
    let config = LinkConfig { delay: steps, keep_order: false, ..LinkConfig::default() };
    let mut free = link(config.clone(), 1);
    let arrived = run(&mut free, 200, 1000);
    let late = |&(at, packet): &(Instant, Packet)| {
        at == ms(packet.id as u64 + if packet.id < 100 { 50 } else { 30 })
    };
    assert!(arrived.iter().all(late));
    assert_eq!(
        free.stats_at(END).reordered.packets,
        19,
        "those that left less than 20 ms after the step, but for the tie"
    );
    let mut kept = link(LinkConfig { keep_order: true, ..config }, 1);
    assert!(ids(&run(&mut kept, 200, 1000)).is_sorted());
}

/// Half of the packets are delayed: two routes, and each keeps its order.
#[test]
fn two_ways_whose_delays_differ() {
    let reorder = Some(Reorder { probability: 0.5, extra: Duration::from_millis(15) });
    let mut link = link(LinkConfig { delay: fixed(10), reorder, ..LinkConfig::default() }, 1);
    let arrived = run(&mut link, 10_000, 500);
    let delays = delays(&arrived, 500);
    for way in [10.0, 25.0] {
        let mine: Vec<usize> = ids(&arrived).into_iter().filter(|&id| delays[id] == way).collect();
        assert!(mine.is_sorted() && (mine.len() as f64 - 5000.0).abs() < 4.0 * 50.0, "{}", mine.len());
    }
    assert!(delays.iter().all(|&delay| delay == 10.0 || delay == 25.0));
}

/// Delayed packets take their delay and the extra time, others their delay alone.
#[test]
fn packets_are_held_up_beyond_their_own_delay() {
    let reorder = Some(Reorder { probability: 0.1, extra: Duration::from_millis(100) });
    let mut link = link(LinkConfig { reorder, ..jitter(20.0, 60.0) }, 1);
    let (held_up, prompt): (Vec<f64>, Vec<f64>) =
        delays(&run(&mut link, 20_000, 300), 300).into_iter().partition(|&delay| delay >= 120.0);
    assert!((held_up.len() as f64 - 2000.0).abs() < 4.0 * 1800f64.sqrt(), "{}", held_up.len());
    for (delays, low) in [(held_up, 120.0), (prompt, 20.0)] {
        let far = distance_from_uniform(delays, low, low + 40.0);
        assert!(far < 1.63, "{far}");
    }
}

#[test]
fn rings_of_packets_that_overtake_do_not_grow_in_steady_state() {
    let reorder = Some(Reorder { probability: 0.5, extra: Duration::from_millis(7) });
    let mut link = link(LinkConfig { reorder, ..jitter(0.0, 40.0) }, 1);
    assert_eq!(room_after(&mut link, 0..10_000), room_after(&mut link, 10_000..200_000));
}

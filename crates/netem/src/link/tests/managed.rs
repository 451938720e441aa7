//! CoDel, FQ-CoDel and policers, held against the rules of RFC 8289 and RFC 8290.

use super::*;

/// Times, numbers and outcomes of packets.
type Fates = Vec<(Instant, usize, EnqueueOutcome)>;

fn us(us: u64) -> Instant {
    Instant::from_nanos(us * 1000)
}

/// A link of 1000 bytes a millisecond with this queue.
fn queued(discipline: Discipline, limit: QueueLimit) -> Link<Packet> {
    let queue = Queue { discipline, limit, in_service: false };
    link(megabyte_a_second(LinkConfig { queue, ..LinkConfig::default() }), 1)
}

/// Serves a link at each of its times until `until`.
fn serve(link: &mut Link<Packet>, until: Instant, fates: &mut Fates) {
    while let Some(at) = link.poll_timeout().filter(|&at| at <= until) {
        link.serve(at, |packet, fate| fates.push((at, packet.id, fate)));
        while link.poll(at).is_some() {}
    }
}

/// Sends packets of these numbers and lengths, each at its time in microseconds, and returns their outcomes.
fn offer(link: &mut Link<Packet>, packets: impl IntoIterator<Item = (u64, usize, usize)>) -> Fates {
    let mut fates = Fates::new();
    for (at, id, len) in packets {
        let now = us(at);
        serve(link, now, &mut fates);
        match link.enqueue(now, packet(id), len) {
            EnqueueOutcome::Waits => link.serve(now, |packet, fate| fates.push((now, packet.id, fate))),
            fate => fates.push((now, id, fate)),
        }
    }
    fates
}

/// Numbers of the packets with this fate.
fn of(fates: &Fates, dropped: Option<EnqueueOutcome>) -> Vec<usize> {
    let is = |fate: &EnqueueOutcome| match dropped {
        Some(outcome) => *fate == outcome,
        None => matches!(fate, EnqueueOutcome::Taken { .. }),
    };
    fates.iter().filter(|(_, _, fate)| is(fate)).map(|&(_, id, _)| id).collect()
}

fn drops(fates: &Fates) -> Vec<f64> {
    let early = fates.iter().filter(|(_, _, fate)| *fate == EnqueueOutcome::Managed);
    early.map(|&(at, ..)| at.as_secs_f64() * 1e3).collect()
}

/// Twice as many packets as the link carries, from and to these milliseconds.
fn overload(from: u64, to: u64) -> impl Iterator<Item = (u64, usize, usize)> {
    (from * 2..to * 2).map(|n| (n * 500, n as usize, 1000))
}

/// RFC 8289, section 3.3: an interval above the target, then drops an interval over the root of their number apart.
#[test]
fn codel_drops_by_the_control_law() {
    let mut link = queued(Discipline::Codel(Codel::default()), QueueLimit::Unlimited);
    let fates = offer(&mut link, overload(0, 1500));
    let drops = drops(&fates);
    // A packet that comes after n ms waits about n ms: those above the target leave after 10 ms.
    assert!((110.0..112.0).contains(&drops[0]), "{}", drops[0]);
    assert!(drops.len() > 30, "{}", drops.len());
    let mut due = drops[0];
    for (n, drop) in (1..).zip(&drops[1..]) {
        due += 100.0 / f64::from(n).sqrt();
        // The next packet leaves within the time of one, or of two if the drop left the transmitter no time.
        assert!((due..due + 1.001).contains(drop), "drop {n} at {drop}, due at {due}");
    }
}

/// Section 4.4: a queue that stands again soon after begins near the rate that it had; later it begins anew.
#[test]
fn codel_remembers_its_rate_for_sixteen_intervals() {
    for (pause, remembers) in [(200, true), (3000, false)] {
        let mut link = queued(Discipline::Codel(Codel::default()), QueueLimit::Unlimited);
        let mut fates = offer(&mut link, overload(0, 1000));
        let before = fates.len();
        let first = drops(&fates).len() as f64;
        // All that waits leaves.
        serve(&mut link, ms(2000), &mut fates);
        assert_eq!(link.waiting(ms(2000)), 0);
        // While it leaves, there are further drops.
        let all = drops(&fates).len() as f64;
        fates.drain(..before);
        let again = drops(&offer(&mut link, overload(1000 + pause + 1000, 1600 + pause + 1000)));
        let step = again[1] - again[0];
        let expected = if remembers { 100.0 / (all - 1.0).sqrt() } else { 100.0 };
        assert!(
            (step - expected).abs() < 1.001,
            "{pause} ms: {step}, expected {expected} after {first}, {all}"
        );
    }
}

/// Section 4.1: waiting times below the target, and a queue of one packet, are never cut.
#[test]
fn codel_leaves_short_queues_alone() {
    // Bursts of 4 packets wait 3 ms at most.
    let mut link = queued(Discipline::Codel(Codel::default()), QueueLimit::Unlimited);
    let bursts = (0..4000).map(|n| (n / 4 * 5000, n as usize, 1000));
    assert_eq!(drops(&offer(&mut link, bursts)), []);
    // 1500 bytes take 120 ms: one packet waits for long, but it is all that waits.
    let queue = Queue { discipline: Discipline::Codel(Codel::default()), ..Queue::packets(1) };
    let slow = LinkConfig { rate: Rate::Constant(100_000), queue, ..LinkConfig::default() };
    let mut link = super::link(slow, 1);
    let fates = offer(&mut link, (0..1000).map(|n| (n * 60_000, n as usize, 1500)));
    assert_eq!(drops(&fates), []);
    assert!(!of(&fates, Some(EnqueueOutcome::QueueFull)).is_empty(), "its limit holds");
}

/// A flow that halves its rate at each drop waits about the target at most, and uses three quarters of the link or
/// more, as a sawtooth from half of its rate does.
#[test]
fn codel_keeps_the_queue_of_a_flow_that_yields_near_its_target() {
    let mut link = queued(Discipline::Codel(Codel::default()), QueueLimit::Unlimited);
    let (mut fates, mut now, mut gap, mut seen) = (Fates::new(), 0u64, 2000.0, 0);
    for id in 0..60_000 {
        fates.extend(offer(&mut link, [(now, id, 1000)]));
        let early = drops(&fates).len();
        // A window that grows by a packet every 50 ms, and is halved at each drop.
        let rate: f64 = 1e6 / gap;
        let rate = if early > seen { rate / 2.0 } else { rate + 20.0 / rate / 0.05 };
        (gap, seen) = (1e6 / rate, early);
        now += gap as u64;
    }
    let stats = link.stats_at(us(now));
    let mean_wait = stats.queue_time.as_secs_f64() / stats.served.packets as f64;
    assert!(mean_wait < 0.01, "{mean_wait}");
    assert!(stats.busy_time.as_secs_f64() > 0.75 * now as f64 / 1e6, "{stats:?}");
}

fn fair() -> Discipline {
    Discipline::FqCodel(FqCodel::default())
}

/// RFC 8290, section 4.2: a flow that begins is served before those that have a queue, once.
#[test]
fn new_flows_go_first_once() {
    let mut link = queued(fair(), QueueLimit::Packets(10_240));
    // Flow 0 fills its queue at once; flow 1 sends a packet after 2.5 ms and one while it still takes turns.
    let bulk = (0..20).map(|n| (0, n * 3, 1000));
    let mut fates = offer(&mut link, bulk.chain([(2500, 1, 1000), (2600, 4, 1000)]));
    serve(&mut link, END, &mut fates);
    let order = of(&fates, None);
    let place = |id: usize| order.iter().position(|&other| other == id).expect("it was sent");
    // Two packets had left, and one was in the transmitter.
    assert_eq!(place(1), 3);
    // A quantum of 1514 bytes lets the flow send a second packet before it has to wait.
    assert_eq!(place(4), 4);
    let mut link = queued(fair(), QueueLimit::Packets(10_240));
    let bulk = (0..20).map(|n| (0, n * 3, 1000));
    let later = [(2500, 1, 1000), (2600, 4, 1000), (2700, 7, 1000)];
    let mut fates = offer(&mut link, bulk.chain(later));
    serve(&mut link, END, &mut fates);
    let order = of(&fates, None);
    // Its quantum is used up: the third packet waits for a turn of the other flow.
    assert!(order.iter().position(|&id| id == 7) > Some(5), "{order:?}");
}

/// Section 4.1: flows get equal bytes, whatever the length of their packets.
#[test]
fn turns_are_equal_in_bytes() {
    let mut link = queued(fair(), QueueLimit::Unlimited);
    let mut sizes = std::collections::BTreeMap::new();
    let mut packets = Vec::new();
    for n in 0..300 {
        for (flow, len) in [(0, 1500), (1, 300), (2, 1000)] {
            let copies = 1500 / len;
            for copy in 0..copies.max(1) {
                let id = (n * 5 + copy) * 3 + flow;
                sizes.insert(id, len);
                packets.push((0, id, len));
            }
        }
    }
    let mut fates = offer(&mut link, packets);
    // All three have a backlog for 400 ms, and CoDel has not begun to drop by 100 ms.
    serve(&mut link, ms(100), &mut fates);
    let mut bytes = [0; 3];
    for id in of(&fates, None) {
        bytes[id % 3] += sizes[&id];
    }
    let (least, most) = (bytes.iter().min().unwrap(), bytes.iter().max().unwrap());
    assert!(most - least <= 2 * 1514, "{bytes:?}");
}

/// Section 4.1.1: a full queue drops half of the flow with most bytes, from its head, 64 packets at most.
#[test]
fn a_full_queue_drops_from_the_fattest_flow() {
    let mut link = queued(fair(), QueueLimit::Packets(10));
    // One packet is in the transmitter, 8 of flow 0 and 2 of flow 1 wait; then comes one more of flow 1.
    let packets = (0..9).map(|n| (0, n * 3, 1000)).chain([(100, 1, 1000), (200, 4, 1000)]);
    let fates = offer(&mut link, packets.chain([(300, 7, 1000)]));
    assert_eq!(of(&fates, Some(EnqueueOutcome::QueueFull)), [3, 6, 9, 12]);
    assert_eq!(link.waiting(us(300)), 7);
    let mut link = queued(fair(), QueueLimit::Packets(200));
    let fates = offer(&mut link, (0..202).map(|n| (0, n * 3, 1000)));
    assert_eq!(of(&fates, Some(EnqueueOutcome::QueueFull)).len(), 64);
}

/// Flows that share a link with an unresponsive one have a short queue of their own: CoDel acts on each alone.
#[test]
fn a_flood_does_not_delay_others() {
    let mut link = queued(fair(), QueueLimit::Packets(1000));
    let flood = (0..20_000).map(|n| (n * 500, n as usize * 3, 1000));
    let sparse = (0..500).map(|n| (n * 20_000 + 7, n as usize * 3 + 1, 200));
    let mut packets: Vec<_> = flood.chain(sparse).collect();
    packets.sort_unstable();
    let times: std::collections::BTreeMap<_, _> = packets.iter().map(|&(us, id, _)| (id, us)).collect();
    let fates = offer(&mut link, packets);
    let taken = fates.iter().filter(|(_, id, _)| id % 3 == 1);
    for (at, id, fate) in taken {
        assert!(matches!(fate, EnqueueOutcome::Taken { .. }), "{id}: {fate:?}");
        // The packet in the transmitter, and a quantum of the other flow.
        assert!(*at - us(times[id]) <= Duration::from_millis(3), "{id}");
    }
    assert!(drops(&fates).len() > 100);
}

/// Over any time a policer passes its burst and its rate, and no byte more.
#[test]
fn a_policer_passes_its_rate_and_its_burst() {
    let policer = Some(Policer { rate: 8_000_000, burst: 3000 });
    let mut link = link(LinkConfig { policer, ..LinkConfig::default() }, 1);
    let mut passes = |at: u64, len| {
        let outcome = link.enqueue(us(at), packet(0), len);
        assert!(matches!(outcome, EnqueueOutcome::Taken { .. } | EnqueueOutcome::Policed));
        outcome != EnqueueOutcome::Policed
    };
    assert_eq!([passes(0, 1500), passes(0, 1500), passes(0, 1)], [true, true, false]);
    // A byte a microsecond.
    assert_eq!([passes(1499, 1500), passes(1500, 1500), passes(1500, 1)], [false, true, false]);
    assert_eq!([passes(9000, 3001), passes(9000, 3000)], [false, true]);
    let passed = (0..100_000u64).filter(|n| passes(9000 + n * 300, 1000)).count() as u64;
    // 30 s at a byte a microsecond, nothing left of the burst.
    assert!(passed == 29_999_700 / 1000 || passed == 29_999_700 / 1000 - 1, "{passed}");
    assert_eq!(link.stats_at(END).dropped_queue.packets, 100_000 - passed + 4);
}

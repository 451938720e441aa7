//! Properties of all radios: every packet ends once, none arrives twice, runs repeat, and a run allocates
//! nothing after its start.

use std::collections::{BTreeSet, VecDeque};

use allocation_counter::measure;
use proptest::prelude::*;
use strandcast_radio::{
    Destination, DropCause, Interference, Position, Priority, Profile, RadioConfig, RadioEvent, StationId,
};
use strandcast_testing::radio::{Net, circle, to};

/// A packet: time, sender, receiver (`None` for all), and length.
type Offer = (u64, u32, Option<u32>, u32);

fn offers(stations: u32) -> impl Strategy<Value = Vec<Offer>> {
    let one = (0u64..400, 0..stations, prop::option::weighted(0.8, 0..stations), 20u32..1500);
    prop::collection::vec(one, 1..150)
}

#[derive(Clone, Debug)]
struct Case {
    places: Vec<(f64, f64)>,
    offers: Vec<Offer>,
    config: RadioConfig,
    seed: u64,
}

fn config() -> impl Strategy<Value = RadioConfig> {
    let profiles = prop::sample::select(vec![Profile::Ns2, Profile::Standard, Profile::Ns3]);
    let changes = (any::<bool>(), any::<bool>(), any::<bool>(), 0u32..1500, 1usize..8, 0.0f64..8.0);
    (profiles, changes).prop_map(|(profile, (summed, moves, short, threshold, queue, shadowing))| {
        let mut config = RadioConfig::of(profile);
        if summed {
            config.medium.interference = Interference::Summed;
        }
        config.medium.shadowing = shadowing;
        config.medium.sense_range = if short { 250.0 } else { 550.0 };
        config.dcf.rts_threshold = threshold;
        config.dcf.queue = queue;
        if moves {
            config.mobility.speed_max = 500.0;
        }
        config
    })
}

fn case() -> impl Strategy<Value = Case> {
    (2u32..10).prop_flat_map(|n| {
        let places = prop::collection::vec((0.0f64..800.0, 0.0f64..800.0), n as usize);
        (places, offers(n), config(), any::<u64>()).prop_map(|(places, offers, config, seed)| Case {
            places,
            offers,
            config,
            seed,
        })
    })
}

/// Sends all packets at their times, and then runs for a while.
fn run(case: &Case) -> (Net, Vec<(Offer, u64)>) {
    let mut net = Net::new(&case.config, &case.places, case.seed);
    let mut offers = case.offers.clone();
    offers.sort_unstable();
    let mut handed = Vec::new();
    for (number, &offer) in offers.iter().enumerate() {
        let (at, from, station, bytes) = offer;
        let due = strandcast_proto::time::Instant::from_millis(at);
        while net.step(due) {}
        net.now = net.now.max(due);
        if station != Some(from) {
            net.send(from, station.map_or(Destination::All, to), bytes);
            handed.push((offer, number as u64));
        }
    }
    net.run(0.2);
    (net, handed)
}

proptest! {
    #[test]
    fn every_packet_ends_once_and_arrives_at_most_once(case in case()) {
        let (net, handed) = run(&case);
        let n = case.places.len();
        let mut queues: Vec<VecDeque<(u64, Option<u32>)>> = vec![VecDeque::new(); n];
        let mut received = BTreeSet::new();
        let mut next = handed.iter().enumerate().map(|(i, (offer, _))| (i as u64 + 1, *offer)).peekable();
        // Packets in the order in which they were sent; an event of the same instant may precede or follow.
        for (at, event) in &net.log {
            while let Some((id, offer)) = next.next_if(|(_, offer)| offer.0 * 1_000_000 <= at.as_nanos()) {
                queues[offer.1 as usize].push_back((id, offer.2));
            }
            match event {
                RadioEvent::Received(reception) => {
                    prop_assert!(received.insert((reception.at, reception.packet)), "received twice");
                    prop_assert_ne!(reception.at, reception.from);
                }
                RadioEvent::Sent { from, to } => {
                    let front = queues[from.0 as usize].pop_front();
                    let (id, station) = front.expect("a packet of this station");
                    prop_assert_eq!(*to, station.map_or(Destination::All, |s| Destination::Station(StationId(s))));
                    if let Some(station) = station {
                        prop_assert!(received.contains(&(StationId(station), id)), "acknowledged, not received");
                    }
                }
                RadioEvent::Failed { from, to, packet } => {
                    prop_assert_eq!(queues[from.0 as usize].pop_front(), Some((*packet, Some(to.0))));
                }
                RadioEvent::Dropped { from, packet, cause } => {
                    prop_assert_eq!(*cause, DropCause::QueueFull);
                    let queue = &mut queues[from.0 as usize];
                    let place = queue.iter().position(|(id, _)| id == packet);
                    prop_assert!(place.is_some(), "dropped, but not there");
                    queue.remove(place.unwrap_or_default());
                }
            }
        }
        for (id, offer) in next {
            queues[offer.1 as usize].push_back((id, offer.2));
        }
        for (station, queue) in queues.iter().enumerate() {
            let held = case.config.dcf.queue - net.radio.room(StationId(station as u32));
            prop_assert_eq!(queue.len(), held, "station {}", station);
        }
    }

    #[test]
    fn runs_repeat(case in case()) {
        let (one, other) = (run(&case).0, run(&case).0);
        prop_assert_eq!(format!("{:?}", one.log), format!("{:?}", other.log));
    }

    /// Idle, busy and transmitting time add up to the elapsed time.
    #[test]
    fn time_adds_up(case in case()) {
        let (net, _) = run(&case);
        for station in 0..case.places.len() as u32 {
            let counters = net.radio.counters(net.now, StationId(station));
            let sum = counters.idle_time + counters.busy_time + counters.transmit_time;
            // A frame still on the air has been counted completely.
            let passed = net.now.as_nanos() as i128;
            prop_assert!((sum.as_nanos() as i128 - passed).abs() < 20_000_000);
        }
    }
}

#[test]
fn nothing_is_allocated_once_all_stations_send() {
    for profile in [Profile::Ns2, Profile::Ns3] {
        let mut net = Net::new(&RadioConfig::of(profile), &circle(20, 200.0), 1);
        net.keep_log = false;
        for station in 0..20 {
            let other = (station + 7) % 20;
            net.saturate(station, if station == 0 { Destination::All } else { to(other) }, 1000);
        }
        net.run(20.0);
        let counted = measure(|| net.run(10.0));
        assert_eq!(counted.count_total, 0, "{profile}: {counted:?}");
    }
}

#[test]
fn urgent_packets_go_first_and_push_out_the_last() {
    let mut config = RadioConfig::default();
    config.dcf.queue = 4;
    let mut net = Net::new(&config, &[(0.0, 0.0), (200.0, 0.0)], 1);
    for id in 1..=6u64 {
        let priority = if id > 4 { Priority::Urgent } else { Priority::Normal };
        net.radio.send(net.now, StationId(0), to(1), (id, 100, priority), &mut net.out);
    }
    assert_eq!(net.radio.room(StationId(0)), 0);
    net.take_alarms();
    net.run(0.1);
    let (mut arrived, mut dropped) = (Vec::new(), Vec::new());
    for (_, event) in &net.log {
        match event {
            RadioEvent::Received(reception) => arrived.push(reception.packet),
            RadioEvent::Dropped { packet, cause, .. } => dropped.push((*packet, *cause)),
            _ => {}
        }
    }
    // 1 is being sent; 5 pushes out 4, 6 pushes out 3.
    assert_eq!(arrived, [1, 6, 5, 2]);
    assert_eq!(dropped, [(4, DropCause::PushedOut), (3, DropCause::PushedOut)]);
}

#[test]
fn packets_of_high_priority_go_before_normal_ones_after_urgent_ones_and_in_order() {
    let mut config = RadioConfig::default();
    config.dcf.queue = 5;
    let mut net = Net::new(&config, &[(0.0, 0.0), (200.0, 0.0)], 1);
    for id in 1..=11u64 {
        let priority = match id {
            6 | 7 | 10 | 11 => Priority::High,
            8 => Priority::Urgent,
            _ => Priority::Normal,
        };
        net.radio.send(net.now, StationId(0), to(1), (id, 100, priority), &mut net.out);
    }
    net.take_alarms();
    net.run(0.1);
    let (mut arrived, mut dropped) = (Vec::new(), Vec::new());
    for (_, event) in &net.log {
        match event {
            RadioEvent::Received(reception) => arrived.push(reception.packet),
            RadioEvent::Dropped { packet, cause, .. } => dropped.push((*packet, *cause)),
            _ => {}
        }
    }
    // 1 is being sent, and 2 to 5 wait. 6 pushes out 5, 7 pushes out 4, and 8 pushes out 3; 9 finds no room. 10 pushes
    // out 2, the last normal packet, and 11 finds no room.
    assert_eq!(arrived, [1, 8, 6, 7, 10]);
    let (out, full) = (DropCause::PushedOut, DropCause::QueueFull);
    assert_eq!(dropped, [(5, out), (4, out), (3, out), (9, full), (2, out), (11, full)]);
}

#[test]
fn packets_that_wait_for_a_station_can_be_withdrawn_after_a_failure() {
    let mut net = Net::new(&RadioConfig::default(), &[(0.0, 0.0), (300.0, 0.0), (0.0, 200.0)], 1);
    for id in 1..=4u64 {
        let station = if id == 3 { 2 } else { 1 };
        net.radio.send(net.now, StationId(0), to(station), (id, 100, Priority::Normal), &mut net.out);
    }
    net.take_alarms();
    while net.log.is_empty() {
        assert!(net.step(net.now + core::time::Duration::from_secs(1)));
    }
    assert!(matches!(net.log[0].1, RadioEvent::Failed { packet: 1, to: StationId(1), .. }));
    let taken: Vec<u64> = core::iter::from_fn(|| net.radio.take_queued(StationId(0), StationId(1))).collect();
    assert_eq!(taken, [2, 4], "none of them is in service yet");
    net.run(0.1);
    assert_eq!(net.received, [0, 0, 1]);
    assert_eq!(net.radio.room(StationId(0)), 50);
}

#[test]
fn positions_are_given_back() {
    let net = Net::new(&RadioConfig::default(), &[(1.0, 2.0)], 1);
    assert_eq!(net.radio.position(StationId(0)), Position { x: 1.0, y: 2.0 });
}

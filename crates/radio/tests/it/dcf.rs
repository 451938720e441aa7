//! Single behaviours of DCF. Times are derived from IEEE 802.11-2007 and from the behaviour of ns-2.35: slot
//! 20 µs, SIFS 10 µs, DIFS 50 µs, EIFS 364 µs; at 1 Mbit/s with a long preamble an RTS takes 352 µs, a CTS or
//! an ACK 304 µs; 1040 bytes with a header of 34 take 192 + 8592/11 = 973.091 µs at 11 Mbit/s.

use strandcast_proto::time::Instant;
use strandcast_radio::{
    DcfConfig, Destination, FrameKind, FrameOutcome, FrameRecord, Interference, MediumConfig, Profile,
    RadioConfig, RadioEvent, StationId,
};
use strandcast_testing::radio::{Net, line, to};

const RTS: u64 = 352_000;
const CTS: u64 = 304_000;
const ACK: u64 = 304_000;
const DATA: u64 = 973_091;
const SIFS: u64 = 10_000;
const DIFS: u64 = 50_000;
const EIFS: u64 = 364_000;
const SLOT: u64 = 20_000;

/// Stations that sense only as far as they decode: 250 m.
fn short_sense(profile: Profile) -> RadioConfig {
    let mut config = RadioConfig::of(profile);
    config.medium = MediumConfig { sense_range: 250.0, ..config.medium };
    config
}

fn start(frame: &FrameRecord) -> u64 {
    frame.start.as_nanos()
}

fn end(frame: &FrameRecord) -> u64 {
    frame.end.as_nanos()
}

fn of(net: &Net, from: u32, kind: FrameKind) -> Vec<FrameRecord> {
    net.frames().iter().filter(|f| f.from == StationId(from) && f.kind == kind).copied().collect()
}

/// Number of slots in `time`.
fn slots(time: u64) -> u64 {
    assert_eq!(time % SLOT, 0, "{time} ns are not whole slots");
    time / SLOT
}

fn count(net: &Net, what: impl Fn(&RadioEvent<u64>) -> bool) -> usize {
    net.log.iter().filter(|(_, event)| what(event)).count()
}

#[test]
fn an_exchange_is_rts_cts_data_ack_a_sifs_apart() {
    let mut net = Net::new(&RadioConfig::default(), &line(2, 200.0), 1).record();
    net.unicast(0, 1, 1040);
    net.run(0.01);
    let frames = net.frames();
    let kinds: Vec<FrameKind> = frames.iter().map(|f| f.kind).collect();
    assert_eq!(kinds, [FrameKind::Rts, FrameKind::Cts, FrameKind::Data, FrameKind::Ack]);
    let lengths: Vec<u64> = frames.iter().map(|f| end(f) - start(f)).collect();
    assert_eq!(lengths, [RTS, CTS, DATA, ACK]);
    assert!(frames.windows(2).all(|w| start(&w[1]) == end(&w[0]) + SIFS));
    assert!(frames.iter().all(|f| f.outcome == FrameOutcome::Received));
    // ns-2 backs off before each access, from 0 to cw - 1 = 30 slots.
    assert!(slots(start(&frames[0]) - DIFS) <= 30);
    let sent = net.log.iter().find(|(_, e)| matches!(e, RadioEvent::Sent { .. })).expect("acknowledged");
    assert_eq!(sent.0.as_nanos(), end(&frames[3]));
    assert_eq!(net.received, [0, 1]);
}

#[test]
fn a_broadcast_is_one_frame_at_the_basic_rate() {
    let mut net = Net::new(&RadioConfig::default(), &line(4, 200.0), 1).record();
    net.send(1, Destination::All, 100);
    net.run(0.1);
    assert_eq!(net.frames().len(), 1);
    assert_eq!(end(&net.frames()[0]) - start(&net.frames()[0]), 192_000 + 134 * 8_000);
    assert_eq!(net.received, [1, 0, 1, 0], "stations 0 and 2 are 200 m away, station 3 is 400 m");
}

/// Unanswered attempts of a packet: time from the timeout to each next attempt, in slots.
fn retries(config: &RadioConfig, kind: FrameKind, frame: u64, timeout: u64) -> Vec<u64> {
    let mut net = Net::new(config, &line(2, 300.0), 3).record();
    net.unicast(0, 1, 1040);
    net.run(1.0);
    assert_eq!(count(&net, |e| matches!(e, RadioEvent::Failed { packet: 1, .. })), 1);
    let frames = of(&net, 0, kind);
    assert_eq!(frames.len(), net.frames().len());
    frames.windows(2).map(|w| slots(start(&w[1]) - start(&w[0]) - frame - timeout)).collect()
}

#[test]
fn seven_rts_are_sent_in_vain_with_windows_that_double() {
    // ns-2: SIFS, the CTS and 4 µs, then DIFS and a backoff from 0 to cw - 1.
    let gaps = retries(&RadioConfig::default(), FrameKind::Rts, RTS, SIFS + CTS + 4_000 + DIFS);
    assert_eq!(gaps.len(), 6);
    for (gap, cw) in gaps.iter().zip([63, 127, 255, 511, 1023, 1023]) {
        assert!(*gap < cw, "{gaps:?}");
    }
    assert!(gaps.iter().any(|gap| *gap > 63), "windows grow: {gaps:?}");
}

#[test]
fn short_data_are_sent_seven_times() {
    let dcf = DcfConfig { rts_threshold: 2000, ..DcfConfig::default() };
    let config = RadioConfig { dcf, ..RadioConfig::default() };
    assert_eq!(retries(&config, FrameKind::Data, DATA, SIFS + ACK + 4_000 + DIFS).len(), 6);
}

#[test]
fn the_standard_counts_slots_while_it_waits_and_ns3_after_a_difs() {
    // SIFS, a slot and 192 µs until a station would detect the start of a CTS. The medium was idle during
    // that time: the first slot begins a whole number of slots after DIFS, at 230 µs.
    let rts = RadioConfig::of(Profile::Standard);
    assert_eq!(retries(&rts, FrameKind::Rts, RTS, 230_000).len(), 6);
    let ns3 = RadioConfig::of(Profile::Ns3);
    assert_eq!(retries(&ns3, FrameKind::Rts, RTS, 222_000 + DIFS).len(), 6);
}

/// Attempts of a station between the ends of its packets: for each failure the RTS and data sent since the
/// counter was zero. ns-2 keeps both counters per station: a CTS clears the short one, an ACK or the limit
/// the long one.
#[test]
fn ns2_gives_up_after_seven_rts_or_four_data_frames() {
    // Station 1 senses station 2 without decoding its CTS; station 0 does not sense it, and it disturbs the
    // data of 0 at 1.
    let mut net = Net::new(&RadioConfig::default(), &[(0.0, 0.0), (240.0, 0.0), (580.0, 0.0)], 5).record();
    net.saturate(0, to(1), 1040);
    net.saturate(2, Destination::All, 700);
    net.run(60.0);
    let (mut rts, mut data, mut by_rts, mut by_data) = (0, 0, 0, 0);
    let mut frames = net.frames().iter().filter(|f| f.from == StationId(0)).peekable();
    let mut last = FrameKind::Ack;
    for (at, event) in &net.log {
        while let Some(frame) = frames.next_if(|f| f.end <= *at) {
            last = frame.kind;
            match frame.kind {
                FrameKind::Rts => rts += 1,
                _ => (rts, data) = (0, data + 1),
            }
        }
        match event {
            RadioEvent::Sent { from: StationId(0), .. } => data = 0,
            RadioEvent::Failed { from: StationId(0), .. } if last == FrameKind::Rts => {
                assert_eq!(rts, 7, "RTS in a row without CTS");
                (rts, by_rts) = (0, by_rts + 1);
            }
            RadioEvent::Failed { from: StationId(0), .. } => {
                assert_eq!(data, 4, "data frames in a row without ACK");
                (data, by_data) = (0, by_data + 1);
            }
            _ => {}
        }
    }
    assert!(by_rts > 20 && by_data > 20, "{by_rts} by RTS, {by_data} by data");
}

#[test]
fn who_overhears_an_rts_waits_for_the_whole_exchange() {
    let mut net =
        Net::new(&short_sense(Profile::Ns2), &[(-200.0, 0.0), (0.0, 0.0), (200.0, 0.0)], 1).record();
    net.unicast(1, 2, 1040);
    // Station 0 receives the RTS and not the CTS. Its packet arrives during the CTS.
    net.run(0.001_1);
    let rts = of(&net, 1, FrameKind::Rts)[0];
    assert!(end(&rts) < net.now.as_nanos() && net.now.as_nanos() < end(&rts) + SIFS + CTS);
    net.unicast(0, 1, 1040);
    net.run(0.01);
    let ack = of(&net, 2, FrameKind::Ack)[0];
    let own = of(&net, 0, FrameKind::Rts)[0];
    // The data renewed the NAV up to the end of the ACK.
    assert!(slots(start(&own) - end(&ack) - DIFS) <= 30);
}

#[test]
fn a_nav_set_by_an_rts_that_nothing_follows_ends_early_in_the_standard_and_not_in_ns2() {
    let first_of = |profile| {
        // Station 2 senses nothing of station 1; station 0 receives its RTS.
        let places = [(-200.0, 0.0), (0.0, 0.0), (300.0, 0.0)];
        let mut net = Net::new(&short_sense(profile), &places, 1).record();
        net.unicast(1, 2, 1040);
        while of(&net, 1, FrameKind::Rts).is_empty() {
            assert!(net.step(Instant::from_millis(10)));
        }
        net.send(0, Destination::All, 100);
        net.run(0.01);
        let rts = of(&net, 1, FrameKind::Rts);
        let own = of(&net, 0, FrameKind::Broadcast)[0];
        start(&own) - rts.iter().map(end).filter(|e| *e < start(&own)).max().expect("an RTS")
    };
    // ns-2: 3 SIFS, CTS, data, ACK as whole microseconds, counted from the second RTS if there is one.
    let ns2 = first_of(Profile::Ns2);
    assert!(slots(ns2 - 1_611_000 - DIFS) <= 30, "{ns2}");
    // 2 SIFS + CTS + 192 µs + 2 slots (§9.2.5.4).
    let standard = first_of(Profile::Standard);
    assert!(slots(standard - 556_000 - DIFS) <= 31, "{standard}");
}

/// Time between an undecodable broadcast and the next one of station 1, 400 m away.
fn after_weak_frame(profile: Profile) -> u64 {
    let mut net = Net::new(&RadioConfig::of(profile), &line(2, 400.0), 1).record();
    net.send(0, Destination::All, 1000);
    net.run(0.002);
    net.send(1, Destination::All, 100);
    net.run(0.1);
    let (first, second) = (of(&net, 0, FrameKind::Broadcast)[0], of(&net, 1, FrameKind::Broadcast)[0]);
    assert_eq!(net.received, [0, 0]);
    start(&second) - end(&first)
}

#[test]
fn a_frame_with_errors_holds_others_up_for_eifs() {
    // ns-2 sets the NAV to EIFS and waits DIFS after it; the standard waits EIFS (§9.2.10).
    assert!(slots(after_weak_frame(Profile::Ns2) - EIFS - DIFS) <= 30);
    assert!(slots(after_weak_frame(Profile::Standard) - EIFS) <= 31);
}

#[test]
fn eifs_ends_with_a_frame_of_the_stations_own() {
    // Station 1 senses a frame that it cannot decode, waits EIFS and sends two frames. DIFS precedes the
    // second: EIFS counts from the reception with errors (§9.2.3.5). EIFS is DIFS and 314 µs, which is not a
    // whole number of slots.
    for profile in [Profile::Standard, Profile::Ns3] {
        let config = RadioConfig { medium: MediumConfig::default(), ..RadioConfig::of(profile) };
        let mut net = Net::new(&config, &line(2, 400.0), 1).record();
        net.send(0, Destination::All, 1000);
        net.run(0.002);
        net.send(1, Destination::All, 100);
        net.send(1, Destination::All, 100);
        net.run(0.1);
        let (weak, own) = (of(&net, 0, FrameKind::Broadcast)[0], of(&net, 1, FrameKind::Broadcast));
        assert!(slots(start(&own[0]) - end(&weak) - EIFS) <= 31);
        assert!(slots(start(&own[1]) - end(&own[0]) - DIFS) <= 31);
    }
}

/// Broadcasts of 1000 bytes from stations 0 and 2 that do not sense each other, the first 2 ms before the
/// second. Returns the packets that station 1 receives.
fn overlap(near: f64, far: f64, first: u32) -> (Vec<u64>, Net) {
    let places = [(-near, 0.0), (0.0, 0.0), (far, 0.0)];
    let mut net = Net::new(&short_sense(Profile::Ns2), &places, 1).record();
    net.send(first, Destination::All, 1000);
    net.run(0.002);
    net.send(2 - first, Destination::All, 1000);
    net.run(0.003);
    net.send(1, Destination::All, 100);
    net.run(0.1);
    let arrived = net.log.iter().filter_map(|(_, event)| match event {
        RadioEvent::Received(reception) if reception.at == StationId(1) => Some(reception.packet),
        _ => None,
    });
    (arrived.collect(), net)
}

#[test]
fn a_frame_being_received_survives_a_later_one_that_is_ten_decibels_weaker() {
    // Beyond 86 m power falls with d^4: 200 m against 105 m is 11.2 dB, against 120 m 8.9 dB.
    assert_eq!(overlap(105.0, 200.0, 0).0, [1], "the first is stronger by 11.2 dB");
    assert_eq!(overlap(120.0, 200.0, 0).0, [0u64; 0], "by 8.9 dB");
    assert_eq!(overlap(105.0, 200.0, 2).0, [0u64; 0], "the later one is stronger: both are lost");
}

/// A frame of 1000 bytes to station 1 in profile `ns3`, from a station `near` m away, while a broadcast of one `other` m
/// away is on the air, which begins 0.3 ms later or, with `late`, earlier.
fn overlapped_in_ns3(to: Destination, near: f64, other: f64, late: bool) -> Net {
    let mut config = RadioConfig::of(Profile::Ns3);
    config.medium.sense_range = 270.0;
    config.dcf.rts_threshold = 10_000;
    let mut net = Net::new(&config, &[(-near, 0.0), (0.0, 0.0), (other, 0.0)], 1).record();
    let sends = [(0, to), (2, Destination::All)];
    for (station, to) in if late { [sends[1], sends[0]] } else { sends } {
        net.send(station, to, 1000);
        net.run(0.000_3);
    }
    net.run(0.02);
    net
}

#[test]
fn in_ns3_a_frame_survives_what_its_rate_survives_and_begins_above_4_db() {
    // Beyond 86 m power falls with d^4.
    let broadcast = |near, other, late| {
        let net = overlapped_in_ns3(Destination::All, near, other, late);
        count(&net, |e| matches!(e, RadioEvent::Received(r) if r.at.0 == 1 && r.from.0 == 0))
    };
    assert_eq!(broadcast(200.0, 160.0, false), 1, "at 1 Mbit/s, 3.9 dB below the later frame");
    assert_eq!(broadcast(200.0, 120.0, false), 0, "8.9 dB below it");
    let data = |other| of(&overlapped_in_ns3(to(1), 140.0, other, false), 0, FrameKind::Data)[0].outcome;
    assert_eq!(data(213.0), FrameOutcome::Received, "at 11 Mbit/s, 7.3 dB above it");
    assert_eq!(data(182.0), FrameOutcome::Collided, "4.6 dB above it");
    assert_eq!(broadcast(200.0, 260.0, true), 1, "4.6 dB above the energy of a frame that can't be decoded");
    assert_eq!(broadcast(240.0, 260.0, true), 0, "1.4 dB above it");
}

#[test]
fn interference_adds_up_where_it_is_summed() {
    // Each of the two stations at 200 m is 11.2 dB weaker than the one at 105 m, both together 8.2 dB. The
    // three do not sense each other separately; a window of 1 makes the two begin together.
    let arrived = |interference, others: u32| {
        let mut config = short_sense(Profile::Ns2);
        config.medium.interference = interference;
        config.dcf.cw_min = 1;
        let places = [(-105.0, 0.0), (0.0, 0.0), (141.4, 141.4), (141.4, -141.4)];
        let mut net = Net::new(&config, &places, 1);
        net.send(0, Destination::All, 1000);
        net.run(0.002);
        for other in 0..others {
            net.send(2 + other, Destination::All, 1000);
        }
        net.run(0.1);
        let at_1 = |e: &RadioEvent<u64>| matches!(e, RadioEvent::Received(r) if r.at.0 == 1 && r.from.0 == 0);
        count(&net, at_1)
    };
    assert_eq!(arrived(Interference::Pairwise, 2), 1);
    assert_eq!(arrived(Interference::Summed, 1), 1);
    assert_eq!(arrived(Interference::Summed, 2), 0);
}

#[test]
fn after_capture_ns2_waits_for_the_other_frame_and_eifs() {
    let (_, net) = overlap(105.0, 200.0, 0);
    let other = of(&net, 2, FrameKind::Broadcast)[0];
    let own = of(&net, 1, FrameKind::Broadcast)[0];
    assert!(slots(start(&own) - end(&other) - EIFS - DIFS) <= 30);
}

#[test]
fn of_frames_that_begin_together_the_stronger_is_captured() {
    // A window of 1 makes ns-2 draw no slots: both begin after DIFS.
    for strong in [0, 2] {
        let mut config = short_sense(Profile::Ns2);
        config.dcf.cw_min = 1;
        let x = if strong == 0 { (-105.0, 200.0) } else { (-200.0, 105.0) };
        let mut net = Net::new(&config, &[(x.0, 0.0), (0.0, 0.0), (x.1, 0.0)], 1).record();
        net.send(0, Destination::All, 1000);
        net.send(2, Destination::All, 1000);
        net.run(0.1);
        assert_eq!(start(&net.frames()[0]), start(&net.frames()[1]));
        assert_eq!(net.received, [0, 1, 0]);
    }
}

#[test]
fn hidden_stations_collide_and_rts_keeps_data_apart() {
    // Data of 973 µs that begin at most 800 µs apart overlap for all draws.
    let no_rts = |config: &mut RadioConfig| config.dcf.rts_threshold = 10_000;
    let mut config = short_sense(Profile::Ns2);
    no_rts(&mut config);
    let mut net = Net::new(&config, &line(3, 200.0), 1).record();
    net.unicast(0, 1, 1040);
    net.run(0.000_1);
    net.unicast(2, 1, 1040);
    net.run(0.003);
    assert_eq!(of(&net, 0, FrameKind::Data)[0].outcome, FrameOutcome::Collided);
    assert_eq!(of(&net, 2, FrameKind::Data)[0].outcome, FrameOutcome::Collided);

    let lost = |config: &RadioConfig, kind| {
        let mut net = Net::new(config, &line(3, 200.0), 1).record();
        net.saturate(0, to(1), 1040);
        net.saturate(2, to(1), 1040);
        net.run(5.0);
        let all: Vec<&FrameRecord> = net.frames().iter().filter(|f| f.kind == kind).collect();
        all.iter().filter(|f| f.outcome == FrameOutcome::Collided).count() as f64 / all.len() as f64
    };
    let rts = short_sense(Profile::Ns2);
    let (data, requests, protected) =
        (lost(&config, FrameKind::Data), lost(&rts, FrameKind::Rts), lost(&rts, FrameKind::Data));
    assert!(
        data > 0.2 && requests > 0.1 && protected == 0.0,
        "{data} of the data, {requests} of the RTS, {protected}"
    );
}

#[test]
fn exposed_stations_share_the_air_though_they_need_not() {
    let run = |gap: f64| {
        // 0 ← 1   2 → 3, with `gap` metres between 1 and 2.
        let places = [(0.0, 0.0), (200.0, 0.0), (200.0 + gap, 0.0), (400.0 + gap, 0.0)];
        let mut net = Net::new(&short_sense(Profile::Ns2), &places, 1).record();
        net.saturate(1, to(0), 1040);
        net.saturate(2, to(3), 1040);
        net.run(10.0);
        let data = |from| of(&net, from, FrameKind::Data);
        let (left, right) = (data(1), data(2));
        let overlaps = |a: &FrameRecord| right.iter().any(|b| start(a) < end(b) && start(b) < end(a));
        (left.iter().filter(|a| overlaps(a)).count(), net.received[0] + net.received[3])
    };
    let ((exposed, shared), (_, apart)) = (run(200.0), run(600.0));
    assert_eq!(exposed, 0, "1 and 2 sense each other: their data never overlap");
    // One exchange takes 2323.1 µs at the mean backoff of one station.
    let one = 10e6 / 2323.1;
    assert!(
        (apart as f64 / (2.0 * one) - 1.0).abs() < 0.03,
        "{apart} packets in 10 s out of each other's range"
    );
    assert!((0.9..1.2).contains(&(shared as f64 / one)), "{shared} packets in 10 s");
}

#[test]
fn data_whose_ack_was_lost_are_delivered_once() {
    let mut config = short_sense(Profile::Ns2);
    // The first slots are not drawn: stations 0 and 1 begin together, and 1 does not receive the ACK after
    // the frame of 0.
    config.dcf = DcfConfig { cw_min: 1, rts_threshold: 10_000, ..config.dcf };
    let mut net = Net::new(&config, &line(3, 200.0), 1).record();
    net.send(0, Destination::All, 1000);
    net.unicast(1, 2, 1040);
    net.run(0.1);
    assert_eq!(of(&net, 1, FrameKind::Data).len(), 2);
    assert_eq!(of(&net, 2, FrameKind::Ack).len(), 2);
    let counters = net.radio.counters(net.now, StationId(2));
    assert_eq!((counters.received, counters.duplicates), (1, 1));
    assert_eq!(count(&net, |e| matches!(e, RadioEvent::Sent { from: StationId(1), .. })), 1);
}

#[test]
fn the_standard_sends_at_once_if_the_medium_is_idle_and_ns2_backs_off() {
    let delay = |profile, wait: f64| {
        let mut net = Net::new(&RadioConfig::of(profile), &line(2, 200.0), 1).record();
        net.run(wait);
        let now = net.now.as_nanos();
        net.send(0, Destination::All, 100);
        net.run(0.1);
        start(&net.frames()[0]) - now
    };
    assert_eq!(delay(Profile::Standard, 1.0), 0);
    assert_eq!(delay(Profile::Standard, 0.000_02), 30_000, "what is left of DIFS");
    assert!(slots(delay(Profile::Ns2, 1.0) - DIFS) <= 30);
}

#[test]
fn each_transmission_is_followed_by_a_backoff() {
    for profile in [Profile::Ns2, Profile::Standard, Profile::Ns3] {
        let mut gaps = Vec::new();
        for seed in 0..20 {
            let mut net = Net::new(&RadioConfig::of(profile), &line(2, 200.0), seed).record();
            net.send(0, Destination::All, 100);
            net.send(0, Destination::All, 100);
            net.run(0.1);
            gaps.push(slots(start(&net.frames()[1]) - end(&net.frames()[0]) - DIFS));
        }
        let most = if profile == Profile::Ns2 { 30 } else { 31 };
        assert!(gaps.iter().all(|gap| *gap <= most) && gaps.iter().any(|gap| *gap > 10), "{gaps:?}");
    }
}

#[test]
fn backoff_is_frozen_while_the_medium_is_busy() {
    // Station 0 has drawn its slots when station 1 begins. It later counts the slots that had not passed.
    let (mut whole, mut frozen) = (Vec::new(), Vec::new());
    for busy in [false, true] {
        for seed in 0..10 {
            let mut net = Net::new(&RadioConfig::default(), &line(2, 200.0), seed).record();
            net.send(0, Destination::All, 100);
            if busy {
                net.send(1, Destination::All, 100);
            }
            net.run(0.1);
            match busy {
                false => whole.push(slots(start(&of(&net, 0, FrameKind::Broadcast)[0]) - DIFS)),
                true => {
                    let frames = net.frames();
                    let own = of(&net, 0, FrameKind::Broadcast)[0];
                    let other = of(&net, 1, FrameKind::Broadcast)[0];
                    let first = start(&frames[0]) == start(&own);
                    let mine = if first { DIFS } else { end(&other) + DIFS };
                    let passed = if first { 0 } else { slots(start(&other) - DIFS) };
                    frozen.push(passed + slots(start(&own) - mine));
                }
            }
        }
    }
    assert_eq!(whole, frozen, "station 0 draws first, and the same");
}

#[test]
fn an_ack_that_waits_follows_an_exchange_in_ns2() {
    // Stations 0 and 1 send data to each other at the same instant: neither receives the other's.
    let dcf = DcfConfig { cw_min: 1, rts_threshold: 10_000, ..DcfConfig::default() };
    let config = RadioConfig { dcf, ..RadioConfig::default() };
    let mut net = Net::new(&config, &line(2, 200.0), 4).record();
    net.unicast(0, 1, 1040);
    net.unicast(1, 0, 1040);
    net.run(1.0);
    let data = of(&net, 0, FrameKind::Data);
    assert_eq!((data[0].outcome, start(&data[0])), (FrameOutcome::Deaf, DIFS));
    assert_eq!(net.received, [1, 1]);
    assert_eq!(count(&net, |e| matches!(e, RadioEvent::Sent { .. })), 2);
}

#[test]
fn idle_time_leaves_out_frames_nav_and_exchanges() {
    // 0 and 1 exchange a packet; 2 decodes 1 and senses 0; 3 senses 1 alone; 4 senses nothing.
    let places = [(0.0, 0.0), (200.0, 0.0), (400.0, 0.0), (700.0, 0.0), (1200.0, 0.0)];
    let mut net = Net::new(&RadioConfig::default(), &places, 1).record();
    net.unicast(0, 1, 1040);
    net.run(1.0);
    let not_idle = |station| {
        let idle = net.radio.idle_time(net.now, StationId(station)).as_nanos() as u64;
        1_000_000_000 - idle
    };
    let exchange = RTS + SIFS + CTS + SIFS + DATA + SIFS + ACK;
    assert_eq!(end(&net.frames()[3]) - start(&net.frames()[0]), exchange);
    assert_eq!((not_idle(0), not_idle(1)), (exchange, exchange));
    // Station 2 cannot decode the RTS and the data. EIFS after the data is SIFS, an ACK and DIFS.
    assert_eq!(not_idle(2), exchange + DIFS);
    // Station 3 senses CTS and ACK, each followed by EIFS.
    assert_eq!(not_idle(3), CTS + EIFS + ACK + EIFS);
    assert_eq!(not_idle(4), 0);
    let counters = net.radio.counters(net.now, StationId(0));
    assert_eq!((counters.rts, counters.data, counters.retries, counters.received), (1, 1, 0, 0));
    assert_eq!(counters.transmit_time.as_nanos() as u64, RTS + DATA);
    assert_eq!(counters.busy_time.as_nanos() as u64, exchange - RTS - DATA);
    let counters = net.radio.counters(net.now, StationId(1));
    assert_eq!((counters.cts, counters.acks, counters.received, counters.frames()), (1, 1, 1, 2));
}

#[test]
fn a_station_with_a_nav_leaves_an_rts_without_answer() {
    // 1 receives the CTS of 2 to 3. Its NAV is set when 0, which receives neither 2 nor 3, sends it an RTS.
    let places = [(0.0, 0.0), (200.0, 0.0), (400.0, 0.0), (600.0, 0.0)];
    for profile in [Profile::Ns2, Profile::Standard] {
        let mut net = Net::new(&short_sense(profile), &places, 1).record();
        net.unicast(3, 2, 1040);
        while of(&net, 2, FrameKind::Cts).is_empty() {
            assert!(net.step(Instant::from_millis(10)));
        }
        net.unicast(0, 1, 1040);
        net.run(0.02);
        let ack = of(&net, 2, FrameKind::Ack)[0];
        let rts = of(&net, 0, FrameKind::Rts);
        assert!(end(&rts[0]) < start(&ack), "sent while 2 received");
        // ns-2 checks its NAV only at the time of the CTS.
        let outcome = if profile == Profile::Ns2 { FrameOutcome::Received } else { FrameOutcome::Refused };
        assert_eq!(rts[0].outcome, outcome, "{profile}");
        assert_eq!((net.received[1], net.received[2]), (1, 1));
        assert!(of(&net, 1, FrameKind::Cts).iter().all(|cts| start(cts) > end(&ack)));
    }
}

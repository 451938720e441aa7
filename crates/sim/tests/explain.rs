//! What the explainer says of messages, against what the network's numbers leave no choice about.

mod support;

use core::any::Any;
use core::time::Duration;
use std::sync::Arc;

use strandcast_proto::time::Instant;
use strandcast_sim::result::meter::LossPlace;
use strandcast_sim::scenario::*;
use strandcast_sim::simulation::{
    Account, ExplainError, Explainer, MessageAccount, Outcome, RunOptions, Simulation, Transmission, Wanted,
};
use support::*;

const SECOND: Duration = Duration::from_secs(1);

fn explain(scenario: &Scenario, flow: &str, wanted: Wanted) -> Account {
    let mut simulation = Simulation::new(scenario, &Schemes, 1, None).unwrap();
    let explainer = Explainer::new(&simulation, scenario, flow, wanted).unwrap();
    let options = RunOptions { series: None, recorder: Some(Box::new(explainer)) };
    let result = simulation.run(options, &mut ()).expect("nobody breaks it off");
    assert_eq!(result.fingerprint, run(scenario, 1).fingerprint, "who is watched goes the same way");
    let recorder: Box<dyn Any> = simulation.take_recorder().unwrap();
    recorder.downcast::<Explainer>().unwrap().account()
}

fn message(scenario: &Scenario, number: u64) -> Account {
    let account = explain(scenario, "f", Wanted::Message(number));
    assert_eq!(account.messages.iter().map(|m| m.number).collect::<Vec<_>>(), [number]);
    account
}

/// Ten seconds of one flow from `a` to `b` over one link: 1 Mbit/s, 20 ms.
fn one_link(transport: Transport, app: App, change: impl FnOnce(&mut Link)) -> Scenario {
    let mut only = link("a", "b", 1e6, 0.02, 50);
    change(&mut only);
    let mut scenario = scenario(&[("only", only)], vec![("f", flow(transport, app, &[&["only"]]))]);
    (scenario.run.time, scenario.run.warmup) = (10 * SECOND, Duration::ZERO);
    scenario
}

fn cbr(bps: f64) -> App {
    App::Cbr { size: 1000, rate: Number::Constant(bps) }
}

fn lossy(rate: f64) -> impl FnOnce(&mut Link) {
    move |link| {
        link.forward.loss.insert("u".into(), Loss::Uniform { rate: Number::Constant(rate) });
    }
}

/// A packet's parts of its way add up to all of it.
fn adds_up(packet: &Transmission) {
    let (Outcome::Arrived(at) | Outcome::Duplicate(at)) = packet.outcome else { return };
    let hops = packet.hops.iter();
    let links: Duration = hops
        .map(|hop| hop.queued().unwrap() + hop.serialisation().unwrap() + hop.propagation().unwrap())
        .sum();
    assert_eq!(packet.sent + packet.host().unwrap() + links, at, "{packet:?}");
}

#[test]
fn a_datagram_alone_takes_serialisation_and_propagation() {
    let mut scenario = one_link(Transport::Udp { header: 28 }, cbr(100e3), |_| ());
    scenario.host.overhead = false;
    let account = message(&scenario, 7);
    let [packet] = &account.messages[0].transmissions[..] else { panic!("{account:?}") };
    let hop = &packet.hops[0];
    // 8000 bits at 100 kbit/s: the eighth message at 0.56 s. 1028 bytes at 1 Mbit/s: 8.224 ms.
    assert_eq!(account.messages[0].created, Instant::from_millis(560));
    assert_eq!((hop.link.as_str(), packet.len), ("only", 1028));
    assert_eq!(
        [packet.host(), hop.queued(), hop.serialisation(), hop.propagation()],
        [0, 0, 8_224_000, 20_000_000].map(|ns| Some(Duration::from_nanos(ns)))
    );
    assert_eq!(account.messages[0].delivered, Some(Instant::from_nanos(560_000_000 + 28_224_000)));
    assert_eq!(account.blockers, []);
}

#[test]
fn a_queue_grows_by_what_comes_too_fast() {
    // 1.028 times the link's rate: message n finds n · (8.224 - 8) ms of others.
    let mut scenario = one_link(Transport::Udp { header: 28 }, cbr(1e6), |link| {
        link.forward.queue.limit = QueueLimit::Packets(20);
    });
    scenario.host.overhead = false;
    let account = message(&scenario, 100);
    assert_eq!(account.messages[0].transmissions[0].queued(), Duration::from_micros(22_400));
    // 20 packets wait at most, beside the one that is sent: 21 too many have come after 21 · 8.224 / 0.224 messages.
    let full = (760..800).map(|n| message(&scenario, n)).find(|a| a.messages[0].delivered.is_none());
    let full = full.expect("one in 37 is too many");
    let [packet] = &full.messages[0].transmissions[..] else { panic!("{full:?}") };
    assert_eq!(packet.outcome, Outcome::Lost(LossPlace::Queue));
    assert_eq!((packet.hops[0].started, packet.hops[0].departed), (None, None));
}

#[test]
fn whoever_is_delivered_in_order_waits_for_the_last_of_those_before() {
    let transports = [
        ("sctp", sctp("cmt")),
        ("tcp", tcp("reno")),
        ("mptcp", Transport::Mptcp { cc: "lia".into(), tcp: rfc_tcp() }),
    ];
    for (name, transport) in transports {
        let mut waited = 0;
        let scenario = one_link(transport, cbr(400e3), lossy(0.05));
        for number in (100..160).step_by(3) {
            let account = message(&scenario, number);
            let mine = &account.messages[0];
            let (complete, delivered) = (mine.complete.unwrap(), mine.delivered.unwrap());
            let last = account.blockers.iter().map(|b| b.complete.expect("it was delivered")).max();
            assert_eq!(delivered, last.unwrap_or(complete).max(complete), "{name} {number}: {account:?}");
            assert!(
                account.blockers.iter().all(|b| b.number < number && b.losses() > 0),
                "{name} {account:?}"
            );
            assert_eq!(account.blocker_of(mine).and_then(|b| b.complete), last);
            waited += u32::from(delivered > complete);
            let packets = account.blockers.iter().chain([mine]).flat_map(|m| &m.transmissions);
            packets.for_each(adds_up);
            assert!(mine.taken >= mine.created && mine.transmissions[0].sent >= mine.taken, "{mine:?}");
        }
        assert!(waited > 0, "{name}: 5 % of loss keeps somebody waiting");
    }
}

#[test]
fn lost_copies_are_told_with_their_link() {
    let scenario = one_link(sctp("cmt"), cbr(400e3), lossy(0.2));
    let accounts = (50..80).map(|n| message(&scenario, n));
    let again = accounts.map(|a| a.messages[0].clone()).find(|m| m.losses() > 0);
    let MessageAccount { transmissions, complete, .. } = again.expect("a fifth is lost");
    let (last, lost) = transmissions.split_last().unwrap();
    assert!(lost.iter().any(|t| t.outcome == Outcome::Lost(LossPlace::Random)), "{lost:?}");
    assert!(lost.iter().all(|t| t.hops[0].arrived.is_none() || !matches!(t.outcome, Outcome::Lost(_))));
    assert!(last.again && matches!(last.outcome, Outcome::Arrived(at) if Some(at) == complete), "{last:?}");
}

#[test]
fn what_was_in_a_link_that_goes_down_is_lost_there() {
    let down = Down { from: 2 * SECOND, to: Some(3 * SECOND), mode: DownMode::Silent };
    let scenario = one_link(Transport::Udp { header: 28 }, cbr(400e3), |link| {
        link.forward.down.insert("once".into(), down);
        link.reverse.down.insert("once".into(), down);
    });
    // A message every 20 ms: number 99 is at 1.98 s and under way at 2 s, number 120 comes in the outage.
    for number in [99, 120] {
        let account = message(&scenario, number);
        assert_eq!(
            account.messages[0].transmissions[0].outcome,
            Outcome::Lost(LossPlace::Down),
            "{account:?}"
        );
        assert_eq!((account.messages[0].complete, account.messages[0].delivered), (None, None));
    }
    assert!(message(&scenario, 160).messages[0].delivered.is_some());
}

fn video(expire: bool) -> App {
    let text = "0 I 0.0 2500\n1 P 0.04 900\n2 P 0.08 1000\n3 P 0.12 3100\n";
    let file = TraceFile { path: "frames.txt".into(), text: Arc::from(text) };
    App::Video(Video {
        frames: Frames::Trace { file, repeat: true },
        size: 1000,
        deadline: Duration::from_millis(300),
        expire,
        prebuffer: SECOND,
    })
}

#[test]
fn a_frame_is_its_messages() {
    let scenario = one_link(sctp("cmt"), video(false), |_| ());
    // 3, 1, 1 and 4 messages, again and again: frame 5 is message 12, frame 7 messages 14 to 17.
    for (frame, messages) in [(0, 0..=2), (5, 12..=12), (7, 14..=17)] {
        let account = explain(&scenario, "f", Wanted::Frame(frame));
        let numbers: Vec<u64> = account.messages.iter().map(|m| m.number).collect();
        assert_eq!(numbers, messages.collect::<Vec<_>>());
        let note = account.frame.unwrap();
        assert_eq!((note.number, note.deadline), (frame, Duration::from_millis(300)));
        assert_eq!(account.capture(), account.messages.first().map(|m| m.created));
        assert!(account.delivered() <= account.due(), "nothing is in its way: {account:?}");
    }
    let account = message(&scenario, 15);
    assert_eq!(account.frame.map(|frame| frame.number), Some(7));
}

/// The table of frames, the counters and the explainer tell the same story.
#[test]
fn late_frames_are_late_in_every_account() {
    let mut scenario = one_link(sctp("cmt"), video(false), lossy(0.1));
    scenario.run.time = 60 * SECOND;
    let result = run(&scenario, 1);
    let [(flow, frames)] = &result.frames[..] else { panic!("one flow has frames: {:?}", result.frames) };
    assert_eq!(flow, "f");
    let judged = frames.iter().filter(|frame| frame.kind.is_some() && frame.due_s <= 60.0);
    let late = judged.filter(|frame| frame.whole_s.is_some_and(|at| at > frame.due_s)).count();
    let counted = result.metrics.iter().find(|metric| metric.name == "late_frames").unwrap().value;
    assert!(late > 0, "one packet in ten is lost");
    assert_eq!(late as f64, counted);
    for (number, frame) in (0_u32..).zip(frames).filter(|(number, _)| number % 97 == 3) {
        let account = explain(&scenario, "f", Wanted::Frame(number));
        let seconds = |at: Option<Instant>| at.map(|at| (at - account.origin).as_secs_f64());
        assert_eq!(seconds(account.capture()), Some(frame.captured_s), "frame {number}");
        assert_eq!(seconds(account.due()), Some(frame.due_s), "frame {number}");
        assert_eq!(seconds(account.delivered()), frame.whole_s, "frame {number}");
    }
}

#[test]
fn what_is_given_up_is_never_delivered() {
    // 25 times 7500 bytes a 4 frames: 375 kbit/s over 250.
    let scenario = one_link(sctp("cmt"), video(true), |link| {
        link.forward.rate = LinkRate::Number(Number::Constant(250e3));
    });
    let accounts = (60..90).map(|frame| explain(&scenario, "f", Wanted::Frame(frame)));
    let given_up: Vec<_> = accounts.filter(|account| account.delivered().is_none()).collect();
    assert!(!given_up.is_empty());
    for account in given_up {
        let decisive = account.decisive().unwrap();
        assert!(decisive.delivered.is_none() && account.blockers.is_empty(), "{account:?}");
    }
}

#[test]
fn questions_without_answer() {
    let ask = |scenario: &Scenario, flow: &str, wanted| {
        let simulation = Simulation::new(scenario, &Schemes, 1, None).unwrap();
        Explainer::new(&simulation, scenario, flow, wanted).err()
    };
    let mut scenario = one_link(tcp("reno"), App::Bulk { size: 1000 }, |_| ());
    let unknown = ExplainError::UnknownFlow { name: "g".into(), known: "f".into() };
    assert_eq!(ask(&scenario, "g", Wanted::Message(1)), Some(unknown));
    assert_eq!(ask(&scenario, "f", Wanted::Message(1)), Some(ExplainError::NoMessages("f".into())));
    scenario.flows.get_mut("f").unwrap().app = cbr(1e5);
    assert_eq!(ask(&scenario, "f", Wanted::Frame(1)), Some(ExplainError::NoVideo("f".into())));
    let App::Video(mut once) = video(false) else { unreachable!() };
    if let Frames::Trace { repeat, .. } = &mut once.frames {
        *repeat = false;
    }
    scenario.flows.get_mut("f").unwrap().app = App::Video(once);
    let short = ExplainError::TooShort { flow: "f".into(), frames: 4, messages: 9 };
    assert_eq!(ask(&scenario, "f", Wanted::Frame(4)), Some(short));
    scenario.flows.get_mut("f").unwrap().count = 2;
    assert_eq!(ask(&scenario, "f#2", Wanted::Frame(3)), None);
    assert!(matches!(ask(&scenario, "f", Wanted::Frame(3)), Some(ExplainError::UnknownFlow { .. })));
}

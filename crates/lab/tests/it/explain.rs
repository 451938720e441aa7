//! Causes that the explainer reports, in networks with only one possible cause.

use core::any::Any;
use core::time::Duration;
use std::sync::Arc;

use strandcast_lab::result::Subject;
use strandcast_lab::result::meter::LossPlace;
use strandcast_lab::scenario::*;
use strandcast_lab::simulation::{
    Cause, CauseKind, Control, ExplainError, Explainer, Explanation, MessageTrace, Outcome, Query,
    RunOptions, Simulation, Transmission,
};
use strandcast_proto::association::HeldBy;
use strandcast_proto::time::Instant;
use strandcast_sim::host::SymbolName;
use strandcast_testing::lab::*;

const SECOND: Duration = Duration::from_secs(1);

fn explain(scenario: &Scenario, flow: &str, query: Query) -> Explanation {
    let mut simulation = Simulation::new(scenario, &Presets, 1, None).unwrap();
    let explainer = Explainer::new(&simulation, scenario, flow, query).unwrap();
    let options = RunOptions { series: None, recorder: Some(Box::new(explainer)) };
    let result = simulation.run(options, &mut ()).expect("the run is not interrupted");
    assert_eq!(result.fingerprint, run(scenario, 1).fingerprint, "who is watched goes the same way");
    let recorder: Box<dyn Any> = simulation.take_recorder().unwrap();
    recorder.downcast::<Explainer>().unwrap().explanation()
}

fn message(scenario: &Scenario, number: u64) -> Explanation {
    let explanation = explain(scenario, "f", Query::Message(number));
    assert_eq!(explanation.messages.iter().map(|m| m.number).collect::<Vec<_>>(), [number]);
    explanation
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

/// The parts of a packet's time add up to its total time.
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
    let explanation = message(&scenario, 7);
    let [packet] = &explanation.messages[0].transmissions[..] else { panic!("{explanation:?}") };
    let hop = &packet.hops[0];
    // 8000 bits at 100 kbit/s: the eighth message at 0.56 s. 1028 bytes at 1 Mbit/s: 8.224 ms.
    assert_eq!(explanation.messages[0].created, Instant::from_millis(560));
    assert_eq!((hop.link.as_str(), packet.len), ("only", 1028));
    assert_eq!(
        [packet.host(), hop.queued(), hop.serialisation(), hop.propagation()],
        [0, 0, 8_224_000, 20_000_000].map(|ns| Some(Duration::from_nanos(ns)))
    );
    assert_eq!(explanation.messages[0].delivered, Some(Instant::from_nanos(560_000_000 + 28_224_000)));
    assert_eq!(explanation.blockers, []);
}

#[test]
fn a_queue_grows_by_what_comes_too_fast() {
    // 1.028 times the link's rate: message n finds n · (8.224 - 8) ms of others.
    let mut scenario = one_link(Transport::Udp { header: 28 }, cbr(1e6), |link| {
        link.forward.queue.limit = QueueLimit::Packets(20);
    });
    scenario.host.overhead = false;
    let explanation = message(&scenario, 100);
    assert_eq!(explanation.messages[0].transmissions[0].queued(), Duration::from_micros(22_400));
    // At most 20 packets wait while one is sent: 21 too many have come after 21 · 8.224 / 0.224 messages.
    let full = (760..800).map(|n| message(&scenario, n)).find(|a| a.messages[0].delivered.is_none());
    let full = full.expect("one in 37 is too many");
    let [packet] = &full.messages[0].transmissions[..] else { panic!("{full:?}") };
    assert_eq!(packet.outcome, Outcome::Lost(LossPlace::Queue));
    assert_eq!((packet.hops[0].started, packet.hops[0].departed), (None, None));
}

#[test]
fn whoever_is_delivered_in_order_waits_for_the_last_of_those_before() {
    let transports = [("sctp", sctp("cmt")), ("tcp", tcp("reno")), ("mptcp", mptcp("lia"))];
    for (name, transport) in transports {
        let mut waited = 0;
        let scenario = one_link(transport, cbr(400e3), lossy(0.05));
        for number in (100..160).step_by(3) {
            let explanation = message(&scenario, number);
            let mine = &explanation.messages[0];
            let (complete, delivered) = (mine.complete.unwrap(), mine.delivered.unwrap());
            let last = explanation.blockers.iter().map(|b| b.complete.expect("it was delivered")).max();
            assert_eq!(delivered, last.unwrap_or(complete).max(complete), "{name} {number}: {explanation:?}");
            assert!(
                explanation.blockers.iter().all(|b| b.number < number && b.losses() > 0),
                "{name} {explanation:?}"
            );
            assert_eq!(explanation.blocker_of(mine).and_then(|b| b.complete), last);
            waited += u32::from(delivered > complete);
            let packets = explanation.blockers.iter().chain([mine]).flat_map(|m| &m.transmissions);
            packets.for_each(adds_up);
            assert!(mine.taken >= mine.created && mine.transmissions[0].sent >= mine.taken, "{mine:?}");
        }
        assert!(waited > 0, "{name}: 5 % of loss keeps somebody waiting");
    }
}

#[test]
fn lost_copies_are_told_with_their_link() {
    let scenario = one_link(sctp("cmt"), cbr(400e3), lossy(0.2));
    let explanations = (50..80).map(|n| message(&scenario, n));
    let retransmission = explanations.map(|a| a.messages[0].clone()).find(|m| m.losses() > 0);
    let MessageTrace { transmissions, complete, .. } = retransmission.expect("a fifth is lost");
    let (last, lost) = transmissions.split_last().unwrap();
    assert!(lost.iter().any(|t| t.outcome == Outcome::Lost(LossPlace::Random)), "{lost:?}");
    assert!(lost.iter().all(|t| t.hops[0].arrived.is_none() || !matches!(t.outcome, Outcome::Lost(_))));
    assert!(
        last.retransmission && matches!(last.outcome, Outcome::Arrived(at) if Some(at) == complete),
        "{last:?}"
    );
}

#[test]
fn what_was_in_a_link_that_goes_down_is_lost_there() {
    let down = Down { from: 2 * SECOND, to: Some(3 * SECOND), mode: DownMode::Silent, again: None };
    let scenario = one_link(Transport::Udp { header: 28 }, cbr(400e3), |link| {
        link.forward.down.insert("once".into(), down.clone());
        link.reverse.down.insert("once".into(), down);
    });
    // A message every 20 ms: number 99 is at 1.98 s and under way at 2 s, number 120 comes in the outage.
    for number in [99, 120] {
        let explanation = message(&scenario, number);
        assert_eq!(
            explanation.messages[0].transmissions[0].outcome,
            Outcome::Lost(LossPlace::Down),
            "{explanation:?}"
        );
        assert_eq!((explanation.messages[0].complete, explanation.messages[0].delivered), (None, None));
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
        psnr_deadline: SECOND,
        keep_alive: None,
    })
}

#[test]
fn a_frame_is_its_messages() {
    let scenario = one_link(sctp("cmt"), video(false), |_| ());
    // 3, 1, 1 and 4 messages, again and again: frame 5 is message 12, frame 7 messages 14 to 17.
    for (frame, messages) in [(0, 0..=2), (5, 12..=12), (7, 14..=17)] {
        let explanation = explain(&scenario, "f", Query::Frame(frame));
        let numbers: Vec<u64> = explanation.messages.iter().map(|m| m.number).collect();
        assert_eq!(numbers, messages.collect::<Vec<_>>());
        let event = explanation.frame.unwrap();
        assert_eq!((event.number, event.deadline), (frame, Duration::from_millis(300)));
        assert_eq!(explanation.capture(), explanation.messages.first().map(|m| m.created));
        assert!(explanation.delivered() <= explanation.due(), "nothing is in its way: {explanation:?}");
    }
    let explanation = message(&scenario, 15);
    assert_eq!(explanation.frame.map(|frame| frame.number), Some(7));
}

/// The table of frames, the counters and the explainer agree.
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
        let explanation = explain(&scenario, "f", Query::Frame(number));
        let seconds = |at: Option<Instant>| at.map(|at| (at - explanation.origin).as_secs_f64());
        assert_eq!(seconds(explanation.capture()), Some(frame.captured_s), "frame {number}");
        assert_eq!(seconds(explanation.due()), Some(frame.due_s), "frame {number}");
        assert_eq!(seconds(explanation.delivered()), frame.whole_s, "frame {number}");
    }
}

#[test]
fn what_is_given_up_is_never_delivered() {
    // 25 times 7500 bytes a 4 frames: 375 kbit/s over 250.
    let scenario = one_link(sctp("cmt"), video(true), |link| {
        link.forward.rate = LinkRate::Number(Number::Constant(250e3));
    });
    let explanations = (60..90).map(|frame| explain(&scenario, "f", Query::Frame(frame)));
    let given_up: Vec<_> = explanations.filter(|explanation| explanation.delivered().is_none()).collect();
    assert!(!given_up.is_empty());
    for explanation in given_up {
        let decisive = explanation.decisive().unwrap();
        assert!(decisive.delivered.is_none() && explanation.blockers.is_empty(), "{explanation:?}");
    }
}

/// Links `wifi` with 4 Mbit/s and `lte` with 1 Mbit/s. From 2 s to `up`, `lte` drops everything without notice.
fn dark_lte(scheme: &str, receive_buffer: u32, up: u64) -> Scenario {
    let (wifi, mut lte) = (link("a", "b", 4e6, 0.01, 50), link("a", "b", 1e6, 0.03, 50));
    let down =
        Down { from: 2 * SECOND, to: Some(Duration::from_millis(up)), mode: DownMode::Silent, again: None };
    lte.forward.down.insert("dark".into(), down.clone());
    lte.reverse.down.insert("dark".into(), down);
    let transport = with(sctp(scheme), |sctp| sctp.receive_buffer = receive_buffer);
    let mut sending = flow(transport, cbr(3e6), &[&["wifi"], &["lte"]]);
    sending.paths = ["wifi", "lte"]
        .into_iter()
        .zip(sending.paths.values().cloned())
        .map(|(n, p)| (n.into(), p))
        .collect();
    let mut scenario = scenario(&[("wifi", wifi), ("lte", lte)], vec![("f", sending)]);
    (scenario.run.time, scenario.run.warmup) = (10 * SECOND, Duration::ZERO);
    scenario
}

fn with(transport: Transport, change: impl FnOnce(&mut Sctp)) -> Transport {
    let Transport::Sctp { scheme, mut sctp } = transport else { unreachable!() };
    change(&mut sctp);
    Transport::Sctp { scheme, sctp }
}

/// The longest cause of a message's delay, with the explanation of the run.
fn main_cause(scenario: &Scenario, number: u64) -> (Cause, Explanation) {
    let explanation = message(scenario, number);
    let causes = explanation.why(&explanation.messages[0]);
    let main = causes.iter().max_by_key(|cause| cause.time).cloned();
    (main.unwrap_or_else(|| panic!("no cause: {explanation:?}")), explanation)
}

/// `lte` is down and the receive buffer is small. The data in flight on `lte` hold up all data that arrive over `wifi`,
/// until the timer expires and they are sent again over `wifi`.
#[test]
fn a_full_receive_window_names_the_message_it_waited_for() {
    let scenario = dark_lte("cmt", 64 << 10, 4500);
    // A message every 2.7 ms: number 780 is made 80 ms after the outage has begun.
    let (cause, explanation) = main_cause(&scenario, 780);
    assert_eq!(cause.kind, CauseKind::Held(HeldBy::ReceiveWindow), "{cause:?}");
    let holder = cause.message.and_then(|number| explanation.message(number)).expect("it is kept");
    assert!(holder.number < 780 && explanation.messages[0].ahead > 0, "{holder:?}");
    let [lost, came] = &holder.transmissions[..] else { panic!("two copies: {holder:?}") };
    assert_eq!((lost.path.as_str(), lost.outcome), ("lte", Outcome::Lost(LossPlace::Down)));
    assert_eq!((came.path.as_str(), came.nth, Some(came)), ("wifi", 2, holder.completed_by()));
    // The timer restarted when the last acknowledgement came by lte, at 2 s; RTO.Min is 1 s (RFC 9260 §16).
    let expired = lost.timeout.expect("nothing else reports the loss");
    assert!((Instant::from_millis(2900)..Instant::from_millis(3100)).contains(&expired), "{lost:?}");
    assert_eq!(came.sent, expired);
    // Data that the timer gave up are no longer in flight, so that the window has room for them.
    assert!((expired..expired + SECOND / 10).contains(&cause.to), "{cause:?}");
    assert!(cause.time > SECOND / 2 && cause.time <= cause.to - cause.from, "{cause:?}");
}

/// Only `lte` loses packets, and its losses are retransmitted there: a packet that holds up the window for long was
/// lost there, as often as it was sent before.
#[test]
fn the_third_transmission_is_counted_as_such() {
    let mut scenario = dark_lte("cmt,rtx=same", 64 << 10, 2001);
    lossy(0.3)(scenario.links.get_mut("lte").unwrap());
    let mut thirds = 0;
    for number in (200..1400).step_by(50) {
        let (cause, explanation) = main_cause(&scenario, number);
        let held = cause.kind == CauseKind::Held(HeldBy::ReceiveWindow);
        let Some(holder) = cause.message.filter(|_| held).and_then(|n| explanation.message(n)) else {
            continue;
        };
        let Some(came) = holder.completed_by().filter(|came| came.nth > 1) else { continue };
        let lost = &holder.transmissions[..came.nth as usize - 1];
        assert!(lost.iter().all(|t| t.path == "lte" && matches!(t.outcome, Outcome::Lost(_))), "{holder:?}");
        thirds += u32::from(came.nth == 3);
    }
    assert!(thirds > 0, "one in eleven of those that are lost is lost twice");
}

/// The same network, with a receive buffer for all data that the other path can deliver in that time: no data wait for
/// the window.
#[test]
fn a_large_window_is_not_blamed() {
    let scenario = dark_lte("cmt", 8 << 20, 4500);
    let (cause, explanation) = main_cause(&scenario, 780);
    assert_eq!(cause.kind, CauseKind::HeadOfLine, "{cause:?}");
    let blocker = cause.message.and_then(|number| explanation.message(number)).expect("it is kept");
    let [lost, came] = &blocker.transmissions[..] else { panic!("two copies: {blocker:?}") };
    assert_eq!((lost.path.as_str(), lost.outcome), ("lte", Outcome::Lost(LossPlace::Down)));
    assert_eq!((came.path.as_str(), came.nth), ("wifi", 2), "{blocker:?}");
    assert!(explanation.holds.iter().all(|hold| hold.by != HeldBy::ReceiveWindow), "{:?}", explanation.holds);
}

#[test]
fn each_reason_for_waiting_is_told() {
    // One bulk flow over 1 Mbit/s with 20 ms of delay: 5 kB fill the path, the queue takes 75 kB more.
    let bulk = |transport| one_link(transport, App::Bulk { size: 1000 }, |_| ());
    let full = |cause: &Cause| (cause.kind, cause.message, cause.full.join(" "), cause.open.join(" "));
    let window = CauseKind::Held(HeldBy::ReceiveWindow);
    let (none, p0) = (String::new(), "p0".to_owned());
    let small = bulk(with(sctp("cmt"), |sctp| sctp.receive_buffer = 4000));
    assert_eq!(full(&main_cause(&small, 40).0), (window, None, none.clone(), p0.clone()));
    let congested = CauseKind::Held(HeldBy::CongestionWindow);
    let (cause, explanation) = main_cause(&bulk(sctp("cmt")), 300);
    assert_eq!(full(&cause), (congested, None, p0.clone(), none.clone()), "{explanation:?}");
    // TCP's window also limits it.
    let Transport::Tcp { cc, mut tcp } = tcp("reno") else { unreachable!() };
    tcp.set.insert("receive_window".into(), TcpValue::Number(4000.0));
    let (cause, _) = main_cause(&one_link(Transport::Tcp { cc, tcp }, cbr(2e6), |_| ()), 200);
    assert_eq!(full(&cause), (window, None, none.clone(), p0.clone()));
    // One path at a time: the second has room, and is not used.
    let mut two = bulk(sctp("sctp"));
    let via = two.flows["f"].paths["p0"].clone();
    two.links.insert("other".into(), link("a", "b", 1e6, 0.02, 50));
    let other = Path { via: vec!["other".into()], back: vec!["other".into()], ..via };
    two.flows.get_mut("f").unwrap().paths.insert("p1".into(), other);
    let scheduler = CauseKind::Held(HeldBy::Scheduler);
    assert_eq!(full(&main_cause(&two, 300).0), (scheduler, None, p0.clone(), "p1".to_owned()));
    // Nothing goes before the handshake is done: four packets of 20 ms, and their hosts.
    let (cause, _) = main_cause(&one_link(sctp("cmt"), cbr(100e3), |_| ()), 0);
    assert_eq!(cause.kind, CauseKind::Held(HeldBy::Handshake));
    assert!((Duration::from_millis(80)..Duration::from_millis(120)).contains(&cause.time), "{cause:?}");
    // A send buffer of 3 kB where 5 kB fit the path.
    let buffer = bulk(with(sctp("cmt"), |sctp| sctp.send_buffer = 3000));
    let (_, explanation) = main_cause(&buffer, 300);
    assert!(explanation.holds.is_empty(), "nothing waits in the transport: {:?}", explanation.holds);
}

/// From submission to delivery all time has a cause, except intervals too short to report.
#[test]
fn causes_add_up() {
    let scenarios = [
        dark_lte("cmt", 64 << 10, 4500),
        one_link(sctp("cmt"), cbr(800e3), lossy(0.01)),
        one_link(tcp("reno"), cbr(800e3), lossy(0.01)),
    ];
    for scenario in scenarios {
        for number in [0, 40, 250, 600, 601, 800] {
            let explanation = message(&scenario, number);
            let mine = &explanation.messages[0];
            let took = mine.delivered.expect("all are reliable") - mine.created;
            let causes = explanation.why(mine);
            let told: Duration = causes.iter().map(|cause| cause.time).sum();
            assert!(told <= took + Duration::from_nanos(1), "{number}: {told:?} of {took:?}: {causes:?}");
            assert!(told >= took.mul_f64(0.9), "{number}: {told:?} of {took:?}: {causes:?}");
            assert!(causes.iter().all(|c| c.from <= c.to && c.time <= c.to - c.from), "{causes:?}");
        }
    }
}

/// Records the time series of a run.
#[derive(Default)]
struct Points(Vec<(f64, &'static str, f64)>);

impl Control for Points {
    fn point(&mut self, time_s: f64, subject: &Subject, metric: &'static str, value: f64) {
        if *subject == Subject::Flow("f".into()) {
            self.0.push((time_s, metric, value));
        }
    }
}

#[test]
fn the_receive_window_has_a_series_at_both_ends() {
    let scenario = dark_lte("cmt", 64 << 10, 4500);
    let mut points = Points::default();
    let options = RunOptions { series: Some(SECOND / 10), recorder: None };
    let mut simulation = Simulation::new(&scenario, &Presets, 1, None).unwrap();
    simulation.run(options, &mut points).expect("the run is not interrupted");
    let at = |metric: &str, s: f64| {
        let point = points.0.iter().find(|(time, name, _)| *name == metric && (time - s).abs() < 0.01);
        point.unwrap_or_else(|| panic!("no {metric} at {s} s: {:?}", points.0)).2
    };
    // While lte is dark nothing moves: the last report of the receiver has the room that it still has.
    for s in [2.5, 2.9] {
        assert_eq!(at("receive_buffered_bytes", s) + at("rwnd_bytes", s), f64::from(64 << 10), "{s} s");
    }
    assert!(at("receive_buffered_bytes", 2.9) > 10e3);
    // By wifi alone everything comes in order, and is read when its SACK has been sent: a chunk has 16 bytes in
    // addition to its data.
    assert_eq!(
        (at("receive_buffered_bytes", 4.2), at("rwnd_bytes", 4.2)),
        (0.0, f64::from((64 << 10) - 1016))
    );
}

#[test]
fn what_was_never_sent_is_no_answer() {
    let scenario = one_link(sctp("cmt"), cbr(100e3), |_| ());
    let explanation = explain(&scenario, "f", Query::Message(1_000_000));
    // 8000 bits at 100 kbit/s: one every 80 ms from 0 s to 9.92 s.
    let error = explanation.check(Query::Message(1_000_000)).expect_err("there is none");
    assert_eq!(error.to_string(), "flow 'f' sent no message 1000000 in this run; it sent messages 0 to 124");
    assert_eq!(explain(&scenario, "f", Query::Message(124)).check(Query::Message(124)), Ok(()));
    // 25 frames per second, again and again, until the run ends: no frame is looked for after it.
    let scenario = one_link(sctp("cmt"), video(false), |_| ());
    let simulation = Simulation::new(&scenario, &Presets, 1, None).unwrap();
    let error = Explainer::new(&simulation, &scenario, "f", Query::Frame(u32::MAX)).expect_err("too far");
    assert_eq!(
        error.to_string(),
        "the video of flow 'f' has frames 0 to 249, in messages 0 to 561 in this run"
    );
}

#[test]
fn questions_without_answer() {
    let ask = |scenario: &Scenario, flow: &str, query| {
        let simulation = Simulation::new(scenario, &Presets, 1, None).unwrap();
        Explainer::new(&simulation, scenario, flow, query).err()
    };
    let mut scenario = one_link(tcp("reno"), App::Bulk { size: 1000 }, |_| ());
    let unknown = ExplainError::UnknownFlow { name: "g".into(), known: "f".into() };
    assert_eq!(ask(&scenario, "g", Query::Message(1)), Some(unknown));
    assert_eq!(ask(&scenario, "f", Query::Message(1)), Some(ExplainError::NoMessages("f".into())));
    scenario.flows.get_mut("f").unwrap().app = cbr(1e5);
    assert_eq!(ask(&scenario, "f", Query::Frame(1)), Some(ExplainError::NoVideo("f".into())));
    let App::Video(mut once) = video(false) else { unreachable!() };
    if let Frames::Trace { repeat, .. } = &mut once.frames {
        *repeat = false;
    }
    scenario.flows.get_mut("f").unwrap().app = App::Video(once);
    let short = ExplainError::TooShort { flow: "f".into(), frames: 4, messages: 9 };
    assert_eq!(ask(&scenario, "f", Query::Frame(4)), Some(short));
    scenario.flows.get_mut("f").unwrap().count = 2;
    assert_eq!(ask(&scenario, "f#2", Query::Frame(3)), None);
    assert!(matches!(ask(&scenario, "f", Query::Frame(3)), Some(ExplainError::UnknownFlow { .. })));
}

/// A video whose messages are given up when they are late: 120 ms, over paths with 50 ms of delay.
fn repaired(scheme: &str) -> Scenario {
    let frames = Frames::Constant { rate: 200e3 };
    let deadline = Duration::from_millis(120);
    let video = Video {
        frames,
        size: 1000,
        deadline,
        expire: true,
        prebuffer: SECOND,
        psnr_deadline: SECOND,
        keep_alive: None,
    };
    one_link(sctp(scheme), App::Video(video), |link| {
        lossy(0.05)(link);
        link.forward.delay = Number::Constant(0.05);
        link.reverse.delay = Number::Constant(0.05);
    })
}

#[test]
fn a_recovered_message_was_brought_by_a_repair_symbol() {
    let scenario = repaired("lia,fec=rlc,redundancy=50 %,fec-when=always");
    let recovered = (60..200).map(|number| message(&scenario, number)).find(|e| e.messages[0].recovered);
    let explanation = recovered.expect("one packet in twenty is lost");
    let message = &explanation.messages[0];
    let own: Vec<_> = message.own().collect();
    assert!(matches!(own[..], [Transmission { outcome: Outcome::Lost(_), .. }]), "{own:?}");
    let by = message.completed_by().expect("it is complete");
    assert!(by.beside && by.sent >= own[0].sent && message.complete == message.delivered, "{message:?}");
    assert!(by.symbol.expect("it is a symbol").to_string().starts_with("repair of sources "));
    let causes = explanation.why(message);
    let repair = causes.iter().find(|cause| cause.kind == CauseKind::Repair).expect("it waited for one");
    assert_eq!((repair.from, repair.to), (own[0].sent, by.sent));
    let sum: Duration = causes.iter().map(|cause| cause.time).sum();
    assert_eq!(Some(message.created + sum), message.delivered, "{causes:?}");
    // Without repair it is gone.
    let plain = self::message(&repaired("lia"), message.number);
    assert!(plain.messages[0].transmissions.iter().all(|t| t.symbol.is_none()));
}

#[test]
fn a_message_in_a_block_came_with_enough_of_its_symbols() {
    let scenario = one_link(sctp("fmtcp"), cbr(200e3), lossy(0.02));
    for number in [20, 77, 133] {
        let explanation = message(&scenario, number);
        let message = &explanation.messages[0];
        let (first, last) = message.blocks.unwrap_or_else(|| panic!("it is in a block: {message:?}"));
        assert!(last - first <= 1 && !message.recovered, "1000 bytes are less than a symbol: {message:?}");
        let blocks = message.transmissions.iter().map(|t| match t.symbol {
            Some(SymbolName::Repair { block }) => block,
            other => panic!("a fountain sends nothing else: {other:?}"),
        });
        assert!(blocks.into_iter().all(|block| (first..=last).contains(&block)), "{message:?}");
        let (complete, delivered) = (message.complete.unwrap(), message.delivered.unwrap());
        assert!(complete <= delivered && message.completed_by().is_some(), "{message:?}");
        message.transmissions.iter().for_each(adds_up);
        // It waits for the symbols of its block, or for an earlier block.
        let kinds: Vec<_> = explanation.why(message).into_iter().map(|cause| cause.kind).collect();
        assert!(kinds.contains(&CauseKind::Transit), "{kinds:?}");
    }
}

/// Ten frames per second of one message each, silent for 3.5 s from the start and for 2 s from 7 s on, with
/// keep-alives.
#[test]
fn keep_alives_are_no_messages_of_a_live_source() {
    let pause = [("first", 0.0, 3.5), ("later", 7.0, 9.0)].map(|(name, from, to)| {
        let [from, to] = [from, to].map(Duration::from_secs_f64);
        (name.to_owned(), Pause { from, to, keep: false })
    });
    let frames = Frames::Live {
        rate: 800e3,
        burst: Some(Burst::Time(Duration::from_millis(100))),
        spacing: Number::Constant(0.0),
        key_frames: Some(KeyFrames { every: 50, times: 1.0 }),
        pause: pause.into(),
    };
    let App::Video(once) = video(true) else { unreachable!() };
    let of = |keep_alive| {
        let app = App::Video(Video { frames: frames.clone(), keep_alive, ..once.clone() });
        one_link(sctp("cmt"), app, |_| ())
    };
    let alive = of(Some(SECOND));
    let (with, without) = (run(&alive, 1), run(&of(None), 1));
    let sent = |result| metric(result, &Subject::Flow("f".into()), "sent_packets");
    let pauses_have = 3.0 + 2.0;
    assert_eq!(sent(&with), sent(&without) + pauses_have);
    for name in ["frames_sent", "frames_received", "delivered_bytes"] {
        let of = |result| metric(result, &Subject::Flow("f".into()), name);
        assert_eq!(of(&with), of(&without), "{name}");
    }
    // The last frame before the second pause is number 34; its last message is complete when it has come.
    let last = message(&alive, 349);
    assert_eq!(last.messages[0].transmissions.len(), 1);
    assert!(last.messages[0].delivered.is_some() && last.messages[0].complete == last.messages[0].delivered);
}

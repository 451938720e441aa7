//! Reasons why messages are never sent or are given up: text and counts of the explainer, in networks with only one
//! possible reason. The profile is `live`. Each flow has more data than its links carry, or less time than their delay.

use core::any::Any;
use core::time::Duration;
use std::collections::BTreeMap;
use std::path::Path;

use strandcast_lab::result::{RunResult, Subject};
use strandcast_lab::scenario::{self, Scenario};
use strandcast_lab::simulation::{
    CauseKind, DropTrace, Explainer, Explanation, MessageTrace, Query, Recorder, RunOptions, Simulation,
};
use strandcast_proto::association::{DropCause, Dropped, HeldBy};
use strandcast_proto::policy::{GiveUp, SILENCE, SUSPECTED};
use strandcast_proto::time::Instant;
use strandcast_sim::net::{AgentId, DirectedLinkId, EnqueueOutcome, FlowId, Packet, PacketMeta, TraceEvent};
use strandcast_testing::lab::*;

/// Time by which rates are known.
const KNOWN: Instant = Instant::from_millis(5000);
const TOO_LATE: DropCause = DropCause::Scheduler(GiveUp::TooLate);
const MAKES_WAY: DropCause = DropCause::Scheduler(GiveUp::MakesWay);

/// Records dropped messages.
#[derive(Debug, Default)]
struct Drops(Vec<(Instant, Dropped)>);
impl Recorder for Drops {
    fn sent(&mut self, _: Instant, _: AgentId, _: &Packet) {}
    fn offered(&mut self, _: Instant, _: DirectedLinkId, _: &PacketMeta, _: EnqueueOutcome) {}
    fn decided(&mut self, _: Instant, _: DirectedLinkId, _: &PacketMeta, _: EnqueueOutcome) {}
    fn arrived(&mut self, _: Instant, _: DirectedLinkId, _: &PacketMeta) {}
    fn event(&mut self, now: Instant, _: FlowId, _: AgentId, event: &TraceEvent) {
        if let TraceEvent::Dropped(dropped) = *event {
            self.0.push((now, dropped));
        }
    }
}

/// Ten seconds of `app` over `links`, each in Mbit/s, milliseconds one way, a queue in kB, and more keys.
fn scenario(scheme: &str, app: &str, links: &[(f64, f64, u64, &str)]) -> Scenario {
    let mut text = "[run]\ntime = 10\nwarmup = 0\n[nodes.a]\n[nodes.b]\n".to_owned();
    for (i, (rate, delay, queue, more)) in links.iter().enumerate() {
        text += &format!("[links.l{i}]\nfrom = \"a\"\nto = \"b\"\nrate = \"{rate} Mbit/s\"\n");
        text += &format!("delay = \"{delay} ms\"\nqueue.limit = \"{queue} kB\"\n{more}\n");
    }
    text += "[flows.f]\nfrom = \"a\"\nto = \"b\"\nprofile = \"live\"\n";
    text += &format!("scheme = \"{scheme}\"\napp = {{ kind = \"video\", expire = true, {app} }}\n");
    (0..links.len()).for_each(|i| text += &format!("paths.p{i}.via = [\"l{i}\"]\n"));
    scenario::parse(&text, "test", Path::new(""), &[]).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

fn watched<R: Recorder>(scenario: &Scenario, watch: impl FnOnce(&Simulation) -> R) -> (RunResult, R) {
    let mut simulation = Simulation::new(scenario, &Presets, 1, None).expect("it is a network");
    let recorder = watch(&simulation);
    let options = RunOptions { series: None, recorder: Some(Box::new(recorder)) };
    let result = simulation.run(options, &mut ()).expect("the run is not interrupted");
    let recorder: Box<dyn Any> = simulation.take_recorder().expect("it was given");
    (result, *recorder.downcast().expect("it is the one that was given"))
}

/// All dropped messages. The counters of the result must agree with them.
fn drops(scenario: &Scenario) -> Vec<(Instant, Dropped)> {
    let (result, Drops(all)) = watched(scenario, |_| Drops::default());
    let mut told = BTreeMap::<String, f64>::new();
    for (_, dropped) in &all {
        let kind = if dropped.begun { "abandoned" } else { "unsent" };
        *told.entry(format!("{kind}_{}_messages", dropped.cause.name().replace('-', "_"))).or_default() +=
            1.0;
    }
    println!("{told:?}");
    let flow = Subject::Flow("f".into());
    let counted =
        result.metrics.iter().filter(|m| m.subject == flow && is_count_of_drops(m.name) && m.value > 0.0);
    let counted: BTreeMap<_, _> = counted.map(|m| (m.name.to_owned(), m.value)).collect();
    assert_eq!(counted, told);
    all
}

fn is_count_of_drops(name: &str) -> bool {
    (name.starts_with("unsent_") || name.starts_with("abandoned_")) && name.ends_with("_messages")
}

/// The first message that is dropped for `cause` at `from` or later, with its trace.
fn explained(
    scenario: &Scenario,
    from: Instant,
    begun: bool,
    cause: DropCause,
) -> (Explanation, MessageTrace, DropTrace) {
    let all = drops(scenario);
    let mut of_cause = all.iter().filter(|(at, d)| *at >= from && (d.begun, d.cause) == (begun, cause));
    let (at, dropped) = *of_cause.next().unwrap_or_else(|| panic!("none is dropped as {cause:?}"));
    let query = Query::Message(dropped.message);
    let (_, explainer) = watched(scenario, |simulation| {
        Explainer::new(simulation, scenario, "f", query).expect("there is a flow")
    });
    let explanation = explainer.explanation();
    let message = explanation.messages[0].clone();
    let trace = message.dropped.clone().unwrap_or_else(|| panic!("it was dropped: {message:?}"));
    assert_eq!((trace.at, trace.cause, trace.expires), (at, cause, dropped.expires), "{message:?}");
    assert_eq!((trace.unsent, trace.sent > 0), (dropped.unsent, begun), "{message:?}");
    assert_eq!(message.transmissions.is_empty(), !begun, "{message:?}");
    assert!(message.delivered.is_none() && trace.at > message.created, "{message:?}");
    (explanation, message, trace)
}

/// Time, during the message's wait, for which a cause of this kind held the sender back.
fn held(explanation: &Explanation, message: &MessageTrace, kind: CauseKind) -> Duration {
    let dropped = message.dropped.as_ref().expect("it was dropped").at;
    let causes = explanation.why(message);
    assert!(causes.iter().all(|cause| cause.to <= dropped), "{causes:?}");
    causes.iter().filter(|cause| cause.kind == kind).map(|cause| cause.time).sum()
}

const FULL: CauseKind = CauseKind::Held(HeldBy::CongestionWindow);
const TWICE: &str = "rate = \"4 Mbit/s\", size = 1316, deadline = \"600 ms\"";

/// A scheme that gives no message up sends 4 Mbit/s over a link of 2 Mbit/s. Messages wait for the window until their
/// lifetime of 600 ms is over.
#[test]
fn what_the_window_has_no_room_for_expires() {
    let scenario = scenario("cmt", TWICE, &[(2.0, 20.0, 75, "")]);
    let (explanation, message, dropped) = explained(&scenario, KNOWN, false, DropCause::Expired);
    let (waited, lifetime) = (dropped.at - message.created, Duration::from_millis(600));
    assert!(waited >= lifetime && waited < lifetime + Duration::from_millis(100), "{waited:?}");
    assert_eq!(dropped.expires, Some(message.created + lifetime));
    assert_eq!((dropped.sent, dropped.missing, dropped.unsent), (0, 0, u64::from(message.bytes)));
    let full = held(&explanation, &message, FULL);
    assert!(full > waited * 9 / 10, "{full:?} of {waited:?}: {:?}", explanation.why(&message));
    assert!(explanation.why(&message).iter().any(|cause| cause.full == ["p0"]));
}

/// A scheduler that considers queues abandons such a message before its deadline.
#[test]
fn what_would_come_too_late_is_given_up_with_time_left() {
    let scenario = scenario("bond", TWICE, &[(2.0, 20.0, 75, "")]);
    let (_, message, dropped) = explained(&scenario, KNOWN, false, TOO_LATE);
    let left = dropped.expires.expect("it has a lifetime") - dropped.at;
    assert!(left > Duration::from_millis(10) && left < Duration::from_millis(600), "{left:?}");
    let [path] = &dropped.paths[..] else { panic!("{dropped:?}") };
    assert!(path.active && path.path == "p0", "{path:?}");
    // It is what waits there that takes the time.
    let [queue, flight] = ["queue", "in_flight_bytes"].map(|name| path.gauge(name).expect("it is known"));
    let way = 0.02 + queue.max(flight * 8.0 / 2e6);
    assert!(way > left.as_secs_f64() / 2.0, "{way} s for {left:?}: {message:?}");
}

/// A stream of twice the link's rate has 0.6 s of backlog after 0.6 s. The first round trip delivers the packets that
/// the source had sent by then, which is not the link's rate, and no reason to give anything up before.
#[test]
fn nothing_is_given_up_for_the_rate_of_a_first_flight() {
    for scheme in ["bond", "strand"] {
        for delay in [5.0, 10.0, 20.0, 40.0] {
            let all = drops(&scenario(scheme, TWICE, &[(2.0, delay, 500, "")]));
            let first = all.first().expect("the link carries half").0;
            assert!(first > Instant::from_millis(350), "{scheme}, {delay} ms: {first:?}");
        }
    }
}

/// The round trip is 100 ms, and messages have 120 ms. A lost message has no time for a second transmission.
#[test]
fn what_is_lost_and_too_old_is_abandoned() {
    let loss = "loss.uniform.rate = 0.05";
    let app = "rate = \"200 kbit/s\", size = 1000, deadline = \"120 ms\"";
    let scenario = scenario("cmt", app, &[(1.0, 50.0, 75, loss)]);
    let (_, message, dropped) = explained(&scenario, KNOWN, true, DropCause::Expired);
    assert_eq!((dropped.sent, dropped.missing, dropped.unsent), (1, 1, 0), "{message:?}");
    assert!(message.losses() > 0 && Some(dropped.at) >= dropped.expires, "{message:?}");
}

/// Frames of 50 ms arrive at twice the rate of the link. Whole frames are given up, so that the others arrive in time.
#[test]
fn whole_frames_are_given_up() {
    let app = format!("{TWICE}, burst = \"50 ms\", key_frames.every = 20");
    let scenario = scenario("strand,triage=on", &app, &[(2.0, 20.0, 75, "")]);
    let (_, message, dropped) = explained(&scenario, KNOWN, false, DropCause::Group);
    assert!(dropped.expires.expect("it has a lifetime") > dropped.at, "{dropped:?}");
    assert!(message.ahead > 0, "others also wait: {message:?}");
}

/// A fast link carries half of the messages, and a link with a delay of 300 ms becomes free after some 0.6 s. A message
/// that has less time than that left waits for the fast link, and keeps later messages from the free link.
#[test]
fn a_message_makes_way_for_those_behind_it() {
    let app = "rate = \"4 Mbit/s\", size = 1316, deadline = \"400 ms\"";
    let scenario = scenario("strand", app, &[(2.0, 10.0, 75, ""), (4.0, 300.0, 500, "")]);
    let (explanation, message, dropped) = explained(&scenario, Instant::ZERO, false, MAKES_WAY);
    let left = dropped.expires.expect("it has a lifetime") - dropped.at;
    assert!(left < Duration::from_millis(300), "too late for the free path: {left:?}");
    let free = dropped.paths.iter().find(|path| path.path == "p1").expect("there is one");
    let [flight, window] =
        ["in_flight_bytes", "cwnd_bytes"].map(|name| free.gauge(name).expect("it is known"));
    assert!(free.active && flight < window, "{free:?}");
    assert!(held(&explanation, &message, FULL) > Duration::ZERO, "{:?}", explanation.why(&message));
}

/// One of two paths becomes silent permanently, and the other carries a quarter of the stream. The explainer reports
/// the silent path as suspected.
#[test]
fn a_silent_path_is_told_as_suspected() {
    let down = "down.x = { from = \"4 s\", to = \"9 s\", mode = \"silent\" }\n\
        reverse.down.x = { from = \"4 s\", to = \"9 s\", mode = \"silent\" }";
    let scenario = scenario("strand", TWICE, &[(6.0, 20.0, 75, down), (1.0, 30.0, 75, "")]);
    let all = drops(&scenario);
    let late = |d: &&(Instant, Dropped)| d.0 >= KNOWN && d.1.cause == TOO_LATE && !d.1.begun;
    let (_, dropped) = all.iter().find(late).expect("one link of 1 Mbit/s carries a quarter");
    let query = Query::Message(dropped.message);
    let (_, explainer) = watched(&scenario, |simulation| {
        Explainer::new(simulation, &scenario, "f", query).expect("it is one")
    });
    let explanation = explainer.explanation();
    let paths = &explanation.messages[0].dropped.as_ref().expect("it was dropped").paths;
    let suspected = |at: usize| !paths[at].active || paths[at].gauge(SILENCE).is_some_and(|v| v >= SUSPECTED);
    assert!(suspected(0) && !suspected(1), "{paths:?}");
}

/// Keep-alives count among the transport's messages, not among the flow's: numbers stay those of the flow.
#[test]
fn keep_alives_do_not_shift_the_numbers() {
    let app =
        format!("{TWICE}, burst = \"50 ms\", pause = {{ from = 0, to = \"3 s\" }}, keep_alive = \"500 ms\"");
    let scenario = scenario("bond", &app, &[(2.0, 20.0, 75, "")]);
    let (_, message, dropped) = explained(&scenario, KNOWN, false, TOO_LATE);
    assert_eq!(
        dropped.expires,
        Some(message.created + Duration::from_millis(600)),
        "it is that very message"
    );
}

/// A flow whose messages have no lifetime has none of these metrics, dropped or not.
#[test]
fn reliable_flows_count_nothing() {
    let mut reliable = scenario("cmt", TWICE, &[(2.0, 20.0, 75, "")]);
    let flow = reliable.flows.get_mut("f").expect("there is one");
    let scenario::App::Video(video) = &mut flow.app else { panic!("it is a video") };
    video.expire = false;
    let (result, drops) = watched(&reliable, |_| Drops::default());
    assert!(drops.0.is_empty() && result.metrics.iter().all(|m| !is_count_of_drops(m.name)));
    video_counts_all(&scenario("cmt", TWICE, &[(20.0, 20.0, 75, "")]));
}

/// A flow whose messages have a lifetime has all of these metrics; they are 0 if nothing was dropped.
fn video_counts_all(scenario: &Scenario) {
    let result = run(scenario, 1);
    let counts = result.metrics.iter().filter(|m| is_count_of_drops(m.name));
    assert_eq!(counts.map(|m| m.value).collect::<Vec<_>>(), [0.0; 13]);
}

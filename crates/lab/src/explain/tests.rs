//! The report of a frame that was late for two reasons.

use std::time::Duration;

use serde_json::Value;
use strandcast_media::ts::FrameType;
use strandcast_proto::association::{DropCause, HeldBy};
use strandcast_proto::policy::GiveUp;
use strandcast_proto::time::Instant;
use strandcast_sim::host::SymbolName;

use super::json::as_json;
use super::text::report;
use crate::result::RunName;
use crate::result::meter::LossPlace;
use crate::simulation::{
    DropTrace, Explanation, FrameInfo, Hold, Hop, MessageTrace, Outcome, PathStanding, Query, Transmission,
};

const fn ms(ms: u64) -> Instant {
    Instant::from_millis(ms)
}

/// Over link `b`: 10 ms in the queue, 4 ms of serialisation, 20 ms of propagation.
fn packet(number: u64, sent: u64, outcome: Outcome) -> Transmission {
    let arrived = match outcome {
        Outcome::Arrived(at) => Some(at),
        _ => None,
    };
    let hop = Hop {
        link: "b".into(),
        entered: ms(sent + 1),
        started: Some(ms(sent + 11)),
        departed: Some(ms(sent + 15)),
        arrived,
    };
    let retransmission = number > 2;
    Transmission {
        packet: number,
        path: "wifi".into(),
        sent: ms(sent),
        len: 1000,
        retransmission,
        symbol: None,
        beside: false,
        nth: 1 + u32::from(retransmission),
        timeout: None,
        hops: vec![hop],
        outcome,
    }
}

fn message(number: u64, transmissions: Vec<Transmission>, complete: u64, delivered: u64) -> MessageTrace {
    MessageTrace {
        number,
        bytes: 900,
        created: ms(1000),
        taken: ms(1002),
        ahead: 3,
        transmissions,
        complete: Some(ms(complete)),
        delivered: Some(ms(delivered)),
        recovered: false,
        dropped: None,
        blocks: None,
    }
}

/// Message 7 arrived at once and waited for message 6, which was lost and retransmitted.
fn explanation() -> Explanation {
    let lost = packet(1, 1001, Outcome::Lost(LossPlace::Random));
    let lost = Transmission { timeout: Some(ms(1399)), ..lost };
    let retransmission = packet(3, 1400, Outcome::Arrived(ms(1435)));
    Explanation {
        flow: "video".into(),
        frame: Some(FrameInfo {
            number: 4,
            kind: Some(FrameType::P),
            lag: Duration::from_millis(10),
            deadline: Duration::from_millis(300),
        }),
        messages: vec![message(7, vec![packet(2, 1005, Outcome::Arrived(ms(1040)))], 1040, 1435)],
        blockers: vec![message(6, vec![lost, retransmission], 1435, 1435)],
        holds: Vec::new(),
        holders: Vec::new(),
        submitted: 9,
        frames: Some(9),
        origin: ms(0),
        end: ms(9000),
    }
}

fn run() -> RunName {
    RunName { seed: 1, scheme: "cmt".into(), fingerprint: String::new() }
}

#[test]
fn a_report_has_a_verdict_and_its_causes() {
    let text = report(&explanation(), &run(), Query::Frame(4));
    let expected = "\
P frame 4 of flow video (900 bytes), scheme cmt, seed 1
It was captured at 0.9900 s, complete at 1.4350 s, 145.0 ms after it was due at 1.2900 s: late.
Why, longest first:
   395.0 ms  it had arrived and waited for its turn: message 6 waited for its second transmission, over wifi (lost on b: at random)
    25.0 ms  in transit over wifi: host, serialisation and propagation
Message 7:
  submitted at 1.0000 s, accepted 2.0 ms later, when the send buffer had room, sent after 5.0 ms behind 3 other messages
  sent in one packet, none lost; longest queue 10.0 ms on link b (path wifi)
    sent      path  host    link  queue    serial  prop     outcome
    1.0050 s  wifi  1.0 ms  b     10.0 ms  4.0 ms  20.0 ms  arrived at 1.0400 s
Message 6:
  submitted at 1.0000 s, accepted 2.0 ms later, when the send buffer had room, sent after 1.0 ms behind 3 other messages
  sent in 2 packets, 1 lost; longest queue 10.0 ms on link b (path wifi)
    sent      path  host    link  queue    serial  prop     outcome
    1.0010 s  wifi  1.0 ms  b     10.0 ms  4.0 ms  -        lost: at random, timer expired
    1.4000 s  wifi  1.0 ms  b     10.0 ms  4.0 ms  20.0 ms  arrived at 1.4350 s
";
    assert_eq!(text, expected, "{text}");
}

/// Message 7 was lost and not sent again: a repair symbol over it brought it back.
#[test]
fn a_recovered_message_names_the_symbol_that_brought_it() {
    let mut coded = explanation();
    let lost = packet(1, 1001, Outcome::Lost(LossPlace::Random));
    let lost = Transmission { symbol: Some(SymbolName::WindowSource { number: 7 }), ..lost };
    let repair = packet(2, 1080, Outcome::Arrived(ms(1115)));
    let symbol = Some(SymbolName::WindowRepair { covers: (2, 9) });
    let repair = Transmission { symbol, beside: true, ..repair };
    let recovered = MessageTrace { recovered: true, ..message(7, vec![lost, repair], 1115, 1115) };
    (coded.messages, coded.blockers) = (vec![recovered], Vec::new());
    let text = report(&coded, &run(), Query::Frame(4));
    let expected = "\
Why, longest first:
    79.0 ms  it was recovered by a repair symbol, over wifi (lost on b: at random)
    25.0 ms  in transit over wifi: host, serialisation and propagation
    10.0 ms  in the queue of b, over path wifi
Message 7:
  submitted at 1.0000 s, accepted 2.0 ms later, when the send buffer had room, sent after 1.0 ms behind 3 other messages
  sent in one packet, 1 lost; one repair symbol covers it; recovered; longest queue 10.0 ms on link b (path wifi)
    sent      path  host    link  queue    serial  prop     outcome
    1.0010 s  wifi  1.0 ms  b     10.0 ms  4.0 ms  -        lost: at random (source 7)
    1.0800 s  wifi  1.0 ms  b     10.0 ms  4.0 ms  20.0 ms  arrived at 1.1150 s (repair of sources 2 to 9)
";
    assert!(text.ends_with(expected), "{text}");
    let json: Value = serde_json::from_str(&as_json(&coded, &run(), Query::Frame(4))).expect("JSON");
    let told = &json["messages"][0];
    assert_eq!((&told["recovered"], &told["transmissions"][0]["symbol"]), (&true.into(), &"source 7".into()));
    assert_eq!(json["why"][1]["kind"], "repair", "{json}");
    let plain = as_json(&explanation(), &run(), Query::Frame(4));
    assert!(
        !plain.contains("recovered") && !plain.contains("symbol") && !plain.contains("blocks"),
        "only where there are any"
    );
}

/// Message 7 is in block 17, of which one symbol was lost; it came with the second of the others.
#[test]
fn a_message_in_a_block_has_the_blocks_symbols() {
    let mut coded = explanation();
    let symbol = |number, sent, outcome| Transmission {
        symbol: Some(SymbolName::Repair { block: 17 }),
        ..packet(number, sent, outcome)
    };
    let symbols = vec![
        symbol(1, 1001, Outcome::Lost(LossPlace::Random)),
        symbol(2, 1002, Outcome::Arrived(ms(1037))),
        symbol(2, 1080, Outcome::Arrived(ms(1115))),
    ];
    let message = MessageTrace { blocks: Some((17, 17)), ..message(7, symbols, 1115, 1115) };
    (coded.messages, coded.blockers) = (vec![message], Vec::new());
    let text = report(&coded, &run(), Query::Frame(4));
    let why = "79.0 ms  block 17 was sent until enough of its symbols had arrived: 3 symbols, 1 lost, the last over wifi\n";
    assert!(text.contains(why), "{text}");
    assert!(text.contains("  in block 17, of which 3 symbols were sent, 1 lost; longest queue"), "{text}");
    assert!(text.contains("lost: at random (repair of block 17)\n"), "{text}");
    let json: Value = serde_json::from_str(&as_json(&coded, &run(), Query::Frame(4))).expect("JSON");
    assert_eq!(json["messages"][0]["blocks"], serde_json::json!([17, 17]));
    assert_eq!(json["why"][1]["kind"], "block", "{json}");
}

#[test]
fn json_has_the_same_content() {
    let json: Value = serde_json::from_str(&as_json(&explanation(), &run(), Query::Frame(4))).expect("JSON");
    assert_eq!(json["late_ms"], 145.0);
    assert_eq!((&json["decisive"], &json["waited_for"]), (&7.into(), &6.into()));
    assert_eq!(json["blockers"][0]["transmissions"][0]["outcome"], "lost-random");
    assert_eq!(json["blockers"][0]["transmissions"][0]["timeout_s"], 1.399);
    let kinds: Vec<&str> =
        json["why"].as_array().expect("a list").iter().filter_map(|c| c["kind"].as_str()).collect();
    assert_eq!(kinds, ["send-buffer", "queue", "transit", "head-of-line"]);
    let why = &json["why"][3];
    assert_eq!(
        (&why["message"], &why["path"], &why["transmissions"]),
        (&6.into(), &"wifi".into(), &2.into())
    );
    assert_eq!((&why["from_s"], &why["to_s"], &why["time_ms"]), (&1.04.into(), &1.435.into(), &395.0.into()));
    assert_eq!(json["messages"][0]["transmissions"][0]["hops"][0]["propagation_ms"], 20.0);
}

/// Message 7 waited at the sender: first for message 6, which kept the receive window full, then for the congestion
/// windows.
#[test]
fn the_longest_hold_comes_first() {
    let mut held = explanation();
    let paths = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let hold = |by, from, to, behind, full: &[&str], open: &[&str]| Hold {
        by,
        from: ms(from),
        to: ms(to),
        behind,
        full: paths(full),
        open: paths(open),
    };
    held.holds = vec![
        hold(HeldBy::ReceiveWindow, 900, 1900, Some(6), &[], &["lte"]),
        hold(HeldBy::ReceiveWindow, 1900, 2000, Some(5), &[], &["wifi"]),
        hold(HeldBy::CongestionWindow, 2000, 2300, None, &["wifi", "lte"], &[]),
        hold(HeldBy::Scheduler, 2300, 2400, None, &["wifi"], &["lte"]),
    ];
    held.messages = vec![message(7, vec![packet(2, 2400, Outcome::Arrived(ms(2435)))], 2435, 2435)];
    held.holders = core::mem::take(&mut held.blockers);
    let text = report(&held, &run(), Query::Frame(4));
    let why = text
        .split_once("first:\n")
        .expect("it has causes")
        .1
        .split_once("Message 7:")
        .expect("and a table")
        .0;
    let expected = "\
1.00 s  the receive window was full, for 2 messages in turn; longest, 900.0 ms: message 6 waited for its second \
                    transmission, over wifi (lost on b: at random)
   300.0 ms  the congestion windows of wifi and lte were full
   100.0 ms  the congestion window of wifi was full, and the scheduler sent nothing over lte
";
    assert_eq!(why.trim(), expected.trim(), "{text}");
    assert!(text.contains("\nMessage 6:\n"), "{text}");
    let json: Value = serde_json::from_str(&as_json(&held, &run(), Query::Frame(4))).expect("JSON");
    let cause = &json["why"][0];
    assert_eq!((&cause["kind"], &cause["message"]), (&"receive-window".into(), &6.into()));
    assert_eq!((&cause["path"], &cause["transmissions"]), (&"wifi".into(), &2.into()));
    assert_eq!((&cause["longest_ms"], &cause["messages"]), (&900.0.into(), &2.into()));
    assert_eq!(json["holders"][0]["number"], 6);
    assert_eq!(json["why"][1]["full"], serde_json::json!(["wifi", "lte"]));
}

#[test]
fn frames_in_time_and_messages_that_never_arrive() {
    let mut early = explanation();
    early.frame.as_mut().expect("it is a video").deadline = Duration::from_secs(1);
    let text = report(&early, &run(), Query::Frame(4));
    assert!(text.contains("complete at 1.4350 s, 555.0 ms before it was due"), "{text}");
    let mut never = explanation();
    never.frame = None;
    let message = &mut never.messages[0];
    (message.complete, message.delivered, message.transmissions) = (None, None, Vec::new());
    never.blockers.clear();
    let text = report(&never, &run(), Query::Message(7));
    assert!(text.contains("not complete when the run ended"), "{text}");
    assert!(text.contains("behind 3 other messages, never sent"), "{text}");
    never.messages.clear();
    assert!(report(&never, &run(), Query::Message(7)).contains("not submitted"));
}

#[test]
fn names_from_files_are_escaped_for_the_terminal() {
    let mut hostile = explanation();
    hostile.flow = "\u{1b}[2J\nvideo".into();
    hostile.blockers[0].transmissions[0].path = "\u{9b}31m".into();
    let text = report(&hostile, &run(), Query::Frame(4));
    assert!(!text.contains(|c: char| c != '\n' && c.is_control()), "{text:?}");
    assert!(text.starts_with("P frame 4 of flow \\u{1b}[2J\\nvideo (900 bytes)"), "{text}");
    assert_eq!(text.lines().count(), report(&explanation(), &run(), Query::Frame(4)).lines().count());
}

fn standing(path: &str, active: bool, gauges: &[(&'static str, f64)]) -> PathStanding {
    PathStanding { path: path.into(), active, gauges: gauges.to_vec() }
}

/// Message 7, which was made at 1 s and had 1 s of time, was never sent: its sender dropped it at 1.388 s.
fn never_sent(cause: DropCause) -> Explanation {
    let mut never = explanation();
    let dropped = DropTrace {
        at: ms(1388),
        cause,
        expires: Some(ms(2000)),
        sent: 0,
        missing: 0,
        unsent: 900,
        paths: vec![
            standing(
                "lte",
                true,
                &[
                    ("cwnd_bytes", 120e3),
                    ("in_flight_bytes", 118e3),
                    ("delivery_rate_bps", 468e3),
                    ("queue", 1.9),
                ],
            ),
            standing("wifi", true, &[("cwnd_bytes", 9e3), ("in_flight_bytes", 0.0), ("silence", 3.0)]),
            standing("dsl", false, &[]),
        ],
    };
    let message = message(7, Vec::new(), 0, 0);
    never.messages =
        vec![MessageTrace { complete: None, delivered: None, dropped: Some(dropped), ..message }];
    never.blockers.clear();
    let full = vec!["lte".to_owned()];
    let hold = Hold {
        by: HeldBy::CongestionWindow,
        from: ms(1050),
        to: ms(1900),
        behind: None,
        full,
        open: Vec::new(),
    };
    never.holds = vec![hold];
    never
}

#[test]
fn a_message_that_was_never_sent_says_why() {
    let never = never_sent(DropCause::Scheduler(GiveUp::TooLate));
    let text = report(&never, &run(), Query::Message(7));
    let expected = "\
Why, longest first:
   338.0 ms  the congestion window of lte was full
Message 7:
  submitted at 1.0000 s, accepted 2.0 ms later, when the send buffer had room behind 3 other messages
  never sent: given up after 388.0 ms, 612.0 ms before its lifetime ended: by the scheduler, since it would have been late \
by every path: lte (queue 1.90 s, 118 of 120 kB in flight, 0.47 Mbit/s delivered), wifi suspected and dsl not active; \
while it waited, longest: the congestion window of lte was full (338.0 ms)
";
    assert!(text.ends_with(expected), "{text}");
    let json: Value = serde_json::from_str(&as_json(&never, &run(), Query::Message(7))).expect("JSON");
    let dropped = &json["messages"][0]["dropped"];
    assert_eq!((&dropped["cause"], &dropped["at_s"]), (&"too-late".into(), &1.388.into()));
    assert_eq!((&dropped["waited_ms"], &dropped["left_ms"]), (&388.0.into(), &612.0.into()));
    assert_eq!((&dropped["sent_chunks"], &dropped["unsent_bytes"]), (&0.into(), &900.into()));
    assert_eq!(dropped["held"][0]["full"], serde_json::json!(["lte"]));
    assert_eq!((&dropped["paths"][0]["queue"], &dropped["paths"][2]["active"]), (&1.9.into(), &false.into()));
    assert!(text.contains(dropped["text"].as_str().expect("words")), "{json}");
    let plain = as_json(&explanation(), &run(), Query::Frame(4));
    assert!(!plain.contains("\"dropped\""), "only where one was");
}

/// Each cause has words and a name of its own.
#[test]
fn causes_are_told_apart() {
    let words: Vec<String> = DropCause::ALL
        .into_iter()
        .map(|cause| report(&never_sent(cause), &run(), Query::Message(7)))
        .map(|text| text.lines().find(|line| line.contains("never sent: ")).expect("it says why").to_owned())
        .collect();
    for (i, line) in words.iter().enumerate() {
        assert!(words[..i].iter().all(|other| other != line), "{line}");
    }
    assert!(words[0].contains(": its lifetime was over; while it waited, longest: "), "{}", words[0]);
}

/// Two of three chunks arrived, a third was lost, and 500 bytes were never sent.
#[test]
fn what_was_missing_of_a_message_that_was_given_up() {
    let mut begun = never_sent(DropCause::Expired);
    let message = &mut begun.messages[0];
    message.transmissions =
        vec![packet(1, 1001, Outcome::Arrived(ms(1036))), packet(2, 1002, Outcome::Lost(LossPlace::Queue))];
    let dropped = message.dropped.as_mut().expect("it was dropped");
    (dropped.at, dropped.sent, dropped.missing, dropped.unsent) = (ms(2012), 3, 1, 500);
    let text = report(&begun, &run(), Query::Message(7));
    let line = "  given up after 1.01 s, 12.0 ms after its lifetime had ended: its lifetime was over; \
        1 of 3 chunks sent had not arrived, 500 bytes were never sent\n";
    assert!(text.contains(line), "{text}");
    let json: Value = serde_json::from_str(&as_json(&begun, &run(), Query::Message(7))).expect("JSON");
    let dropped = &json["messages"][0]["dropped"];
    assert_eq!((&dropped["missing_chunks"], &dropped["left_ms"]), (&1.into(), &(-12.0).into()));
    // The other messages of a frame: the cause is named next to their numbers.
    begun.frame = explanation().frame;
    let first = MessageTrace { number: 5, ..begun.messages[0].clone() };
    begun.messages.insert(0, first);
    let text = report(&begun, &run(), Query::Frame(4));
    assert!(text.contains("\nMessage 5, which never arrived:\n"), "{text}");
    assert!(text.ends_with("Also late: message 7 (expired).\n"), "{text}");
}

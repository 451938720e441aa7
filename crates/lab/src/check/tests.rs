use std::path::Path;

use serde_json::Value;
use strandcast_schemes::Presets;

use super::check;
use crate::scenario::parse;

/// Three stations in a line; a frame reaches 250 m.
const LINE: &str = r#"
[run]
time = "100 s"
[radio.air]
place = { columns = 3, spacing = "300 m" }
[flows.a]
transport = "tcp"
from = "n0"
to = "n2"
app = { kind = "bulk" }
"#;

/// 1200 bytes over one hop: an acknowledgement takes a channel of its own.
#[test]
fn acknowledgements_that_come_less_often_leave_more_of_the_channel() {
    let rate = |every: &str| {
        let sets = [
            "flows.a.transport=sctp",
            "flows.a.to=n1",
            "flows.a.app.size=1200",
            "radio.air.place.spacing=200 m",
            every,
        ];
        let (text, json) = checked(&sets);
        let rate = json["flows"]["a"]["paths"].as_object().and_then(|paths| paths.values().next());
        rate.and_then(|path| path["fair_bps"].as_f64()).unwrap_or_else(|| panic!("{text}"))
    };
    // The exchange of a packet, and 1/N of the exchange of a SACK with `sack_frequency=N`.
    let (one, two, many) = (
        rate("flows.a.sctp.sack_frequency=1"),
        rate("flows.a.sctp.sack_frequency=2"),
        rate("flows.a.sctp.sack_frequency=1000"),
    );
    let (ack, half) = (1.0 / one - 1.0 / many, 1.0 / two - 1.0 / many);
    assert!((half / ack - 0.5).abs() < 0.01, "{one} {two} {many}");
    // RFC 9260, section 6.2: at least every second packet.
    assert_eq!(rate("run.time=100"), two);
}

fn checked(sets: &[&str]) -> (String, Value) {
    let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
    let scenario = parse(LINE, "net.toml", Path::new(""), &sets).unwrap_or_else(|error| panic!("{error}"));
    let check = check(&scenario, &[], &Presets, None).unwrap_or_else(|error| panic!("{error}"));
    (check.text(), check.json())
}

#[test]
fn ends_that_cannot_reach_each_other_are_told() {
    let (text, json) = checked(&[]);
    assert_eq!(json["packets"], 0.0, "{text}");
    let warnings = json["warnings"].as_array().expect("a list");
    assert_eq!(warnings.len(), 1, "{text}");
    let told = warnings[0].as_str().expect("a text");
    for words in ["flow a: n0 cannot reach n2 at the start", "radio air", "radio.air.medium.reception_range"]
    {
        assert!(told.contains(words), "{words}: {told}");
    }
    assert!(text.contains("air (no way)") && text.contains("no estimate"), "{text}");
    // As it says.
    let (text, json) = checked(&["radio.air.medium.reception_range=300 m"]);
    assert_eq!(json["warnings"], serde_json::json!([]), "{text}");
    assert!(json["packets"].as_f64().expect("a number") > 1000.0, "{text}");
}

/// A video of 4 Mbit/s, whose messages are given up when they are late, over 20 ms of delay.
const VIDEO: &str = r#"
[run]
time = "10 s"
[nodes.s]
[nodes.r]
[links.b]
from = "s"
to = "r"
rate = "10 Mbit/s"
delay = "10 ms"
[flows.v]
transport = "sctp"
scheme = "lia,fec=rlc"
from = "s"
to = "r"
app = { kind = "video", rate = "4 Mbit/s", size = 1000, deadline = "300 ms", expire = true }
"#;

fn video(sets: &[&str]) -> (String, Vec<String>) {
    let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
    let scenario = parse(VIDEO, "net.toml", Path::new(""), &sets).unwrap_or_else(|error| panic!("{error}"));
    let check = check(&scenario, &[], &Presets, None).unwrap_or_else(|error| panic!("{error}"));
    let warnings = check.warnings.iter().map(ToString::to_string).collect();
    (check.text(), warnings)
}

#[test]
fn what_repair_costs_is_told_before_a_run() {
    let (text, warnings) = video(&[]);
    // 5 % of 4 Mbit/s.
    let line = "  repair: random linear code, up to 5.0 % in addition to messages, 200 kbit/s at most, each over up to 128 messages, \
                where sending again would be too late\n";
    assert!(text.contains(line), "{text}");
    assert_eq!(warnings, [""; 0]);
    let (text, _) = video(&["flows.v.scheme=lia,fec=raptorq,redundancy=10 %,fec-when=always,fec-window=32"]);
    let line = "  repair: RaptorQ, up to 10.0 % in addition to messages, 400 kbit/s at most, each over up to 32 messages, as soon as \
                that allows\n";
    assert!(text.contains(line), "{text}");
    let (text, _) = video(&["flows.v.scheme=lia"]);
    assert!(!text.contains("repair"), "{text}");
}

#[test]
fn repair_that_does_little_is_warned_of() {
    let told = |sets: &[&str]| video(sets).1.join("\n");
    let reliable = "flow v: its messages are reliable: repair symbols (fec) cover only messages of a video with expire = true";
    assert_eq!(told(&["flows.v.app.expire=false"]), reliable);
    // 1344 of 1400 bytes are user data; a repair symbol has 18 bytes more than a message.
    let long = told(&["flows.v.app.size=1327"]);
    assert!(long.contains("messages of 1.33 kB are longer than the 1.33 kB that repair symbols"), "{long}");
    assert_eq!(told(&["flows.v.app.size=1326"]), "");
    // 8000 bit each: 5 % of 200 kbit/s are one in 800 ms.
    let slow = told(&["flows.v.app.rate=200 kbit/s"]);
    assert!(
        slow.contains("5.0 % of its rate are a repair symbol every 800 ms, and its deadline leaves 290 ms"),
        "{slow}"
    );
}

/// 4 Mbit/s, 500 kB in a second, over two paths, one of which repairs a loss after some 0.3 s.
#[test]
fn a_small_buffer_beside_a_slow_path_is_warned_of() {
    let second = "[links.c]\nfrom = \"s\"\nto = \"r\"\nrate = \"4 Mbit/s\"\ndelay = \"100 ms\"\n[flows.v]\npaths = { b = { via = [\"b\"] }, c = { via = [\"c\"] } }";
    let network = VIDEO.replace("[flows.v]", second).replace("10 Mbit/s", "4 Mbit/s");
    let told = |buffer: &str| {
        let set = format!("flows.v.sctp.receive_buffer={buffer}");
        let scenario =
            parse(&network, "net.toml", Path::new(""), &[set]).unwrap_or_else(|error| panic!("{error}"));
        let check = check(&scenario, &[], &Presets, None).unwrap_or_else(|error| panic!("{error}"));
        check.warnings.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
    };
    let warning = told("125000");
    assert!(warning.contains("until a loss on path c is repaired"), "{warning}");
    assert!(!told("200000").contains("is repaired"), "{}", told("200000"));
}

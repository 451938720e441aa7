use super::check;
use serde_json::Value;
use std::path::Path;
use strandcast_lab::scenario::parse;
use strandcast_schemes::Presets;

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
    // A packet's exchange and so many parts of a SACK's.
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
    let check = check(&scenario, &[], &Presets).unwrap_or_else(|error| panic!("{error}"));
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

//! A line of statistics.

use std::time::{SystemTime, UNIX_EPOCH};

use serde::Serialize;
use serde_json::{Map, Value};

use crate::live::event::Event;
use crate::live::stats::{Role, Stats, StreamState};
use crate::text::rfc3339;

/// A line of statistics: figures, an event, or the state of a stream without figures. Several runs of a program may
/// write to the same file.
#[derive(Clone, Debug, Serialize)]
pub struct Line {
    /// Time of day, in UTC.
    time: String,
    /// Seconds since the start of the program.
    uptime_s: f64,
    /// Name of the stream at a server.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(flatten)]
    what: What,
}

/// Content of a line.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub(super) enum What {
    Figures(Box<Stats>),
    Idle(Idle),
    Event(Happened),
}

/// State of a stream without figures, because it has no connection or no sender.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Idle {
    pub(super) interval_s: f64,
    pub(super) role: Role,
    pub(super) stream: Option<String>,
    pub(super) state: StreamState,
}

/// An event.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Happened {
    pub(super) role: Role,
    pub(super) stream: Option<String>,
    pub(super) event: String,
    pub(super) text: String,
    /// Number of earlier events that were left out because there were too many events.
    #[serde(skip_serializing_if = "is_zero")]
    pub(super) left_out: u64,
    #[serde(flatten)]
    pub(super) fields: Map<String, Value>,
}

impl Line {
    /// Makes a line with the present time.
    pub(super) fn now(uptime_s: f64, name: Option<String>, what: What) -> Line {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let time = rfc3339(u64::try_from(since.as_millis()).unwrap_or(u64::MAX));
        Line { time, uptime_s, name, what }
    }

    /// Sets the name of the stream in the line.
    pub fn named(self, name: &str) -> Line {
        Line { name: Some(name.to_owned()), ..self }
    }

    /// Returns the line as text, without a line end.
    pub fn text(&self) -> String {
        serde_json::to_string(self).expect("numbers and names always serialise")
    }

    /// Returns the line as a JSON value.
    pub fn value(&self) -> Value {
        serde_json::to_value(self).expect("numbers and names always serialise")
    }
}

impl Happened {
    /// Makes the content of a line from an event of a stream.
    pub(super) fn of(
        event: &Event,
        text: &str,
        role: Role,
        stream: Option<String>,
        left_out: u64,
    ) -> Happened {
        let (class, fields) = event.described();
        let mut fields = object(fields);
        fields.remove("role");
        Happened { role, stream, event: kebab(class), text: text.to_owned(), left_out, fields }
    }
}

/// Returns the keys of an object. Returns no keys for any other value.
pub(in crate::live) fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(keys) => keys,
        _ => Map::new(),
    }
}

/// `OutageOver` as `outage-over`.
pub(super) fn kebab(class: &str) -> String {
    let mut name = String::new();
    for c in class.chars() {
        if c.is_ascii_uppercase() && !name.is_empty() {
            name.push('-');
        }
        name.push(c.to_ascii_lowercase());
    }
    name
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_has_its_name_text_and_fields() {
        let event = Event::Waiting { why: "no route".into() };
        let text = event.to_string();
        let event = Happened::of(&event, &text, Role::Send, Some("0000beef".into()), 3);
        let line = Line::now(2.5, None, What::Event(event)).value();
        assert!(line["time"].as_str().is_some_and(|time| time.len() == 24 && time.ends_with('Z')), "{line}");
        let expected = serde_json::json!({
            "time": line["time"], "uptime_s": 2.5, "role": "send", "stream": "0000beef", "event": "waiting",
            "text": "no route; trying again", "left_out": 3, "why": "no route",
        });
        assert_eq!(line, expected);
        assert_eq!(kebab("DropsOver"), "drops-over");
    }
}

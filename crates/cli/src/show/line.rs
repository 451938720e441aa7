//! Lines of `--stats` with figures, with events, or for times without figures.

use std::time::{SystemTime, UNIX_EPOCH};

use serde::Serialize;
use serde_json::{Map, Value};
use strandcast::live::{Event, Role, StreamState};
use strandcast::text::rfc3339;

/// A line. Several runs of the command may write to the same file.
#[derive(Debug, Serialize)]
pub(super) struct Line<'a, T> {
    /// Time of day, in UTC.
    time: String,
    /// Seconds since the start of the command.
    uptime_s: f64,
    /// Name of the stream at a server.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    #[serde(flatten)]
    what: &'a T,
}

impl<'a, T: Serialize> Line<'a, T> {
    /// Makes a line with the present time.
    pub(super) fn now(uptime_s: f64, what: &'a T) -> Line<'a, T> {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let time = rfc3339(u64::try_from(since.as_millis()).unwrap_or(u64::MAX));
        Line { time, uptime_s, name: None, what }
    }

    /// Adds the name of a server's stream to the line.
    pub(super) fn named(self, name: Option<&'a str>) -> Line<'a, T> {
        Line { name, ..self }
    }

    /// Returns the line as text.
    pub(super) fn text(&self) -> String {
        serde_json::to_string(self).expect("numbers and names always serialise")
    }

    /// Returns the line as a JSON value.
    pub(super) fn value(&self) -> Value {
        serde_json::to_value(self).expect("numbers and names always serialise")
    }
}

/// A line for a time without figures, because there is no connection or no sender.
#[derive(Debug, Serialize)]
pub(super) struct IdleLine<'a> {
    pub(super) interval_s: f64,
    pub(super) role: Role,
    pub(super) stream: Option<&'a str>,
    pub(super) state: StreamState,
}

/// An event.
#[derive(Debug, Serialize)]
pub(super) struct EventLine<'a> {
    role: Role,
    stream: Option<&'a str>,
    event: String,
    text: &'a str,
    /// Number of earlier events that were left out because there were too many events.
    #[serde(skip_serializing_if = "is_zero")]
    left_out: u64,
    #[serde(flatten)]
    fields: Map<String, Value>,
}

impl<'a> EventLine<'a> {
    /// Makes the line of an event with this text.
    pub(super) fn of(
        event: &Event,
        text: &'a str,
        role: Role,
        stream: Option<&'a str>,
        left_out: u64,
    ) -> Self {
        let (class, fields) = event.described();
        let mut fields = object(fields);
        fields.remove("role");
        EventLine { role, stream, event: kebab(class), text, left_out, fields }
    }

    /// Makes the line of an event of the command itself.
    pub(super) fn of_command(
        event: &str,
        text: &'a str,
        role: Role,
        fields: Map<String, Value>,
        left_out: u64,
    ) -> Self {
        EventLine { role, stream: None, event: event.to_owned(), text, left_out, fields }
    }
}

/// Returns the keys of an object. Returns no keys for any other value.
pub(crate) fn object(value: Value) -> Map<String, Value> {
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
        let line = EventLine::of(&event, &text, Role::Send, Some("0000beef"), 3);
        let line = Line::now(2.5, &line).value();
        assert!(line["time"].as_str().is_some_and(|time| time.len() == 24 && time.ends_with('Z')), "{line}");
        let expected = serde_json::json!({
            "time": line["time"], "uptime_s": 2.5, "role": "send", "stream": "0000beef", "event": "waiting",
            "text": "no route; trying again", "left_out": 3, "why": "no route",
        });
        assert_eq!(line, expected);
        assert_eq!(kebab("DropsOver"), "drops-over");
    }
}

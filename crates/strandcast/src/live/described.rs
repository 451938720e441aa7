//! Events as names and values, for outputs and other languages.

use std::time::Duration;

use serde_json::{Value, json};

use super::event::Event;
use super::links::PathTrouble;
use super::receiver::ListenChange;
use super::stats::StreamEvent;
use crate::pairing::{GateEvent, fingerprint};

impl Event {
    /// Returns the name of the event as a class name, and the fields of the event. An event without fields has the name
    /// `Event`.
    pub fn described(&self) -> (&'static str, Value) {
        described(self)
    }
}

fn described(event: &Event) -> (&'static str, Value) {
    match event {
        Event::Stats(stats) => ("Stats", json!({ "stats": **stats })),
        Event::Missed(events) => ("Missed", json!({ "events": events })),
        Event::Diagnostic(found) => ("Diagnostic", json!({ "scheme": found.scheme, "what": found.text })),
        Event::Stream { seconds, peer, what } => playout(*seconds, peer, what),
        Event::Unprotected(role) => ("Unprotected", json!({ "role": role })),
        Event::Encrypted(cipher) => ("Encrypted", json!({ "cipher": cipher.to_string() })),
        Event::Socket(change) => socket(change),
        Event::Gate(event) => gate(event),
        Event::Sent(summary) => ("Sent", json!({ "summary": **summary })),
        Event::Received(summary) => ("Received", json!({ "summary": **summary })),
        other => sender(other),
    }
}

fn sender(event: &Event) -> (&'static str, Value) {
    match event {
        Event::Sending { input, to, over } => ("Sending", json!({ "input": input, "to": to, "over": over })),
        Event::PathMissing { path, why } => ("PathMissing", json!({ "path": path, "why": why })),
        Event::Pace { input, how } => ("Pace", json!({ "input": input, "how": how })),
        Event::ShortLatency { latency, rtt } => {
            ("ShortLatency", json!({ "latency": latency.as_secs_f64(), "rtt": rtt.as_secs_f64() }))
        }
        Event::NoMedia { input, like } => ("NoMedia", json!({ "input": input, "like": like })),
        Event::Capped { link, left } => ("Capped", json!({ "link": link, "left": left })),
        Event::Allowance { link, left, of, until } => {
            ("Allowance", json!({ "link": link, "left": left, "of": of, "until": until }))
        }
        Event::Ledger { why } => ("Ledger", json!({ "why": why })),
        Event::Waiting { why } => ("Waiting", json!({ "why": why })),
        Event::Lost { why } => ("Lost", json!({ "why": why })),
        Event::Refused { why } => ("Refused", json!({ "why": why })),
        Event::Connected { peer, after } => {
            ("Connected", json!({ "peer": peer, "after": after.map(|after| after.as_secs_f64()) }))
        }
        Event::Admitted { peer } => ("Admitted", json!({ "peer": peer })),
        Event::Path { path, trouble } => path_changed(path, trouble),
        Event::Dropped(drops) => ("Dropped", json!(drops)),
        Event::DropsOver { messages, after } => {
            ("DropsOver", json!({ "messages": messages, "after": after.as_secs_f64() }))
        }
        Event::Idle { what, role } => ("Idle", json!({ "what": what, "role": role })),
        Event::InputTrouble { input, why } => ("InputTrouble", json!({ "input": input, "why": why })),
        Event::IdleOver { what, after } => {
            ("IdleOver", json!({ "what": what, "after": after.as_secs_f64() }))
        }
        Event::Advice { seconds, advice } => {
            let (rate, safe) = (advice.rate_bps, advice.safe_bps);
            ("Advice", json!({ "seconds": seconds, "rate_bps": rate, "safe_bps": safe }))
        }
        other => receiver(other),
    }
}

fn receiver(event: &Event) -> (&'static str, Value) {
    match event {
        Event::Listening { addresses, output } => {
            let addresses: Vec<String> = addresses.iter().map(ToString::to_string).collect();
            ("Listening", json!({ "addresses": addresses, "output": output }))
        }
        Event::Receiving { peer, latency } => {
            ("Receiving", json!({ "peer": peer, "latency": latency.as_secs_f64() }))
        }
        Event::Resumed { before, peer, after } => {
            ("Resumed", json!({ "before": before, "peer": peer, "after": after.as_secs_f64() }))
        }
        Event::Replaced { before, peer, same_key, silent } => {
            let silent = Duration::as_secs_f64(silent);
            ("Replaced", json!({ "before": before, "peer": peer, "same_key": same_key, "silent": silent }))
        }
        Event::Busy { peer, current } => ("Busy", json!({ "peer": peer, "current": current })),
        Event::OtherVersion { peer, version, reads } => {
            ("OtherVersion", json!({ "peer": peer, "version": version, "reads": reads }))
        }
        Event::Recording { output } => ("Recording", json!({ "output": output })),
        Event::NotRecorded { output } => ("NotRecorded", json!({ "output": output })),
        Event::Unread { output } => ("Unread", json!({ "output": output })),
        Event::Slate { slate } => ("Slate", json!({ "slate": slate })),
        Event::SlateOver { after } => ("SlateOver", json!({ "after": after.as_secs_f64() })),
        Event::OutputTrouble { output, why } => ("OutputTrouble", json!({ "output": output, "why": why })),
        Event::OutputFailed { output, why } => ("OutputFailed", json!({ "output": output, "why": why })),
        Event::ReadAgain { output, messages } => {
            ("ReadAgain", json!({ "output": output, "messages": messages }))
        }
        Event::SenderLost { why } => ("SenderLost", json!({ "why": why })),
        // The earlier arms describe the other events.
        _ => ("Event", json!({})),
    }
}

fn playout(seconds: f64, peer: &str, what: &StreamEvent) -> (&'static str, Value) {
    match what {
        StreamEvent::Shift { by_ms, shift_ms, why } => {
            let fields = json!({
                "seconds": seconds, "peer": peer, "by_ms": by_ms, "shift_ms": shift_ms, "why": why,
            });
            ("Shift", fields)
        }
        StreamEvent::ShiftReturned => ("ShiftReturned", json!({ "seconds": seconds, "peer": peer })),
        StreamEvent::Outage { lost, .. } => {
            ("Outage", json!({ "seconds": seconds, "peer": peer, "lost": lost }))
        }
        StreamEvent::OutageOver { outage_s, lost, returned, .. } => {
            let fields = json!({
                "seconds": seconds, "peer": peer, "outage_s": outage_s, "lost": lost, "returned": returned,
            });
            ("OutageOver", fields)
        }
        StreamEvent::ClockJump { by_ms } => {
            ("ClockJump", json!({ "seconds": seconds, "peer": peer, "by_ms": by_ms }))
        }
    }
}

fn path_changed(path: &str, trouble: &PathTrouble) -> (&'static str, Value) {
    let (mut before, mut after) = (None, None);
    let (state, why) = match trouble {
        PathTrouble::Joined => ("joined", None),
        PathTrouble::Returned(time) => {
            after = Some(time.as_secs_f64());
            ("returned", None)
        }
        PathTrouble::Gone(why) => ("gone", Some(why)),
        PathTrouble::LeftOut(why) => ("left-out", Some(why)),
        PathTrouble::Renamed(name) => {
            before = Some(name);
            ("renamed", None)
        }
        PathTrouble::Narrow { now, .. } => {
            let none = Value::Null;
            let fields = json!({
                "path": path, "state": "narrow", "why": none, "before": none, "after": none, "mtu": now,
            });
            return ("Path", fields);
        }
        PathTrouble::Silent => ("silent", None),
        PathTrouble::Failed => ("failed", None),
        PathTrouble::Over => ("over", None),
        PathTrouble::Mute(why) => ("mute", Some(why)),
    };
    ("Path", json!({ "path": path, "state": state, "why": why, "before": before, "after": after }))
}

fn socket(change: &ListenChange) -> (&'static str, Value) {
    let (state, address, why) = match change {
        ListenChange::Lost { address, why } => ("lost", Some(address.to_string()), Some(why)),
        ListenChange::Failed { why } => ("failed", None, Some(why)),
        ListenChange::Restored { address } => ("restored", Some(address.to_string()), None),
    };
    ("Socket", json!({ "state": state, "address": address, "why": why }))
}

fn gate(event: &GateEvent) -> (&'static str, Value) {
    match event {
        GateEvent::Enrolled { key } => ("Enrolled", json!({ "sender": fingerprint(key) })),
        GateEvent::Refused { key, from, known } => {
            let (sender, address) = (fingerprint(key), from.to_string());
            ("NotAdmitted", json!({ "sender": sender, "address": address, "known": known }))
        }
        GateEvent::OtherVersion { from, version } => {
            ("OtherSealVersion", json!({ "address": from.to_string(), "version": version }))
        }
        GateEvent::Store(what) => ("StoreTrouble", json!({ "what": what })),
    }
}

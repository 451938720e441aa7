//! The explanation as JSON.

use std::time::Duration;

use serde_json::{Value, json};
use strandcast_proto::time::Instant;

use super::{dropped, words};
use crate::result::RunName;
use crate::result::meter::LossPlace;
use crate::simulation::{
    Cause, DropTrace, Explanation, Hop, MessageTrace, Outcome, PathStanding, Query, Transmission,
};

/// Name of the JSON schema.
const SCHEMA: &str = "strandcast-explain-1";

/// The whole trace of a message or frame.
pub fn as_json(explanation: &Explanation, run: &RunName, query: Query) -> String {
    let writer = Writer { origin: explanation.origin };
    let (frame, message) = match query {
        Query::Frame(number) => (Some(number), None),
        Query::Message(number) => (explanation.frame.map(|frame| frame.number), Some(number)),
    };
    let decisive = explanation.decisive();
    let late = explanation.due().zip(explanation.delivered()).map(|(due, at)| ms(at - due) - ms(due - at));
    let value = json!({
        "schema": SCHEMA,
        "flow": explanation.flow,
        "scheme": run.scheme,
        "seed": run.seed,
        "frame": frame,
        "message": message,
        "captured_s": writer.maybe(explanation.capture()),
        "due_s": writer.maybe(explanation.due()),
        "delivered_s": writer.maybe(explanation.delivered()),
        "late_ms": late,
        "decisive": decisive.map(|message| message.number),
        "why": decisive.map(|message| writer.why(explanation, message)),
        "waited_for": decisive.and_then(|m| explanation.blocker_of(m)).map(|message| message.number),
        "messages": explanation.messages.iter().map(|m| writer.message(explanation, m)).collect::<Vec<_>>(),
        "blockers": explanation.blockers.iter().map(|m| writer.message(explanation, m)).collect::<Vec<_>>(),
        "holders": decisive.map(|message| writer.holders(explanation, message)),
    });
    format!("{value:#}\n")
}

struct Writer {
    origin: Instant,
}

impl Writer {
    fn at(&self, at: Instant) -> f64 {
        (at - self.origin).as_secs_f64()
    }

    fn maybe(&self, at: Option<Instant>) -> Option<f64> {
        at.map(|at| self.at(at))
    }

    fn why(&self, explanation: &Explanation, message: &MessageTrace) -> Vec<Value> {
        let causes = explanation.why(message).into_iter();
        causes.map(|cause| self.cause(explanation, &cause)).collect()
    }

    fn cause(&self, explanation: &Explanation, cause: &Cause) -> Value {
        let at_fault = cause.message.and_then(|number| explanation.message(number));
        let last = at_fault.and_then(|m| m.completed_by().or(m.transmissions.last()));
        json!({
            "kind": words::kind(cause.kind),
            "text": words::cause(explanation, cause),
            "from_s": self.at(cause.from),
            "to_s": self.at(cause.to),
            "time_ms": ms(cause.time),
            "message": cause.message,
            "longest_ms": cause.message.map(|_| ms(cause.longest)),
            "messages": cause.messages,
            "transmissions": last.map(|t| t.nth),
            "path": last.map(|t| &t.path),
            "full": cause.full,
            "open": cause.open,
        })
    }

    /// Messages that blocked the receive window, if `why` names them.
    fn holders(&self, explanation: &Explanation, message: &MessageTrace) -> Vec<Value> {
        let causes = explanation.why(message);
        let named = explanation.holders.iter().filter(|m| causes.iter().any(|c| c.message == Some(m.number)));
        named.map(|m| self.message(explanation, m)).collect()
    }

    fn message(&self, explanation: &Explanation, message: &MessageTrace) -> Value {
        let mut value = json!({
            "number": message.number,
            "bytes": message.bytes,
            "created_s": self.at(message.created),
            "taken_s": self.at(message.taken),
            "ahead": message.ahead,
            "complete_s": self.maybe(message.complete),
            "delivered_s": self.maybe(message.delivered),
            "transmissions": message.transmissions.iter().map(|t| self.packet(t)).collect::<Vec<_>>(),
        });
        if let Some((first, last)) = message.blocks {
            value["blocks"] = json!([first, last]);
        }
        if message.recovered {
            value["recovered"] = Value::Bool(true);
        }
        if let Some(dropped) = &message.dropped {
            value["dropped"] = self.dropped(explanation, message, dropped);
        }
        value
    }

    fn dropped(&self, explanation: &Explanation, message: &MessageTrace, dropped: &DropTrace) -> Value {
        let held = dropped::held(explanation, message, dropped);
        json!({
            "cause": dropped.cause.name(),
            "text": dropped::words(explanation, message, dropped),
            "at_s": self.at(dropped.at),
            "waited_ms": ms(dropped.at - message.created),
            "left_ms": dropped.expires.map(|expires| ms(expires - dropped.at) - ms(dropped.at - expires)),
            "sent_chunks": dropped.sent,
            "missing_chunks": dropped.missing,
            "unsent_bytes": dropped.unsent,
            "held": held.iter().map(|cause| self.cause(explanation, cause)).collect::<Vec<_>>(),
            "paths": dropped.paths.iter().map(path_json).collect::<Vec<_>>(),
        })
    }

    fn packet(&self, packet: &Transmission) -> Value {
        let (outcome, at) = match packet.outcome {
            Outcome::Arrived(at) => ("arrived", Some(at)),
            Outcome::Duplicate(at) => ("duplicate", Some(at)),
            Outcome::Refused(at) => ("refused", Some(at)),
            Outcome::Lost(LossPlace::Queue) => ("lost-queue", None),
            Outcome::Lost(LossPlace::Random) => ("lost-random", None),
            Outcome::Lost(LossPlace::Down) => ("lost-down", None),
            Outcome::Lost(LossPlace::Routing) => ("lost-routing", None),
            Outcome::UnderWay => ("under-way", None),
        };
        let mut value = json!({
            "packet": packet.packet,
            "path": packet.path,
            "sent_s": self.at(packet.sent),
            "length": packet.len,
            "again": packet.retransmission,
            "nth": packet.nth,
            "timeout_s": self.maybe(packet.timeout),
            "host_ms": packet.host().map(ms),
            "outcome": outcome,
            "arrived_s": self.maybe(at),
            "hops": packet.hops.iter().map(hop_json).collect::<Vec<_>>(),
        });
        if let Some(symbol) = packet.symbol {
            value["symbol"] = symbol.to_string().into();
        }
        value
    }
}

fn path_json(path: &PathStanding) -> Value {
    let mut value = json!({ "path": path.path, "active": path.active });
    path.gauges.iter().for_each(|(name, gauge)| value[name] = json!(gauge));
    value
}

fn hop_json(hop: &Hop) -> Value {
    json!({
        "link": hop.link,
        "queue_ms": hop.queued().map(ms),
        "serialisation_ms": hop.serialisation().map(ms),
        "propagation_ms": hop.propagation().map(ms),
    })
}

fn ms(d: Duration) -> f64 {
    d.as_secs_f64() * 1e3
}

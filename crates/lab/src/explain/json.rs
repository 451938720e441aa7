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
        // Version of this format: `strandcast-explain-1`.
        "schema": SCHEMA,
        // Name of the flow.
        "flow": explanation.flow,
        // The scheme of the run.
        "scheme": run.scheme,
        // The seed of the run.
        "seed": run.seed,
        // Number of the frame, from 0 in sending order.
        "frame": frame,
        // Number of the message; null unless a message was asked for.
        "message": message,
        // Time of capture, seconds since the start of the flows.
        "captured_s": writer.maybe(explanation.capture()),
        // Time at which the frame or message is due.
        "due_s": writer.maybe(explanation.due()),
        // Time of delivery; null: never.
        "delivered_s": writer.maybe(explanation.delivered()),
        // Delivery less due time; negative: in time.
        "late_ms": late,
        // Number of the message that arrived last.
        "decisive": decisive.map(|message| message.number),
        // Causes of the delay of the decisive message, from its submission to its delivery, in order of time, each
        // once. Causes of less than a hundredth of its wait in its host are left out.
        "why": decisive.map(|message| writer.why(explanation, message)),
        // Number of the message that blocked the decisive one.
        "waited_for": decisive.and_then(|m| explanation.blocker_of(m)).map(|message| message.number),
        // All messages of the frame.
        "messages": explanation.messages.iter().map(|m| writer.message(explanation, m)).collect::<Vec<_>>(),
        // Earlier messages that arrived after one of `messages`, with the keys of a message.
        "blockers": explanation.blockers.iter().map(|m| writer.message(explanation, m)).collect::<Vec<_>>(),
        // Other messages that `why` names, with the keys of a message.
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
            // The cause, by its name below.
            "kind": words::kind(cause.kind),
            // The cause in words.
            "text": words::cause(explanation, cause),
            // Its start.
            "from_s": self.at(cause.from),
            // Its end.
            "to_s": self.at(cause.to),
            // Its total time; other causes may interleave.
            "time_ms": ms(cause.time),
            // Number of the message at fault, if one is.
            "message": cause.message,
            // Longest time for which `message` was at fault.
            "longest_ms": cause.message.map(|_| ms(cause.longest)),
            // Number of messages at fault in turn.
            "messages": cause.messages,
            // Number of transmissions that `message` needed.
            "transmissions": last.map(|t| t.nth),
            // Path of the last of these transmissions.
            "path": last.map(|t| &t.path),
            // Paths whose congestion windows were full.
            "full": cause.full,
            // Paths that would have taken another packet.
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
            // Number of the message, from 0 in sending order.
            "number": message.number,
            // Its length.
            "bytes": message.bytes,
            // Time of its submission.
            "created_s": self.at(message.created),
            // Time at which the transport accepted it.
            "taken_s": self.at(message.taken),
            // Number of earlier messages that were not yet sent at all.
            "ahead": message.ahead,
            // Time at which all of it had arrived.
            "complete_s": self.maybe(message.complete),
            // Time of its delivery.
            "delivered_s": self.maybe(message.delivered),
            // The packets that carried it.
            "transmissions": message.transmissions.iter().map(|t| self.packet(t)).collect::<Vec<_>>(),
        });
        if let Some((first, last)) = message.blocks {
            // First and last coded block of the message, where the flow codes in blocks.
            value["blocks"] = json!([first, last]);
        }
        if message.recovered {
            // True if a repair symbol recovered the message; otherwise absent.
            value["recovered"] = Value::Bool(true);
        }
        if let Some(dropped) = &message.dropped {
            // Why the sender dropped the message, if it did.
            value["dropped"] = self.dropped(explanation, message, dropped);
        }
        value
    }

    fn dropped(&self, explanation: &Explanation, message: &MessageTrace, dropped: &DropTrace) -> Value {
        let held = dropped::held(explanation, message, dropped);
        json!({
            // The cause, by its name in the list of messages that are given up.
            "cause": dropped.cause.name(),
            // The line in words.
            "text": dropped::words(explanation, message, dropped),
            // Time of the drop.
            "at_s": self.at(dropped.at),
            // Time since the submission of the message.
            "waited_ms": ms(dropped.at - message.created),
            // Rest of its lifetime; below 0: it was over, null: it had none.
            "left_ms": dropped.expires.map(|expires| ms(expires - dropped.at) - ms(dropped.at - expires)),
            // Number of its chunks that were sent.
            "sent_chunks": dropped.sent,
            // Number of sent chunks that had not arrived.
            "missing_chunks": dropped.missing,
            // Number of bytes that were not sent.
            "unsent_bytes": dropped.unsent,
            // Causes that held the sender until then, longest first, as in `why`.
            "held": held.iter().map(|cause| self.cause(explanation, cause)).collect::<Vec<_>>(),
            // State of each path: `path`, `active` (it answers, and is not suspended), and the values of the transport
            // and its scheme, named as in time series. `queue` is the queueing delay in seconds of the scheme. If
            // `silence` is 3 or more, the scheme suspects the path.
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
            // Number of the packet in the run.
            "packet": packet.packet,
            // Path of the packet.
            "path": packet.path,
            // Time of its departure.
            "sent_s": self.at(packet.sent),
            // Bytes at IP level.
            "length": packet.len,
            // True for a retransmission.
            "again": packet.retransmission,
            // Number of the transmission of this part of the message, from 1.
            "nth": packet.nth,
            // Time at which the retransmission timer expired for it; null: it did not, or not before its next
            // transmission.
            "timeout_s": self.maybe(packet.timeout),
            // Time at the host.
            "host_ms": packet.host().map(ms),
            // `arrived`, `duplicate`, `refused`, `lost-queue`, `lost-random`, `lost-down`, `lost-routing` or
            // `under-way`.
            "outcome": outcome,
            // Time of its arrival.
            "arrived_s": self.maybe(at),
            // Links that the packet crosses.
            "hops": packet.hops.iter().map(hop_json).collect::<Vec<_>>(),
        });
        if let Some(symbol) = packet.symbol {
            // The symbol that the packet carries, where the flow codes, as in a trace.
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
        // Name of the link.
        "link": hop.link,
        // Time in its queue.
        "queue_ms": hop.queued().map(ms),
        // Time in its transmitter.
        "serialisation_ms": hop.serialisation().map(ms),
        // Propagation delay.
        "propagation_ms": hop.propagation().map(ms),
    })
}

fn ms(d: Duration) -> f64 {
    d.as_secs_f64() * 1e3
}

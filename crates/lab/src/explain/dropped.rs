//! Text with the reason why a sender dropped a message.

use std::time::Duration;

use strandcast_proto::association::DropCause;
use strandcast_proto::policy::{GiveUp, QUEUE, SILENCE, SUSPECTED};

use super::words::{self, duration, list};
use crate::simulation::{Cause, CauseKind, DropTrace, Explanation, MessageTrace, PathStanding};

/// Reason why a message was dropped. Example: `never sent: given up after 388.0 ms, 612.0 ms before its lifetime ended:
/// by the scheduler, …`.
pub(super) fn words(explanation: &Explanation, message: &MessageTrace, dropped: &DropTrace) -> String {
    let after = format!("after {}{}", duration(dropped.at - message.created), lifetime(dropped));
    let reason = reason(dropped);
    if dropped.sent > 0 {
        return format!("given up {after}: {reason}; {}", left(dropped));
    }
    let held = held(explanation, message, dropped);
    let longest = held.first().map_or(String::new(), |cause| {
        let cause_words = words::cause(explanation, cause);
        format!("; while it waited, longest: {cause_words} ({})", duration(cause.time))
    });
    format!("never sent: given up {after}: {reason}{longest}")
}

/// Text with the time between the drop and the end of the message's lifetime.
fn lifetime(dropped: &DropTrace) -> String {
    match dropped.expires {
        None => String::new(),
        Some(expires) if expires > dropped.at => {
            format!(", {} before its lifetime ended", duration(expires - dropped.at))
        }
        Some(expires) if expires == dropped.at => ", when its lifetime ended".into(),
        Some(expires) => format!(", {} after its lifetime had ended", duration(dropped.at - expires)),
    }
}

fn reason(dropped: &DropTrace) -> String {
    let paths = || dropped.paths.iter().map(standing).collect::<Vec<_>>();
    match dropped.cause {
        DropCause::Expired => "its lifetime was over".into(),
        DropCause::Scheduler(GiveUp::TooLate) if dropped.paths.is_empty() => {
            "by the scheduler, since it would have been late by every path".into()
        }
        DropCause::Scheduler(GiveUp::TooLate) => {
            format!("by the scheduler, since it would have been late by every path: {}", list(&paths()))
        }
        DropCause::Scheduler(GiveUp::TooFar) => {
            "by the scheduler, since the ways alone take longer than it had".into()
        }
        DropCause::Scheduler(GiveUp::MakesWay) => {
            "by the scheduler, since it kept what followed it from a path that would bring that in time"
                .into()
        }
        DropCause::Group => {
            "the scheme gave up its whole frame, since not all that waited could be in time".into()
        }
        DropCause::LossPolicy => "the loss policy did not send again what was lost".into(),
        DropCause::Ended => "the association ended".into(),
    }
}

/// Text about the part of a message that was sent but had not arrived.
fn left(dropped: &DropTrace) -> String {
    let DropTrace { sent, missing, unsent, .. } = dropped;
    let arrived = match missing {
        0 => "all that was sent of it had arrived".to_owned(),
        _ => format!("{missing} of {sent} chunks sent had not arrived"),
    };
    if *unsent > 0 { format!("{arrived}, {unsent} bytes were never sent") } else { arrived }
}

/// State of a path in words. Examples: `lte (queue 1.90 s, 118 of 120 kB in flight, 0.47 Mbit/s delivered)`, `wifi
/// suspected`, `dsl not active`.
fn standing(path: &PathStanding) -> String {
    let name = &path.path;
    if !path.active {
        return format!("{name} not active");
    }
    if path.gauge(SILENCE).is_some_and(|verdict| verdict >= SUSPECTED) {
        return format!("{name} suspected");
    }
    let queue = path.gauge(QUEUE).map(|s| format!("queue {}", duration(Duration::from_secs_f64(s.max(0.0)))));
    let flight = path.gauge("in_flight_bytes").zip(path.gauge("cwnd_bytes"));
    let flight =
        flight.map(|(flight, cwnd)| format!("{:.0} of {:.0} kB in flight", flight / 1e3, cwnd / 1e3));
    let rate = path.gauge("delivery_rate_bps").map(|bps| format!("{:.2} Mbit/s delivered", bps / 1e6));
    let facts: Vec<String> = queue.into_iter().chain(flight).chain(rate).collect();
    if facts.is_empty() { name.clone() } else { format!("{name} ({})", facts.join(", ")) }
}

/// Text with the conditions that held the sender back. It covers the time from the submission of the message to its
/// drop.
pub(super) fn held(explanation: &Explanation, message: &MessageTrace, dropped: &DropTrace) -> Vec<Cause> {
    let mut causes = explanation.why(message);
    let sender = |kind| matches!(kind, CauseKind::Held(_) | CauseKind::SendBuffer);
    causes.retain(|cause| sender(cause.kind) && cause.from < dropped.at);
    causes.sort_by_key(|cause| std::cmp::Reverse(cause.time));
    causes
}

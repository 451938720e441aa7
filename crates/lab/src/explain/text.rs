//! The explanation as text.

use std::fmt::Write as _;
use std::time::Duration;

use strandcast_keys::text::printable;
use strandcast_proto::time::Instant;

use super::dropped;
use super::words::{self, duration, given_up, place_of};
use crate::result::RunName;
use crate::simulation::{Cause, Explanation, Hop, MessageTrace, Outcome, Query, Transmission};

/// Least share of a message's total time. Causes with a smaller share are not listed.
const MIN_SHARE: f64 = 0.05;

/// Report on a message or frame. The report has the causes of its delay, the longest one first, and tables of the
/// relevant packets.
pub fn report(explanation: &Explanation, run: &RunName, query: Query) -> String {
    let formatter = Formatter { explanation };
    let mut lines = vec![formatter.head(run, query)];
    let Some(message) = explanation.decisive() else {
        lines.push("It was not submitted before the run ended.".into());
        return joined(&lines);
    };
    lines.extend(formatter.verdict());
    let causes = main_causes(explanation, message);
    if !causes.is_empty() {
        lines.push("Why, longest first:".into());
        lines.extend(
            causes.iter().map(|c| format!("  {:>9}  {}", duration(c.time), words::cause(explanation, c))),
        );
    }
    let last = match (explanation.messages.len(), message.delivered) {
        (0..=1, _) => "",
        (_, Some(_)) => ", which arrived last",
        (_, None) => ", which never arrived",
    };
    lines.push(format!("Message {}{last}:", message.number));
    lines.extend(formatter.message(message));
    for other in others(explanation, message, &causes) {
        lines.push(format!("Message {}:", other.number));
        lines.extend(formatter.message(other));
    }
    let others = explanation.messages.iter().filter(|m| m.number != message.number);
    let late: Vec<String> = others.filter(|m| formatter.is_late(m)).map(numbered).collect();
    if !late.is_empty() {
        lines.push(format!("Also late: message {}.", late.join(", ")));
    }
    joined(&lines)
}

/// Number of a message. If the message was dropped, the cause of the drop follows: `3 (too-late)`.
fn numbered(message: &MessageTrace) -> String {
    let cause = message.dropped.as_ref().map(|dropped| format!(" ({})", dropped.cause.name()));
    format!("{}{}", message.number, cause.unwrap_or_default())
}

/// Joins lines, with control characters escaped.
fn joined(lines: &[String]) -> String {
    lines.iter().map(|line| format!("{}\n", printable(line))).collect()
}

/// The main causes of a message's delay. The longest one comes first.
fn main_causes(explanation: &Explanation, message: &MessageTrace) -> Vec<Cause> {
    let mut causes = explanation.why(message);
    let all: Duration = causes.iter().map(|cause| cause.time).sum();
    causes.sort_by_key(|cause| core::cmp::Reverse(cause.time));
    causes.retain(|cause| cause.time.as_secs_f64() >= MIN_SHARE * all.as_secs_f64());
    causes
}

/// Other messages named in `causes`, each once.
fn others<'a>(
    explanation: &'a Explanation,
    message: &MessageTrace,
    causes: &[Cause],
) -> Vec<&'a MessageTrace> {
    let mut named: Vec<&MessageTrace> = Vec::new();
    for other in causes.iter().filter_map(|cause| explanation.message(cause.message?)) {
        if other.number != message.number && named.iter().all(|m| m.number != other.number) {
            named.push(other);
        }
    }
    named
}

struct Formatter<'a> {
    explanation: &'a Explanation,
}

impl Formatter<'_> {
    fn head(&self, run: &RunName, query: Query) -> String {
        let Explanation { flow, frame, messages, .. } = self.explanation;
        let what = match (query, frame.and_then(|frame| frame.kind)) {
            (Query::Message(number), _) => format!("Message {number}"),
            (Query::Frame(number), None) => format!("Frame {number}"),
            (Query::Frame(number), Some(kind)) => format!("{kind:?} frame {number}"),
        };
        let bytes: u64 = messages.iter().map(|m| u64::from(m.bytes)).sum();
        let size = match messages.len() {
            0 => String::new(),
            1 => format!(" ({bytes} bytes)"),
            n => format!(" ({bytes} bytes in {n} messages)"),
        };
        format!("{what} of flow {flow}{size}, scheme {}, seed {}", run.scheme, run.seed)
    }

    fn verdict(&self) -> Vec<String> {
        let explanation = self.explanation;
        let Some(first) = explanation.messages.first() else { return Vec::new() };
        let begun = match explanation.capture() {
            Some(capture) => format!("It was captured at {}", self.at(capture)),
            None => format!("It was submitted at {}", self.at(first.created)),
        };
        let since = explanation.capture().unwrap_or(first.created);
        let ended = match (explanation.delivered(), explanation.due()) {
            (Some(at), Some(due)) if at <= due => {
                format!(
                    "complete at {}, {} before it was due at {}",
                    self.at(at),
                    duration(due - at),
                    self.at(due)
                )
            }
            (Some(at), Some(due)) => {
                format!(
                    "complete at {}, {} after it was due at {}: late",
                    self.at(at),
                    duration(at - due),
                    self.at(due)
                )
            }
            (Some(at), None) => format!("delivered at {}, {} later", self.at(at), duration(at - since)),
            (None, Some(due)) if due <= explanation.end => {
                format!("due at {}, but never complete", self.at(due))
            }
            (None, _) => "not complete when the run ended".into(),
        };
        vec![format!("{begun}, {ended}.")]
    }

    fn message(&self, message: &MessageTrace) -> Vec<String> {
        let mut lines = vec![format!("  {}", self.waiting(message))];
        if let Some(dropped) = &message.dropped {
            lines.push(format!("  {}", dropped::words(self.explanation, message, dropped)));
        }
        if !message.transmissions.is_empty() {
            lines.push(format!("  {}", outcomes(message)));
            lines.extend(self.table(message).into_iter().map(|row| format!("    {row}")));
        }
        lines
    }

    /// Text about the time before the first transmission.
    fn waiting(&self, message: &MessageTrace) -> String {
        let mut words = format!("submitted at {}", self.at(message.created));
        let full = message.taken - message.created;
        if !full.is_zero() {
            let _ = write!(words, ", accepted {} later, when the send buffer had room", duration(full));
        }
        match (message.own().next(), message.ahead) {
            (Some(first), 0) => write!(words, ", sent after {}", duration(first.sent - message.created)),
            (Some(first), ahead) => {
                let after = duration(first.sent - message.created);
                write!(words, ", sent after {after} behind {ahead} other message{}", plural(ahead))
            }
            (None, ahead) => {
                let never = if message.dropped.is_some() { "" } else { ", never sent" };
                write!(words, " behind {ahead} other message{}{never}", plural(ahead))
            }
        }
        .expect("memory takes any text");
        words
    }

    fn table(&self, message: &MessageTrace) -> Vec<String> {
        let head = ["sent", "path", "host", "link", "queue", "serial", "prop", "outcome"];
        let mut rows: Vec<[String; 8]> = vec![head.map(str::to_owned)];
        for packet in &message.transmissions {
            let first = [self.at(packet.sent), packet.path.clone(), maybe(packet.host())];
            let mut cells = Some(first);
            for (i, hop) in packet.hops.iter().enumerate() {
                let last = i + 1 == packet.hops.len();
                let [sent, path, host] = cells.take().unwrap_or_default();
                let then = if last { self.outcome(packet) } else { String::new() };
                let (queue, serial, way) =
                    (maybe(hop.queued()), maybe(hop.serialisation()), maybe(propagation(packet, hop, last)));
                rows.push([sent, path, host, hop.link.clone(), queue, serial, way, then]);
            }
            if let Some([sent, path, host]) = cells {
                let [link, queue, serial, way] = [(); 4].map(|()| String::new());
                rows.push([sent, path, host, link, queue, serial, way, self.outcome(packet)]);
            }
        }
        aligned(&rows)
    }

    fn outcome(&self, packet: &Transmission) -> String {
        let symbol = packet.symbol.map_or(String::new(), |symbol| format!(" ({symbol})"));
        let how = match packet.outcome {
            Outcome::Arrived(at) => format!("arrived at {}{}", self.at(at), given_up(packet)),
            Outcome::Duplicate(at) => format!("arrived at {}, duplicate", self.at(at)),
            Outcome::Refused(at) => format!("arrived damaged at {}", self.at(at)),
            Outcome::Lost(place) => format!("lost: {}{}", place_of(place), given_up(packet)),
            Outcome::UnderWay => "in transit at the end".to_owned(),
        };
        how + &symbol
    }

    fn is_late(&self, message: &MessageTrace) -> bool {
        let due = self.explanation.due();
        due.is_some_and(|due| message.delivered.is_none_or(|at| at > due))
    }

    /// Formats a time as seconds since the flows' time 0.
    fn at(&self, at: Instant) -> String {
        format!("{:.4} s", (at - self.explanation.origin).as_secs_f64())
    }
}

/// Describes the outcome of a message's packets in a sentence.
fn outcomes(message: &MessageTrace) -> String {
    let (sent, lost) = (message.own().count(), message.losses());
    let packets = if sent == 1 { "in one packet".to_owned() } else { format!("in {sent} packets") };
    let mut words = match lost {
        0 => format!("sent {packets}, none lost"),
        _ => format!("sent {packets}, {lost} lost"),
    };
    if message.blocks.is_some() {
        let block = words::blocks(message);
        words = format!("in {block}, of which {sent} symbols were sent, {lost} lost");
    }
    match message.transmissions.len() - sent {
        0 => {}
        1 => words.push_str("; one repair symbol covers it"),
        n => {
            let _ = write!(words, "; {n} repair symbols cover it");
        }
    }
    if message.recovered {
        words.push_str("; recovered");
    }
    // Repair symbols that did not help to recover the message are left out.
    let its = message.transmissions.iter().filter(|t| !t.beside || message.recovered);
    let arrived = its.filter(|t| matches!(t.outcome, Outcome::Arrived(_)));
    if let Some(slowest) = arrived.max_by_key(|t| t.queued()) {
        let hop = slowest.hops.iter().max_by_key(|hop| hop.queued());
        if let Some((hop, queued)) =
            hop.and_then(|hop| Some((hop, hop.queued()?))).filter(|(_, q)| !q.is_zero())
        {
            let _ = write!(
                words,
                "; longest queue {} on link {} (path {})",
                duration(queued),
                hop.link,
                slowest.path
            );
        }
    }
    words
}

/// Propagation delay of a packet. If the packet was lost, the delay is unknown.
fn propagation(packet: &Transmission, hop: &Hop, last: bool) -> Option<Duration> {
    hop.propagation().filter(|_| !(last && matches!(packet.outcome, Outcome::Lost(_))))
}

fn maybe(d: Option<Duration>) -> String {
    d.map_or("-".to_owned(), duration)
}

fn plural(n: u64) -> &'static str {
    if n == 1 { "" } else { "s" }
}

fn aligned(rows: &[[String; 8]]) -> Vec<String> {
    let width = |i: usize| rows.iter().map(|row| row[i].chars().count()).max().unwrap_or(0);
    let widths: [usize; 8] = std::array::from_fn(width);
    let line = |row: &[String; 8]| {
        let cells = row.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}

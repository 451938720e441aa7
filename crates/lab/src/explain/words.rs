//! Causes, messages and times in words.

use std::time::Duration;

use strandcast_proto::association::HeldBy;

use crate::result::meter::LossPlace;
use crate::simulation::{Cause, CauseKind, Explanation, MessageTrace, Outcome, Transmission};

/// Name of a cause in JSON.
pub(super) fn kind(kind: CauseKind) -> &'static str {
    match kind {
        CauseKind::Held(by) => by.name(),
        CauseKind::SendBuffer => "send-buffer",
        CauseKind::Retransmission => "retransmission",
        CauseKind::Repair => "repair",
        CauseKind::Block => "block",
        CauseKind::Queue => "queue",
        CauseKind::Transit => "transit",
        CauseKind::HeadOfLine => "head-of-line",
    }
}

/// A cause in words.
pub(super) fn cause(explanation: &Explanation, cause: &Cause) -> String {
    let other = cause.message.and_then(|number| explanation.message(number));
    let waited = |how: &str| {
        let number = cause.message.unwrap_or_default();
        let waited = other.map_or(String::new(), |message| format!(" {}", waited_for(message)));
        format!("{how} message {number}{waited}")
    };
    let own = |how: fn(&MessageTrace) -> String| other.map_or(String::new(), how);
    let full = windows(&cause.full);
    match cause.kind {
        CauseKind::Held(HeldBy::ReceiveWindow) if one_is_to_blame(cause) => {
            waited("the receive window was full:")
        }
        CauseKind::Held(HeldBy::ReceiveWindow) if cause.messages > 1 => waited(&format!(
            "the receive window was full, for {} messages in turn; longest, {}:",
            cause.messages,
            duration(cause.longest)
        )),
        CauseKind::Held(HeldBy::ReceiveWindow) => {
            "the receive window was full of data in flight: it is smaller than the capacity of the paths"
                .into()
        }
        CauseKind::Held(HeldBy::Handshake) => "the handshake was not complete".into(),
        CauseKind::Held(HeldBy::CongestionWindow) => format!("{full} full"),
        CauseKind::Held(HeldBy::AggregateWindow) => "the scheme's limit over all paths was reached".into(),
        CauseKind::Held(HeldBy::Pacing) => "pacing: it was not yet time for the next packet".into(),
        CauseKind::Held(HeldBy::Burst) => {
            "Max.Burst packets had been sent since the last acknowledgement".into()
        }
        CauseKind::Held(HeldBy::NoPath) => "no path was usable".into(),
        CauseKind::Held(_) if cause.full.is_empty() => {
            format!("the scheduler sent nothing, though there was room on {}", list(&cause.open))
        }
        CauseKind::Held(_) => {
            format!("{full} full, and the scheduler sent nothing over {}", list(&cause.open))
        }
        CauseKind::SendBuffer => "the send buffer was full of unacknowledged data".into(),
        CauseKind::Retransmission => own(|message| format!("it {}", waited_for(message))),
        CauseKind::Repair => own(|message| format!("it {}", waited_for(message))),
        CauseKind::Block => own(symbols),
        CauseKind::Queue => own(queues),
        CauseKind::Transit => own(|message| {
            let path = message.completed_by().map_or("", |t| t.path.as_str());
            format!("in transit over {path}: host, serialisation and propagation")
        }),
        CauseKind::HeadOfLine => waited("it had arrived and waited for its turn:"),
    }
}

/// Returns whether one message accounts for more than nine tenths of the time.
fn one_is_to_blame(cause: &Cause) -> bool {
    cause.messages > 0 && 10 * cause.longest > 9 * cause.time
}

/// Reason why the delivery of a message that blocked others took long.
fn waited_for(message: &MessageTrace) -> String {
    let Some(last) = message.completed_by() else {
        return match message.transmissions.last() {
            Some(last) => {
                let nth = message.transmissions.iter().map(|t| t.nth).max().unwrap_or(1);
                format!("never arrived, sent {}, last over {}", times(nth), last.path)
            }
            None => "was never sent".into(),
        };
    };
    if message.blocks.is_some() {
        return format!("waited for its block: {}", symbols(message));
    }
    if message.recovered {
        let words = format!("was recovered by a repair symbol, over {}", last.path);
        let reasons = reasons(message);
        return if reasons.is_empty() { words } else { format!("{words} ({reasons})") };
    }
    if last.nth == 1 {
        let took = message.complete.map_or(Duration::ZERO, |at| at - last.sent);
        return format!("was in transit for {}, over {}", duration(took), last.path);
    }
    let words = format!("waited for its {} transmission, over {}", ordinal(last.nth), last.path);
    let reasons = reasons(message);
    if reasons.is_empty() { words } else { format!("{words} ({reasons})") }
}

/// Returns `block 17` or `blocks 17 to 18`. If the message is not in a block, the text is empty.
pub(super) fn blocks(message: &MessageTrace) -> String {
    match message.blocks {
        None => String::new(),
        Some((first, last)) if first == last => format!("block {first}"),
        Some((first, last)) => format!("blocks {first} to {last}"),
    }
}

/// Summary of the symbols of a message's blocks.
fn symbols(message: &MessageTrace) -> String {
    let (sent, lost) = (message.transmissions.len(), message.losses());
    let path = message.completed_by().map_or("", |t| t.path.as_str());
    format!(
        "{} was sent until enough of its symbols had arrived: {sent} symbols, {lost} lost, the last over {path}",
        blocks(message)
    )
}

fn queues(message: &MessageTrace) -> String {
    let Some(packet) = message.completed_by() else { return String::new() };
    let waits = packet.hops.iter().filter(|hop| hop.queued().is_some_and(|queued| !queued.is_zero()));
    let links: Vec<String> = waits.map(|hop| hop.link.clone()).collect();
    let word = if links.len() == 1 { "queue" } else { "queues" };
    format!("in the {word} of {}, over path {}", list(&links), packet.path)
}

/// Reasons why parts of a message were retransmitted. Each reason occurs once: `lost at random on lte; timer expired on
/// wifi`.
pub(super) fn reasons(message: &MessageTrace) -> String {
    let mut all: Vec<String> = Vec::new();
    for packet in message.own() {
        let reason = match packet.outcome {
            Outcome::Lost(place) => {
                let link = packet.hops.last().map_or("", |hop| hop.link.as_str());
                format!("lost on {link}: {}", place_of(place))
            }
            _ if packet.timeout.is_some() => format!("timer expired on path {}", packet.path),
            _ => continue,
        };
        if !all.contains(&reason) {
            all.push(reason);
        }
    }
    all.join("; ")
}

/// Name of the place where a packet was lost.
pub(super) fn place_of(place: LossPlace) -> &'static str {
    match place {
        LossPlace::Queue => "dropped by its queue",
        LossPlace::Random => "at random",
        LossPlace::Down => "link down",
        LossPlace::Routing => "no way on",
    }
}

/// Reason for a retransmission if a timer expired.
pub(super) fn given_up(packet: &Transmission) -> &'static str {
    if packet.timeout.is_some() { ", timer expired" } else { "" }
}

fn windows(paths: &[String]) -> String {
    match paths {
        [] => "the congestion windows were".into(),
        [one] => format!("the congestion window of {one} was"),
        all => format!("the congestion windows of {} were", list(all)),
    }
}

/// Joins names: `a`, `a and b`, `a, b and c`.
pub(super) fn list(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

fn ordinal(n: u32) -> String {
    let words =
        ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"];
    if let Some(word) = words.get(n.saturating_sub(1) as usize) {
        return (*word).to_owned();
    }
    let end = match (n % 10, n % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("{n}{end}")
}

fn times(n: u32) -> String {
    match n {
        1 => "once".into(),
        2 => "twice".into(),
        n => format!("{n} times"),
    }
}

/// Formats a duration. Below one second, the form is `12.3 ms`. From one second on, the form is `12.34 s`.
pub(super) fn duration(d: Duration) -> String {
    // Values that would be rounded to 1000.0 ms are shown in seconds.
    if d < Duration::from_micros(999_950) {
        format!("{:.1} ms", d.as_secs_f64() * 1e3)
    } else {
        format!("{:.2} s", d.as_secs_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_times_in_words() {
        let ordinals = [1, 3, 10, 11, 12, 21, 22, 23, 111, 113, 101].map(ordinal);
        assert_eq!(
            ordinals,
            ["first", "third", "tenth", "11th", "12th", "21st", "22nd", "23rd", "111th", "113th", "101st"]
        );
        let durations =
            [0, 12_345, 999_949, 999_951, 24_263_000].map(|us| duration(Duration::from_micros(us)));
        assert_eq!(durations, ["0.0 ms", "12.3 ms", "999.9 ms", "1.00 s", "24.26 s"]);
        let names = ["a", "b", "c"].map(str::to_owned);
        assert_eq!([0, 1, 2, 3].map(|n| list(&names[..n])), ["", "a", "a and b", "a, b and c"]);
        assert_eq!([1, 2, 3].map(times), ["once", "twice", "3 times"]);
    }
}

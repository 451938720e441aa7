//! Events of a server.

use std::fmt;
use std::net::SocketAddr;

use crate::live::event::{self, listed};
use crate::text::count;

/// Event of a [`Server`](super::Server). The text of an event is one line. Only the text of a summary has several
/// lines.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Event {
    /// The server listens.
    Listening {
        /// Addresses on which the server listens.
        addresses: Vec<SocketAddr>,
        /// Names of the server's streams.
        streams: Vec<String>,
    },
    /// An event of the listener or of the list of senders.
    Door(event::Event),
    /// An event of a stream.
    Stream {
        /// Name of the stream.
        name: String,
        /// Event of the stream.
        event: event::Event,
    },
    /// A sender was refused because its key may not send the requested stream.
    NotAllowed {
        /// Name and address of the sender.
        peer: String,
        /// Name of the stream that the sender requests. Empty if the sender requests no particular stream.
        asks: String,
        /// Names of the streams that the sender may send.
        may: Vec<String>,
    },
    /// A stream ended without a request. The server starts the stream again.
    Failed {
        /// Name of the stream.
        name: String,
        /// The reason.
        why: String,
    },
    /// A sender was refused because its stream was stopped by request.
    NotStarted {
        /// Name and address of the sender.
        peer: String,
        /// Name of the stream.
        name: String,
    },
    /// A stream or one of its outputs was stopped by request.
    Stopped {
        /// Name of the stream.
        name: String,
        /// Name of the output; `None` for the whole stream.
        output: Option<String>,
    },
    /// A stream that was stopped, or one of its outputs, begins again.
    Started {
        /// Name of the stream.
        name: String,
        /// Name of the output; `None` for the whole stream.
        output: Option<String>,
    },
    /// Number of events of the server that were dropped because they were not read in time.
    Missed(u64),
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Event::Listening { addresses, streams } => {
                write!(f, "listening on UDP {} for {}", listed(addresses), streams.join(", "))
            }
            Event::Door(event) => write!(f, "{event}"),
            Event::Stream { name, event } => write!(f, "{name}: {event}"),
            Event::NotAllowed { peer, asks, may } => {
                write!(f, "{peer} refused: {}", reason(asks, may))?;
                match (asks.as_str(), &may[..]) {
                    ("", []) => f.write_str("; its name or key has to be in senders of a stream"),
                    (_, [_, ..]) => Ok(()),
                    (asks, []) => write!(f, "; its name or key is not in senders of {asks}"),
                }
            }
            Event::Failed { name, why } => write!(f, "{name}: the stream failed: {why}; it begins again"),
            Event::NotStarted { peer, name } => write!(f, "{name}: {peer} refused: the stream is stopped"),
            Event::Stopped { name, output: None } => write!(f, "{name}: stopped by request"),
            Event::Stopped { name, output: Some(output) } => write!(f, "{name}: {output} stopped by request"),
            Event::Started { name, output: None } => write!(f, "{name}: started by request"),
            Event::Started { name, output: Some(output) } => write!(f, "{name}: {output} started by request"),
            Event::Missed(missed) => write!(f, "{} left out", count(*missed, "event")),
        }
    }
}

/// Text of the reason for a refusal. The sender and the receiver print the reason.
pub(super) fn reason(asks: &str, may: &[String]) -> String {
    match (asks, may) {
        ("", []) => "no stream here is for this sender".to_owned(),
        ("", may) => format!("it may send {}: choose one with --stream", may.join(" or ")),
        (asks, []) => format!("it may not send {asks}"),
        (asks, may) => format!("it may not send {asks}, but {}", may.join(" or ")),
    }
}

/// Difference between two configurations, as names of streams.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Changes {
    /// Streams that are new.
    pub added: Vec<String>,
    /// Streams that start again with another configuration. The senders of these streams connect again.
    pub changed: Vec<String>,
    /// Streams that continue, and for which more senders are allowed.
    pub opened: Vec<String>,
    /// Streams that ended.
    pub removed: Vec<String>,
}

impl fmt::Display for Changes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kinds = [
            ("added", &self.added),
            ("changed", &self.changed),
            ("more senders for", &self.opened),
            ("removed", &self.removed),
        ];
        let kinds = kinds.iter().filter(|(_, names)| !names.is_empty());
        let words: Vec<String> = kinds.map(|(kind, names)| format!("{kind} {}", names.join(", "))).collect();
        match words.is_empty() {
            true => f.write_str("configuration read again: nothing has changed"),
            false => write!(f, "configuration read again: {}", words.join("; ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_name_the_remedy() {
        let line = |asks: &str, may: &[&str]| {
            let may = may.iter().map(|name| (*name).to_owned()).collect();
            Event::NotAllowed { peer: "van9 (192.0.2.9:5)".into(), asks: asks.into(), may }.to_string()
        };
        for (asks, may, words) in [
            (
                "",
                &[][..],
                "no stream here is for this sender; its name or key has to be in senders of a stream",
            ),
            ("", &["a", "b"], "it may send a or b: choose one with --stream"),
            ("c", &[], "it may not send c; its name or key is not in senders of c"),
            ("c", &["a"], "it may not send c, but a"),
        ] {
            assert_eq!(line(asks, may), format!("van9 (192.0.2.9:5) refused: {words}"));
        }
    }

    #[test]
    fn a_reload_lists_what_changed() {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let changes = Changes {
            added: names(&["c"]),
            changed: Vec::new(),
            opened: names(&["d"]),
            removed: names(&["a", "b"]),
        };
        let text = "configuration read again: added c; more senders for d; removed a, b";
        assert_eq!(changes.to_string(), text);
        assert_eq!(Changes::default().to_string(), "configuration read again: nothing has changed");
    }
}

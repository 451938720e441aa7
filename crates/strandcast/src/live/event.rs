//! Events of a stream.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use strandcast_proto::policy::Advice;
use strandcast_seal::Cipher;

use super::receiver::ReceiveSummary;
use super::receiver::listening::ListenChange;
use super::sender::SendSummary;
use super::stats::{Diagnostic, Role, Stats, StreamEvent};
use crate::pairing::GateEvent;
use crate::text::{bytes, count, duration};

/// Event of a [`Sender`](super::Sender) or a [`Receiver`](super::Receiver). Its text is one line; that of a summary is several.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Event {
    /// New figures. Only the newest of those that wait is kept.
    Stats(Arc<Stats>),
    /// Number of events that made room for newer ones, since they were not read.
    Missed(u64),
    /// A diagnostic of the scheme.
    Diagnostic(Diagnostic),
    /// Playout moves, or the peer is silent.
    Stream {
        /// Seconds since the start of the sender, or of the stream that is received.
        seconds: f64,
        /// The peer.
        peer: String,
        /// The event.
        what: StreamEvent,
    },
    /// Nothing is encrypted or authenticated.
    Unprotected(Role),

    /// The sender begins to connect.
    Sending {
        /// Its input.
        input: String,
        /// The receiver.
        to: String,
        /// The paths.
        over: String,
    },
    /// A path that was asked for cannot be used yet.
    PathMissing {
        /// The path.
        path: String,
        /// The reason.
        why: String,
    },
    /// The allowance of a link begins to count.
    Capped {
        /// The link.
        link: String,
        /// Bytes.
        left: u64,
    },
    /// The first connection is there, and encrypted.
    Encrypted(Cipher),
    /// There is no connection yet.
    Waiting {
        /// The reason.
        why: String,
    },
    /// The connection is lost; the sender connects again.
    Lost {
        /// The reason.
        why: String,
    },
    /// The receiver refuses the stream; the sender tries again.
    Refused {
        /// The reason.
        why: String,
    },
    /// The sender is connected again.
    Connected {
        /// The receiver.
        peer: String,
        /// Time without a connection.
        after: Option<Duration>,
    },
    /// The receiver, which had refused, plays the stream.
    Admitted {
        /// The receiver.
        peer: String,
    },
    /// A path changes.
    Path {
        /// Its name.
        path: String,
        /// Its state.
        trouble: PathTrouble,
    },
    /// Messages were dropped.
    Dropped {
        /// Number of messages since the stream began.
        messages: u64,
        /// The cause.
        cause: DropCause,
    },
    /// The scheme advises the encoder.
    Advice {
        /// Seconds since the start of the sender.
        seconds: f64,
        /// The rates.
        advice: Advice,
    },
    /// The stream that was sent is over: its figures.
    Sent(Box<SendSummary>),

    /// The receiver listens.
    Listening {
        /// The addresses that it listens on.
        addresses: Vec<SocketAddr>,
        /// Its output.
        output: String,
    },
    /// An address that it listens on fails or returns.
    Socket(ListenChange),
    /// Event of the gate.
    Gate(GateEvent),
    /// A stream begins.
    Receiving {
        /// The sender.
        peer: String,
        /// Time from sending to playing.
        latency: Duration,
    },
    /// The stream continues over another association.
    Resumed {
        /// The sender as it was called.
        before: String,
        /// The sender as it is called.
        peer: String,
        /// Time without the sender.
        after: Duration,
    },
    /// Another sender takes the place of the current one.
    Replaced {
        /// The current one.
        before: String,
        /// The other one.
        peer: String,
        /// It has the same key.
        same_key: bool,
        /// Time for which the current one was silent.
        silent: Duration,
    },
    /// A sender was refused, since another one is received.
    Busy {
        /// The sender.
        peer: String,
        /// The other one.
        current: String,
    },
    /// A sender's messages are of another version.
    OtherVersion {
        /// The sender.
        peer: String,
        /// The version that it sends.
        version: u8,
        /// The version that this program reads.
        reads: u8,
    },
    /// The stream is recorded into a file of its own.
    Recording {
        /// The file.
        output: String,
    },
    /// The stream is not recorded: its file's names are taken.
    NotRecorded {
        /// The file.
        output: String,
    },
    /// The output is not read: what is to be played is dropped.
    Unread {
        /// The output.
        output: String,
    },
    /// The output is read again.
    ReadAgain {
        /// The output.
        output: String,
        /// Messages that were dropped meanwhile.
        messages: u64,
    },
    /// The stream that was received is over: its figures.
    Received(Box<ReceiveSummary>),
    /// It ended without an end of stream.
    SenderLost {
        /// The reason.
        why: String,
    },
}

/// State of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PathTrouble {
    /// It does not answer.
    Silent,
    /// It is given up until it answers.
    Failed,
    /// It is usable again.
    Over,
    /// It never carried anything: the probable reason.
    Mute(String),
}

/// Cause of dropped messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DropCause {
    /// They were too late when this process had time for them.
    Overslept,
    /// The paths carry less than the input.
    Capacity {
        /// Messages of frames that the scheme gave up as a whole.
        whole: u64,
    },
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Event::Stats(stats) => write!(f, "{} bytes so far", stats.media.bytes),
            Event::Missed(missed) => write!(f, "{} left out", count(*missed, "event")),
            Event::Diagnostic(diagnostic) => write!(f, "{diagnostic}"),
            Event::Stream { what, .. } => write!(f, "{what}"),
            Event::Unprotected(Role::Receive) => {
                f.write_str("warning: streams are neither encrypted nor authenticated")
            }
            Event::Unprotected(_) => {
                f.write_str("warning: the stream is neither encrypted nor authenticated")
            }
            Event::Socket(change) => write!(f, "{change}"),
            Event::Gate(event) => write!(f, "{event}"),
            sent => sent.sender(f),
        }
    }
}

impl Event {
    fn sender(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Event::Sending { input, to, over } => write!(f, "sending {input} to {to} over {over}"),
            Event::PathMissing { path, why } => {
                write!(f, "path {path}: {why}; it is used once it is there")
            }
            Event::Capped { link, left } => {
                write!(f, "{link}: {} from now on; what was used before this run is not known", bytes(*left))
            }
            Event::Encrypted(cipher) => write!(f, "encrypted with {cipher}"),
            Event::Waiting { why } | Event::Refused { why } => write!(f, "{why}; trying again"),
            Event::Lost { why } => write!(f, "{why}; connecting again"),
            Event::Connected { peer, after } => {
                write!(f, "connected to {peer} again")?;
                after.map_or(Ok(()), |after| write!(f, " after {}", duration(after)))
            }
            Event::Admitted { peer } => write!(f, "{peer} no longer refuses"),
            Event::Path { path, trouble } => match trouble {
                PathTrouble::Silent => write!(f, "{path} does not answer"),
                PathTrouble::Failed => write!(f, "{path} is given up until it answers"),
                PathTrouble::Over => write!(f, "{path} is usable again"),
                PathTrouble::Mute(why) => write!(f, "{path} {why}"),
            },
            Event::Dropped { messages, cause } => {
                let messages = count(*messages, "message");
                match cause {
                    DropCause::Overslept => write!(
                        f,
                        "this machine was suspended or is too slow: {messages} dropped, too late to be sent"
                    ),
                    DropCause::Capacity { whole: 0 } => write!(
                        f,
                        "the paths carry less than the input rate: {messages} dropped, the oldest first"
                    ),
                    DropCause::Capacity { whole } => write!(
                        f,
                        "the paths carry less than the input rate: {messages} dropped, {whole} of them as whole frames"
                    ),
                }
            }
            Event::Advice { advice, .. } => {
                write!(f, "the encoder should send {} bit/s", advice.rate_bps)
            }
            Event::Sent(summary) => f.write_str(&summary.lines().join("\n")),
            received => received.receiver(f),
        }
    }

    fn receiver(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Event::Listening { addresses, output } => {
                let addresses: Vec<String> = addresses.iter().map(ToString::to_string).collect();
                write!(f, "listening on UDP {}, playing to {output}", addresses.join(", "))
            }
            Event::Receiving { peer, latency } => {
                write!(f, "receiving from {peer}, latency {} ms", latency.as_millis())
            }
            Event::Resumed { before, peer, after } => {
                write!(f, "{before} is back as {peer}, after {}", duration(*after))
            }
            Event::Replaced { before, peer, same_key: true, .. } => {
                write!(f, "the same key sends from {peer} now, and replaces {before}: the newest wins")
            }
            Event::Replaced { before, peer, silent, .. } => {
                write!(f, "{peer} replaces {before}, which was silent for {:.1} s", silent.as_secs_f64())
            }
            Event::Busy { peer, current } => {
                write!(f, "{peer} refused: already receiving from {current}")
            }
            Event::OtherVersion { peer, version, reads } => write!(
                f,
                "{peer} refused: its messages are of version {version}, and this receiver reads version {reads}: update \
                 the older side"
            ),
            Event::Recording { output } => write!(f, "recording into {output}"),
            Event::NotRecorded { output } => write!(
                f,
                "not recorded: {output} and all numbers of it are taken; move recordings away, or name them by the \
                 second (%S)"
            ),
            Event::Unread { output } => write!(f, "{output} is not read: what is to be played is dropped"),
            Event::ReadAgain { output, messages } => {
                let were = if *messages == 1 { "message was" } else { "messages were" };
                write!(f, "{output} is read again: {messages} {were} dropped")
            }
            Event::Received(summary) => f.write_str(&summary.lines().join("\n")),
            Event::SenderLost { why } => f.write_str(why),
            // Their texts are above. All are named, so that a new event without a text does not compile.
            Event::Stats(_)
            | Event::Missed(_)
            | Event::Diagnostic(_)
            | Event::Stream { .. }
            | Event::Unprotected(_)
            | Event::Socket(_)
            | Event::Gate(_)
            | Event::Sending { .. }
            | Event::PathMissing { .. }
            | Event::Capped { .. }
            | Event::Encrypted(_)
            | Event::Waiting { .. }
            | Event::Refused { .. }
            | Event::Lost { .. }
            | Event::Connected { .. }
            | Event::Admitted { .. }
            | Event::Path { .. }
            | Event::Dropped { .. }
            | Event::Advice { .. }
            | Event::Sent(_) => Ok(()),
        }
    }
}

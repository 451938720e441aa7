//! Events of a stream.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use strandcast_proto::policy::Advice;
use strandcast_seal::Cipher;

use super::links::PathTrouble;
use super::receiver::ReceiveSummary;
use super::receiver::listening::ListenChange;
use super::sender::SendSummary;
use super::stats::{Diagnostic, Drops, Role, Stats, StreamEvent};
use crate::pairing::GateEvent;
use crate::text::{bytes, count, duration, ms};

/// Event of a [`Sender`](super::Sender) or a [`Receiver`](super::Receiver). The text of an event is one line. Only the
/// text of a summary has several lines.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Event {
    /// New figures. A newer snapshot replaces an unread snapshot.
    Stats(Arc<Stats>),
    /// Number of events that were dropped because they were not read in time.
    Missed(u64),
    /// A diagnostic of the scheme.
    Diagnostic(Diagnostic),
    /// Playout was shifted, or the peer is silent.
    Stream {
        /// Seconds since the sender was started, or since the received stream began.
        seconds: f64,
        /// The peer.
        peer: String,
        /// Description of the event.
        what: StreamEvent,
    },
    /// Warning that the stream is neither encrypted nor authenticated.
    Unprotected(Role),

    /// The sender begins to connect.
    Sending {
        /// Name of the input.
        input: String,
        /// The receiver.
        to: String,
        /// Names of the paths.
        over: String,
    },
    /// A configured path cannot be used yet.
    PathMissing {
        /// The path.
        path: String,
        /// The reason.
        why: String,
    },
    /// The input is not paced by its PCR at the source.
    Pace {
        /// Name of the input.
        input: String,
        /// Clock that paces the input instead.
        how: String,
    },
    /// The latency is shorter than the quickest round trip.
    ShortLatency {
        /// The playout latency.
        latency: Duration,
        /// The quickest round trip.
        rtt: Duration,
    },
    /// The input has no transport stream yet.
    NoMedia {
        /// Name of the input.
        input: String,
        /// Kind of the input, as far as its first bytes show.
        like: String,
    },
    /// The allowance of a link now counts.
    Capped {
        /// The link.
        link: String,
        /// Number of bytes that may still be used.
        left: u64,
    },
    /// The remaining allowance of a link in this month of its plan. It is reported at the start, when the link appears,
    /// and at the start of another month.
    Allowance {
        /// The link.
        link: String,
        /// Number of bytes that may still be used.
        left: u64,
        /// Number of bytes of the whole month.
        of: u64,
        /// First day of the next month, as `2026-12-15` (UTC).
        until: String,
    },
    /// The ledger of monthly allowances cannot be written. The stream continues. Later writes, if they succeed, include
    /// the missing bytes.
    Ledger {
        /// The reason.
        why: String,
    },
    /// The first connection is established and encrypted.
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
    /// The receiver refuses the stream, and the sender tries again.
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
    /// The receiver plays the stream after it had refused it.
    Admitted {
        /// The receiver.
        peer: String,
    },
    /// The state of a path has changed.
    Path {
        /// Name of the path.
        path: String,
        /// State of the path.
        trouble: PathTrouble,
    },
    /// Messages are dropped. The event is repeated every 10 s while this continues.
    Dropped(Drops),
    /// No message was dropped for 5 s.
    DropsOver {
        /// Messages that were dropped.
        messages: u64,
        /// Time for which messages were dropped.
        after: Duration,
    },
    /// The sender has no data to send: no input has arrived for 2 s.
    Idle {
        /// Name of the input, or of the sender that has no input.
        what: String,
        /// The side that reports this event.
        role: Role,
    },
    /// The input has a problem, for example an encoder that was refused.
    InputTrouble {
        /// Name of the input.
        input: String,
        /// The problem.
        why: String,
    },
    /// Input arrives again.
    IdleOver {
        /// Name of the input, or of the sender that had no input.
        what: String,
        /// Time without input.
        after: Duration,
    },
    /// The scheme advises the encoder.
    Advice {
        /// Seconds since the start of the sender.
        seconds: f64,
        /// The rates.
        advice: Advice,
    },
    /// The stream that was sent has ended. The value is its summary.
    Sent(Box<SendSummary>),

    /// The receiver listens.
    Listening {
        /// Addresses on which the receiver listens.
        addresses: Vec<SocketAddr>,
        /// Name of the output.
        output: String,
    },
    /// A listening address fails or returns.
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
        /// Previous name of the sender.
        before: String,
        /// Present name of the sender.
        peer: String,
        /// Time without the sender.
        after: Duration,
    },
    /// Another sender replaces the current one.
    Replaced {
        /// The current sender.
        before: String,
        /// The new sender.
        peer: String,
        /// True if both senders have the same key.
        same_key: bool,
        /// Time for which the current sender was silent.
        silent: Duration,
    },
    /// A sender was refused because the receiver plays another one.
    Busy {
        /// The sender.
        peer: String,
        /// The sender that is played.
        current: String,
    },
    /// The messages of a sender have another version.
    OtherVersion {
        /// The sender.
        peer: String,
        /// Version of the sender's messages.
        version: u8,
        /// Version that this program reads.
        reads: u8,
    },
    /// The stream is recorded into a separate file.
    Recording {
        /// The file.
        output: String,
    },
    /// The stream is not recorded, because all possible names of its file are taken.
    NotRecorded {
        /// The file.
        output: String,
    },
    /// The output has taken no data for 2 s, or it drops media because no program reads it.
    Unread {
        /// The output.
        output: String,
    },
    /// From now on, outputs with a slate get the slate.
    Slate {
        /// Name of the slate.
        slate: String,
    },
    /// From now on, outputs with a slate receive the sender's media again. The media begin with a key frame.
    SlateOver {
        /// Time for which these outputs received the slate.
        after: Duration,
    },
    /// An output lost messages, but continues. Each reason is reported once. If the reason returns after a time without
    /// it, it is reported again.
    OutputTrouble {
        /// The output.
        output: String,
        /// The reason.
        why: String,
    },
    /// An output has failed, but the other outputs continue.
    OutputFailed {
        /// The output.
        output: String,
        /// The reason.
        why: String,
    },
    /// A program reads the output again.
    ReadAgain {
        /// The output.
        output: String,
        /// Number of messages that were dropped before the output was read again.
        messages: u64,
    },
    /// The stream that was received has ended. The value is its summary.
    Received(Box<ReceiveSummary>),
    /// The stream is over, although the message that ends it did not arrive.
    SenderLost {
        /// The reason.
        why: String,
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
            Event::Pace { input, how } => write!(f, "{input} is paced by {how}"),
            Event::ShortLatency { latency, rtt } => write!(
                f,
                "the latency of {} is shorter than the quickest round trip of {}: lost packets cannot be sent again in \
                 time; --latency {} or more",
                ms(*latency),
                ms(*rtt),
                (rtt.as_millis() * 3).next_multiple_of(50),
            ),
            Event::NoMedia { input, like } => {
                write!(f, "{input} has no MPEG transport stream, but {like}; waiting for one")
            }
            Event::Capped { link, left } => {
                write!(f, "{link}: {} from now on; what was used before this run is not known", bytes(*left))
            }
            Event::Allowance { link, left, of, until } => {
                write!(f, "{link}: {} of {} left until {until}", bytes(*left), bytes(*of))
            }
            Event::Ledger { why } => write!(f, "{why}; the ledger lacks the present use of links"),
            Event::Encrypted(cipher) => write!(f, "encrypted with {cipher}"),
            Event::Waiting { why } | Event::Refused { why } => write!(f, "{why}; trying again"),
            Event::Lost { why } => write!(f, "{why}; connecting again"),
            Event::Connected { peer, after } => {
                write!(f, "connected to {peer} again")?;
                after.map_or(Ok(()), |after| write!(f, " after {}", duration(after)))
            }
            Event::Admitted { peer } => write!(f, "{peer} no longer refuses"),
            Event::Path { path, trouble } => trouble.of(path, f),
            Event::Dropped(drops) => write!(f, "{drops}"),
            Event::DropsOver { messages, after } => {
                let (messages, after) = (count(*messages, "message"), duration(*after));
                write!(f, "no longer dropping: {messages} in {after}")
            }
            Event::Idle { what, role: Role::Receive } => {
                write!(f, "{what} sends, but its input does not: nothing came for 2 s")
            }
            Event::Idle { what, .. } => write!(f, "no input from {what} for 2 s"),
            Event::InputTrouble { input, why } => write!(f, "{input}: {why}"),
            Event::IdleOver { what, after } => write!(f, "{what} has input again after {}", duration(*after)),
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
                write!(f, "listening on UDP {}, playing to {output}", listed(addresses))
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
            Event::Received(summary) => f.write_str(&summary.lines().join("\n")),
            Event::SenderLost { why } => f.write_str(why),
            other => other.output(f),
        }
    }

    /// Writes the texts of a receiver's outputs.
    fn output(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Event::Recording { output } => write!(f, "recording into {output}"),
            Event::NotRecorded { output } => write!(
                f,
                "not recorded: {output} and all numbers of it are taken; move recordings away, or name them by the \
                 second (%S)"
            ),
            Event::Unread { output } => {
                write!(f, "{output} is not read: what does not fit its queue is dropped")
            }
            Event::Slate { slate } => write!(f, "no sender plays: outputs get the slate, {slate}"),
            Event::SlateOver { after } => {
                let after = duration(*after);
                write!(f, "outputs get the sender from its key frame on, after {after} of the slate")
            }
            Event::OutputTrouble { output, why } => write!(f, "{output}: {why}; messages are lost there"),
            Event::OutputFailed { why, .. } => write!(f, "{why}; the other outputs continue"),
            Event::ReadAgain { output, messages } => {
                write!(f, "{output} is read again: {} dropped", were(*messages))
            }
            // `output` writes the texts of these events. All events are listed here, so that a new event without a text
            // does not compile.
            Event::Stats(_)
            | Event::Missed(_)
            | Event::Diagnostic(_)
            | Event::Stream { .. }
            | Event::Unprotected(_)
            | Event::Socket(_)
            | Event::Gate(_)
            | Event::Sending { .. }
            | Event::PathMissing { .. }
            | Event::Pace { .. }
            | Event::NoMedia { .. }
            | Event::ShortLatency { .. }
            | Event::Capped { .. }
            | Event::Allowance { .. }
            | Event::Ledger { .. }
            | Event::Encrypted(_)
            | Event::Waiting { .. }
            | Event::Refused { .. }
            | Event::Lost { .. }
            | Event::Connected { .. }
            | Event::Admitted { .. }
            | Event::Path { .. }
            | Event::Dropped(_)
            | Event::DropsOver { .. }
            | Event::Idle { .. }
            | Event::InputTrouble { .. }
            | Event::IdleOver { .. }
            | Event::Advice { .. }
            | Event::Listening { .. }
            | Event::Receiving { .. }
            | Event::Resumed { .. }
            | Event::Replaced { .. }
            | Event::Busy { .. }
            | Event::OtherVersion { .. }
            | Event::Received(_)
            | Event::SenderLost { .. }
            | Event::Sent(_) => Ok(()),
        }
    }
}

impl PathTrouble {
    /// Writes the text of a change of `path`.
    fn of(&self, path: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PathTrouble::Silent => write!(f, "{path} does not answer"),
            PathTrouble::Failed => write!(f, "{path} is given up until it answers"),
            PathTrouble::Over => write!(f, "{path} is usable again"),
            PathTrouble::Mute(why) => write!(f, "{path} {why}"),
            PathTrouble::Joined => write!(f, "{path} joins the stream"),
            PathTrouble::Gone(why) => write!(f, "{path} is gone: {why}"),
            PathTrouble::Returned(after) => write!(f, "{path} is back after {}", duration(*after)),
            PathTrouble::LeftOut(why) => write!(f, "{path} is not used: {why}"),
            PathTrouble::Narrow { before, now } => {
                write!(
                    f,
                    "{path} does not pass IP packets of {before} bytes: they have at most {now} bytes from now on"
                )
            }
            PathTrouble::Renamed(before) => write!(f, "{path} is the new name of {before}"),
        }
    }
}

pub(in crate::live) fn listed(addresses: &[SocketAddr]) -> String {
    addresses.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

fn were(messages: u64) -> String {
    format!("{} {}", count(messages, "message"), if messages == 1 { "was" } else { "were" })
}

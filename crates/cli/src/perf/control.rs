//! What the two sides of a measurement say to each other, as JSON on a stream of its own.

use super::usage::Cpu;
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use strandcast_proto::association::SendOptions;

/// The stream that carries the measured messages.
pub(super) const BULK: u16 = 0;
/// The stream that carries these.
pub(super) const CONTROL: u16 = 1;
/// Version of these messages; others are refused.
pub(super) const VERSION: u32 = 1;
/// What a client is told while another one is served.
pub(super) const BUSY: &str = "busy with another client";
/// No measurement lasts longer, seconds: what says so is no result.
const LONGEST_S: f64 = 1e9;
/// The smallest message measured, bytes: as each costs bookkeeping, this bounds how many wait in a send buffer.
pub(crate) const SMALLEST: u32 = 64;
/// The largest, bytes: a quarter of the receive buffer, which several must fit into.
pub(crate) const LARGEST: u32 = 262_144;
/// A control message is short.
const LONGEST: usize = 4096;

/// A control message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Control {
    /// Client to server: what to measure.
    Start {
        /// [`VERSION`].
        version: u32,
        /// The server sends.
        reverse: bool,
        /// How long to send.
        time_ms: u64,
        /// Bytes a message; 0 for as much as fits one packet.
        message: u32,
    },
    /// Server to client: go on.
    Ready,
    /// The sender to the receiver: that was all.
    End(Totals),
    /// The receiver to the sender once it has all, and the sender in answer: what it took here.
    Result {
        /// What was received or sent.
        totals: Totals,
        /// Processor time, from `Start` to now.
        cpu: Cpu,
    },
}

/// What was sent or received.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Totals {
    /// Bytes of messages.
    pub(crate) bytes: u64,
    /// Messages.
    pub(crate) messages: u64,
    /// From the first to the last, seconds.
    pub(crate) seconds: f64,
}

impl Control {
    /// As a message.
    pub(super) fn to_bytes(&self) -> Bytes {
        serde_json::to_vec(self).expect("numbers and names always serialise").into()
    }

    /// From a message; `None` if it is none.
    pub(super) fn parse(bytes: &[u8]) -> Option<Control> {
        if bytes.len() > LONGEST {
            return None;
        }
        let control = serde_json::from_slice(bytes).ok()?;
        let times = match &control {
            Control::Start { .. } | Control::Ready => [0.0; 3],
            Control::End(totals) => [totals.seconds, 0.0, 0.0],
            Control::Result { totals, cpu } => [totals.seconds, cpu.user_s, cpu.system_s],
        };
        times.iter().all(|s| (0.0..=LONGEST_S).contains(s)).then_some(control)
    }

    /// How control messages are sent: all of them, in order.
    pub(super) fn options() -> SendOptions {
        SendOptions { stream: CONTROL, ..SendOptions::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_survive_and_rubbish_does_not() {
        let totals = Totals { bytes: u64::MAX, messages: 3, seconds: 1.5 };
        let cpu = Cpu { user_s: 0.25, system_s: 0.5 };
        for message in [
            Control::Start { version: VERSION, reverse: true, time_ms: 10_000, message: 0 },
            Control::Ready,
            Control::End(totals),
            Control::Result { totals, cpu },
        ] {
            assert_eq!(Control::parse(&message.to_bytes()), Some(message));
        }
        let no_time = |s| Control::End(Totals { seconds: s, ..totals }).to_bytes();
        let [negative, endless] = [-1.0, 1e300].map(no_time);
        let times = [&negative[..], &endless];
        for rubbish in [&b""[..], b"{}", b"null", b"\xff\x00", b"{\"start\":{}}", &[b'['; 100_000]]
            .into_iter()
            .chain(times)
        {
            assert_eq!(Control::parse(rubbish), None);
        }
    }
}

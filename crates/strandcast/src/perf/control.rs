//! The control protocol of a measurement: JSON on a separate stream.

use std::time::Duration;

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use strandcast_proto::association::SendOptions;

use super::usage::Cpu;

/// The stream that carries the measured messages.
pub(super) const BULK: u16 = 0;
/// The stream that carries control messages.
pub(super) const CONTROL: u16 = 1;
/// Version of the control messages. A message with a different version is refused.
pub(super) const VERSION: u32 = 1;
/// Abort reason that a client gets while another client is served.
pub(super) const BUSY: &str = "busy with another client";
/// Maximum duration that a valid result may contain, in seconds.
const MAX_SECONDS: f64 = 1e9;
/// Minimum size of a message, in bytes. This size limits the number of messages in a send buffer, and the memory for
/// each of them.
pub const MIN_MESSAGE: u32 = 64;
/// Maximum size of a message in bytes. The maximum size is a quarter of the receive buffer, so that several messages
/// fit.
pub const MAX_MESSAGE: u32 = 262_144;
/// Minimum sending time of a measurement.
pub const MIN_TIME: Duration = Duration::from_millis(100);
/// Maximum sending time of a measurement: a day.
pub const MAX_TIME: Duration = Duration::from_secs(24 * 3600);
/// Maximum size of a control message, in bytes.
const MAX_CONTROL: usize = 4096;

/// A control message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Control {
    /// Message from the client to the server: the settings of the measurement.
    Start {
        /// [`VERSION`].
        version: u32,
        /// True if the server sends.
        reverse: bool,
        /// Sending time.
        time_ms: u64,
        /// Bytes per message. 0 means as many bytes as fit in one packet.
        message: u32,
    },
    /// Message from the server to the client: the measurement may start.
    Ready,
    /// Message from the sender to the receiver: the final totals.
    End(Totals),
    /// Totals and processor time of the side that sends this message. The receiver sends this message when all data
    /// have arrived. The sender answers with the same kind of message.
    Result {
        /// Totals of the sent or received data.
        totals: Totals,
        /// Processor time from the message `Start` to now.
        cpu: Cpu,
    },
}

/// Totals of the sent or received data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Totals {
    /// Bytes of messages.
    pub bytes: u64,
    /// Messages.
    pub messages: u64,
    /// Time from the first to the last byte, in seconds.
    pub seconds: f64,
}

impl Control {
    /// Encodes the report as a message.
    pub(super) fn to_bytes(&self) -> Bytes {
        serde_json::to_vec(self).expect("numbers and names always serialise").into()
    }

    /// Parses a message. Returns `None` if the message is invalid.
    pub(super) fn parse(bytes: &[u8]) -> Option<Control> {
        if bytes.len() > MAX_CONTROL {
            return None;
        }
        let control = serde_json::from_slice(bytes).ok()?;
        let times = match &control {
            Control::Start { .. } | Control::Ready => [0.0; 3],
            Control::End(totals) => [totals.seconds, 0.0, 0.0],
            Control::Result { totals, cpu } => [totals.seconds, cpu.user_s, cpu.system_s],
        };
        times.iter().all(|s| (0.0..=MAX_SECONDS).contains(s)).then_some(control)
    }

    /// Control messages are sent reliably and in order.
    pub(super) fn options() -> SendOptions {
        SendOptions { stream: CONTROL, ..SendOptions::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn valid_messages_parse_and_garbage_does_not() {
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

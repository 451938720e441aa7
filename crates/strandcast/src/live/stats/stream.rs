//! Events of a stream, reported when they happen.

use std::fmt;
use std::time::Duration;

use serde::Serialize;
use strandcast_media::playout::ClockChange;

use crate::text::{duration, ms};

/// An event of playout or of the peer. An event can be written as a line of text, and as a line of JSON for `--stats`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum StreamEvent {
    /// Playout was shifted to later.
    Shift {
        /// Amount of the shift.
        by_ms: f64,
        /// The total shift.
        shift_ms: f64,
        /// Cause as text.
        why: String,
    },
    /// Playout has recovered from all shifts.
    ShiftReturned,
    /// No packets arrive from the peer.
    Outage {
        /// Name of the peer, which is part of each line.
        #[serde(skip)]
        peer: String,
        /// True if the connection was lost, which another event reports as well.
        lost: bool,
    },
    /// Packets arrive again, or the stream has ended.
    OutageOver {
        /// Name of the peer, which is part of each line.
        #[serde(skip)]
        peer: String,
        /// Duration of the outage.
        outage_s: f64,
        /// True if the connection was lost, which another event reports as well.
        lost: bool,
        /// False if the stream has ended before a packet arrived.
        returned: bool,
    },
    /// The sender's clock has jumped. A forward jump is positive.
    ClockJump {
        /// Amount of the jump.
        by_ms: f64,
    },
}

impl StreamEvent {
    /// Returns whether the event has a separate line. It has no separate line if another event reports the same fact.
    pub fn has_line(&self) -> bool {
        !matches!(self, StreamEvent::Outage { lost: true, .. } | StreamEvent::OutageOver { lost: true, .. })
    }

    /// Returns the event of a clock change; `None` for changes unknown to this version.
    pub fn of(change: ClockChange) -> Option<StreamEvent> {
        let ms = |time: Duration| time.as_secs_f64() * 1e3;
        match change {
            ClockChange::Shifted { by, total, cause } => {
                Some(StreamEvent::Shift { by_ms: ms(by), shift_ms: ms(total), why: cause.to_string() })
            }
            ClockChange::Returned => Some(StreamEvent::ShiftReturned),
            ClockChange::Jumped { back, by } => {
                Some(StreamEvent::ClockJump { by_ms: if back { -ms(by) } else { ms(by) } })
            }
            _ => None,
        }
    }
}

impl fmt::Display for StreamEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let time = |of_ms: f64| ms(Duration::from_secs_f64(of_ms.abs() / 1e3));
        match self {
            StreamEvent::Shift { by_ms, shift_ms, why } => {
                write!(f, "playing {} later: {why}", time(*by_ms))?;
                if shift_ms > by_ms { write!(f, " ({} in total)", time(*shift_ms)) } else { Ok(()) }
            }
            StreamEvent::ShiftReturned => f.write_str("playing with the configured latency again"),
            StreamEvent::Outage { peer, .. } => {
                write!(f, "no packets from {peer}; waiting for it")
            }
            StreamEvent::OutageOver { peer, outage_s, returned: false, .. } => {
                let after = duration(Duration::from_secs_f64(*outage_s));
                write!(f, "{peer} did not come back for {after}")
            }
            StreamEvent::OutageOver { peer, outage_s, .. } => {
                write!(f, "{peer} is back after {}", duration(Duration::from_secs_f64(*outage_s)))
            }
            StreamEvent::ClockJump { by_ms } => {
                let way = if *by_ms < 0.0 { "back" } else { "ahead" };
                write!(f, "the sender's clock jumped {way} by {}; playout does not move", time(*by_ms))
            }
        }
    }
}

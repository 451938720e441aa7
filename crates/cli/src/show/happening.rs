//! What happens to a stream, told when it happens.

use super::numbers::{duration, ms};
use super::snapshot::Role;
use serde::Serialize;
use std::fmt;
use std::time::Duration;
use strandcast_media::playout::ClockChange;

/// Something that happened: a line for people, and one of JSON for `--stats`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub(crate) enum Happening {
    /// Playing was moved to later.
    Shift {
        /// By so much.
        by_ms: f64,
        /// What it is moved by in all.
        shift_ms: f64,
        /// Why, in words.
        why: String,
    },
    /// Playing came back from all its shifts.
    ShiftReturned,
    /// Nothing is heard from the other side any more.
    Outage {
        /// Its name, which each line has.
        #[serde(skip)]
        peer: String,
    },
    /// It is heard again.
    OutageOver {
        /// Its name, which each line has.
        #[serde(skip)]
        peer: String,
        /// For how long it was not.
        outage_s: f64,
    },
    /// The sender's clock jumped; forward is positive.
    ClockJump {
        /// By so much.
        by_ms: f64,
    },
}

impl Happening {
    /// What a playout says of its clock; `None` for what this version does not know.
    pub(crate) fn of(change: ClockChange) -> Option<Happening> {
        let ms = |time: Duration| time.as_secs_f64() * 1e3;
        match change {
            ClockChange::Shifted { by, total, cause } => {
                Some(Happening::Shift { by_ms: ms(by), shift_ms: ms(total), why: cause.to_string() })
            }
            ClockChange::Returned => Some(Happening::ShiftReturned),
            ClockChange::Jumped { back, by } => {
                Some(Happening::ClockJump { by_ms: if back { -ms(by) } else { ms(by) } })
            }
            _ => None,
        }
    }
}

impl fmt::Display for Happening {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let time = |of_ms: f64| ms(Duration::from_secs_f64(of_ms.abs() / 1e3));
        match self {
            Happening::Shift { by_ms, shift_ms, why } => {
                write!(f, "playing {} later: {why}", time(*by_ms))?;
                if shift_ms > by_ms { write!(f, " ({} in all)", time(*shift_ms)) } else { Ok(()) }
            }
            Happening::ShiftReturned => f.write_str("playing with the latency asked for again"),
            Happening::Outage { peer } => write!(f, "nothing is heard from {peer} any more; waiting for it"),
            Happening::OutageOver { peer, outage_s } => {
                write!(f, "{peer} is heard again after {}", duration(Duration::from_secs_f64(*outage_s)))
            }
            Happening::ClockJump { by_ms } => {
                let way = if *by_ms < 0.0 { "back" } else { "ahead" };
                write!(f, "the sender's clock jumped {way} by {}; playing is not moved", time(*by_ms))
            }
        }
    }
}

/// One of them, with whom it happened to and when; a line of `--stats`.
#[derive(Debug, Serialize)]
pub(super) struct HappeningNow<'a> {
    pub(super) seconds: f64,
    pub(super) role: Role,
    pub(super) peer: &'a str,
    #[serde(flatten)]
    pub(super) what: &'a Happening,
}

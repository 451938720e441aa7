//! `strand`: the default scheme of `strandcast send`, `receive` and `demo`. It is for live video over links that stall,
//! fade and die.
//!
//! No paper describes this scheme. docs/schemes/strand.md has a table of all constants, and docs/measurements/strand.md
//! has the measurements.
//!
//! | what | here |
//! |---|---|
//! | silence by the peer's clock | `estimate::Silence` |
//! | earliest arrival against the message's deadline, none on suspected paths | `schedule::Wary` |
//! | what a silent path has in flight is lost at once; else SFR | `recovery::GivesUpSilent` |
//! | a window that halves only when the queue is long, as in `bond` | `congestion::QueueAware` |
//! | DAC, heartbeats on suspected paths | `feedback::Heartbeats` |
//!
//! `ASSUMED`, because no paper describes it: everything in `estimate::Silence`. Also all choices that `bond` lists.

use crate::congestion::Cc;
use crate::preset::combine::Combination;
use crate::recovery::Rtx;
use crate::scheme::Preset;
use crate::shelf::{FeedbackName, LossName, SchedulerName};

/// The preset.
pub const PRESET: Preset = Preset {
    name: "strand",
    paper: "none: silence judged by the peer's clock",
    summary: "bond that learns from the receiver's clock within a fifth of a second that a path has fallen silent",
    parts: &[
        ("estimators", "bond's; silence by what the peer says of arrivals"),
        (
            "scheduler",
            "earliest expected arrival, in time for the message's deadline; none on suspected paths",
        ),
        ("congestion control", "bond's: RFC 9260 windows that halve only when the queue is long"),
        ("loss", "split fast retransmit (SFR); the flight of a silent path at once"),
        ("feedback", "acks delayed across gaps (DAC); heartbeats on suspected paths"),
    ],
    settings: || {
        Combination::default().with(|parts| {
            (parts.roles.scheduler, parts.roles.cc) = (SchedulerName::Wary, Cc::QueueAware);
            (parts.roles.loss, parts.roles.feedback) = (LossName::Silence, FeedbackName::Heartbeats);
            parts.losses.sfr.rtx = Rtx::Scheduler;
            parts.windows.fr_freeze = true;
            parts.windows.start.initial_cwnd = Some(10);
            parts.transport.unblock = true;
        })
    },
};

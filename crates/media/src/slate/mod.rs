//! Slate: packets for the outputs of a stream while no sender plays.
//!
//! ```text
//! packets that are played → Splicer ─┬─ live:  as they are, with counters and versions that continue
//! Slate (null packets, or a Clip) ───┴─ slate: at the slate's own pace, until the next key frame of the sender
//! ```
//!
//! A [`Splicer`] joins two sources into one transport stream that a player can follow (ISO/IEC 13818-1):
//!
//! * The continuity counter of each PID continues across a cut (§2.4.3.3). After a cut, tables, video and audio
//!   continue with the first unit that begins there.
//! * The first PCR after a cut carries `discontinuity_indicator`. It precedes any time stamp of the new time base
//!   (§2.4.3.5).
//! * A table whose content changes has the next version (§2.4.4).
//! * A clip uses the PIDs of the sender's first video and first audio. The clock of the clip continues the sender's
//!   clock.

mod clip;
mod counters;
mod edit;
mod gate;
mod kind;
mod playing;
mod source;
mod splicer;
mod tables;
#[cfg(test)]
mod tests;
mod version;

pub use clip::{Clip, ClipError, MAX_CLIP};
pub use kind::Slate;
pub use splicer::Splicer;
#[cfg(any(test, feature = "testing"))]
pub(crate) use tables::tables_of_scripts;

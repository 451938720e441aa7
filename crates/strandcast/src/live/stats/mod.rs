//! Figures of a stream.

mod buffers;
mod came_late;
mod coding;
mod diagnostics;
mod drops;
mod held_up;
mod interval;
mod outages;
mod snapshot;
mod stream;
mod totals;
mod watch;
mod wire;

pub use buffers::{BufferNow, BuffersNow};
pub(in crate::live) use came_late::CameLate;
pub use coding::{CodingNow, Sides, sum};
pub use diagnostics::{Diagnostic, Diagnostics};
pub use drops::{DropCause, Drops};
pub(in crate::live) use drops::{DropNews, DropWatch, Moment};
pub(in crate::live) use held_up::{Held, HeldUp};
pub use outages::Outages;
pub use snapshot::{
    AdviceNow, GivenUpNow, LinkMonitorNow, LinkNow, MediaNow, PathCounters, PathNow, Role, Sampler, Stats,
    StreamState,
};
pub use stream::StreamEvent;
pub use watch::{Subject, Watch};
pub use wire::WireNow;

//! What flows send, as a scenario says it.

use core::time::Duration;

use serde::Serialize;

use super::value::{Number, TraceFile};

/// What a flow sends: `app = { kind = "bulk" }`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub enum App {
    /// As much as the transport takes, in messages of `size` bytes.
    Bulk {
        /// Bytes a message.
        size: u32,
    },
    /// So many bytes, then the flow ends.
    Finite {
        /// Bytes a message.
        size: u32,
        /// Bytes in all.
        bytes: u64,
    },
    /// Messages at a constant (or changing) rate.
    Cbr {
        /// Bytes a message.
        size: u32,
        /// bit/s of messages.
        rate: Number,
    },
    /// Messages at exponential intervals.
    Poisson {
        /// Bytes a message.
        size: u32,
        /// Mean bit/s of messages.
        rate: Number,
    },
    /// Constant rate in bursts.
    OnOff {
        /// Bytes a message.
        size: u32,
        /// bit/s while on.
        rate: Number,
        /// Mean time on.
        on: Duration,
        /// Mean time off.
        off: Duration,
        /// How both are distributed.
        law: OnOffLaw,
    },
    /// Frames of a video.
    Video(Video),
}

impl App {
    /// The same with messages that are `bytes` shorter, each still a multiple of 4 bytes as DATA chunks are.
    pub fn shortened(&self, bytes: u32) -> App {
        let mut app = self.clone();
        let size = match &mut app {
            App::Bulk { size }
            | App::Finite { size, .. }
            | App::Cbr { size, .. }
            | App::Poisson { size, .. }
            | App::OnOff { size, .. }
            | App::Video(Video { size, .. }) => size,
        };
        *size = (size.saturating_sub(bytes) & !3).max(4);
        app
    }
}

/// Distribution of on and off times.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub enum OnOffLaw {
    /// Always the mean.
    Constant,
    /// Exponential.
    Exponential,
    /// Pareto with this shape; a sample is at most 100 means.
    Pareto {
        /// Shape, above 1.
        shape: f64,
    },
}

/// `app = { kind = "video", … }`
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Video {
    /// Its frames.
    pub frames: Frames,
    /// Bytes a message at most: a frame is cut into so many.
    pub size: u32,
    /// From capture to playing: a frame that is not whole by then is late.
    pub deadline: Duration,
    /// Messages are given up after their deadline (partial reliability).
    pub expire: bool,
    /// Media buffered before playing begins, and again after an underflow.
    pub prebuffer: Duration,
    /// From capture to being in order: what is later does not count for the PSNR of equation 17.
    pub psnr_deadline: Duration,
}

/// Where frames come from.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub enum Frames {
    /// A message of `size` bytes every `size / rate`: no frame types.
    Constant {
        /// bit/s.
        rate: f64,
    },
    /// `trace = "file"`: a line a frame: number, type, time in s, bytes.
    Trace {
        /// The file.
        file: TraceFile,
        /// Begin again behind the last frame.
        repeat: bool,
    },
}

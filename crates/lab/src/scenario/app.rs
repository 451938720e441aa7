//! What flows send, as a scenario says it.

use core::time::Duration;

use serde::Serialize;

use super::value::{Named, Number, TraceFile};

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
    /// A message of one byte is sent after so long without others; without it a video has the hash that it had before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keep_alive: Option<Duration>,
}

/// Where frames come from.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub enum Frames {
    /// A message of `size` bytes every `size / rate`: no frame types.
    Constant {
        /// bit/s.
        rate: f64,
    },
    /// The same in bursts, or with pauses; without key frames each message is a frame.
    Live {
        /// Mean bit/s outside of pauses.
        rate: f64,
        /// What is handed over at once; `None`: each message by itself.
        burst: Option<Burst>,
        /// Seconds from one message of a burst to the next.
        spacing: Number,
        /// Bursts are frames, of which some are key frames.
        key_frames: Option<KeyFrames>,
        /// Pauses by name.
        pause: Named<Pause>,
    },
    /// `trace = "file"`: a line a frame: number, type, time in s, bytes.
    Trace {
        /// The file.
        file: TraceFile,
        /// Begin again behind the last frame.
        repeat: bool,
    },
}

/// `burst = "40 ms"` or `burst = "32 KiB"`: what a live source hands over at once.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub enum Burst {
    /// What is due within this time.
    Time(Duration),
    /// So many bytes.
    Bytes(u64),
}

/// `key_frames = { every = 50, times = 10 }`
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct KeyFrames {
    /// The first frame, and each so many frames another one.
    pub every: u32,
    /// How many times as long as the others.
    pub times: f64,
}

/// `pause = { from = "10 s", to = "12 s" }`, or several by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Pause {
    /// When it begins, from the flow's start.
    pub from: Duration,
    /// When it ends.
    pub to: Duration,
    /// What is due meanwhile is handed over at its end.
    pub keep: bool,
}

//! Applications of flows, as a scenario describes them.

use core::time::Duration;

use serde::Serialize;

use super::value::{Named, Number, TraceFile};

/// Data that a flow sends: `app = { kind = "bulk" }`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub enum App {
    /// Messages of `size` bytes. The flow sends as many as the transport accepts.
    Bulk {
        /// Bytes of a message.
        size: u32,
    },
    /// The flow sends `bytes` bytes and ends.
    Finite {
        /// Bytes of a message.
        size: u32,
        /// Bytes of all messages together.
        bytes: u64,
    },
    /// Messages at even intervals, at a constant or changing rate.
    Cbr {
        /// Bytes of a message.
        size: u32,
        /// bit/s of messages.
        rate: Number,
    },
    /// Messages at exponential intervals.
    Poisson {
        /// Bytes of a message.
        size: u32,
        /// Mean bit/s of messages.
        rate: Number,
    },
    /// Messages at even intervals, in bursts.
    OnOff {
        /// Bytes of a message.
        size: u32,
        /// Rate during a burst in bit/s.
        rate: Number,
        /// Mean length of a burst.
        on: Duration,
        /// Mean time between two bursts.
        off: Duration,
        /// Distribution of both times.
        law: OnOffLaw,
    },
    /// Frames of a video.
    Video(Video),
}

impl App {
    /// Returns this application with messages that are `bytes` shorter. The length of each message remains a multiple
    /// of 4 bytes, like the length of DATA chunks.
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

/// Distribution of the lengths of bursts and of the times between them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub enum OnOffLaw {
    /// All times are equal to the mean.
    Constant,
    /// Exponential distribution.
    Exponential,
    /// Pareto distribution with this shape. A sample is at most 100 times the mean.
    Pareto {
        /// Shape, above 1.
        shape: f64,
    },
}

/// `app = { kind = "video", … }`
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Video {
    /// Frames of the video.
    pub frames: Frames,
    /// Length of the largest message in bytes. A longer frame is cut into several messages.
    pub size: u32,
    /// Time from the capture of a frame until it is played. A frame that is not complete by then is late.
    pub deadline: Duration,
    /// True if the sender gives up messages after their deadline (partial reliability).
    pub expire: bool,
    /// Playing time of the media that the player buffers before it begins. It buffers as much again after an underflow.
    pub prebuffer: Duration,
    /// Time after their capture by which bytes must be in order to count for the PSNR of equation 17. It equals
    /// `deadline` unless the file or a paper's profile sets it.
    pub psnr_deadline: Duration,
    /// The flow sends a message of one byte when it has sent nothing for this time. `None`: it never does. This time is
    /// serialised only if it is given. Scenarios without it therefore keep their hash.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keep_alive: Option<Duration>,
}

/// Source of frames.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub enum Frames {
    /// A message of `size` bytes every 8 · `size` / `rate` seconds. Frames have no types.
    Constant {
        /// bit/s.
        rate: f64,
    },
    /// Messages at a mean rate, in bursts or with pauses. Without key frames, each message is a frame.
    Live {
        /// Mean rate outside of pauses, bit/s.
        rate: f64,
        /// Amount that the source delivers at once. `None`: one message.
        burst: Option<Burst>,
        /// Time between two messages of a burst, seconds.
        spacing: Number,
        /// Each burst is a frame, and some frames are key frames. `None`: each message is a frame.
        key_frames: Option<KeyFrames>,
        /// Pauses by name.
        pause: Named<Pause>,
    },
    /// `trace = "file"`: each line of the file is a frame. It has the number, the type, the time in seconds and the
    /// bytes of the frame.
    Trace {
        /// The file.
        file: TraceFile,
        /// True if the trace begins again after its last frame.
        repeat: bool,
    },
}

/// `burst = "40 ms"` or `burst = "32 KiB"`: amount that a live source delivers at once.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub enum Burst {
    /// All messages that are due within this time.
    Time(Duration),
    /// A number of bytes.
    Bytes(u64),
}

/// `key_frames = { every = 50, times = 10 }`
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct KeyFrames {
    /// Number of frames from one key frame to the next. The first frame is a key frame.
    pub every: u32,
    /// Bytes of a key frame, as a multiple of the bytes of another frame.
    pub times: f64,
}

/// `pause = { from = "10 s", to = "12 s" }`, or several pauses by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Pause {
    /// Start of the pause, counted from the start of the flow.
    pub from: Duration,
    /// End of the pause, counted from the start of the flow.
    pub to: Duration,
    /// True if the source delivers the data of the pause at the end of the pause. False if the video stops during the
    /// pause.
    pub keep: bool,
}

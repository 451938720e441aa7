//! A video's frames.

use crate::ts::FrameType;
use core::fmt;
use core::time::Duration;

/// One frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TracedFrame {
    /// Its number, as the trace gives it.
    pub number: u32,
    /// How it depends on others; `None`: no picture (a header).
    pub kind: Option<FrameType>,
    /// When it is captured, and shown: since the trace's time 0.
    pub time: Duration,
    /// Its size; 0 for a frame that the encoder skipped.
    pub bytes: u32,
}

/// A video's frames in the order in which they are sent, at least one.
///
/// [`parse`](Self::parse) reads it from text, `Display` writes what `parse` reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrameTrace {
    frames: Vec<TracedFrame>,
}

impl FrameTrace {
    /// These frames; `None` if there are none.
    pub fn new(frames: Vec<TracedFrame>) -> Option<Self> {
        (!frames.is_empty()).then_some(FrameTrace { frames })
    }

    /// The frames in the order in which they are sent.
    pub fn frames(&self) -> &[TracedFrame] {
        &self.frames
    }

    /// All frames' bytes.
    pub fn bytes(&self) -> u64 {
        self.frames.iter().map(|f| u64::from(f.bytes)).sum()
    }

    /// The earliest time in the trace. It need not be the first frame's where an encoder's order is not that of capture.
    pub fn begin(&self) -> Duration {
        self.frames.iter().map(|f| f.time).min().expect("a trace has at least one frame")
    }

    /// How long the video lasts: from the earliest frame to the latest, and a mean interval between frames for the last
    /// one. `None` if all frames are of one instant, so that the trace does not say.
    pub fn duration(&self) -> Option<Duration> {
        let end = self.frames.iter().map(|f| f.time).max().expect("a trace has at least one frame");
        let span = (end - self.begin()).as_nanos();
        let n = self.frames.len() as u128;
        // A span above zero takes two frames, so n - 1 is not zero.
        (span > 0).then(|| Duration::from_nanos(u64::try_from(span * n / (n - 1)).unwrap_or(u64::MAX)))
    }
}

impl fmt::Display for FrameTrace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "# number type time_s bytes")?;
        for frame in &self.frames {
            let kind = match frame.kind {
                Some(FrameType::I) => 'I',
                Some(FrameType::P) => 'P',
                Some(FrameType::B) => 'B',
                None => 'H',
            };
            let (s, ns) = (frame.time.as_secs(), frame.time.subsec_nanos());
            writeln!(f, "{} {kind} {s}.{ns:09} {}", frame.number, frame.bytes)?;
        }
        Ok(())
    }
}

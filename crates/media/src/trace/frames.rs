//! A video's frames.

use core::fmt;
use core::time::Duration;

use crate::ts::FrameType;

/// One frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TracedFrame {
    /// Number of the frame in the trace.
    pub number: u32,
    /// Type of the frame; `None` for a header, which has no picture.
    pub kind: Option<FrameType>,
    /// Capture and display time since the trace's time 0.
    pub time: Duration,
    /// Size of the frame; 0 for a frame that the encoder skipped.
    pub bytes: u32,
}

/// A video's frames in the order in which they are sent, at least one.
///
/// [`parse`](Self::parse) reads a trace from text. `Display` writes text that `parse` can read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrameTrace {
    frames: Vec<TracedFrame>,
}

impl FrameTrace {
    /// Creates a trace of these frames; `None` if the list is empty.
    pub fn new(frames: Vec<TracedFrame>) -> Option<Self> {
        (!frames.is_empty()).then_some(FrameTrace { frames })
    }

    /// The frames in the order in which they are sent.
    pub fn frames(&self) -> &[TracedFrame] {
        &self.frames
    }

    /// Bytes of all frames.
    pub fn bytes(&self) -> u64 {
        self.frames.iter().map(|f| u64::from(f.bytes)).sum()
    }

    /// Earliest time in the trace. The earliest time differs from the first frame's time if frames are coded in another
    /// order than they are captured.
    pub fn begin(&self) -> Duration {
        self.frames.iter().map(|f| f.time).min().expect("a trace has at least one frame")
    }

    /// Duration of the video: from the earliest frame to the latest, plus one mean frame interval. `None` if all frames
    /// have the same time.
    pub fn duration(&self) -> Option<Duration> {
        let end = self.frames.iter().map(|f| f.time).max().expect("a trace has at least one frame");
        let span = (end - self.begin()).as_nanos();
        let n = self.frames.len() as u128;
        // A duration above zero requires two frames, so that n - 1 is not zero.
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

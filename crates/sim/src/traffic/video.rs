//! Video frames, cut into messages.

use core::time::Duration;
use std::sync::Arc;

use strandcast_media::trace::{FrameTrace, TracedFrame};
use strandcast_media::ts::FrameType;
use strandcast_proto::policy::Importance;
use strandcast_proto::time::Instant;

use super::{Cbr, Emission, Frame, Source};

/// A video with a constant rate and without frame types. Each message is a frame.
#[derive(Debug)]
pub struct ConstantVideo {
    messages: Cbr,
    frames: u32,
}

impl ConstantVideo {
    /// Creates a source of a message of `size` bytes (at least 1) every 8·size/`rate_bps` seconds. The source runs from
    /// `start` until before `stop`.
    pub fn new(size: u32, rate_bps: f64, start: Instant, stop: Instant) -> Self {
        ConstantVideo { messages: Cbr::new(size, Box::new(rate_bps), start, stop), frames: 0 }
    }
}

impl Source for ConstantVideo {
    fn next(&mut self) -> Option<Emission> {
        let message = self.messages.next()?;
        let (number, importance) = (self.frames, Importance::Normal);
        let frame = Frame { number, kind: None, importance, capture: message.at, last: true };
        self.frames += 1;
        Some(Emission { frame: Some(frame), ..message })
    }
}

/// Source of the frames of a trace. The earliest time of the trace corresponds to the start of the source. A frame is
/// sent as soon as it is captured, but not before the previous frame of the trace. A B frame is coded after the P frame
/// that is shown after it. A B frame is therefore sent together with this P frame. All messages of a frame, except the
/// last, have the maximum size. The messages of a frame are sent at one time.
#[derive(Debug)]
pub struct TracedVideo {
    trace: Arc<FrameTrace>,
    size: u32,
    stop: Instant,
    /// Time from the start of one repetition of the trace to the start of the next one. `None` if the trace does not
    /// repeat.
    again: Option<Duration>,
    /// Earliest time of the trace. The earliest time is stored because finding it requires reading all frames.
    earliest: Duration,
    /// Time that corresponds to `earliest` in the present repetition.
    begin: Instant,
    at: Instant,
    /// Index of the frame that is being sent; `left` is the number of its remaining bytes.
    index: usize,
    left: u32,
    number: u32,
}

impl TracedVideo {
    /// Creates a source that sends `trace` in messages of at most `size` bytes (at least 1). The source runs from
    /// `start` until before `stop`. If `repeat` is true, a trace that has a duration repeats.
    pub fn new(trace: Arc<FrameTrace>, repeat: bool, size: u32, start: Instant, stop: Instant) -> Self {
        let again = trace.duration().filter(|_| repeat && trace.bytes() > 0);
        let left = trace.frames()[0].bytes;
        TracedVideo {
            earliest: trace.begin(),
            trace,
            size: size.max(1),
            stop,
            again,
            begin: start,
            at: start,
            index: 0,
            left,
            number: 0,
        }
    }

    /// Advances to the next frame. Returns `None` after the last frame.
    fn next_frame(&mut self) -> Option<TracedFrame> {
        self.index += 1;
        if self.index >= self.trace.frames().len() {
            self.begin += self.again?;
            self.index = 0;
        }
        self.number = self.number.wrapping_add(1);
        let frame = self.trace.frames()[self.index];
        self.left = frame.bytes;
        Some(frame)
    }
}

/// Returns the importance of a frame for other frames. All frames depend on a header.
fn importance(kind: Option<FrameType>) -> Importance {
    match kind {
        Some(FrameType::B) => Importance::Disposable,
        Some(FrameType::P) => Importance::Reference,
        Some(FrameType::I) | None => Importance::Key,
    }
}

impl Source for TracedVideo {
    fn next(&mut self) -> Option<Emission> {
        // An ended source stays after its last frame.
        let mut frame = *self.trace.frames().get(self.index)?;
        while self.left == 0 {
            frame = self.next_frame()?;
        }
        let capture = self.begin + (frame.time - self.earliest);
        self.at = self.at.max(capture);
        if self.at >= self.stop {
            return None;
        }
        let bytes = self.left.min(self.size);
        self.left -= bytes;
        let (number, kind, last) = (self.number, frame.kind, self.left == 0);
        let frame = Frame { number, kind, importance: importance(kind), capture, last };
        Some(Emission { at: self.at, bytes, frame: Some(frame) })
    }
}

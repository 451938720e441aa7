//! Frames of a video, cut into messages.

use core::time::Duration;
use std::sync::Arc;

use strandcast_media::trace::{FrameTrace, TracedFrame};
use strandcast_media::ts::FrameType;
use strandcast_proto::policy::Importance;
use strandcast_proto::time::Instant;

use super::{Cbr, Emission, Frame, Source};

/// A video of constant rate, without types of frames: a message is a frame.
#[derive(Debug)]
pub struct ConstantVideo {
    messages: Cbr,
    frames: u32,
}

impl ConstantVideo {
    /// A message of `size` bytes (at least 1) every 8·size/`rate_bps` seconds, from `start` on, before `stop`.
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

/// The frames of a trace, the trace's earliest time at the start. A frame is sent as soon as it is captured, but not before
/// the frame above it in the trace: B frames, which are coded after the P frame that is shown after them, go with it. Its
/// messages are as long as they may be, but for the last one, and are all sent at once.
#[derive(Debug)]
pub struct TracedVideo {
    trace: Arc<FrameTrace>,
    size: u32,
    stop: Instant,
    /// How far the trace's times lie apart from one time through it to the next, if it begins again.
    again: Option<Duration>,
    /// The trace's earliest time; finding it takes a look at each frame.
    earliest: Duration,
    /// When that frame is captured this time.
    begin: Instant,
    at: Instant,
    /// The frame being sent, and its bytes that are still to be sent.
    index: usize,
    left: u32,
    number: u32,
}

impl TracedVideo {
    /// Sends `trace` in messages of at most `size` bytes (at least 1), from `start` on, before `stop`; `repeat`edly, if it
    /// says how long it lasts.
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

    /// Goes to the next frame; `None` behind the last one.
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

/// How much a frame of a trace matters to the others: on a header all of them depend.
fn importance(kind: Option<FrameType>) -> Importance {
    match kind {
        Some(FrameType::B) => Importance::Disposable,
        Some(FrameType::P) => Importance::Reference,
        Some(FrameType::I) | None => Importance::Key,
    }
}

impl Source for TracedVideo {
    fn next(&mut self) -> Option<Emission> {
        // An ended source is left behind its last frame.
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

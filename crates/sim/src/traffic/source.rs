//! What a source says, and the source an application describes.

use core::fmt::Debug;
use std::sync::Arc;

use strandcast_media::trace::FrameTrace;
use strandcast_media::ts::FrameType;
use strandcast_proto::seeds::Random;
use strandcast_proto::time::Instant;

use super::{Cbr, ConstantVideo, Level, OnOff, Poisson, TracedVideo};
use crate::scenario::{App, Frames, Number, TraceFile};

/// Messages of an application.
pub trait Source: Debug + Send {
    /// The next message; times never go back. `None` when it has ended.
    fn next(&mut self) -> Option<Emission>;
}

/// A message handed to a transport.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Emission {
    /// When.
    pub at: Instant,
    /// Bytes of the message, above 0.
    pub bytes: u32,
    /// The frame of a video that it is, or is a part of.
    pub frame: Option<Frame>,
}

impl Emission {
    /// A message that is no part of a video.
    pub fn plain(at: Instant, bytes: u32) -> Self {
        Emission { at, bytes, frame: None }
    }

    /// When what is in it was captured.
    pub fn capture(&self) -> Instant {
        self.frame.map_or(self.at, |frame| frame.capture)
    }
}

/// What a message is to a video.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Frames of the source before this one, in the order in which they are sent; goes on when a trace begins again.
    pub number: u32,
    /// How it depends on others; `None`: no picture, or not known.
    pub kind: Option<FrameType>,
    /// When it was captured; an encoder that sends frames out of order sends it later.
    pub capture: Instant,
    /// The frame ends with this message.
    pub last: bool,
}

/// The source that `app` describes, sending from `start` on and before `stop`; `None` for those that only fill their
/// transport. `level` puts a number to work, with randomness of its own; `frames` reads a trace, or has read it
/// already.
pub fn source(
    app: &App,
    level: impl FnOnce(&Number) -> Box<dyn Level>,
    frames: impl FnOnce(&TraceFile) -> Arc<FrameTrace>,
    random: Random,
    start: Instant,
    stop: Instant,
) -> Option<Box<dyn Source>> {
    Some(match app {
        App::Bulk { .. } | App::Finite { .. } => return None,
        App::Cbr { size, rate } => Box::new(Cbr::new(*size, level(rate), start, stop)),
        App::Poisson { size, rate } => Box::new(Poisson::new(*size, level(rate), random, start, stop)),
        App::OnOff { size, rate, on, off, law } => {
            Box::new(OnOff::new(*size, level(rate), *law, [*on, *off], random, start, stop))
        }
        App::Video(video) => match &video.frames {
            Frames::Constant { rate } => Box::new(ConstantVideo::new(video.size, *rate, start, stop)),
            Frames::Trace { file, repeat } => {
                Box::new(TracedVideo::new(frames(file), *repeat, video.size, start, stop))
            }
        },
    })
}

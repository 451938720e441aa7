//! Messages of sources.

use core::fmt::Debug;

use strandcast_media::ts::FrameType;
use strandcast_proto::policy::Importance;
use strandcast_proto::time::Instant;

/// Messages of an application.
pub trait Source: Debug + Send {
    /// Returns the next message; times never decrease. Returns `None` after the end.
    fn next(&mut self) -> Option<Emission>;
}

/// A message handed to a transport.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Emission {
    /// Time.
    pub at: Instant,
    /// Bytes of the message, above 0.
    pub bytes: u32,
    /// Frame of a video that the message contains or is a part of.
    pub frame: Option<Frame>,
}

impl Emission {
    /// A message that is not a part of a video.
    pub fn plain(at: Instant, bytes: u32) -> Self {
        Emission { at, bytes, frame: None }
    }

    /// Capture time of the contents.
    pub fn capture(&self) -> Instant {
        self.frame.map_or(self.at, |frame| frame.capture)
    }
}

/// A video frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Number of earlier frames of the source, in sending order; continues when a trace repeats.
    pub number: u32,
    /// Dependence on others; `None` for no picture or an unknown type.
    pub kind: Option<FrameType>,
    /// Importance to other frames.
    pub importance: Importance,
    /// Capture time; an encoder that reorders frames sends the frame later.
    pub capture: Instant,
    /// True if the frame ends with this message.
    pub last: bool,
}

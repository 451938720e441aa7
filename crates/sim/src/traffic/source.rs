//! Sources of messages.

use core::fmt::Debug;

use strandcast_media::ts::FrameType;
use strandcast_proto::policy::Importance;
use strandcast_proto::time::Instant;

/// A source of an application's messages.
pub trait Source: Debug + Send {
    /// Returns the next message. Times never decrease. Returns `None` after the last message.
    fn next(&mut self) -> Option<Emission>;
}

/// A message for a transport.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Emission {
    /// Time at which the message is submitted.
    pub at: Instant,
    /// Number of bytes of the message, above 0.
    pub bytes: u32,
    /// Video frame that the message contains completely or in part.
    pub frame: Option<Frame>,
}

impl Emission {
    /// Returns a message that is not part of a video.
    pub fn plain(at: Instant, bytes: u32) -> Self {
        Emission { at, bytes, frame: None }
    }

    /// Returns the capture time of the message's contents.
    pub fn capture(&self) -> Instant {
        self.frame.map_or(self.at, |frame| frame.capture)
    }
}

/// A video frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Number of earlier frames of the source, in the order of sending. The number of frames continues when a trace
    /// repeats.
    pub number: u32,
    /// Type of the frame, which gives its dependence on other frames. The type is `None` if the frame is not a picture
    /// or has an unknown type.
    pub kind: Option<FrameType>,
    /// Importance of the frame for other frames.
    pub importance: Importance,
    /// Time at which the frame was captured. An encoder that reorders frames sends it later.
    pub capture: Instant,
    /// True if the frame ends with this message.
    pub last: bool,
}

//! What a source says.

use core::fmt::Debug;

use strandcast_media::ts::FrameType;
use strandcast_proto::policy::Importance;
use strandcast_proto::time::Instant;

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
    /// How much it matters to the others.
    pub importance: Importance,
    /// When it was captured; an encoder that sends frames out of order sends it later.
    pub capture: Instant,
    /// The frame ends with this message.
    pub last: bool,
}

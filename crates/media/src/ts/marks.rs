//! The role of a packet in the video: frames that begin in it, their types, and points at which decoding may start.

use super::h264::{FrameType, frame_type};
use super::packet::Packet;
use super::pes::PesHeader;
use super::psi::{Program, ProgramTable};

/// The role of one packet, or of all packets of a message, in the video.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Marks {
    /// True if decoding may start here (`random_access_indicator`).
    pub random_access: bool,
    /// True if a frame begins here.
    pub frame_start: bool,
    /// Type of the frame that contains these bytes, if known. For several frames, the type on which most other frames
    /// depend.
    pub frame_type: Option<FrameType>,
}

impl Marks {
    /// Combines the marks of two parts.
    pub fn union(self, other: Marks) -> Marks {
        Marks {
            random_access: self.random_access || other.random_access,
            frame_start: self.frame_start || other.frame_start,
            frame_type: self.frame_type.max(other.frame_type),
        }
    }
}

/// Marks the packets of a stream's first video. Frame types are read only from H.264.
#[derive(Debug, Default)]
pub struct Marker {
    table: ProgramTable,
    current: Option<FrameType>,
}

impl Marker {
    /// Creates a marker at the beginning of a stream.
    pub fn new() -> Self {
        Self::default()
    }

    /// The first program, once its map has been read.
    pub fn program(&self) -> Option<Program> {
        self.table.program()
    }

    /// Marks the next packet of the stream. Packets before the tables have no marks.
    pub fn mark(&mut self, packet: &Packet) -> Marks {
        self.table.observe(packet);
        let Some(video) = self.table.program().and_then(|p| p.video) else { return Marks::default() };
        if packet.pid() != video.pid {
            return Marks::default();
        }
        let random_access = packet.adaptation().is_some_and(|a| a.random_access);
        if packet.unit_start() {
            let data = PesHeader::parse(packet.payload()).and_then(|pes| packet.payload().get(pes.data_at..));
            self.current = data.filter(|_| video.is_h264()).and_then(frame_type);
        }
        Marks { random_access, frame_start: packet.unit_start(), frame_type: self.current }
    }
}

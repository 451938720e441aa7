//! Frames on the air.

use strandcast_keys::words;
use strandcast_proto::time::Instant;

use crate::config::Rate;

/// The address of all stations.
pub(crate) const ALL: u32 = u32::MAX;

words! {
    /// What a frame is.
    pub enum FrameKind {
        /// Request to send.
        Rts = "RTS",
        /// Clear to send.
        Cts = "CTS",
        /// Data for one station.
        Data = "data",
        /// An acknowledgement.
        Ack = "ACK",
        /// Data for all.
        Broadcast = "broadcast",
    }
}

words! {
    /// How a frame fared at the station it was for. Broadcasts count as `received`.
    pub enum FrameOutcome {
        /// It arrived without errors, and the station took it.
        Received = "received",
        /// Another frame disturbed it.
        Collided = "collided",
        /// It was too weak to be decoded, or not sensed at all.
        Weak = "weak",
        /// The station was transmitting.
        Deaf = "deaf",
        /// The station was receiving a stronger frame.
        Ignored = "ignored",
        /// It arrived without errors, and the station did not expect it, had no room for the answer or had a NAV.
        Refused = "refused",
    }
}

/// A frame on the air.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    pub start: u64,
    pub end: u64,
    /// What its duration field says: how long the exchange goes on after it.
    pub nav: u64,
    pub from: u32,
    pub to: u32,
    pub bytes: u32,
    /// Number of its packet among those of its sender.
    pub sequence: u32,
    /// When its packet entered the interface queue.
    pub queued: Instant,
    pub kind: FrameKind,
    pub rate: Rate,
    pub outcome: FrameOutcome,
    /// Which of the two lists of neighbours it was sent with.
    pub list: u8,
}

/// All frames on the air, by number.
#[derive(Debug, Default)]
pub(crate) struct Frames {
    frames: Vec<Frame>,
    free: Vec<u32>,
}

impl Frames {
    pub fn insert(&mut self, frame: Frame) -> u32 {
        if let Some(id) = self.free.pop() {
            self.frames[id as usize] = frame;
            return id;
        }
        self.frames.push(frame);
        (self.frames.len() - 1) as u32
    }

    /// Frees the number of a frame that has ended. Its contents stay readable until the next `insert`.
    pub fn release(&mut self, id: u32) {
        self.free.push(id);
    }

    pub fn get(&self, id: u32) -> &Frame {
        &self.frames[id as usize]
    }

    pub fn get_mut(&mut self, id: u32) -> &mut Frame {
        &mut self.frames[id as usize]
    }
}

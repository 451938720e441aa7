//! Frames on the air.

use strandcast_keys::words;
use strandcast_proto::time::Instant;

use crate::config::Rate;

/// Address in a frame that represents all stations.
pub(crate) const ALL: u32 = u32::MAX;

words! {
    /// Type of a frame.
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
    /// Outcome of a frame at its receiver. A broadcast always counts as `received`.
    pub enum FrameOutcome {
        /// The frame arrived without errors and the station accepted it.
        Received = "received",
        /// Another frame disturbed the frame.
        Collided = "collided",
        /// The frame was too weak to be decoded or sensed.
        Weak = "weak",
        /// The station was transmitting when the frame arrived.
        Deaf = "deaf",
        /// The station was receiving a stronger frame.
        Ignored = "ignored",
        /// The frame arrived without errors, but the station did not accept it. The station did not expect it, had no
        /// room for the answer, or had a NAV.
        Refused = "refused",
    }
}

/// A frame on the air.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    pub start: u64,
    pub end: u64,
    /// Duration field of the frame: remaining time of the exchange after the frame.
    pub nav: u64,
    pub from: u32,
    pub to: u32,
    pub bytes: u32,
    /// Number of the frame's packet at the sending station.
    pub sequence: u32,
    /// Time at which the frame's packet entered the interface queue.
    pub queued: Instant,
    pub kind: FrameKind,
    pub rate: Rate,
    pub outcome: FrameOutcome,
    /// Index of the neighbour list with which the frame began.
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

    /// Releases the number of a frame that has ended. The contents of the frame can be read until the next call of
    /// `insert`.
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

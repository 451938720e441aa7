//! Coded data of an association, for display and measurement.

use super::context::Context;
use super::sender::Sender;
use crate::coding::{Coding, CodingMode};

/// Coded data of an association. No data are coded before the handshake is complete.
#[derive(Copy, Clone, Debug)]
pub struct Coded<'a> {
    pub(super) cx: &'a Context,
    pub(super) tx: &'a Sender,
}

impl<'a> Coded<'a> {
    /// Returns the coding of data that this side sends. `None` means no coding, or a peer that cannot decode.
    pub fn out(self) -> Option<&'a Coding> {
        self.cx.config.coding.as_ref().filter(|_| self.cx.peer.coding_out.is_some())
    }

    /// Returns the coding of data that the peer sends. `None` means no coding.
    pub fn incoming(self) -> Option<CodingMode> {
        self.cx.peer.coding_in.map(|agreed| agreed.mode)
    }

    /// Returns the coded blocks that are kept for the peer, oldest first. Messages are converted into a stream of
    /// records. Each block is given by its number and by its number of bytes in this stream.
    pub fn block_extents(self) -> impl Iterator<Item = (u32, u64)> + use<'a> {
        self.tx.block_extents()
    }
}

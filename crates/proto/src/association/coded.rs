//! Coded data of an association, for display and measurement.

use super::context::Context;
use super::sender::Sender;
use crate::coding::{Coding, CodingMode};

/// Coded data of an association. Before the handshake is complete nothing is coded.
#[derive(Copy, Clone, Debug)]
pub struct Coded<'a> {
    pub(super) cx: &'a Context,
    pub(super) tx: &'a Sender,
}

impl<'a> Coded<'a> {
    /// Coding of the data that this side sends; `None`: no coding, or the peer cannot decode.
    pub fn out(self) -> Option<&'a Coding> {
        self.cx.config.coding.as_ref().filter(|_| self.cx.peer.coding_out.is_some())
    }

    /// Coding of the data that the peer sends; `None`: no coding.
    pub fn incoming(self) -> Option<CodingMode> {
        self.cx.peer.coding_in.map(|agreed| agreed.mode)
    }

    /// Coded blocks that are kept for the peer, oldest first. Each has its number, and the number of its bytes in the
    /// stream of records that messages become.
    pub fn block_extents(self) -> impl Iterator<Item = (u32, u64)> + use<'a> {
        self.tx.block_extents()
    }
}

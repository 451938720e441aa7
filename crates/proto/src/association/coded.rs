//! What of an association is coded, for displays and measurements.

use super::context::Context;
use super::sender::Sender;
use crate::coding::{Coding, CodingMode};

/// What of an association is coded. Nothing is before the handshake is over.
#[derive(Copy, Clone, Debug)]
pub struct Coded<'a> {
    pub(super) cx: &'a Context,
    pub(super) tx: &'a Sender,
}

impl<'a> Coded<'a> {
    /// How it codes what it sends; `None`: it does not, or the peer cannot decode.
    pub fn out(self) -> Option<&'a Coding> {
        self.cx.config.coding.as_ref().filter(|_| self.cx.peer.coding_out.is_some())
    }

    /// How the peer codes what it sends; `None`: it does not.
    pub fn incoming(self) -> Option<CodingMode> {
        self.cx.peer.coding_in.map(|agreed| agreed.mode)
    }

    /// Of each coded block that is kept for the peer, oldest first: its number, and how many bytes it holds of the stream of
    /// records that messages become.
    pub fn block_extents(self) -> impl Iterator<Item = (u32, u64)> + use<'a> {
        self.tx.block_extents()
    }
}

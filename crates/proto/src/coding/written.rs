//! Symbols in the form in which the coder passes them to the association.

use bytes::{Bytes, BytesMut};
use strandcast_coding::symbol::Header;

use crate::policy::Symbol;
use crate::time::Instant;

/// Size in bytes of one memory block for the payloads of symbols.
pub(crate) const ARENA: usize = 64 << 10;

/// A symbol to be sent.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Written {
    pub header: Header,
    pub payload: Bytes,
    pub symbol: Symbol,
    /// Time at which the last source symbol covered by this symbol becomes useless. The time is set if messages have a
    /// lifetime.
    pub expires: Option<Instant>,
}

/// Memory for the payloads of symbols. Many payloads share one allocation.
#[derive(Default, Debug)]
pub(crate) struct Arena(BytesMut);

impl Arena {
    /// Returns the header and the payload of `symbol`, which a coder wrote.
    pub fn keep(&mut self, symbol: &[u8]) -> (Header, Bytes) {
        let (header, payload) = Header::read(symbol).expect("written by the coder");
        if self.0.capacity() < payload.len() {
            self.0.reserve(ARENA.max(payload.len()));
        }
        self.0.extend_from_slice(payload);
        (header, self.0.split().freeze())
    }
}

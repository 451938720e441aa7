//! Symbols as they are handed to the association.

use bytes::{Bytes, BytesMut};
use strandcast_coding::symbol::Header;

use crate::policy::Symbol;
use crate::time::Instant;

/// Memory for the payloads of symbols is taken in pieces of so many bytes.
pub(crate) const ARENA: usize = 64 << 10;

/// A symbol to be sent.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Written {
    pub header: Header,
    pub payload: Bytes,
    pub symbol: Symbol,
    /// When the last source symbol that it covers is worthless, where messages have a lifetime.
    pub expires: Option<Instant>,
}

/// Memory for payloads: many share one allocation.
#[derive(Default, Debug)]
pub(crate) struct Arena(BytesMut);

impl Arena {
    /// Header and payload of `symbol`, which a coder wrote.
    pub fn keep(&mut self, symbol: &[u8]) -> (Header, Bytes) {
        let (header, payload) = Header::read(symbol).expect("written by the coder");
        if self.0.capacity() < payload.len() {
            self.0.reserve(ARENA.max(payload.len()));
        }
        self.0.extend_from_slice(payload);
        (header, self.0.split().freeze())
    }
}

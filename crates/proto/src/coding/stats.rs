//! Counters of coding.

/// Symbols and messages since the association began.
#[derive(Copy, Clone, PartialEq, Eq, Default, Debug)]
pub struct CodingStats {
    /// Number of source symbols sent, without retransmissions.
    pub sources_sent: u64,
    /// Bytes of source symbols sent, including symbol headers.
    pub source_bytes: u64,
    /// Number of repair symbols sent.
    pub repairs_sent: u64,
    /// Bytes of repair symbols sent, including symbol headers.
    pub repair_bytes: u64,
    /// Number of source symbols that arrived.
    pub sources_received: u64,
    /// Number of source symbols that arrived after they had been computed from repair symbols, or after they had
    /// already arrived.
    pub sources_late: u64,
    /// Number of repair symbols that arrived.
    pub repairs_received: u64,
    /// Number of repair symbols that arrived but were redundant: their content was already known or no longer useful.
    pub repairs_unused: u64,
    /// Number of messages that were computed from repair symbols before they arrived. With blocks, it counts source
    /// symbols.
    pub recovered: u64,
    /// Number of refused chunks and repair symbols. A chunk is refused if its symbol is too far ahead, malformed or
    /// contradictory. A repair symbol is also dropped to save work.
    pub symbols_refused: u64,
    /// Number of repair symbols in `symbols_refused` that were dropped because the budget of decoding work was used up.
    pub symbols_shed: u64,
    /// Work of decoding, in bytes of matrix rows that were read or written.
    pub work: u64,
    /// Number of computed symbols that are not messages, because a repair symbol was forged. With blocks, such a symbol
    /// ends the association.
    pub damaged: u64,
}

impl CodingStats {
    /// Returns the bytes of repair symbols divided by the bytes of source symbols sent; `None` if no source symbol was
    /// sent.
    pub fn redundancy(&self) -> Option<f64> {
        (self.source_bytes > 0).then(|| self.repair_bytes as f64 / self.source_bytes as f64)
    }
}

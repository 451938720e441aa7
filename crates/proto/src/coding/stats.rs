//! Counters of coding.

/// Symbols and messages since the association began.
#[derive(Copy, Clone, PartialEq, Eq, Default, Debug)]
pub struct CodingStats {
    /// Number of source symbols sent; retransmissions do not count.
    pub sources_sent: u64,
    /// Bytes of source symbols sent, including symbol headers.
    pub source_bytes: u64,
    /// Number of repair symbols sent.
    pub repairs_sent: u64,
    /// Bytes of repair symbols sent, including symbol headers.
    pub repair_bytes: u64,
    /// Number of source symbols that arrived.
    pub sources_received: u64,
    /// Number of these source symbols that had already been computed from repair symbols, or had already arrived.
    pub sources_late: u64,
    /// Number of repair symbols that arrived.
    pub repairs_received: u64,
    /// Number of these repair symbols that were redundant, because their content was already known or was no longer
    /// useful.
    pub repairs_unused: u64,
    /// Number of messages (in blocks: source symbols) that were computed from repair symbols before they arrived.
    pub recovered: u64,
    /// Number of chunks that were dropped as invalid symbols (too far ahead, malformed, or contradictory), and of
    /// repair symbols that were dropped to save work.
    pub symbols_refused: u64,
    /// Number of these repair symbols that were dropped because the budget for work was used up.
    pub symbols_shed: u64,
    /// Work of decoding, in bytes of rows that were read or written.
    pub work: u64,
    /// Number of computed results that are not messages because a repair symbol was forged. In blocks such a result
    /// ends the association.
    pub damaged: u64,
}

impl CodingStats {
    /// Bytes of repair symbols divided by bytes of source symbols sent; `None`: no source symbol was sent.
    pub fn redundancy(&self) -> Option<f64> {
        (self.source_bytes > 0).then(|| self.repair_bytes as f64 / self.source_bytes as f64)
    }
}

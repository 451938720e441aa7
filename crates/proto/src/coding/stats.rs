//! What coding did.

/// Symbols and messages since the association began.
#[derive(Copy, Clone, PartialEq, Eq, Default, Debug)]
pub struct CodingStats {
    /// Source symbols sent, each once however often it was sent again.
    pub sources_sent: u64,
    /// Their bytes, symbol headers included.
    pub source_bytes: u64,
    /// Repair symbols sent.
    pub repairs_sent: u64,
    /// Their bytes, symbol headers included.
    pub repair_bytes: u64,
    /// Source symbols that arrived.
    pub sources_received: u64,
    /// Of those, source symbols that had been computed from repair symbols before, or came again.
    pub sources_late: u64,
    /// Repair symbols that arrived.
    pub repairs_received: u64,
    /// Of those, repair symbols that brought nothing that was not known, or was of use any more.
    pub repairs_unused: u64,
    /// Messages (in blocks: source symbols) that were computed from repair symbols before they arrived themselves.
    pub recovered: u64,
    /// Chunks that were dropped as no symbols of what was agreed: malformed, too far ahead, or contradictory; and repair symbols
    /// that were dropped to save work.
    pub symbols_refused: u64,
    /// Of those, repair symbols that were dropped since what came before does not pay for their work.
    pub symbols_shed: u64,
    /// Work of decoding, in bytes of rows that were read or written.
    pub work: u64,
    /// What was computed and is no message, since a repair symbol was forged. In blocks it ends the association.
    pub damaged: u64,
}

impl CodingStats {
    /// Bytes of repair symbols by bytes of source symbols sent; `None`: no source symbol was sent.
    pub fn redundancy(&self) -> Option<f64> {
        (self.source_bytes > 0).then(|| self.repair_bytes as f64 / self.source_bytes as f64)
    }
}

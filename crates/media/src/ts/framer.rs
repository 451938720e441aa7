//! Splits a byte stream into packets: acquires, keeps and re-acquires synchronisation.

use bytes::{Buf, BytesMut};

use super::packet::{PACKET_LEN, Packet, SYNC_BYTE};

/// Bytes searched for the first packets before the input is rejected.
pub const SEARCH_LIMIT: usize = 16 * 1024;

/// Consecutive sync bytes, 188 bytes apart, that identify a transport stream. Random bytes match with
/// probability 2^-40.
const LOCK: usize = 5;

/// Reason why an input cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TsError {
    /// No packets were found in the first bytes.
    #[error(
        "not an MPEG transport stream: no packets of 188 bytes, each beginning with 0x47, in the first {looked_at} bytes"
    )]
    NotTransportStream {
        /// Bytes searched.
        looked_at: usize,
    },
    /// The input ended before its first byte.
    #[error("the input is empty")]
    Empty,
}

/// Counters of a [`Framer`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FramerCounts {
    /// Packets found.
    pub packets: u64,
    /// Bytes outside packets: before the first, after a loss of sync, and a remainder at the end.
    pub skipped_bytes: u64,
    /// Losses of sync: a packet did not begin with the sync byte, and the search started again.
    pub sync_losses: u64,
}

/// Splits a byte stream into transport packets (188 bytes; the variants of 192 and 204 bytes are not supported).
///
/// Five consecutive sync bytes start a stream, or fewer if the input ends sooner. Then each packet is returned as soon
/// as it is complete, until one does not begin with the sync byte and the search starts again.
#[derive(Debug, Default)]
pub struct Framer {
    buffer: BytesMut,
    locked: bool,
    finished: bool,
    counts: FramerCounts,
}

/// Result of checking whether a stream starts at a byte.
enum SyncCheck {
    Yes,
    No,
    /// More bytes are needed.
    Unknown,
}

impl Framer {
    /// A framer at the beginning of its input.
    pub fn new() -> Self {
        Self::default()
    }

    /// Accepts the next bytes of the input, split anywhere.
    pub fn push(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// Ends the input: [`Framer::poll`] returns the remaining complete packets.
    pub fn finish(&mut self) {
        self.finished = true;
    }

    /// Counters until now.
    pub fn counts(&self) -> FramerCounts {
        self.counts
    }

    /// The next packet, or `None` until more bytes are pushed.
    ///
    /// # Errors
    /// [`TsError`] if the input does not begin like a transport stream; later losses of sync are counted, not errors.
    pub fn poll(&mut self) -> Result<Option<Packet>, TsError> {
        loop {
            if !self.locked && !self.search()? {
                return Ok(None);
            }
            let Some(bytes) = self.buffer.first_chunk::<PACKET_LEN>() else {
                if self.finished {
                    self.skip(self.buffer.len());
                }
                return Ok(None);
            };
            if let Some(packet) = Packet::new(*bytes) {
                self.buffer.advance(PACKET_LEN);
                self.counts.packets += 1;
                return Ok(Some(packet));
            }
            self.locked = false;
            self.counts.sync_losses += 1;
        }
    }

    /// Skips to the beginning of packets; returns false if that is not known yet.
    fn search(&mut self) -> Result<bool, TsError> {
        let mut at = 0;
        let found = loop {
            match self.buffer[at..].iter().position(|&byte| byte == SYNC_BYTE) {
                None => {
                    at = self.buffer.len();
                    break false;
                }
                Some(ahead) => at += ahead,
            }
            match self.begins(at) {
                SyncCheck::Yes => break true,
                SyncCheck::Unknown => break false,
                SyncCheck::No => at += 1,
            }
        };
        self.skip(at);
        self.locked = found;
        if !found && self.counts.packets == 0 {
            self.check_start()?;
        }
        Ok(found)
    }

    /// Rejects an input without packets at its beginning.
    fn check_start(&self) -> Result<(), TsError> {
        let looked_at = usize::try_from(self.counts.skipped_bytes).unwrap_or(usize::MAX);
        if looked_at >= SEARCH_LIMIT {
            return Err(TsError::NotTransportStream { looked_at });
        }
        match (self.finished, looked_at) {
            (true, 0) => Err(TsError::Empty),
            (true, _) => Err(TsError::NotTransportStream { looked_at }),
            (false, _) => Ok(()),
        }
    }

    /// Checks whether packets begin at byte `at`, which is a sync byte.
    fn begins(&self, at: usize) -> SyncCheck {
        for k in 1..LOCK {
            match self.buffer.get(at + k * PACKET_LEN) {
                Some(&SYNC_BYTE) => {}
                Some(_) => return SyncCheck::No,
                None if !self.finished => return SyncCheck::Unknown,
                None if self.buffer.len() >= at + PACKET_LEN => return SyncCheck::Yes,
                None => return SyncCheck::No,
            }
        }
        SyncCheck::Yes
    }

    fn skip(&mut self, bytes: usize) {
        self.buffer.advance(bytes);
        self.counts.skipped_bytes += bytes as u64;
    }
}

//! Packets out of a stream of bytes: finds the sync bytes, keeps them, finds them again.

use super::packet::{PACKET_LEN, Packet, SYNC_BYTE};
use bytes::{Buf, BytesMut};

/// How many bytes are searched for the first packets before the input is called no transport stream.
pub const SEARCH_LIMIT: usize = 16 * 1024;

/// Sync bytes in a row, 188 bytes apart, that are taken for a transport stream. Random bytes pass once in 2^40.
const LOCK: usize = 5;

/// Why an input can't be read.
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

/// What a [`Framer`] counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FramerCounts {
    /// Packets found.
    pub packets: u64,
    /// Bytes that belong to no packet: before the first, after a loss of sync, and a piece at the end.
    pub skipped_bytes: u64,
    /// How often a packet did not begin with the sync byte, and the search began anew.
    pub sync_losses: u64,
}

/// Cuts a stream of bytes into transport packets (188 bytes; the variants of 192 and 204 bytes are not taken).
///
/// Five sync bytes in a row begin a stream, or as many as the input holds when it ends sooner. From there each packet is
/// given out as soon as it is complete, until one does not begin with the sync byte; then the search begins anew.
#[derive(Debug, Default)]
pub struct Framer {
    buffer: BytesMut,
    locked: bool,
    finished: bool,
    counts: FramerCounts,
}

/// Whether a stream begins at some byte.
enum Begins {
    Yes,
    No,
    /// It takes more bytes to say.
    Unknown,
}

impl Framer {
    /// A framer at the beginning of its input.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes in the next bytes of the input, cut anywhere.
    pub fn push(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// Says that the input has ended: what remains is given out by [`Framer::poll`] as far as it makes packets.
    pub fn finish(&mut self) {
        self.finished = true;
    }

    /// What was counted so far.
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

    /// Skips to where packets begin; false if that is not known yet.
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
                Begins::Yes => break true,
                Begins::Unknown => break false,
                Begins::No => at += 1,
            }
        };
        self.skip(at);
        self.locked = found;
        if !found && self.counts.packets == 0 {
            self.check_start()?;
        }
        Ok(found)
    }

    /// Gives up on an input without packets at its beginning.
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

    /// Whether packets begin at byte `at`, which is a sync byte.
    fn begins(&self, at: usize) -> Begins {
        for k in 1..LOCK {
            match self.buffer.get(at + k * PACKET_LEN) {
                Some(&SYNC_BYTE) => {}
                Some(_) => return Begins::No,
                None if !self.finished => return Begins::Unknown,
                None if self.buffer.len() >= at + PACKET_LEN => return Begins::Yes,
                None => return Begins::No,
            }
        }
        Begins::Yes
    }

    fn skip(&mut self, bytes: usize) {
        self.buffer.advance(bytes);
        self.counts.skipped_bytes += bytes as u64;
    }
}

//! Splits a byte stream into packets: acquires, keeps and re-acquires synchronisation.

use bytes::{Buf, BytesMut};

use super::kinds::looks_like;
use super::packet::{PACKET_LEN, Packet, SYNC_BYTE};

/// Bytes searched for the first packets before the input is rejected.
pub const SEARCH_LIMIT: usize = 16 * 1024;

/// Consecutive sync bytes that identify a transport stream. Random bytes match with probability 2^-40.
const LOCK: usize = 5;
/// Distances between packets, in order of preference. 188: packets only. 192: each packet follows 4 bytes of Blu-ray or
/// AVCHD (M2TS). 204: each packet precedes 16 bytes of Reed-Solomon code (ETSI EN 300 429, ISDB).
const STRIDES: [usize; 3] = [PACKET_LEN, 192, 204];
/// Bytes of the beginning of an input that show its kind.
const HEAD: usize = 64;

/// Reason why an input cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TsError {
    /// No packets were found in the first bytes.
    #[error(
        "not an MPEG transport stream: {}in the first {looked_at} bytes there are no packets of 188, 192 or 204 bytes, \
         each beginning with 0x47; ffmpeg -i FILE -c copy -f mpegts OUT makes one of many formats",
        like.map(|like| format!("it looks like {like}; ")).unwrap_or_default()
    )]
    NotTransportStream {
        /// Bytes searched.
        looked_at: usize,
        /// Kind of the input, if that is known.
        like: Option<&'static str>,
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
    /// Bytes that belong to no packet: those before the first packet, after a loss of sync, and at the end of the
    /// input.
    pub skipped_bytes: u64,
    /// Bytes between packets of 192 and 204 bytes.
    pub extra_bytes: u64,
    /// Losses of sync: a packet did not begin with the sync byte, and the search started again.
    pub sync_losses: u64,
}

/// Splits a byte stream into transport packets of 188 bytes. Packets of 192 and 204 bytes lose their additional bytes.
///
/// A stream starts with five consecutive sync bytes, or with fewer if the input ends sooner. Each packet is then
/// returned as soon as it is complete. If a packet does not begin with the sync byte, the search starts again.
#[derive(Debug, Default)]
pub struct Framer {
    buffer: BytesMut,
    /// Distance from one packet to the next, while it is locked.
    stride: Option<usize>,
    /// Number of bytes between two packets that must still be skipped.
    between: usize,
    /// True if any bytes may precede the first packet.
    patient: bool,
    /// Beginning of the input.
    head: Vec<u8>,
    finished: bool,
    counts: FramerCounts,
}

/// Result of checking whether a stream starts at a byte.
enum SyncCheck {
    /// The input has packets at this distance.
    Yes(usize),
    No,
    /// More bytes are needed.
    Unknown,
}

impl Framer {
    /// Creates a framer at the beginning of its input.
    pub fn new() -> Self {
        Self::default()
    }

    /// Accepts the next bytes of the input, split anywhere.
    pub fn push(&mut self, bytes: &[u8]) {
        let room = HEAD - self.head.len();
        self.head.extend_from_slice(&bytes[..bytes.len().min(room)]);
        self.buffer.extend_from_slice(bytes);
    }

    /// Ends the input: [`Framer::poll`] returns the remaining complete packets.
    pub fn finish(&mut self) {
        self.finished = true;
    }

    /// Permits any bytes before the first packet, without an error.
    pub fn wait_for_stream(&mut self) {
        self.patient = true;
    }

    /// Distance between two packets, once packets were found: 188, 192 or 204 bytes.
    pub fn stride(&self) -> Option<usize> {
        self.stride
    }

    /// Kind of the input by its beginning, if that is known.
    pub fn looks_like(&self) -> Option<&'static str> {
        looks_like(&self.head)
    }

    /// Counters until now.
    pub fn counts(&self) -> FramerCounts {
        self.counts
    }

    /// The next packet, or `None` until more bytes are pushed.
    ///
    /// # Errors
    /// [`TsError`] if the input does not begin like a transport stream. Later losses of sync are only counted.
    pub fn poll(&mut self) -> Result<Option<Packet>, TsError> {
        loop {
            if self.stride.is_none() && !self.search()? {
                return Ok(None);
            }
            let between = self.between.min(self.buffer.len());
            self.buffer.advance(between);
            self.between -= between;
            self.counts.extra_bytes += between as u64;
            let Some(bytes) = self.buffer.first_chunk::<PACKET_LEN>() else {
                if self.finished {
                    self.skip(self.buffer.len());
                }
                return Ok(None);
            };
            if let Some(packet) = Packet::new(*bytes) {
                self.buffer.advance(PACKET_LEN);
                self.between = self.stride.unwrap_or(PACKET_LEN) - PACKET_LEN;
                self.counts.packets += 1;
                return Ok(Some(packet));
            }
            self.stride = None;
            self.counts.sync_losses += 1;
        }
    }

    /// Skips to the beginning of packets. Returns false if this position is not known yet.
    fn search(&mut self) -> Result<bool, TsError> {
        let mut at = 0;
        self.between = 0;
        let found = loop {
            match self.buffer[at..].iter().position(|&byte| byte == SYNC_BYTE) {
                None => {
                    at = self.buffer.len();
                    break None;
                }
                Some(ahead) => at += ahead,
            }
            match self.begins(at) {
                SyncCheck::Yes(stride) => break Some(stride),
                SyncCheck::Unknown => break None,
                SyncCheck::No => at += 1,
            }
        };
        // In some streams each packet is preceded by extra bytes. Those before the first packet do not count as
        // skipped.
        let before = match found {
            Some(192) if self.counts.packets + self.counts.skipped_bytes == 0 && at == 4 => at,
            _ => 0,
        };
        self.buffer.advance(before);
        self.counts.extra_bytes += before as u64;
        self.skip(at - before);
        self.stride = found;
        if found.is_none() && self.counts.packets == 0 {
            self.check_start()?;
        }
        Ok(found.is_some())
    }

    /// Rejects an input without packets at its beginning.
    fn check_start(&self) -> Result<(), TsError> {
        let looked_at = usize::try_from(self.counts.skipped_bytes).unwrap_or(usize::MAX);
        let none = Err(TsError::NotTransportStream { looked_at, like: self.looks_like() });
        if looked_at >= SEARCH_LIMIT && !self.patient {
            return none;
        }
        match (self.finished, looked_at) {
            (true, 0) => Err(TsError::Empty),
            (true, _) => none,
            (false, _) => Ok(()),
        }
    }

    /// Checks whether packets begin at byte `at`, which is a sync byte.
    fn begins(&self, at: usize) -> SyncCheck {
        for stride in STRIDES {
            match self.begins_every(at, stride) {
                SyncCheck::No => {}
                check => return check,
            }
        }
        SyncCheck::No
    }

    fn begins_every(&self, at: usize, stride: usize) -> SyncCheck {
        for k in 1..LOCK {
            match self.buffer.get(at + k * stride) {
                Some(&SYNC_BYTE) => {}
                Some(_) => return SyncCheck::No,
                None if !self.finished => return SyncCheck::Unknown,
                None if self.buffer.len() >= at + PACKET_LEN => return SyncCheck::Yes(stride),
                None => return SyncCheck::No,
            }
        }
        SyncCheck::Yes(stride)
    }

    fn skip(&mut self, bytes: usize) {
        self.buffer.advance(bytes);
        self.counts.skipped_bytes += bytes as u64;
    }
}

//! Hints for programs that cannot communicate, because only one of them uses a seal or because their versions differ.
//! An answer to either program says what to change. The rate of these answers is limited.

use bytes::Bytes;
use strandcast_proto::time::{Duration, Instant};
use strandcast_proto::wire::chunk::Abort;
use strandcast_proto::wire::{Cause, Chunk, Header, Packet, PacketWriter};

use crate::wire::{self, Datagram, Kind};

/// Maximum number of answers per second.
const RATE: u32 = 10;

/// Limits answers to [`RATE`] per second. After a second without answers, the answers of one second may be sent at
/// once.
#[derive(Debug, Default)]
struct Bucket {
    full_at: Instant,
}

impl Bucket {
    /// Counts a further answer. Returns false if the limit is reached.
    fn take(&mut self, now: Instant) -> bool {
        let full_at = self.full_at.max(now) + Duration::from_secs(1) / RATE;
        let may = full_at <= now + Duration::from_secs(1);
        if may {
            self.full_at = full_at;
        }
        may
    }
}

/// Minimum time between two reports of handshakes of another version that this side did not begin.
const REPORT_INTERVAL: Duration = Duration::from_secs(60);

/// Answers of a seal to plain senders and to programs of another version.
#[derive(Debug, Default)]
pub(crate) struct Hints {
    bucket: Bucket,
    /// Earliest time at which a handshake of another version is reported again.
    next_report: Instant,
}

impl Hints {
    /// Counts a further answer. Returns false if the limit of [`RATE`] per second is reached.
    pub fn may_answer(&mut self, now: Instant) -> bool {
        self.bucket.take(now)
    }

    /// Returns whether a handshake of another version must be reported. A handshake of another version is reported once
    /// per [`REPORT_INTERVAL`].
    pub fn is_news(&mut self, now: Instant) -> bool {
        let is = now >= self.next_report;
        if is {
            self.next_report = now + REPORT_INTERVAL;
        }
        is
    }
}

/// Answers of a driver without a seal to sealed senders. The answer is "plain here" (type 5), at most ten times per
/// second.
#[derive(Debug, Default)]
pub struct PlainAnswers {
    bucket: Bucket,
}

impl PlainAnswers {
    /// Appends an answer to `out` and returns true, if `datagram` is the first message of a sealed handshake and the
    /// rate limit permits an answer. The answer has one hundredth of the length of the message.
    pub fn answer(&mut self, now: Instant, datagram: &[u8], out: &mut Vec<u8>) -> bool {
        let Ok(Datagram::Message1(message)) = Datagram::parse(datagram) else { return false };
        if !self.bucket.take(now) {
            return false;
        }
        out.extend_from_slice(&wire::handshake_header(Kind::PlainHere, message.initiator));
        true
    }
}

/// Text that a plain sender displays. The first word of the text prevents further attempts of a Strandcast sender.
const WORDS: &str =
    "refused: this receiver is sealed; pair with it (strandcast key add), or use --plain on both sides";

/// Returns the ABORT that answers a plain INIT; `None` for any other datagram. The ABORT is at most as long as the
/// INIT, or as three times the shortest INIT.
pub(crate) fn refusal(datagram: Bytes) -> Option<Vec<u8>> {
    let packet = Packet::parse(datagram).ok()?;
    let mut chunks = packet.chunks();
    let (Some(Ok((_, Chunk::Init(init)))), None) = (chunks.next(), chunks.next()) else { return None };
    let header = packet.header;
    if header.verification_tag.0 != 0 || init.initiate_tag.0 == 0 || header.source_port == 0 {
        return None;
    }
    let mut out = Vec::new();
    let (source_port, destination_port) = (header.destination_port, header.source_port);
    let header = Header { source_port, destination_port, verification_tag: init.initiate_tag };
    let mut writer = PacketWriter::new(&mut out, header);
    let causes = vec![Cause::UserInitiatedAbort(Bytes::from_static(WORDS.as_bytes()))];
    writer.chunk(&Abort { reflected_tag: false, causes });
    writer.finish();
    Some(out)
}

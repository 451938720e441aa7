//! Hints between sealed and plain programs and between versions: an answer in each direction that names the
//! remedy, at a limited rate.

use bytes::Bytes;
use strandcast_proto::time::{Duration, Instant};
use strandcast_proto::wire::chunk::Abort;
use strandcast_proto::wire::{Cause, Chunk, Header, Packet, PacketWriter};

use crate::wire::{self, Datagram, Kind};

/// Answers per second.
const RATE: u32 = 10;

/// Limits answers to [`RATE`] per second; after a quiet second that number may leave at once.
#[derive(Debug, Default)]
struct Bucket {
    full_at: Instant,
}

impl Bucket {
    /// Takes one answer from the limit. Returns false if none is left.
    fn take(&mut self, now: Instant) -> bool {
        let full_at = self.full_at.max(now) + Duration::from_secs(1) / RATE;
        let may = full_at <= now + Duration::from_secs(1);
        if may {
            self.full_at = full_at;
        }
        may
    }
}

/// Minimum time between two reports of handshakes of another version that other hosts begin.
const REPORT_INTERVAL: Duration = Duration::from_secs(60);

/// Answers of a seal to plain senders and to programs of another version.
#[derive(Debug, Default)]
pub(crate) struct Hints {
    bucket: Bucket,
    /// Time from which the next handshake of another version is reported.
    next_report: Instant,
}

impl Hints {
    /// Takes one answer from the allowance of [`RATE`] per second. Returns false if none is left.
    pub fn may_answer(&mut self, now: Instant) -> bool {
        self.bucket.take(now)
    }

    /// Returns whether to report a handshake of another version: once per [`REPORT_INTERVAL`].
    pub fn is_news(&mut self, now: Instant) -> bool {
        let is = now >= self.next_report;
        if is {
            self.next_report = now + REPORT_INTERVAL;
        }
        is
    }
}

/// Answers of a driver without a seal to sealed senders: "plain here" (type 5), at most ten per second.
#[derive(Debug, Default)]
pub struct PlainAnswers {
    bucket: Bucket,
}

impl PlainAnswers {
    /// Appends the answer to `out` and returns true if `datagram` is the first message of a sealed handshake
    /// and the limit allows an answer. The answer is a hundredth as long as the message.
    pub fn answer(&mut self, now: Instant, datagram: &[u8], out: &mut Vec<u8>) -> bool {
        let Ok(Datagram::Message1(message)) = Datagram::parse(datagram) else { return false };
        if !self.bucket.take(now) {
            return false;
        }
        out.extend_from_slice(&wire::handshake_header(Kind::PlainHere, message.initiator));
        true
    }
}

/// Text that plain senders show. Its first word stops a Strandcast sender from trying again.
const WORDS: &str =
    "refused: this receiver is sealed; pair with it (strandcast key add), or use --plain on both sides";

/// Returns the ABORT for a plain INIT, and `None` for any other datagram. The ABORT is at most as long as the
/// INIT, or three times as long as the shortest INIT.
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

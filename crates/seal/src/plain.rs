//! Between sealed and plain, and between versions: an answer each way that names the remedy, few a second, and never more.

use bytes::Bytes;
use strandcast_proto::time::{Duration, Instant};
use strandcast_proto::wire::chunk::Abort;
use strandcast_proto::wire::{Cause, Chunk, Header, Packet, PacketWriter};

use crate::wire::{self, Datagram, Kind};

/// Answers a second.
const RATE: u32 = 10;

/// Lets [`RATE`] answers a second pass, as many at once after a quiet second.
#[derive(Debug, Default)]
struct Bucket {
    full_at: Instant,
}

impl Bucket {
    /// Takes one answer; whether there was one left.
    fn take(&mut self, now: Instant) -> bool {
        let full_at = self.full_at.max(now) + Duration::from_secs(1) / RATE;
        let may = full_at <= now + Duration::from_secs(1);
        if may {
            self.full_at = full_at;
        }
        may
    }
}

/// Time between two reports of handshakes of another version that others begin.
const REPORT_INTERVAL: Duration = Duration::from_secs(60);

/// What a seal says to plain senders, and to programs of another version.
#[derive(Debug, Default)]
pub(crate) struct Hints {
    bucket: Bucket,
    /// Time from which the next handshake of another version is reported.
    next_report: Instant,
}

impl Hints {
    /// Takes one answer from the allowance of [`RATE`] per second; whether there was one left.
    pub fn may_answer(&mut self, now: Instant) -> bool {
        self.bucket.take(now)
    }

    /// Whether to report a handshake of another version: once per [`REPORT_INTERVAL`].
    pub fn is_news(&mut self, now: Instant) -> bool {
        let is = now >= self.next_report;
        if is {
            self.next_report = now + REPORT_INTERVAL;
        }
        is
    }
}

/// What a driver without a seal says to senders that have one: "plain here" (type 5), at most ten per second.
#[derive(Debug, Default)]
pub struct PlainAnswers {
    bucket: Bucket,
}

impl PlainAnswers {
    /// Whether `datagram` is the first message of a sealed handshake that is to be answered; the answer, a hundredth as
    /// long, is appended to `out`.
    pub fn answer(&mut self, now: Instant, datagram: &[u8], out: &mut Vec<u8>) -> bool {
        let Ok(Datagram::Message1(message)) = Datagram::parse(datagram) else { return false };
        if !self.bucket.take(now) {
            return false;
        }
        out.extend_from_slice(&wire::handshake_header(Kind::PlainHere, message.initiator));
        true
    }
}

/// What plain senders read; its first word tells ours not to try again.
const WORDS: &str =
    "refused: this receiver is sealed; pair with it (strandcast key add), or use --plain on both sides";

/// The ABORT for a plain INIT; `None` for any other datagram. It is no longer than what it answers, or than three times
/// that for the shortest.
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

//! Between sealed and plain: an answer each way that names the remedy, few a second, and never more.

use strandcast_proto::time::{Duration, Instant};

use crate::wire::{self, Datagram, Kind};

/// Answers a second.
const RATE: u32 = 10;

/// Lets [`RATE`] answers a second pass, as many at once after a quiet second.
#[derive(Debug, Default)]
pub(crate) struct Bucket {
    full_at: Instant,
}

impl Bucket {
    /// Whether there may be an answer now; it is counted.
    pub fn take(&mut self, now: Instant) -> bool {
        let full_at = self.full_at.max(now) + Duration::from_secs(1) / RATE;
        let may = full_at <= now + Duration::from_secs(1);
        if may {
            self.full_at = full_at;
        }
        may
    }
}

/// What a driver without a seal says to senders that have one: "plain here" (type 5), at most ten times a second.
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

//! Data in flight on a silent path that a link may still hold. A link that stood still delivers all of these data when
//! it continues, before data that are sent then, although the sender has declared them lost and has sent them by other
//! paths. So they count as queued until they arrive, or until a packet arrives that left after them. If the link lost
//! them, this shows at once: the first arrival is then the answer to a heartbeat, which left later.

use strandcast_proto::policy::{Estimate, PathArrivals, PathView};
use strandcast_proto::time::Instant;

/// Name of the extra estimate of these data, in bytes.
const HELD: &str = "held by the link";

/// Bytes that `path` may hold of a flight that was given up: 0 where no part of the scheme judges.
pub fn held(path: &PathView) -> f64 {
    path.est.extra(HELD).unwrap_or(0.0)
}

/// Writes the bytes that may be held into the estimates of a path.
pub(crate) fn set_held(out: &mut Estimate, bytes: u64) {
    if bytes > 0 {
        out.set_extra(HELD, bytes as f64);
    } else if out.extra(HELD).is_some() {
        out.extra.retain(|(name, _)| *name != HELD);
    }
}

/// The last flight that was given up.
#[derive(Debug, Default)]
pub(super) struct Held {
    bytes: u64,
    /// Time since which nothing new has left by the path.
    since: Instant,
    /// Bytes that have arrived by the path, as last reported by the peer.
    arrived: u64,
}

impl Held {
    /// Bytes that may still come.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// `bytes` were given up; since `suspected` nothing new has left.
    pub fn lost(&mut self, suspected: Instant, bytes: u64) {
        if self.since != suspected {
            (self.bytes, self.since) = (0, suspected);
        }
        self.bytes = self.bytes.saturating_add(bytes);
    }

    pub fn arrives(&mut self, news: &PathArrivals) {
        self.bytes = self.bytes.saturating_sub(news.bytes.saturating_sub(self.arrived));
        self.arrived = news.bytes;
        if let Some(sent) = news.sent {
            self.through(sent);
        }
    }

    /// Something that left at `sent` came through.
    pub fn through(&mut self, sent: Instant) {
        if sent >= self.since {
            self.bytes = 0;
        }
    }

    pub fn write(&self, out: &mut Estimate) {
        set_held(out, self.bytes);
    }
}

//! Data in flight on a silent path that the link may still hold. If a link stalled, it delivers all of these data when
//! it continues, before any newer data. By then, the sender has declared the data lost and has sent them by other
//! paths. The data therefore count as queued until they arrive, or until a packet that left after them arrives. If the
//! link lost the data, the first arrival shows this. It is then the answer to a heartbeat that left after the data.

use strandcast_proto::policy::{Estimate, PathArrivals, PathView};
use strandcast_proto::time::Instant;

/// Name of the extra estimate of these data, in bytes.
const HELD: &str = "held by the link";

/// Number of bytes that were declared lost and that `path` may still hold. 0 if no part of the scheme detects silence.
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

/// The last flight of data that was declared lost.
#[derive(Debug, Default)]
pub(super) struct Held {
    bytes: u64,
    /// Time since which no new data have left by the path.
    since: Instant,
    /// Bytes that have arrived by the path, as last reported by the peer.
    arrived: u64,
}

impl Held {
    /// Bytes that may still arrive.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Records that `bytes` were declared lost. No new data have left since `suspected`.
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

    /// Records that a packet that left at `sent` has arrived.
    pub fn through(&mut self, sent: Instant) {
        if sent >= self.since {
            self.bytes = 0;
        }
    }

    pub fn write(&self, out: &mut Estimate) {
        set_held(out, self.bytes);
    }
}

//! What of the transport's buffers was used, and how long they held data back.

use super::numbers::{bytes, duration};
use serde::Serialize;
use strandcast_proto::association::{AssociationStats, Buffer, Buffers};
use strandcast_proto::time::Instant;

/// One buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct BufferNow {
    /// Bytes in it.
    pub(crate) used_bytes: u64,
    /// The most there ever were.
    pub(crate) most_used_bytes: u64,
    /// Bytes it may hold at present.
    pub(crate) size_bytes: u64,
}

/// Both of an association, and what they and the peer's kept waiting.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub(crate) struct BuffersNow {
    /// What neither may exceed (`--buffer`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) limit_bytes: Option<u64>,
    /// What was handed in and is not yet acknowledged.
    pub(crate) send: BufferNow,
    /// What waits for its order or for the command.
    pub(crate) receive: BufferNow,
    /// Time in which only the full send buffer kept data from being sent.
    pub(crate) send_blocked_s: f64,
    /// Time in which only the peer's full receive buffer kept data from being sent.
    pub(crate) peer_blocked_s: f64,
}

impl BuffersNow {
    /// As they are `now`.
    pub(crate) fn of(buffers: &Buffers, stats: &AssociationStats, now: Instant) -> BuffersNow {
        let one = |buffer: Buffer| BufferNow {
            used_bytes: buffer.used as u64,
            most_used_bytes: buffer.most_used as u64,
            size_bytes: buffer.size as u64,
        };
        BuffersNow {
            limit_bytes: buffers.limit.map(|limit| limit as u64),
            send: one(buffers.send),
            receive: one(buffers.receive),
            send_blocked_s: stats.send_buffer_blocked_time(now).as_secs_f64(),
            peer_blocked_s: stats.rwnd_blocked_time(now).as_secs_f64(),
        }
    }

    /// A line of a sender's summary.
    pub(crate) fn sent(&self) -> String {
        let seconds = |s: f64| duration(std::time::Duration::from_secs_f64(s));
        format!(
            "send buffer: {} used at most, held data back for {}; the receiver's for {}",
            bytes(self.send.most_used_bytes),
            seconds(self.send_blocked_s),
            seconds(self.peer_blocked_s),
        )
    }

    /// A line of a receiver's.
    pub(crate) fn received(&self) -> String {
        let (most, size) = (bytes(self.receive.most_used_bytes), bytes(self.receive.size_bytes));
        format!("receive buffer: {most} used at most, {size} large at the end")
    }
}

//! Use of the transport's buffers, and how long they blocked sending.

use serde::Serialize;
use strandcast_proto::association::{AssociationStats, Buffer, Buffers};
use strandcast_proto::time::Instant;

use crate::text::{bytes, duration};

/// One buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct BufferNow {
    /// Bytes in it.
    pub used_bytes: u64,
    /// The maximum so far.
    pub most_used_bytes: u64,
    /// Its current size.
    pub size_bytes: u64,
}

/// Both buffers of an association, and the time that they and the peer's blocked sending.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct BuffersNow {
    /// The limit of either (`--buffer`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit_bytes: Option<u64>,
    /// Submitted and not yet acknowledged data.
    pub send: BufferNow,
    /// Data waiting for reordering or for the command.
    pub receive: BufferNow,
    /// Time in which only the full send buffer blocked sending.
    pub send_blocked_s: f64,
    /// Time in which only the peer's full receive buffer blocked sending.
    pub peer_blocked_s: f64,
}

impl BuffersNow {
    /// The state at `now`.
    pub fn of(buffers: &Buffers, stats: &AssociationStats, now: Instant) -> BuffersNow {
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
    pub fn sent(&self) -> String {
        let seconds = |s: f64| duration(std::time::Duration::from_secs_f64(s));
        format!(
            "send buffer: peak use {}, blocked sending for {}; the receiver's for {}",
            bytes(self.send.most_used_bytes),
            seconds(self.send_blocked_s),
            seconds(self.peer_blocked_s),
        )
    }

    /// A line of a receiver's summary.
    pub fn received(&self) -> String {
        let (most, size) = (bytes(self.receive.most_used_bytes), bytes(self.receive.size_bytes));
        format!("receive buffer: peak use {most}, size {size} at the end")
    }
}

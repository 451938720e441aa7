//! Use of the transport's buffers, and the time for which they blocked sending.

use serde::Serialize;
use strandcast_proto::association::{AssociationStats, Buffer, Buffers};
use strandcast_proto::time::Instant;

use crate::text::{bytes, duration};

/// State of a buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct BufferNow {
    /// Bytes in the buffer.
    pub used_bytes: u64,
    /// Maximum of the used bytes.
    pub most_used_bytes: u64,
    /// Current size of the buffer.
    pub size_bytes: u64,
}

/// Both buffers of an association. Contains the times for which these buffers and the peer's buffer blocked sending.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct BuffersNow {
    /// Limit of each buffer in bytes (`--buffer`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit_bytes: Option<u64>,
    /// Send buffer: data submitted and not yet acknowledged.
    pub send: BufferNow,
    /// Receive buffer: data that wait for earlier data or for the command.
    pub receive: BufferNow,
    /// Time in which only the full send buffer blocked sending.
    pub send_blocked_s: f64,
    /// Time in which only the peer's full receive buffer blocked sending.
    pub peer_blocked_s: f64,
}

impl BuffersNow {
    /// Returns the state at `now`.
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

    /// Returns the line of a sender's summary.
    pub fn sent(&self) -> String {
        let seconds = |s: f64| duration(std::time::Duration::from_secs_f64(s));
        format!(
            "send buffer: peak use {}, blocked sending for {}; the receiver's for {}",
            bytes(self.send.most_used_bytes),
            seconds(self.send_blocked_s),
            seconds(self.peer_blocked_s),
        )
    }

    /// Returns the line of a receiver's summary.
    pub fn received(&self) -> String {
        let (most, size) = (bytes(self.receive.most_used_bytes), bytes(self.receive.size_bytes));
        format!("receive buffer: peak use {most}, size {size} at the end")
    }
}

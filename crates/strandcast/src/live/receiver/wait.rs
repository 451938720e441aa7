//! Waits of a receiver. If the part that a wait needs is absent, the wait never returns.

use std::time::Duration;

use strandcast_proto::association::{CloseReason, Event};
use strandcast_proto::rx::Message;

use super::incoming::{IncomingStream, PendingSender};

/// Reads all available messages. `messages` stays empty at the end of the association.
pub(super) async fn read(stream: Option<&IncomingStream>, messages: &mut Vec<Message>) {
    match stream {
        Some(stream) => {
            stream.association.recv_many(messages).await;
        }
        None => std::future::pending().await,
    }
}

/// Returns the next event of the stream's association.
pub(super) async fn event(stream: Option<&IncomingStream>) -> Option<Event> {
    match stream {
        Some(stream) => stream.association.event().await,
        None => std::future::pending().await,
    }
}

/// Waits for the end of an association.
pub(super) async fn closed(sender: Option<&PendingSender>) -> CloseReason {
    match sender {
        Some(sender) => sender.association.closed().await,
        None => std::future::pending().await,
    }
}

pub(super) async fn sleep(time: Option<Duration>) {
    match time {
        Some(time) => tokio::time::sleep(time).await,
        None => std::future::pending().await,
    }
}

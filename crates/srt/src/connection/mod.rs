//! An established SRT connection.

mod acks;
mod announce;
mod link;
mod losses;
mod pacer;
mod receiver;
mod rtt;
mod sender;
mod timing;

pub use link::Ended;
pub(crate) use link::{Connection, Keys, Setup};
pub use sender::SendError;

use strandcast_proto::time::Instant;

/// Returns the microseconds since `origin`, modulo 2³².
pub(crate) fn timestamp(now: Instant, origin: Instant) -> u32 {
    now.saturating_since(origin).as_micros() as u32
}

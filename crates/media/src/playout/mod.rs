//! The receiver's end: every message is played at its send time + latency, in the receiver's clock.
//!
//! # Model
//! A message that was sent at `s` (sender's clock) and arrives at `a` (receiver's clock) was under way for `a - s` less the
//! difference of the clocks. The least `a - s` of the last 30 s is the difference plus the shortest way, and is called
//! the offset; a message is due at `s + offset + latency`. Latency thus counts from the shortest way: it is what a message
//! may take longer than the fastest.
//!
//! - Until the first message is played the offset falls as shorter ways are seen. From then on it follows drift, both
//!   ways, at no more than 500 ppm, so that playout stays even; a change of the shortest way is followed the same way.
//! - A message is **late** if it arrives after it was due, and is dropped; **lost** if it has not come when its turn was
//!   (and, so far, not since); everything else is played, once, in order, whatever order it came in.
//! - A **gap** is a run of messages not played; it lasts from when the first of them was due, taken to be spread evenly
//!   between those around them. It is an **underflow** if nothing later had arrived either when it began: the buffer was
//!   empty. Neither start nor end of the stream counts.
//! - A receiver that hears of a session within `latency` of its beginning is taken to have been there: what it misses from
//!   before is lost. One that comes later begins where it comes in.
//! - When the sender's clock jumps, offset and latency hold for the messages after the jump: at once if the clock jumped
//!   ahead (they come more than a second before they could), after a while of nothing but late messages if it
//!   jumped back. The latter also takes in a way that has become longer than the latency for good.
//! - A new session identifier starts over; what the old session left is played at once.
//!
//! # Scope
//! All messages are from one sender; who that is, is the transport's business. What is buffered is bounded in bytes.

mod clock;
mod missing;
mod session;
mod state;
mod stats;
#[cfg(test)]
mod tests;

pub use state::{Ended, Output, Playout, PlayoutConfig, Released};
pub use stats::PlayoutStats;

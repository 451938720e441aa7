//! The receiver's half, which plays every message at its send time + latency, on the receiver's clock.
//!
//! # Model
//! A message that was sent at `s` (sender's clock) and arrives at `a` (receiver's clock) was in transit for `a - s`
//! less the difference of the clocks. The minimum of `a - s` over the last 30 s is this difference plus the minimum
//! delay, and is called the offset; a message is due at `s + offset + latency`. Latency is therefore relative to the
//! minimum delay: a message may be slower than the fastest one by this time.
//!
//! - Until the first message is played the offset falls as shorter delays are seen. From then on it follows drift in
//!   both directions at no more than 500 ppm, so that playout stays even.
//! - A message is **late** if it arrives after it was due, and is dropped; **lost** if it has not arrived by
//!   its turn (and has not arrived since); every other message is played once, in order, for any order of
//!   arrival.
//! - A **gap** is a run of messages not played; it starts when the first of them was due, with due times interpolated
//!   between the adjacent messages. A gap is an **underflow** if no later message had arrived when the gap began: the
//!   buffer was empty. Neither start nor end of the stream counts.
//! - A receiver that learns of a session within `latency` of its start is assumed to have been present: earlier
//!   messages that it missed are lost. A receiver that joins later starts with the first message that it receives, and
//!   counts earlier messages separately.
//! - A new session identifier restarts the model; the rest of the old session is played at once.
//!
//! # When all messages are late, or early
//! Latency never grows silently. Each **shift** of playout to a later time is an output ([`ClockChange`]) and is
//! counted. Messages are evaluated in the order of their sequence numbers:
//!
//! | differences `a - s` | interpretation | action |
//! |---|---|---|
//! | a message was sent over 50 ms before one with a lower number, and the next one agrees | the sender's clock was set back: no network reverses send times | followed at once; playout does not move |
//! | more than a second less than possible | the sender's clock was set ahead | followed at once |
//! | one message much later than its predecessor, all others as late, none in time for 1 s (for the latency, if longer) | up to 5 s: a longer delay, because a path has failed | shift: the longer delay becomes the minimum |
//! | as in the previous row, but by more than 5 s | the sender's clock stood still | as if it had been set back |
//! | growing or changing, all late | congestion | late messages are dropped. After 10 s of only late messages (the latency, if longer) a minimal shift |
//! | falling, all late | a backlog from an outage | late messages are dropped; the next ones are in time |
//! | the minimum over 30 s is over 50 ms longer, nothing is late | a longer delay | shift, by 500 ppm |
//! | for a second over 50 ms shorter than assumed | the congestion is over, or a shorter path is available | playout recovers |
//!
//! *Much later* means three quarters of the total increase, *as late* means within half the latency. Under congestion a
//! difference grows at most as fast as time passes, from message to message; a larger step has another cause. Times
//! without any arrival do not count: an outage is not congestion. Playout **recovers** by playing 5 % faster (6.25 % up
//! to 500 ms, which takes 9 s), as far as the arrivals of the last second remain in time; nothing is dropped or
//! reordered.
//!
//! A receiver cannot distinguish a delay that is 2 s longer from a sender that was suspended for 2 s. The distinction
//! is not necessary: playout is equally late in both cases, and the user gets a report. The header of a message
//! therefore needs no clock other than the send time.
//!
//! # Scope
//! All messages are from one sender; identifying it is the transport's task. The buffer is bounded in bytes.

mod clock;
mod late;
mod missing;
mod session;
mod shift;
#[cfg(test)]
mod shift_tests;
mod state;
mod stats;
#[cfg(test)]
mod tests;
mod window;

pub use shift::{ClockChange, ShiftCause};
pub use state::{Ended, Output, Playout, PlayoutConfig, Released};
pub use stats::PlayoutStats;

//! The receiver's end: every message is played at its send time + latency, in the receiver's clock.
//!
//! # Model
//! A message that was sent at `s` (sender's clock) and arrives at `a` (receiver's clock) was under way for `a - s` less the
//! difference of the clocks. The least `a - s` of the last 30 s is the difference plus the shortest way, and is called
//! the offset; a message is due at `s + offset + latency`. Latency thus counts from the shortest way: it is what a message
//! may take longer than the fastest.
//!
//! - Until the first message is played the offset falls as shorter ways are seen. From then on it follows drift, both
//!   ways, at no more than 500 ppm, so that playout stays even.
//! - A message is **late** if it arrives after it was due, and is dropped; **lost** if it has not come when its turn was
//!   (and, so far, not since); everything else is played, once, in order, whatever order it came in.
//! - A **gap** is a run of messages not played; it lasts from when the first of them was due, taken to be spread evenly
//!   between those around them. It is an **underflow** if nothing later had arrived either when it began: the buffer was
//!   empty. Neither start nor end of the stream counts.
//! - A receiver that hears of a session within `latency` of its beginning is taken to have been there: what it misses from
//!   before is lost. One that comes later begins where it comes in.
//! - A new session identifier starts over; what the old session left is played at once.
//!
//! # When everything comes late, or early
//! Latency never grows unsaid. Each **shift** of playing to later is an output ([`ClockChange`]) and is counted. What the messages
//! tell, taken in the order of their sequence numbers:
//!
//! | differences `a - s` | taken for | what is done |
//! |---|---|---|
//! | a message was sent over 50 ms before one with a lower number, and the next one agrees | the sender's clock was set back: no network turns send times round | followed at once; playing does not move |
//! | more than a second less than possible | the sender's clock was set ahead | the same |
//! | one much later than that before it, all others as late, none in time for 1 s (for the latency, if longer) | up to 5 s: a longer way, because a path is gone | shift: the longer way counts as the shortest |
//! | the same by more than 5 s | the sender's clock stood still | as if it had been set back |
//! | growing or changing, all late | congestion | what is late is dropped. After 10 s of nothing else (the latency, if longer) a shift, as short as will do |
//! | falling, all late | what piled up in an outage | what is late is dropped; the next ones are in time |
//! | the least of 30 s is over 50 ms longer, nothing is late | a longer way | shift, by 500 ppm |
//! | for a second over 50 ms shorter than played for | the congestion is over, or a shorter way is there | playing comes back |
//!
//! *Much later* is three quarters of what the messages are later in all, *as late* within half the latency. Under congestion a
//! difference grows at most as fast as time passes, from message to message; a step by more than that has another reason. The time in
//! which nothing comes at all does not count: an outage is no congestion. Playing **comes back** by going 5 % faster (6.25 % up to
//! 500 ms, which takes 9 s), as far as what came in the last second is still in time; nothing is dropped for it, and nothing changes its
//! place.
//!
//! A receiver cannot tell a way that is 2 s longer from a sender that stood still for 2 s. It need not: playing is as late for both,
//! and the user hears of it. The message's header thus needs no other clock than the send time.
//!
//! # Scope
//! All messages are from one sender; who that is, is the transport's business. What is buffered is bounded in bytes.

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

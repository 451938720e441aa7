//! The receiver's half. The receiver's half plays every message at its send time plus latency, on the receiver's clock.
//!
//! # Model
//! A message is sent at `s` on the sender's clock and arrives at `a` on the receiver's clock. The transit time of the
//! message is `a - s`, less the difference of the two clocks. The minimum of `a - s` over the last 30 s is called the
//! offset. It is the sum of the clocks' difference and the minimum delay. A message is due at `s + offset + latency`.
//! Latency is therefore relative to the minimum delay: a message may be slower than the fastest message by up to the
//! latency.
//!
//! * Until the first message is played, the offset falls whenever a shorter delay occurs. From then on the offset
//!   follows drift in both directions, by at most 500 ppm, so that playout stays even.
//! * A message is **late** if it arrives after its due time. Late messages are dropped. A message is **lost** if it has
//!   not arrived by its turn, and has not arrived since. Every other message is played once and in order, whatever the
//!   order of arrival.
//! * A **gap** is a run of messages that were not played. It starts at the due time of the first of them. Due times of
//!   missing messages are interpolated between the adjacent messages. A gap is an **underflow** if the buffer was empty
//!   when it began, that is, if no later message had arrived. The start and the end of the stream are not gaps.
//! * If the first message arrives within `latency` of the session's start, the receiver is assumed to have been present
//!   since the start. Earlier messages that did not arrive are then lost. A receiver that joins later starts with the
//!   first message that it receives, and counts earlier messages separately.
//! * A new session identifier restarts the model; the rest of the old session is played at once.
//!
//! # When all messages are late, or early
//! The latency never grows without a report. Each **shift** of playout to a later time is an output ([`ClockChange`])
//! and is counted. Messages are evaluated in the order of their sequence numbers:
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
//! *Much later* means by at least three quarters of the total increase. *As late* means within half the latency. Under
//! congestion, the difference grows from message to message at most as fast as time passes. A larger step has another
//! cause. Times without any arrival do not count, because an outage is not congestion. Playout **recovers** by playing
//! 5 % faster, as far as the arrivals of the last second remain in time. Shifts up to 500 ms recover 6.25 % faster,
//! which takes 9 s. Nothing is dropped or reordered.
//!
//! A receiver cannot distinguish a delay that is 2 s longer from a sender that was suspended for 2 s. The distinction
//! is not necessary: playout is equally late in both cases, and the user gets a report. Apart from the send time, the
//! header of a message therefore needs no clock.
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

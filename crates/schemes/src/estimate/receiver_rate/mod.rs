//! The rate that a receiver requests for each path (SRE-rev of Y. Cao et al., "Receiver-assisted
//! cellular/wifi handover management for efficient multipath multimedia delivery in heterogeneous wireless networks").
//!
//! | paper | here |
//! |---|---|
//! | Definitions 1 and 2, steps 1-3: rounds | [`PathRate::label`], [`PathRate::grant`] |
//! | eqs 1, 2: round-trip time and RTO | [`RoundTrip`] |
//! | eqs 3, 4: AIMD on the rate | [`Round::rate`] |
//! | eqs 5-8: weighted mean of the last κ rates | [`Smoothed`] |
//! | delayed response timer, timeout | [`PathRate::deadline`], [`PathRate::timed_out`] |
//!
//! Constants of the paper: Ξ = Φ = 1/2, α = 1/8.
//!
//! Two equations cannot be meant as they are printed:
//! - eq. 1 weighs the new sample with 7/8; here it has 1/8, as in RFC 9260 §6.3.1;
//! - eq. 4 has L/(N·RTT) in both branches. In eq. 3's text that is the increment per packet; as a rate it would take
//!   any rate to one packet a round trip within a few rounds. Here, without congestion, the rate is the received rate
//!   N·L/RTT plus what eq. 3 adds: one packet a round trip, or as much again in slow start.
//!
//! `ASSUMED`, where the paper says nothing:
//! - the loss threshold is 2 % and κ is 8; the loss rate is an average over rounds with gain 1/4 (keys `thresh`,
//!   `kappa`,
//!   `loss-gain`);
//! - a round is congested when that average reaches the threshold *and* something was lost in this very round: "the
//!   regular
//!   AIMD operations" (text after eq. 4) halve once a loss, while an average stays above the threshold for many rounds.
//!   `thresh=0` is TCP's reaction to every loss;
//! - the first weight of eq. 8 is that of the newest rate;
//! - no rate is asked for before the receiver's own slow start ends: until then the sender's slow start decides;
//! - if less than 70 % of the requested rate arrived in a round, and nothing was lost, the application had no more
//!   data: the rate stays;
//! - the rate is at least a packet per round trip and at most twice the highest rate received in the last 5 to 10
//!   seconds;
//! - the sample of a round trip is shortened by half the sender's pause between two packets, at most by half: the time
//!   for which data wait for their turn is not part of the path, and where one packet a round trip is asked for it
//!   would double the round trip;
//! - feedback is repeated when the round it begins has not begun within the RTO of eq. 2, and is not a sample then;
//! - a round on the path with data is congested by its losses alone, not by TEAR's FAST_RECOVERY state;
//! - the delayed response timer begins anew with each packet, not with the round, so that it detects silence, not
//!   slowness;
//! - a sending rate that is not the one asked for is not a reason for feedback at once: the next round's comes within a
//!   round
//!   trip;
//! - a path that carries probes only is rated by its virtual window (N of eq. 4, which has grown already), which each
//!   probe
//!   moves as one packet would. Were a pair of probes to stand for a whole window, as few as they are would rarely be
//!   lost, and an idle path always be the better one;
//! - at most 80 % of what two probes sent back to back show of such a path's capacity, and at most 1.5 times its rate
//!   as
//!   primary path, for ten seconds.

mod equations;
mod path;
#[cfg(test)]
mod tests;

pub use equations::{Most, RateConfig, Round, RoundTrip, Smoothed, weight};
pub use path::{Grant, PathRate};

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
//! Two equations cannot be meant as printed:
//! - in eq. 1 the new sample has weight 7/8; here it has 1/8, as in RFC 9260 §6.3.1;
//! - eq. 4 has L/(N·RTT) in both branches. In the text of eq. 3 this is the increment per packet. As a rate it would
//!   reduce any rate to one packet per round trip within a few rounds. Here, without congestion, the rate is the
//!   received rate N·L/RTT plus the increase of eq. 3: one packet per round trip, or in slow start as much as was
//!   received.
//!
//! `ASSUMED`, because the paper does not say it:
//! - the loss threshold is 2 % and κ is 8; the loss rate is an average over rounds with gain 1/4 (keys `thresh`,
//!   `kappa`,
//!   `loss-gain`);
//! - a round is congested when that average reaches the threshold *and* a packet was lost in the same round. The reason
//!   is that "the regular AIMD operations" (text after eq. 4) halve once per loss, while an average stays above the
//!   threshold for many rounds. `thresh=0` is TCP's reaction to every loss;
//! - the first weight of eq. 8 is that of the newest rate;
//! - the receiver requests no rate before its own slow start ends. Until then the sender's slow start determines the
//!   rate;
//! - if less than 70 % of the requested rate arrived in a round, and nothing was lost, the application had no more
//!   data: the rate stays;
//! - the rate is at least a packet per round trip and at most twice the highest rate received in the last 5 to 10
//!   seconds;
//! - half of the sender's pause between two packets is subtracted from the sample of a round trip, but at most half of
//!   the sample. The time for which data wait to be sent is not part of the path. If the receiver requests one packet
//!   per round trip, that time would double the sample;
//! - feedback is repeated if the round that it begins has not begun within the RTO of eq. 2. Repeated feedback gives no
//!   sample;
//! - a round on the path with data is congested only by its own losses, not by TEAR's FAST_RECOVERY state;
//! - the delayed response timer begins again with each packet, not with the round, so that it detects silence and not a
//!   low rate;
//! - a sending rate that differs from the requested one does not cause immediate feedback, because the feedback of the
//!   next round follows within a round trip;
//! - the rate of a path that carries only probes follows from its virtual window (N of eq. 4, which has already grown),
//!   and each probe changes the window as one packet would. If a pair of probes stood for a whole window, losses would
//!   be rare because probes are few, and an idle path would always seem better;
//! - the rate of such a path is at most 80 % of the capacity that two back-to-back probes show. For ten seconds it is
//!   also at most 1.5 times the path's last rate as primary path.

mod equations;
mod path;
#[cfg(test)]
mod tests;

pub use equations::{Most, RateConfig, Round, RoundTrip, Smoothed, weight};
pub use path::{Grant, PathRate};

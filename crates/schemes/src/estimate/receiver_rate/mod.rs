//! The rate that a receiver requests for each path. This is SRE-rev of Cao et al., "Receiver-assisted cellular/wifi
//! handover management for efficient multipath multimedia delivery in heterogeneous wireless networks".
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
//! Two equations contain errors of print:
//! * In eq. 1 as printed, the new sample has the weight 7/8. Here it has the weight 1/8, as in RFC 9260 §6.3.1.
//! * Eq. 4 as printed has L/(N·RTT) in both branches. According to the text of eq. 3, this term is the increment per
//!   packet. If the term were a rate, it would reduce any rate to one packet per round trip within a few rounds. Here,
//!   the rate without congestion is the received rate N·L/RTT plus the increase of eq. 3. The increase is one packet
//!   per round trip, or in slow start the received amount.
//!
//! `ASSUMED`, because the paper does not specify it:
//! * The loss threshold is 2 %, and κ is 8. The loss rate is an average over rounds with gain 1/4 (keys `thresh`,
//!   `kappa`, `loss-gain`).
//! * A round is congested when that average reaches the threshold *and* a packet was lost in the same round. The second
//!   condition is needed because "the regular AIMD operations" (text after eq. 4) halve once per loss. The average,
//!   however, stays above the threshold for many rounds. `thresh=0` gives TCP's reaction to every loss.
//! * The first weight of eq. 8 is the weight of the newest rate.
//! * The receiver requests no rate before its own slow start ends. Until then, the sender's slow start determines the
//!   rate.
//! * If less than 70 % of the requested rate arrived in a round without losses, the application had no more data. The
//!   rate then does not change.
//! * The rate is at least one packet per round trip. It is at most twice the highest rate received in the last 5 to 10
//!   seconds.
//! * Half of the sender's pause between two packets is subtracted from a sample of the round trip, but at most half of
//!   the sample. The time for which data wait to be sent does not belong to the path. If the receiver requests one
//!   packet per round trip, that time would double the sample.
//! * A feedback begins a round. If this round has not begun within the RTO of eq. 2, the feedback is repeated. A
//!   repeated feedback gives no sample.
//! * On the path with data, only losses of a round make that round congested. The FAST_RECOVERY state of TEAR (TCP
//!   emulation at receivers) does not make a round congested.
//! * The delayed response timer begins again with each packet, and not with each round. It therefore detects silence,
//!   and not a low rate.
//! * If the sending rate differs from the requested rate, no immediate feedback is sent. The feedback of the next round
//!   follows within a round trip.
//! * If a path carries only probes, its rate follows from its virtual window (N of eq. 4, which has already grown).
//!   Each probe changes the window as one packet would. If instead a pair of probes counted as a whole window, losses
//!   would be rare, because there are few probes. An idle path would then always seem better.
//! * The rate of a path with only probes is at most 80 % of the capacity that two back-to-back probes show. For ten
//!   seconds it is also at most 1.5 times the path's last rate as primary path.

mod equations;
mod path;
#[cfg(test)]
mod tests;

pub use equations::{Most, RateConfig, Round, RoundTrip, Smoothed, weight};
pub use path::{Grant, PathRate};

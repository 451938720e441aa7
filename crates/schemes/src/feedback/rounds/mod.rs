//! Rounds between a sender and its receiver. Rates and switches of paths follow from them (Cao et al.,
//! "Receiver-assisted cellular/wifi handover management for efficient multipath multimedia delivery in heterogeneous
//! wireless networks").
//!
//! The receiver computes the rate of each path (`estimate::PathRate`), reports it to the sender, and names the path to
//! use. One object contains both the sender's and the receiver's half, because an association both sends and receives.
//!
//! | paper | here |
//! |---|---|
//! | Definitions 1 and 2: a round begins when the sender uses the advertised rate; each packet has its id | `sender` |
//! | a_rdsr in SACK and HEARTBEAT ACK (Fig. 3 a, b) | [`Notice::Rate`] |
//! | PPSN (Fig. 3 c), on the reverse path with the lowest RTT | [`Notice::Switch`], `receiver` |
//! | timeout: feedback at once | `receiver`, `estimate::PathRate::timed_out` |
//! | eqs 9-12: the rate on the new path | [`new_rate`] |
//! | Algorithm 1, lines 1-9: choose the path | `receiver`, [`Trigger`] |
//! | Algorithm 1, line 12: go there | `schedule::ReceiverChoice`, `congestion::ReceiverPaced` |
//!
//! `ASSUMED`, because the paper does not specify it:
//! * Rates, round ids and switches travel in REPORT items, and not in a longer SACK. Strict parsers refuse additional
//!   bytes after a SACK. A rate names the round that begins with it, so that the sender recognises a repeated rate.
//! * Packets have separate numbers on each path, because TSNs do not show which path lost which packet.
//! * On paths without data, the sender sends pairs of HEARTBEATs that are padded to the MTU. It sends one pair per
//!   round, at most every 100 ms (key `train`), while data flow and for two more seconds. If a pair began no round,
//!   another pair follows after one second.
//! * The result of eq. 9 can be negative, or exceed the rate of the new path. It is limited to at most the new path's
//!   rate, and to at least half of the old path's rate or one packet per round trip.
//! * There is no hysteresis, as in the paper. `hysteresis=0.15` requires a lead of 15 % in three consecutive rounds,
//!   and two seconds since the last switch.
//! * If nothing arrived on a path for two round trips and its timer expired, data move to any other path that answers.
//! * A path that data left in this way is not chosen until a packet has arrived on it again. A path is also not chosen
//!   if nothing has arrived on it for a second or for four round trips.
//! * If an order has no effect for five round trips or 300 ms, either the order or the new path is lost. A newer order
//!   then names the former path, if a packet has arrived on that path since.
//! * The sender may have no data to send, or the peer's buffer may have no room. If this lasts for half a round trip,
//!   the sender reports it. Without this report, the sender's silence would look like a failure.

mod choice;
mod config;
mod feedback;
mod notice;
mod receiver;
mod sender;
#[cfg(test)]
mod tests;
mod timeout;

pub use choice::{Standing, Trigger, new_rate};
pub use config::RoundsConfig;
pub use feedback::Rounds;
pub use notice::{LABEL_LEN, Notice, Order};

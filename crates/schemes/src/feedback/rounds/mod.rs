//! Rounds between a sender and its receiver, and the rates and switches that follow from them (Y. Cao et al.,
//! "Receiver-assisted cellular/wifi handover management for efficient multipath multimedia delivery in heterogeneous
//! wireless networks").
//!
//! The receiver finds the rate of each path (`estimate::PathRate`), reports it to the sender, and names the path to
//! use. One object contains the sender's and the receiver's half, because an association both sends and receives.
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
//! `ASSUMED`, because the paper does not say it:
//! - rates, round ids and switches travel in REPORT items, not in a longer SACK: strict parsers refuse additional bytes
//!   after a SACK. A rate names the round that begins with it, so that the sender recognises a repeated rate;
//! - packets have numbers on their path, because TSNs do not show which path lost which packet;
//! - on paths without data the sender sends pairs of HEARTBEATs padded to the MTU. It sends one pair per round, at most
//!   every 100 ms (key `train`), while data flow and for two more seconds. If a pair began no round, another pair
//!   follows after a second;
//! - eq. 9 can exceed the rate of the new path or be negative: its result is at least half of the old path's rate, or
//!   one packet per round trip, and at most the new path's rate;
//! - there is no hysteresis (the paper has none); `hysteresis=0.15` requires a lead of 15 % in three consecutive
//!   rounds, and two seconds since the last switch;
//! - if nothing arrived on a path for two round trips and its timer expired, data move to any other path that answers;
//! - such a path is not chosen until a packet has arrived on it again. A path on which nothing has arrived for a second
//!   or four round trips is not chosen either;
//! - if an order has no effect for five round trips, or 300 ms, the order or the new path is lost. A newer order then
//!   names the former path, if a packet has arrived on that path since;
//! - if the sender has no data to send, or the peer's buffer has no room, for half a round trip, the sender reports
//!   this. Otherwise its silence would look like a failure.

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

//! Rounds between a sender and its receiver, and what follows from them (Y. Cao et al., "Receiver-assisted
//! cellular/wifi handover management for efficient multipath multimedia delivery in heterogeneous wireless networks").
//!
//! The receiver finds the rate of each path (`estimate::PathRate`), reports it to the sender, and names the path to
//! use. One object has the sender's and the receiver's half, because an association does both.
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
//! `ASSUMED`, where the paper says nothing:
//! - rates, round ids and switches travel in REPORT items, not in a longer SACK: strict parsers refuse bytes after it.
//!   A
//!   rate names the round that begins with it, so that a repeated one is known;
//! - packets have numbers on their path: TSNs do not tell which path lost what;
//! - on paths without data the sender sends pairs of HEARTBEATs padded to the MTU, one pair a round and not more often
//!   than every 100 ms (key `train`), while data flow and for two seconds more; a pair that began no round is followed by
//!   another one after a second;
//! - eq. 9 can exceed the rate of the new path or be negative: its result is limited to at least half the old path's
//!   rate, or one packet a round trip, and at most the new path's rate;
//! - there is no hysteresis (the paper has none); `hysteresis=0.15` asks for a lead of 15 % in three rounds in a row
//!   and two seconds since the last switch;
//! - a path on which nothing came for two round trips, and whose timer ran out, is left for any other one that answers;
//! - such a path is not chosen until something has arrived by it again; nor is a path by which nothing has arrived
//!   for a second or four round trips;
//! - an order without effect for five round trips, or 300 ms, is taken back by a newer one that names the path it left,
//!   if
//!   something came by that since: the order or the new path is lost;
//! - the sender says when it has nothing to send, or the peer's buffer no room, after half a round trip of it: silence
//!   would
//!   look like a failure.

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

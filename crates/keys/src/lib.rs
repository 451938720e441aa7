//! Typed configuration that is declared once. A struct has fields that are keys, each with a summary, a range, a unit
//! and a default.
//!
//! [`keys!`] declares such a struct, and [`words!`] declares an enum of words. The declaration gives the list of keys
//! for `--help` and the documentation. The declaration also reads `key=value`, with errors that name the possible
//! values, and prints values.
//!
//! ```
//! use strandcast_keys::{Keyed, keys, words};
//!
//! words! {
//!     /// Event that ends a turn.
//!     pub enum Turn {
//!         /// The window is full.
//!         Window = "window",
//!         /// A packet was sent.
//!         Packet = "packet",
//!     }
//! }
//!
//! keys! {
//!     /// Configuration of a scheduler.
//!     pub struct Config {
//!         /// length of a turn
//!         turn: Turn = Turn::Window,
//!         /// weight of the old value
//!         old_weight: f64 [0.0, 1.0] = 0.875,
//!         /// paths per chunk
//!         copies: usize [1, 16, "paths"] = 2,
//!     }
//! }
//!
//! let mut config = Config::default();
//! assert_eq!(config.set("turn", "packet"), Ok(true));
//! assert_eq!(config.set("psi", "1"), Ok(false), "no such key");
//! assert_eq!((config.turn, config.get("old-weight").as_deref()), (Turn::Packet, Some("0.875")));
//! let wrong = config.set("turn", "pakcet").unwrap_err().to_string();
//! assert_eq!(wrong, "turn can't be 'pakcet', did you mean packet?; it can be window, packet");
//! let wrong = config.set("copies", "17").unwrap_err().to_string();
//! assert_eq!(wrong, "copies can't be '17'; it can be 1 to 16 paths");
//! ```
#![forbid(unsafe_code)]

pub mod catalog;
mod declare;
mod key;
mod nearest;
mod setting;
#[cfg(test)]
mod tests;
pub mod text;

pub use key::{BadValue, Key, Keyed, Values};
pub use nearest::{closest, nearest};
pub use setting::{Setting, assign, hyphens, written};

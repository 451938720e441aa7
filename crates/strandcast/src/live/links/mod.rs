//! The links of a stream, as both of its ends report them.

mod said;
mod track;
mod trouble;

pub(in crate::live) use said::{decode, encode};
pub(in crate::live) use track::{LinkReport, LinkState, Tracker};
pub use trouble::PathTrouble;

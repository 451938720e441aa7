//! `strandcast receive`.

mod incoming;
mod player;
mod session;
mod summary;
mod takeover;
mod wait;

pub(crate) use player::Player;
pub(crate) use session::run;

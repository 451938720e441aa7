//! `strandcast receive`.

mod door;
mod guest;
mod player;
mod session;
mod summary;

pub(crate) use player::Player;
pub(crate) use session::run;

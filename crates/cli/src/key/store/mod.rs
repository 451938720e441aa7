//! The store of keys: an identity, and beside it the receivers and senders that it knows.

mod file;
mod folder;
mod receivers;
mod senders;
mod serial;
#[cfg(test)]
mod test_folder;
#[cfg(test)]
mod tests;

pub(crate) use file::{refuse_if_public, write_new};
pub(crate) use folder::{ChangeDetector, Store, random, wall_clock};
pub(crate) use receivers::{Receiver, Receivers};
#[cfg(test)]
use senders::WhoError;
pub(crate) use senders::{Sender, Senders, TokenEntry, WallClock};

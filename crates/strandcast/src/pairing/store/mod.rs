//! The store of keys: an identity, and its receivers and senders.

mod file;
mod folder;
mod mint;
mod receivers;
mod senders;
mod serial;
#[cfg(test)]
mod test_folder;
#[cfg(test)]
mod tests;

pub use file::{refuse_if_public, write_new};
pub(super) use folder::{ChangeDetector, random};
pub use folder::{Store, wall_clock};
pub use mint::Minted;
pub use receivers::{Receiver, Receivers};
pub use senders::{Sender, Senders, TokenEntry, WallClock, WhoError};

//! Identities, pairing strings, and stores of the receivers and the senders of this machine.
//!
//! A receiver issues a pairing string once. A sender stores the pairing string under a name:
//!
//! ```
//! use strandcast::pairing::{Destination, Pairing, Store};
//!
//! let folder = std::env::temp_dir().join(format!("strandcast-doc-{}", std::process::id()));
//! let (studio, van) = (Store::at(folder.join("studio/identity")), Store::at(folder.join("van/identity")));
//! let text = studio.pair(&["studio.example:9899".parse().unwrap()], false, None)?;
//!
//! van.add_receiver(&"studio".parse()?, &Pairing::decode(&text)?)?;
//! let to = Destination::named(&van, "studio")?;
//! assert_eq!(to.label, "@studio");
//! # std::fs::remove_dir_all(folder)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A store consists of an identity's file and two files next to it. Only their owner can read them, because anyone who
//! has them can send and receive as the owner. [`Gate`] lets a running receiver admit the senders of its store, while
//! the store changes.

mod base32;
mod client;
mod destination;
mod forms;
mod gate;
mod hosts;
mod keeper;
mod keylog;
mod memory;
mod name;
#[expect(clippy::module_inception, reason = "it is what the whole is named after")]
mod pairing;
mod store;
mod text;

#[doc(hidden)]
pub use client::SealReports;
pub use destination::Destination;
#[cfg(feature = "live")]
pub(crate) use forms::is_key;
pub use forms::{fingerprint, key_text, token_id_text};
pub use gate::{Gate, GateEvent};
pub use hosts::reachable_line;
pub use keylog::KeyLog;
#[doc(hidden)]
pub use memory::paired_in_memory;
pub use name::Name;
#[doc(hidden)]
pub use name::nearest;
pub use pairing::{Pairing, looks_like_pairing};
pub use store::{
    Minted, Receiver, Receivers, Sender, Senders, Store, TokenEntry, WallClock, WhoError, wall_clock,
};
#[doc(hidden)]
pub use store::{refuse_if_public, write_new};
pub use strandcast_seal::{Cipher, Peer, PublicKey, SecretKey, Token};
pub use text::TextError;

//! Live streams and pairing, for the modules `strandcast.live` and `strandcast.pairing`.

mod drain;
mod feeder;
mod place;
mod receiving;
mod runtime;
mod sending;
mod settings;
mod store;
mod stream;

pub(crate) use drain::Drain;
pub(crate) use feeder::Feeder;
pub(crate) use receiving::receive;
pub(crate) use sending::send;
pub(crate) use store::KeyStore;
pub(crate) use stream::{Stream, Waiter};

//! What fuzzers run, and tests over the corpus they left: each function reads its input as a script, whatever the bytes
//! are, and panics where something does not hold.

mod acting;
mod association;
mod coded;
mod packet;
mod pair;
mod script;
mod unknown_sources;
mod work;

pub use association::{association, coded_association};
pub use packet::packet;
pub use pair::{coded_pair, pair};
pub use unknown_sources::unknown_sources;

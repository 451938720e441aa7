//! Fuzz targets, which tests over their corpus also run: each function reads its input as a script, whatever the bytes
//! are, and panics if a check fails.

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

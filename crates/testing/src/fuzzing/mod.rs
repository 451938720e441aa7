//! Fuzz targets, which tests also run with the saved inputs. Each function reads any input as a script, and panics if a
//! check fails.

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

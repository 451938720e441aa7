//! Destinations of a receiver's media: files, standard output, UDP, or anything that implements [`Output`].

mod file;
mod outlet;
mod outlets;
mod pattern;
mod recordings;
mod sink;
mod udp;

pub use file::File;
pub(in crate::live) use outlet::Recording;
pub use outlets::OutputNow;
pub(in crate::live) use outlets::{Failure, Outlets};
pub use recordings::Recordings;
pub use sink::{Batch, Output};
pub use udp::Udp;

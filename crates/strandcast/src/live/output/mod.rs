//! Destinations of a receiver's media: files, standard output, UDP, SRT, or anything that implements [`Output`].

mod file;
mod outlet;
mod pattern;
mod recordings;
mod sink;
#[cfg(feature = "srt")]
mod srt;
mod udp;

pub use file::File;
pub(in crate::live) use outlet::{Outlet, Recording};
pub use recordings::Recordings;
pub use sink::{Batch, Output};
#[cfg(feature = "srt")]
pub use srt::Srt;
pub use udp::Udp;

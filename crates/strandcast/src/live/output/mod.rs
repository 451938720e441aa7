//! Destinations of a receiver's media: files, standard output, UDP, SRT, or anything that implements [`Output`].

#[cfg(feature = "srt")]
mod any;
mod file;
mod outlet;
mod outlets;
mod pattern;
mod recordings;
mod rtp;
mod sink;
#[cfg(feature = "srt")]
mod srt;
#[cfg(test)]
mod tests;
mod udp;
#[cfg(feature = "srt")]
mod viewers;

#[cfg(feature = "srt")]
pub use any::AnyOutput;
pub use file::File;
#[cfg(feature = "srt")]
pub(in crate::live) use outlet::Outlet;
pub(in crate::live) use outlet::Recording;
pub use outlets::OutputNow;
pub(in crate::live) use outlets::{Failure, Outlets, Switch};
pub use recordings::Recordings;
pub use sink::{Batch, Output};
#[cfg(feature = "srt")]
pub use srt::Srt;
pub use udp::Udp;
#[cfg(feature = "srt")]
pub(in crate::live) use viewers::Viewers;
#[cfg(feature = "srt")]
pub use viewers::{Viewed, Viewer};

//! Destinations of a receiver's media: files, standard output, UDP, SRT, or anything that implements [`Output`].

mod any;
mod file;
mod outlet;
mod outlets;
mod pattern;
mod recent;
mod recordings;
mod rtp;
mod sink;
#[cfg(feature = "srt")]
mod srt;
#[cfg(test)]
mod tests;
mod udp;
mod viewers;

pub use any::AnyOutput;
pub use file::File;
pub(in crate::live) use outlet::{Message, Outlet, Recording};
pub use outlets::OutputNow;
pub(in crate::live) use outlets::{Failure, Outlets, Switch, To};
pub use recordings::Recordings;
pub use sink::{Batch, Output};
#[cfg(feature = "srt")]
pub use srt::Srt;
pub use udp::Udp;
pub(in crate::live) use viewers::Viewers;
pub use viewers::{ViewFrom, Viewed, Viewer};

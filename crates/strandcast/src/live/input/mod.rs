//! Sources of a sender's media: files, standard input, UDP, SRT, or anything that implements [`Input`].

mod any;
mod file;
mod pipe;
mod rtp;
mod source;
#[cfg(feature = "srt")]
mod srt;
mod stdin;
mod udp;

pub use any::AnyInput;
pub use file::File;
pub use pipe::Pipe;
pub use source::Input;
#[cfg(feature = "srt")]
pub use srt::Srt;
pub use stdin::Stdin;
pub use udp::Udp;
pub(in crate::live) use udp::first;

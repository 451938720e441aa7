//! Sources of a sender's media: files, standard input, UDP, or anything that implements [`Input`].

mod file;
mod pipe;
mod rtp;
mod source;
mod stdin;
mod udp;

pub use file::File;
pub use pipe::Pipe;
pub use source::Input;
pub use stdin::Stdin;
pub use udp::Udp;
pub(in crate::live) use udp::first;

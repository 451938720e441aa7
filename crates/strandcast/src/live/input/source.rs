//! What an input is.

use std::io;

/// Where a sender's media come from: an MPEG transport stream in pieces of any size.
pub trait Input: Send + 'static {
    /// What events call it.
    fn name(&self) -> String;

    /// Whether the media come as they are made. What is not live is sent at the pace of its own clock.
    fn is_live(&self) -> bool {
        true
    }

    /// Reads into `buffer`, which has 64 KiB, and returns how many bytes: 0 at the end. It must be cancel safe: a call that is
    /// dropped has read nothing.
    fn read(&mut self, buffer: &mut [u8]) -> impl Future<Output = io::Result<usize>> + Send;

    /// Begins anew, for a receiver that took nothing of it. It is called where the input is not live.
    fn rewind(&mut self) -> impl Future<Output = io::Result<()>> + Send {
        async { Err(io::ErrorKind::Unsupported.into()) }
    }
}

//! The trait of inputs.

use std::io;

/// Source of a sender's media: an MPEG transport stream in pieces of any size.
pub trait Input: Send + 'static {
    /// Name in events.
    fn name(&self) -> String;

    /// Returns true if the media come as they are made. Other media are sent at the pace of their own clock.
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

//! The trait of inputs.

use std::io;

/// Source of a sender's media: an MPEG transport stream in pieces of any size.
pub trait Input: Send + 'static {
    /// Name of the input in events.
    fn name(&self) -> String;

    /// Returns true if the media arrive as they are made. Other media are sent at the pace of their own clock.
    fn is_live(&self) -> bool {
        true
    }

    /// Reads into `buffer`, which has 64 KiB. Returns the number of bytes, 0 at the end. It must be cancel safe: a call
    /// that is dropped has read nothing.
    fn read(&mut self, buffer: &mut [u8]) -> impl Future<Output = io::Result<usize>> + Send;

    /// Restarts from the beginning, for a receiver that has refused and accepted no part of the stream. Called only for
    /// inputs that are not live. Without it, such a refusal ends the stream.
    fn rewind(&mut self) -> impl Future<Output = io::Result<()>> + Send {
        async { Err(io::ErrorKind::Unsupported.into()) }
    }
}

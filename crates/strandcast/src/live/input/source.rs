//! The trait of inputs.

use std::io;

/// Source of a sender's media: an MPEG transport stream in pieces of any size.
pub trait Input: Send + 'static {
    /// Name of the input in events.
    fn name(&self) -> String;

    /// Returns true if the media arrive in real time. Other media are sent at the rate of their own clock.
    fn is_live(&self) -> bool {
        true
    }

    /// Returns true if unread media wait, as in a pipe. If such an input is faster than its own clock, this clock paces
    /// it.
    fn waits(&self) -> bool {
        false
    }

    /// Returns true if other data may precede the stream. Such data are skipped, and do not end the sender.
    fn may_begin_late(&self) -> bool {
        false
    }

    /// Reads into `buffer`, which has 64 KiB. Returns the number of bytes, and 0 at the end. It must be cancel safe: a
    /// call that is dropped must not have taken data.
    fn read(&mut self, buffer: &mut [u8]) -> impl Future<Output = io::Result<usize>> + Send;

    /// Restarts from the beginning, for a receiver that has refused the stream and accepted no part of it. It is called
    /// only for inputs that are not live. Without this method such a refusal ends the stream.
    fn rewind(&mut self) -> impl Future<Output = io::Result<()>> + Send {
        async { Err(io::ErrorKind::Unsupported.into()) }
    }
}

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

    /// Returns true if media that are not read wait, as in a pipe. Such an input is paced by its own clock if it runs
    /// faster than that.
    fn waits(&self) -> bool {
        false
    }

    /// Returns true if anything may come before the stream: it is skipped, and does not end the sender.
    fn may_begin_late(&self) -> bool {
        false
    }

    /// Reads into `buffer`, which has 64 KiB. Returns the number of bytes, 0 at the end. The call must be cancel safe:
    /// a call that is dropped has read nothing.
    fn read(&mut self, buffer: &mut [u8]) -> impl Future<Output = io::Result<usize>> + Send;

    /// Restarts from the beginning, for a receiver that has refused and accepted no part of the stream. Called only for
    /// inputs that are not live. Without it, such a refusal ends the stream.
    fn rewind(&mut self) -> impl Future<Output = io::Result<()>> + Send {
        async { Err(io::ErrorKind::Unsupported.into()) }
    }
}

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

    /// Returns true if other data may precede the stream. The sender skips such data and does not end.
    fn may_begin_late(&self) -> bool {
        false
    }

    /// Reads into `buffer`, which has 64 KiB. Returns the number of bytes, and 0 at the end. The call must be cancel
    /// safe: if it is dropped, it must not have taken data.
    fn read(&mut self, buffer: &mut [u8]) -> impl Future<Output = io::Result<usize>> + Send;

    /// Returns texts about what keeps media from this input, since the last call: for example, an encoder that was
    /// refused. Each text becomes an event. The sender calls this several times per second.
    fn troubles(&mut self) -> Vec<String> {
        Vec::new()
    }

    /// Restarts from the beginning. A sender needs this if a receiver has refused the stream and accepted no part of
    /// it. The sender calls it only for inputs that are not live. If an input does not have this method, such a refusal
    /// ends the stream.
    fn rewind(&mut self) -> impl Future<Output = io::Result<()>> + Send {
        async { Err(io::ErrorKind::Unsupported.into()) }
    }
}

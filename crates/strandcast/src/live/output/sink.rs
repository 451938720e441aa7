//! The trait of outputs.

use std::io;

/// Messages that are due, in the order of the stream. Each message is a whole number of transport packets.
#[derive(Debug, Default)]
pub struct Batch {
    bytes: Vec<u8>,
    /// End of each message as an offset in bytes.
    ends: Vec<usize>,
}

impl Batch {
    /// Returns the bytes of all messages.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Messages in order. Each has as many packets as one datagram.
    pub fn messages(&self) -> impl Iterator<Item = &[u8]> {
        let begins = std::iter::once(0).chain(self.ends.iter().copied());
        begins.zip(&self.ends).map(|(begin, &end)| &self.bytes[begin..end])
    }

    /// Returns true if there are no messages.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Number of messages.
    pub(super) fn count(&self) -> u64 {
        self.ends.len() as u64
    }

    pub(in crate::live) fn push(&mut self, message: &[u8]) {
        self.bytes.extend_from_slice(message);
        self.ends.push(self.bytes.len());
    }

    /// Capacity in bytes.
    pub(super) fn capacity(&self) -> usize {
        self.bytes.capacity()
    }

    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }
}

/// Makes a batch of these messages, for programs and tests that write to an output directly.
impl<'a> FromIterator<&'a [u8]> for Batch {
    fn from_iter<T: IntoIterator<Item = &'a [u8]>>(messages: T) -> Batch {
        let mut batch = Batch::default();
        messages.into_iter().for_each(|message| batch.push(message));
        batch
    }
}

/// Destination of a receiver's media. A slow output is allowed. Messages wait in a part of the receiver's memory.
/// Messages that do not fit in this part are dropped and counted.
pub trait Output: Send + 'static {
    /// Name of the output in events.
    fn name(&self) -> String;

    /// Returns whether the output receives the receiver's [`Slate`](crate::live::Slate) while no sender plays. A player
    /// needs the slate. A recording has only the sender's stream.
    fn takes_slate(&self) -> bool {
        false
    }

    /// Begins a stream. If the error is [`io::ErrorKind::AlreadyExists`], the receiver refuses this stream but plays
    /// others. Any other error ends the receiver.
    fn begin(&mut self) -> impl Future<Output = io::Result<()>> + Send {
        async { Ok(()) }
    }

    /// Returns the reasons for lost messages since the last call, if the output continues. Each reason has the number
    /// of lost messages. A reason without lost messages is also returned.
    fn troubles(&mut self) -> Vec<(String, u64)> {
        Vec::new()
    }

    /// Writes messages that are due. An error ends the output. Such an error also ends the receiver if this was its
    /// last output.
    fn write(&mut self, batch: &Batch) -> impl Future<Output = io::Result<()>> + Send;

    /// Ends the output at the end of the receiver, once all data are written. The output limits the time that this
    /// takes. The receiver calls it at most once. After it, only [`Output::troubles`] and [`Output::name`] are called.
    /// A receiver that is asked to stop does not wait for the output to end. An error means that the media reached no
    /// destination.
    fn end(&mut self) -> impl Future<Output = io::Result<()>> + Send {
        async { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_stay_apart() {
        let mut batch = Batch::default();
        ["one", "", "three"].iter().for_each(|message| batch.push(message.as_bytes()));
        assert_eq!(batch.bytes(), b"onethree");
        assert_eq!(batch.messages().collect::<Vec<_>>(), [&b"one"[..], b"", b"three"]);
        batch.clear();
        assert!(batch.is_empty() && batch.messages().next().is_none());
    }
}

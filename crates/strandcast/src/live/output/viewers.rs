//! Viewers: programs that read the played media, each at its own rate.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

/// Maximum number of messages that wait for the slowest viewer.
const MOST: usize = 1024;

/// Viewers of a stream. Without a viewer there is no queue, and no message is copied.
#[derive(Clone, Debug, Default)]
pub(in crate::live) struct Viewers(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    queue: Option<broadcast::Sender<Bytes>>,
    over: bool,
}

/// A viewer of a stream.
#[derive(Debug)]
pub struct Viewer(broadcast::Receiver<Bytes>);

/// Media for a viewer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Viewed {
    /// A message: a whole number of transport packets.
    Media(Bytes),
    /// Number of messages that the viewer lost because it read too slowly.
    Lost(u64),
}

impl Viewers {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a viewer. Returns `None` if the stream has ended.
    pub(in crate::live) fn join(&self) -> Option<Viewer> {
        let mut state = self.lock();
        let fresh = || broadcast::Sender::new(MOST);
        (!state.over).then(|| Viewer(state.queue.get_or_insert_with(fresh).subscribe()))
    }

    /// Passes a message to all viewers without waiting.
    pub(in crate::live) fn write(&self, message: &[u8]) {
        let mut state = self.lock();
        let Some(queue) = &state.queue else { return };
        if queue.receiver_count() == 0 {
            state.queue = None;
            return;
        }
        // The last viewer may leave meanwhile.
        let _ = queue.send(Bytes::copy_from_slice(message));
    }

    /// Ends the stream of all viewers.
    pub(in crate::live) fn close(&self) {
        let mut state = self.lock();
        (state.queue, state.over) = (None, true);
    }
}

impl Viewer {
    /// Returns the media that are played next. Returns `None` at the end of the stream. Cancel safe.
    pub async fn next(&mut self) -> Option<Viewed> {
        match self.0.recv().await {
            Ok(message) => Some(Viewed::Media(message)),
            Err(RecvError::Lagged(messages)) => Some(Viewed::Lost(messages)),
            Err(RecvError::Closed) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_slow_viewer_loses_messages_of_its_own_only() {
        let viewers = Viewers::default();
        viewers.write(b"unseen");
        assert!(viewers.lock().queue.is_none());
        let (mut slow, mut quick) = (viewers.join().expect("it runs"), viewers.join().expect("it runs"));
        for number in 0..=MOST as u64 {
            viewers.write(&number.to_be_bytes());
            assert_eq!(quick.next().await, Some(Viewed::Media(number.to_be_bytes().to_vec().into())));
        }
        assert_eq!(slow.next().await, Some(Viewed::Lost(1)));
        assert_eq!(slow.next().await, Some(Viewed::Media(1_u64.to_be_bytes().to_vec().into())));
        drop((slow, quick));
        viewers.write(b"unseen");
        assert!(viewers.lock().queue.is_none(), "the queue is gone with the last viewer");
        let mut last = viewers.join().expect("it runs");
        viewers.write(b"end");
        viewers.close();
        assert_eq!(last.next().await, Some(Viewed::Media(Bytes::from_static(b"end"))));
        assert_eq!(last.next().await, None);
        assert!(viewers.join().is_none());
    }
}

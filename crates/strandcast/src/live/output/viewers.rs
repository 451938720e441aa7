//! Viewers: programs that read the played media, each at its own rate.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

use super::recent::Recent;

/// Maximum number of messages that wait for the slowest viewer.
const MOST: usize = 1024;

/// Viewers of a stream. Without a viewer there is no queue; the media since the last key frame are kept if viewers may
/// come.
#[derive(Clone, Debug, Default)]
pub(in crate::live) struct Viewers(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    queue: Option<broadcast::Sender<Bytes>>,
    recent: Option<Recent>,
    over: bool,
}

/// A viewer of a stream.
#[derive(Debug)]
pub struct Viewer {
    /// Media that were played before the viewer joined.
    before: Bytes,
    queue: broadcast::Receiver<Bytes>,
}

/// Point of a stream at which a viewer begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ViewFrom {
    /// The media that are played from now on.
    Now,
    /// The last key frame that is old enough for a picture at once. It is the same as [`ViewFrom::Now`] if more than a
    /// few MiB were played since, or nothing for a second.
    LastKeyFrame,
}

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

    /// Keeps the media since the last key frame for viewers that come, of at most `most` bytes.
    pub(in crate::live) fn keep(&self, most: usize) {
        self.lock().recent = Some(Recent::new(most));
    }

    /// Records that another stream begins.
    pub(in crate::live) fn begin(&self) {
        if let Some(recent) = &mut self.lock().recent {
            recent.clear();
        }
    }

    /// Adds a viewer; `None` if the stream has ended.
    pub(in crate::live) fn join(&self, from: ViewFrom) -> Option<Viewer> {
        let mut state = self.lock();
        if state.over {
            return None;
        }
        let recent = state.recent.as_ref().filter(|_| from == ViewFrom::LastKeyFrame);
        let before = recent.map(Recent::media).unwrap_or_default();
        let queue = state.queue.get_or_insert_with(|| broadcast::Sender::new(MOST)).subscribe();
        Some(Viewer { before, queue })
    }

    /// Passes a message to all viewers without waiting.
    pub(in crate::live) fn write(&self, message: &[u8]) {
        let mut state = self.lock();
        if let Some(recent) = &mut state.recent {
            recent.push(message);
        }
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
        (state.queue, state.recent, state.over) = (None, None, true);
    }
}

impl Viewer {
    /// Returns the media that are played next. Returns `None` at the end of the stream. Cancel safe.
    pub async fn next(&mut self) -> Option<Viewed> {
        if !self.before.is_empty() {
            return Some(Viewed::Media(std::mem::take(&mut self.before)));
        }
        match self.queue.recv().await {
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
        let (mut slow, mut quick) =
            (viewers.join(ViewFrom::Now).expect("it runs"), viewers.join(ViewFrom::Now).expect("it runs"));
        for number in 0..=MOST as u64 {
            viewers.write(&number.to_be_bytes());
            assert_eq!(quick.next().await, Some(Viewed::Media(number.to_be_bytes().to_vec().into())));
        }
        assert_eq!(slow.next().await, Some(Viewed::Lost(1)));
        assert_eq!(slow.next().await, Some(Viewed::Media(1_u64.to_be_bytes().to_vec().into())));
        drop((slow, quick));
        viewers.write(b"unseen");
        assert!(viewers.lock().queue.is_none(), "the queue is gone with the last viewer");
        let mut last = viewers.join(ViewFrom::Now).expect("it runs");
        viewers.write(b"end");
        viewers.close();
        assert_eq!(last.next().await, Some(Viewed::Media(Bytes::from_static(b"end"))));
        assert_eq!(last.next().await, None);
        assert!(viewers.join(ViewFrom::Now).is_none());
    }

    #[tokio::test]
    async fn a_viewer_may_begin_with_what_was_played_since_the_last_key_frame() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../media/clip.ts");
        let clip = std::fs::read(path).expect("the clip");
        let (viewers, length) = (Viewers::default(), 7 * 188);
        let begins = async |from| {
            let mut viewer = viewers.join(from).expect("it runs");
            viewers.write(&clip[..length]);
            match viewer.next().await {
                Some(Viewed::Media(media)) => media.len(),
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(begins(ViewFrom::LastKeyFrame).await, length, "nothing is kept");
        viewers.keep(1 << 20);
        clip[..1 << 19].chunks(length).for_each(|message| viewers.write(message));
        assert_eq!(begins(ViewFrom::Now).await, length);
        assert!(begins(ViewFrom::LastKeyFrame).await > 2 * length);
        viewers.begin();
        assert_eq!(begins(ViewFrom::LastKeyFrame).await, length, "another stream has begun");
    }
}

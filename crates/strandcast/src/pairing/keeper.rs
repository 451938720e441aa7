//! Writes changes of a running receiver to its store in batches. In a burst of senders, the changes therefore do not
//! need one waiting thread each. No stream waits for the lock.

use std::time::Duration;

use strandcast_seal::{PublicKey, TokenId};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinHandle;

use super::forms::fingerprint;
use super::store::{Senders, Store, WallClock};
use crate::error::Error;

/// Maximum number of changes in one write.
const BATCH: usize = 4096;

/// A change of the store.
#[derive(Clone, Copy, Debug)]
pub(super) enum Change {
    /// A sender has enrolled with a token.
    Enrolled(TokenId, PublicKey, WallClock),
    /// Tokens that have expired by this time stay closed, even if the clock is set back later.
    Expired(WallClock),
}

impl Change {
    /// Returns the key of the sender that has enrolled.
    fn enrolled(&self) -> Option<PublicKey> {
        match self {
            Change::Enrolled(_, key, _) => Some(*key),
            Change::Expired(_) => None,
        }
    }

    /// Applies the change.
    pub(super) fn apply(self, senders: &mut Senders) {
        match self {
            Change::Enrolled(token, key, at) => senders.enrol(token, key, at),
            Change::Expired(at) => senders.expire(at),
        };
    }
}

/// Time limit for writing the remaining changes at the end of a command.
const END: Duration = Duration::from_secs(1);

/// The writing task. Dropping the handle ends the task.
#[derive(Debug)]
pub(super) struct Keeper {
    changes: UnboundedSender<Change>,
    task: JoinHandle<()>,
}

impl Keeper {
    /// Starts to write to `store`. `told` is called with a line for each batch that cannot be written. Call it inside
    /// the runtime.
    pub(super) fn start(store: Store, told: impl Fn(String) + Send + 'static) -> Keeper {
        let (changes, taken) = unbounded_channel();
        Keeper { changes, task: tokio::spawn(write(store, taken, told)) }
    }

    /// Queues a change.
    pub(super) fn write(&self, change: Change) {
        // Without the task, the runtime is ending.
        let _ = self.changes.send(change);
    }

    /// Waits until all changes are written, but at most for a second. Returns a line if a change could not be written.
    pub(super) async fn end(self) -> Option<String> {
        drop(self.changes);
        let ended = tokio::time::timeout(END, self.task).await;
        let unwritten =
            "senders that enrolled at last may not be stored: the store was not written within a second";
        ended.is_err().then(|| unwritten.to_owned())
    }
}

async fn write(store: Store, mut taken: UnboundedReceiver<Change>, told: impl Fn(String)) {
    let mut batch = Vec::new();
    while taken.recv_many(&mut batch, BATCH).await > 0 {
        let (store, all) = (store.clone(), std::mem::take(&mut batch));
        let enrolled: Vec<PublicKey> = all.iter().filter_map(Change::enrolled).collect();
        let written = tokio::task::spawn_blocking(move || {
            store.change_senders(|senders| {
                all.into_iter().for_each(|change| change.apply(senders));
                Ok::<_, Error>(())
            })
        });
        // A thread that panicked has written nothing.
        if let Err(error) = written.await.unwrap_or(Err(Error::Aborted)) {
            let what = match &enrolled[..] {
                [] => "the end of expired pairing strings could not be stored".to_owned(),
                [key] => format!("the sender {} could not be stored", fingerprint(key)),
                all => format!("{} new senders could not be stored", all.len()),
            };
            told(format!("{what}: {error}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use strandcast_proto::seeds::Seeds;

    use super::*;

    #[tokio::test]
    async fn what_is_queued_is_written_before_the_end() {
        let folder = std::env::temp_dir().join(format!("strandcast-keeper-{}", std::process::id()));
        let store = Store::at(folder.join("identity"));
        store.identity_or_new().expect("a new identity");
        let mut random = Seeds::new(1, 0).stream("keeper");
        let token = store
            .change_senders(|senders| Ok::<_, Error>(senders.reusable(&mut random, 0)))
            .expect("a store that can be written");
        let keeper = Keeper::start(store.clone(), |line| panic!("{line}"));
        for n in 0..100 {
            keeper.write(Change::Enrolled(token.id(), PublicKey([n; 32]), 1));
        }
        assert_eq!(keeper.end().await, None);
        assert_eq!(store.senders().unwrap().senders().len(), 100);
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[tokio::test]
    async fn a_store_that_cannot_be_written_does_not_hold_up_the_end() {
        let task = tokio::spawn(std::future::pending());
        let keeper = Keeper { changes: unbounded_channel().0, task };
        assert!(keeper.end().await.is_some_and(|line| line.contains("may not be stored")));
    }
}

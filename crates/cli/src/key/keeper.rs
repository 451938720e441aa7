//! Writes what a running receiver learns into its store: one batch after the other, so that a burst of senders does not wait
//! for the lock with a thread each, and no stream waits at all.

use strandcast_seal::{PublicKey, TokenId};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::forms::fingerprint;
use super::store::{Senders, Store, WallClock};
use crate::error::CliError;

/// Changes that are written at once.
const BATCH: usize = 4096;

/// What was learnt.
#[derive(Clone, Copy, Debug)]
pub(super) enum Change {
    /// A sender has enrolled with a token.
    Enrolled(TokenId, PublicKey, WallClock),
    /// It is so late: tokens that have expired by then stay closed, whatever the clock says later.
    Expired(WallClock),
}

impl Change {
    /// The sender that has enrolled.
    fn enrolled(&self) -> Option<PublicKey> {
        match self {
            Change::Enrolled(_, key, _) => Some(*key),
            Change::Expired(_) => None,
        }
    }

    /// Makes the change.
    pub(super) fn apply(self, senders: &mut Senders) {
        match self {
            Change::Enrolled(token, key, at) => senders.enrol(token, key, at),
            Change::Expired(at) => senders.expire(at),
        };
    }
}

/// Starts the task that writes to `store`, until the handle is dropped; `told` gets a line for each batch that cannot be
/// written. Call it inside the runtime.
pub(super) fn keep(store: Store, told: impl Fn(String) + Send + 'static) -> UnboundedSender<Change> {
    let (changes, taken) = unbounded_channel();
    tokio::spawn(write(store, taken, told));
    changes
}

async fn write(store: Store, mut taken: UnboundedReceiver<Change>, told: impl Fn(String)) {
    let mut batch = Vec::new();
    while taken.recv_many(&mut batch, BATCH).await > 0 {
        let (store, all) = (store.clone(), std::mem::take(&mut batch));
        let enrolled: Vec<PublicKey> = all.iter().filter_map(Change::enrolled).collect();
        let written = tokio::task::spawn_blocking(move || {
            store.change_senders(|senders| {
                all.into_iter().for_each(|change| change.apply(senders));
                Ok::<_, CliError>(())
            })
        });
        // A thread that panicked has written nothing.
        if let Err(error) = written.await.unwrap_or(Err(CliError::Aborted)) {
            let what = match &enrolled[..] {
                [] => "expired pairing strings are not closed for good".to_owned(),
                [key] => format!("{} is not enrolled for good", fingerprint(key)),
                all => format!("{} new senders are not enrolled for good", all.len()),
            };
            told(format!("{what}: {error}"));
        }
    }
}

//! What the sessions of a seal share.

use std::collections::BTreeMap;

use strandcast_proto::path::SealId;
use strandcast_proto::seeds::Random;
use zeroize::Zeroizing;

use crate::admission::Admission;
use crate::config::SealConfig;
use crate::handshake::Slot;
use crate::keylog::{self, Log};
use crate::keys::{Completed, ConnectionId, Keys, PATHS};
use crate::outbox::Outbox;

/// The keys of a handshake, and what they are called here.
pub(crate) struct Keyset {
    pub number: u64,
    pub keys: Keys,
    /// What a log of keys is to have of them once they are a session's.
    log: Option<Zeroizing<String>>,
}

/// Who has keys.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Owner {
    Session(SealId),
    /// A handshake that is answered, whose initiator has not shown yet that it is more than a repetition.
    Tentative(Slot),
}

/// What a connection id stands for.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) struct Receiving {
    pub keyset: u64,
    pub path: u8,
}

/// What the sessions of a seal share.
pub(crate) struct Context {
    pub config: SealConfig,
    pub admission: Admission,
    pub outbox: Outbox,
    /// For handshakes that this side begins.
    pub random: Random,
    /// Handshakes that this side began, by the id it gave them.
    pub attempts: BTreeMap<[u8; 8], SealId>,
    /// Sessions that were silent for a while: whether anybody needs them is to be asked.
    pub silent: Vec<SealId>,
    /// Accepted sessions that were not: whether they have an association is to be asked.
    pub talking: Vec<SealId>,
    pub log: Option<Log>,
    ids: BTreeMap<ConnectionId, Receiving>,
    owners: BTreeMap<u64, Owner>,
    keysets: u64,
}

impl Context {
    pub fn new(mut config: SealConfig, outbox: Outbox, random: Random) -> Self {
        let admission = Admission::new(core::mem::take(&mut config.access));
        Context {
            config,
            admission,
            outbox,
            random,
            attempts: BTreeMap::new(),
            silent: Vec::new(),
            talking: Vec::new(),
            log: None,
            ids: BTreeMap::new(),
            owners: BTreeMap::new(),
            keysets: 0,
        }
    }

    /// Keys for `owner`, whose datagrams are known from now on.
    pub fn keyset(&mut self, completed: Completed, owner: Owner) -> Keyset {
        self.keysets += 1;
        let keys = Keys::new(completed);
        let log = self.log.is_some().then(|| keylog::lines(&keys));
        let mut keyset = Keyset { number: self.keysets, keys, log };
        let number = keyset.number;
        self.ids.extend(ids(&keyset).map(|(path, id)| (id, Receiving { keyset: number, path })));
        self.own(&mut keyset, owner);
        keyset
    }

    /// Datagrams under these keys are `owner`'s from now on. Those of a session are logged: others may be made without an
    /// end by somebody who has the token.
    pub fn own(&mut self, keyset: &mut Keyset, owner: Owner) {
        self.owners.insert(keyset.number, owner);
        if let (Owner::Session(_), Some(log)) = (owner, &mut self.log) {
            keyset.log.take().iter().flat_map(|lines| lines.lines()).for_each(log);
        }
    }

    /// Datagrams under these keys are unknown from now on.
    pub fn disown(&mut self, keyset: &Keyset) {
        self.owners.remove(&keyset.number);
        for (_, id) in ids(keyset) {
            self.ids.remove(&id);
        }
    }

    /// Whose datagrams under these keys are.
    pub fn owner(&self, keyset: u64) -> Option<Owner> {
        self.owners.get(&keyset).copied()
    }

    /// Handshakes that this side has given up, or that are complete.
    pub fn forget_attempts(&mut self, ids: impl Iterator<Item = [u8; 8]>) {
        ids.for_each(|id| {
            self.attempts.remove(&id);
        });
    }

    #[cfg(any(test, feature = "testing"))]
    pub fn known_ids(&self) -> usize {
        self.ids.len().max(self.owners.len())
    }

    /// What a connection id stands for.
    pub fn receiving(&self, id: ConnectionId) -> Option<Receiving> {
        self.ids.get(&id).copied()
    }
}

/// What datagrams under these keys carry, for each path.
fn ids(keyset: &Keyset) -> impl Iterator<Item = (u8, ConnectionId)> {
    (0..PATHS).filter_map(|path| Some((path, keyset.keys.connection_id(path)?)))
}

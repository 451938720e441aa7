//! State that the sessions of a seal share.

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

/// The keys of a handshake, and their local number.
pub(crate) struct Keyset {
    pub number: u64,
    pub keys: Keys,
    /// Lines for a log of keys, written once a session owns the keys.
    log: Option<Zeroizing<String>>,
}

/// Owner of keys.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Owner {
    Session(SealId),
    /// An answered handshake that no datagram has confirmed: the initiator may be somebody who repeats a
    /// recorded message.
    Tentative(Slot),
}

/// Keyset and path of a connection id.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) struct Receiving {
    pub keyset: u64,
    pub path: u8,
}

/// State that the sessions of a seal share.
pub(crate) struct Context {
    pub config: SealConfig,
    pub admission: Admission,
    pub outbox: Outbox,
    /// Randomness of the handshakes that this side begins.
    pub random: Random,
    /// Handshakes that this side began, by their initiator's id.
    pub attempts: BTreeMap<[u8; 8], SealId>,
    /// Silent sessions: their owner checks whether an association still needs them.
    pub silent: Vec<SealId>,
    /// Accepted sessions that receive datagrams: their owner checks whether they have an association.
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

    /// Registers keys for `owner`, so that their connection ids are known from now on.
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

    /// Makes `owner` the owner of these keys. Only keys of sessions are logged, because a host with the token
    /// can cause handshakes without end.
    pub fn own(&mut self, keyset: &mut Keyset, owner: Owner) {
        self.owners.insert(keyset.number, owner);
        if let (Owner::Session(_), Some(log)) = (owner, &mut self.log) {
            keyset.log.take().iter().flat_map(|lines| lines.lines()).for_each(log);
        }
    }

    /// Removes these keys: their connection ids are unknown from now on.
    pub fn disown(&mut self, keyset: &Keyset) {
        self.owners.remove(&keyset.number);
        for (_, id) in ids(keyset) {
            self.ids.remove(&id);
        }
    }

    /// Returns the owner of the keys.
    pub fn owner(&self, keyset: u64) -> Option<Owner> {
        self.owners.get(&keyset).copied()
    }

    /// Removes handshakes of this side that are abandoned or complete.
    pub fn forget_attempts(&mut self, ids: impl Iterator<Item = [u8; 8]>) {
        ids.for_each(|id| {
            self.attempts.remove(&id);
        });
    }

    #[cfg(any(test, feature = "testing"))]
    pub fn known_ids(&self) -> usize {
        self.ids.len().max(self.owners.len())
    }

    /// Returns keyset and path of a connection id.
    pub fn receiving(&self, id: ConnectionId) -> Option<Receiving> {
        self.ids.get(&id).copied()
    }
}

/// Returns path and connection id of each datagram that these keys receive.
fn ids(keyset: &Keyset) -> impl Iterator<Item = (u8, ConnectionId)> {
    (0..PATHS).filter_map(|path| Some((path, keyset.keys.connection_id(path)?)))
}

//! State that all sessions of a seal share.

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

/// The keys of one handshake, with a number that identifies them at this side.
pub(crate) struct Keyset {
    pub number: u64,
    pub keys: Keys,
    /// Lines about these keys for the key log. The lines are written once a session owns the keys.
    log: Option<Zeroizing<String>>,
}

/// Owner of a keyset.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Owner {
    Session(SealId),
    /// A handshake that this side answered, and that no datagram has confirmed. The initiator of such a handshake may
    /// be an attacker who repeats a recorded message 1.
    Tentative(Slot),
}

/// The keyset and the path to which a connection id belongs.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) struct Receiving {
    pub keyset: u64,
    pub path: u8,
}

/// State that all sessions of a seal share.
pub(crate) struct Context {
    pub config: SealConfig,
    pub admission: Admission,
    pub outbox: Outbox,
    /// Source of randomness for the handshakes that this side begins.
    pub random: Random,
    /// The handshakes that this side began, with their sessions. The key of the map is the initiator's id.
    pub attempts: BTreeMap<[u8; 8], SealId>,
    /// Sessions that have been silent. The owner of this state checks whether an association still needs them.
    pub silent: Vec<SealId>,
    /// Accepted sessions that receive datagrams. The owner of this state checks whether they have an association.
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

    /// Registers the keys of a completed handshake for `owner`. From now on, datagrams with their connection ids are
    /// recognised.
    pub fn keyset(&mut self, completed: Completed, owner: Owner) -> Keyset {
        self.keysets += 1;
        let keys = Keys::new(completed);
        let log = self.log.is_some().then(|| keylog::lines(&keys));
        let mut keyset = Keyset { number: self.keysets, keys, log };
        let number = keyset.number;
        // An id that another keyset has stays with it: what a peer negotiates takes no path from another one.
        for (path, id) in ids(&keyset) {
            self.ids.entry(id).or_insert(Receiving { keyset: number, path });
        }
        self.own(&mut keyset, owner);
        keyset
    }

    /// Makes `owner` the owner of the keyset. Only the keys of sessions are logged. Any host with the token could
    /// otherwise fill the log by starting handshakes.
    pub fn own(&mut self, keyset: &mut Keyset, owner: Owner) {
        self.owners.insert(keyset.number, owner);
        if let (Owner::Session(_), Some(log)) = (owner, &mut self.log) {
            keyset.log.take().iter().flat_map(|lines| lines.lines()).for_each(log);
        }
    }

    /// Removes the keyset. From now on, datagrams with its connection ids are unknown.
    pub fn disown(&mut self, keyset: &Keyset) {
        self.owners.remove(&keyset.number);
        for (_, id) in ids(keyset) {
            if self.receiving(id).is_some_and(|receiving| receiving.keyset == keyset.number) {
                self.ids.remove(&id);
            }
        }
    }

    /// Returns the owner of the keyset with this number.
    pub fn owner(&self, keyset: u64) -> Option<Owner> {
        self.owners.get(&keyset).copied()
    }

    /// Removes this side's handshakes that were given up or completed.
    pub fn forget_attempts(&mut self, ids: impl Iterator<Item = [u8; 8]>) {
        ids.for_each(|id| {
            self.attempts.remove(&id);
        });
    }

    #[cfg(any(test, feature = "testing"))]
    pub fn known_ids(&self) -> usize {
        self.ids.len().max(self.owners.len())
    }

    /// Returns the keyset and the path to which a connection id belongs.
    pub fn receiving(&self, id: ConnectionId) -> Option<Receiving> {
        self.ids.get(&id).copied()
    }
}

/// Returns the paths on which this keyset receives datagrams, each with its connection id.
fn ids(keyset: &Keyset) -> impl Iterator<Item = (u8, ConnectionId)> {
    (0..PATHS).filter_map(|path| Some((path, keyset.keys.connection_id(path)?)))
}

#[cfg(test)]
mod tests {
    use strandcast_proto::seeds::Seeds;

    use super::*;
    use crate::aead::Cipher;
    use crate::identity::{Access, PublicKey, SecretKey};
    use crate::keys::{HandshakeId, RouteBytes};
    use crate::secret::Secret;

    /// Returns keys at a responder. Equal values of `receive` give equal connection ids.
    fn completed(receive: u8) -> Completed {
        let [send, receive] = [1, receive].map(|byte| Secret::new([byte; 32]));
        let (handshake, remote, route) = (HandshakeId([2; 16]), PublicKey([3; 32]), RouteBytes([4, 5]));
        Completed { cipher: Cipher::Aes128Gcm, send, receive, handshake, route, initiates: false, remote }
    }

    /// Six bytes of a connection id are derived from the keys (ADR 17). Two sessions may therefore have equal
    /// connection ids.
    #[test]
    fn an_id_that_is_there_twice_stays_with_the_earlier_keys() {
        let seeds = Seeds::new(1, 0);
        let identity = SecretKey::generate(&mut seeds.stream("identity"));
        let outbox = Outbox::new(seeds.stream("outbox"));
        let mut cx = Context::new(SealConfig::new(identity, Access::default()), outbox, seeds.stream("seal"));
        let [earlier, later, other] =
            [9, 9, 8].map(|receive| cx.keyset(completed(receive), Owner::Session(SealId(receive.into()))));
        let id = |keyset: &Keyset, path| keyset.keys.connection_id(path).expect("a path");
        assert_eq!(id(&earlier, 3), id(&later, 3));
        assert_eq!(id(&earlier, 3).0[..2], [4, 5]);
        assert_ne!(id(&earlier, 3).0[2..], id(&other, 3).0[2..]);
        let of = |cx: &Context, keyset: &Keyset| cx.receiving(id(keyset, 3)).map(|r| (r.keyset, r.path));
        assert_eq!(of(&cx, &later), Some((earlier.number, 3)));
        cx.disown(&later);
        assert_eq!(of(&cx, &earlier), Some((earlier.number, 3)), "the later keys have gone");
        cx.disown(&earlier);
        assert_eq!((of(&cx, &earlier), of(&cx, &other)), (None, Some((other.number, 3))));
    }
}

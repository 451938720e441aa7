//! Admission of senders to a command that listens, while the store changes.

use std::collections::BTreeMap;
use std::fmt;
use std::net::SocketAddr;

use strandcast_net::driver::{Driver, SealHooks, ServerSeal};
use strandcast_seal::{Access, Cipher, Peer, PublicKey, SealConfig, SealEvent, SecretKey, TokenId};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use zeroize::Zeroizing;

use super::client::speaks;
use super::forms::fingerprint;
#[cfg(feature = "live")]
use super::forms::{is_fingerprint, parse_key};
use super::hosts::reachable;
use super::keeper::{Change, Keeper};
use super::keylog::KeyLog;
use super::pairing::Pairing;
use super::store::{ChangeDetector, Senders, Store, WallClock, random, wall_clock};
use crate::error::Error;

/// The store of a running receiver.
#[derive(Debug)]
pub struct Gate {
    store: Store,
    identity: SecretKey,
    changes: ChangeDetector,
    senders: Senders,
    /// Senders that enrolled since the store was read. The file may not contain these senders yet.
    enrolled: Vec<(TokenId, PublicKey)>,
    /// Time at which access next changes without a request, in seconds since 1970.
    expiry: Option<u64>,
    /// True if the store has changed since the driver received the list of senders.
    stale: bool,
    ciphers: BTreeMap<PublicKey, Cipher>,
    keylog: Option<KeyLog>,
    /// Task that writes to the store; started with the first change.
    writes: Option<Keeper>,
    /// Reports of the seal and of writes to the store.
    reports: (UnboundedSender<Report>, UnboundedReceiver<Report>),
    /// Events that no call of [`Gate::poll`] has returned yet.
    events: Vec<GateEvent>,
}

#[derive(Debug)]
enum Report {
    Enrolled(TokenId, PublicKey),
    Established(PublicKey, Cipher),
    Refused(PublicKey, SocketAddr),
    OtherVersion(SocketAddr, u8),
    Unwritten(String),
}

/// A report of a [`Gate`]. The text of a report is one line.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum GateEvent {
    /// A sender has paired.
    Enrolled {
        /// Key of the sender.
        key: PublicKey,
    },
    /// A sender was refused.
    Refused {
        /// Key of the sender.
        key: PublicKey,
        /// Address of the sender.
        from: SocketAddr,
        /// True if the store contains the sender.
        known: bool,
    },
    /// A sender uses another version of sealed datagrams.
    OtherVersion {
        /// Address of the sender.
        from: SocketAddr,
        /// Version of the sender.
        version: u8,
    },
    /// The store cannot be read or written.
    Store(String),
}

impl fmt::Display for GateEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GateEvent::Enrolled { key } => write!(f, "new sender {}", fingerprint(key)),
            GateEvent::Refused { key, from, .. } => write!(f, "refused {} at {from}", fingerprint(key)),
            GateEvent::OtherVersion { from, version } => {
                write!(f, "{from} {}", speaks(*version, "the sender's"))
            }
            GateEvent::Store(line) => f.write_str(line),
        }
    }
}

impl Gate {
    /// Makes a gate that admits the senders of a store. Makes the store's identity if it never existed. `keylog`
    /// receives the keys of all sessions.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub fn open(store: &Store, keylog: Option<KeyLog>) -> Result<Gate, Error> {
        let (identity, _) = store.identity_or_new()?;
        let changes = ChangeDetector::new(store);
        let senders = store.senders()?;
        Ok(Gate {
            store: store.clone(),
            identity,
            changes,
            senders,
            enrolled: Vec::new(),
            expiry: None,
            stale: false,
            ciphers: BTreeMap::new(),
            keylog,
            writes: None,
            reports: unbounded_channel(),
            events: Vec::new(),
        })
    }

    /// Returns the seal of a server. The sessions of the server may take `memory` bytes.
    pub fn seal(&mut self, memory: usize) -> ServerSeal {
        let max_sessions = Some(memory / SealConfig::SESSION_HEAP);
        let reports = self.reports.0.clone();
        let on_event = move |_, event: &SealEvent| {
            let report = match event {
                SealEvent::Enrolled { token, key } => Report::Enrolled(*token, *key),
                SealEvent::Established { peer, cipher, .. } => Report::Established(*peer, *cipher),
                SealEvent::Refused { key, from } => Report::Refused(*key, *from),
                SealEvent::OtherVersion { from, version } => Report::OtherVersion(*from, *version),
                _ => return,
            };
            // Without a gate the command is ending.
            let _ = reports.send(report);
        };
        let hooks =
            SealHooks { on_event: Some(Box::new(on_event)), keylog: self.keylog.as_ref().map(KeyLog::sink) };
        ServerSeal { identity: self.identity.clone(), access: self.access(), max_sessions, hooks }
    }

    /// Waits until all changes are in the store, for at most a second. Returns events to report.
    pub async fn end(&mut self) -> Vec<GateEvent> {
        let mut events = std::mem::take(&mut self.events);
        events.extend(self.reported());
        if let Some(writes) = self.writes.take() {
            events.extend(writes.end().await.map(GateEvent::Store));
        }
        events.extend(self.reported());
        events
    }

    /// Reads the store and the reports of the seal. Call it several times per second. Returns events to report.
    ///
    /// Cancel safe: if the future is dropped, the next call applies a change of the store and returns all events.
    pub async fn poll(&mut self, driver: &Driver) -> Vec<GateEvent> {
        let reported = self.reported();
        self.events.extend(reported);
        if self.changes.changed() {
            self.stale = true;
            match self.store.senders() {
                Ok(senders) => self.senders = senders,
                Err(error) => {
                    let line = format!("{error}; until then the admitted senders may still send");
                    self.events.push(GateEvent::Store(line));
                }
            }
        }
        if self.stale || self.expiry.is_some_and(|at| wall_clock() >= at) {
            driver.set_access(self.access()).await;
            self.stale = false;
        }
        std::mem::take(&mut self.events)
    }

    /// Takes the reports of the seal and of writes to the store.
    fn reported(&mut self) -> Vec<GateEvent> {
        let mut events = Vec::new();
        while let Ok(report) = self.reports.1.try_recv() {
            match report {
                Report::Enrolled(token, key) => {
                    self.enrol(token, key);
                    events.push(GateEvent::Enrolled { key });
                }
                Report::Established(peer, cipher) => drop(self.ciphers.insert(peer, cipher)),
                // The seal sends at most eight of these reports per minute.
                Report::Refused(key, from) => {
                    let known = self.senders.get(&key).is_some();
                    events.push(GateEvent::Refused { key, from, known });
                }
                // The seal sends one of these reports per minute.
                Report::OtherVersion(from, version) => events.push(GateEvent::OtherVersion { from, version }),
                Report::Unwritten(line) => events.push(GateEvent::Store(line)),
            }
        }
        events
    }

    /// Returns the name of a sender in messages. The name consists of the sender's name or the short form of its key,
    /// and the cipher.
    pub fn label(&self, key: &PublicKey) -> String {
        let name = self.senders.get(key).map_or_else(|| fingerprint(key), |sender| sender.label());
        self.ciphers.get(key).map_or(name.clone(), |cipher| format!("{name}, {cipher}"))
    }

    /// Returns whether `who` denotes the sender with this key. `who` may be its name in the store, the short form of
    /// its key, or its key.
    #[cfg(feature = "live")]
    pub(crate) fn is_sender(&self, who: &str, key: &PublicKey) -> bool {
        is_fingerprint(who, key)
            || parse_key(who).is_ok_and(|named| named == *key)
            || self.senders.get(key).is_some_and(|sender| sender.name.as_deref() == Some(who))
    }

    /// Records the addresses on which the receiver listens. Pairing strings contain them by default, here and in
    /// `strandcast key pair`. If the store cannot be written, the next call of [`Gate::poll`] reports the error, and
    /// listening continues.
    pub fn listens(&mut self, listen: &[SocketAddr]) {
        if self.senders.listen == listen {
            return;
        }
        self.senders.listen = listen.to_vec();
        let written = self.store.change_senders(|senders| {
            senders.listen = listen.to_vec();
            Ok::<_, Error>(())
        });
        if let Err(error) = written {
            let line = format!("where this receiver listens is not stored: {error}");
            // The other end is in this gate.
            let _ = self.reports.0.send(Report::Unwritten(line));
        }
    }

    /// Returns whether any sender has paired.
    pub fn has_senders(&self) -> bool {
        !self.senders.senders().is_empty()
    }

    /// Returns the pairing string that any sender may use until the store closes it. If such a string exists, it is
    /// returned with the hosts that were given to `strandcast key pair`. If no such string exists, a new string is
    /// made.
    ///
    /// # Errors
    /// [`Error::Store`]. [`Error::Network`] if this machine has no address that others can reach, or too many such
    /// addresses.
    pub fn pairing(&self) -> Result<Zeroizing<String>, Error> {
        let now = wall_clock();
        let mut random = random()?;
        let (token, named) = self.store.change_senders(|senders| {
            let token = senders.reusable(&mut random, now);
            let named = senders.hosts_of(&token);
            Ok::<_, Error>((token, named))
        })?;
        let hosts = reachable(&named, &self.senders.listen)?;
        let pairing = Pairing { once: false, hosts, peer: Peer { key: self.identity.public(), token } };
        pairing.encode().ok_or_else(|| Error::Network("this machine has too many addresses".into()))
    }

    /// Returns the senders that may connect now.
    fn access(&mut self) -> Access {
        let now = self.now();
        for (token, key) in &self.enrolled {
            self.senders.enrol(*token, *key, now);
        }
        if self.senders.expire(now) {
            // Without this, a clock that goes back, such as a clock without a battery, would open expired tokens again.
            self.write(Change::Expired(now));
        }
        self.expiry = self.senders.next_expiry(now);
        self.senders.access(now)
    }

    /// Returns the time of day. The time is never earlier than the newest time in the store.
    fn now(&self) -> WallClock {
        wall_clock().max(self.senders.newest())
    }

    /// Applies a change in memory at once, and writes it to the store later.
    fn write(&mut self, change: Change) {
        change.apply(&mut self.senders);
        let (store, reports) = (self.store.clone(), self.reports.0.clone());
        // Without a gate the command is ending.
        let told = move |line| drop(reports.send(Report::Unwritten(line)));
        self.writes.get_or_insert_with(|| Keeper::start(store, told)).write(change);
    }

    /// Stores a sender that has enrolled. If the store cannot be written, a later call reports this, and the stream
    /// continues.
    fn enrol(&mut self, token: TokenId, key: PublicKey) {
        self.enrolled.push((token, key));
        self.write(Change::Enrolled(token, key, self.now()));
    }
}

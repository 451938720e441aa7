//! Who may connect to a command that listens, while the store changes.

use std::collections::BTreeMap;
use std::fmt;
use std::net::SocketAddr;

use strandcast_net::driver::{Driver, SealHooks, ServerSeal};
use strandcast_seal::{Access, Cipher, Peer, PublicKey, SealConfig, SealEvent, SecretKey, TokenId};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use zeroize::Zeroizing;

use super::client::speaks;
use super::forms::{fingerprint, key_text};
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
    /// Those who enrolled meanwhile: the file may not have them yet, or ever.
    enrolled: Vec<(TokenId, PublicKey)>,
    /// When access changes by itself, in seconds since 1970.
    expiry: Option<u64>,
    /// The store has changed since the driver got the list of senders.
    stale: bool,
    ciphers: BTreeMap<PublicKey, Cipher>,
    keylog: Option<KeyLog>,
    /// Writes to the store, once there is something to write.
    writes: Option<Keeper>,
    /// What the seal and writes of the store report.
    reports: (UnboundedSender<Report>, UnboundedReceiver<Report>),
}

#[derive(Debug)]
enum Report {
    Enrolled(TokenId, PublicKey),
    Established(PublicKey, Cipher),
    Refused(PublicKey, SocketAddr),
    OtherVersion(SocketAddr, u8),
    Unwritten(String),
}

/// What a [`Gate`] reports, in one line.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum GateEvent {
    /// A sender has paired.
    Enrolled {
        /// Its key.
        key: PublicKey,
    },
    /// A sender was refused.
    Refused {
        /// Its key.
        key: PublicKey,
        /// Where it is.
        from: SocketAddr,
        /// The store knows it.
        known: bool,
    },
    /// A sender speaks another version of sealed datagrams.
    OtherVersion {
        /// Where it is.
        from: SocketAddr,
        /// That version.
        version: u8,
    },
    /// The store cannot be read or written.
    Store(String),
}

impl fmt::Display for GateEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GateEvent::Enrolled { key } => {
                let short = fingerprint(key);
                write!(f, "new sender {short}: strandcast key allow {short} --as NAME names it")
            }
            GateEvent::Refused { key, from, known } => {
                let short = fingerprint(key);
                // A sender that never was here is only known by its whole key.
                let who = if *known { short.clone() } else { key_text(key) };
                write!(f, "refused {short} at {from}: strandcast key allow {who} admits it")
            }
            GateEvent::OtherVersion { from, version } => {
                write!(f, "{from} {}", speaks(*version, "the sender's"))
            }
            GateEvent::Store(line) => f.write_str(line),
        }
    }
}

impl Gate {
    /// Admits the senders of a store, and makes its identity if there never was one. `keylog` takes the keys of all sessions.
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
        })
    }

    /// The seal of a server, with this much memory in bytes for its sessions.
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

    /// Waits until what was learnt at last is in the store, for a second at most; returns what there is to report.
    pub async fn end(&mut self) -> Vec<GateEvent> {
        let mut events = self.reported();
        if let Some(writes) = self.writes.take() {
            events.extend(writes.end().await.map(GateEvent::Store));
        }
        events.extend(self.reported());
        events
    }

    /// Looks at the store and at what the seal has reported, several times per second; returns what there is to report. A change of the
    /// store is applied by the next call if this one is cancelled.
    pub async fn poll(&mut self, driver: &Driver) -> Vec<GateEvent> {
        let mut events = self.reported();
        if self.changes.changed() {
            self.stale = true;
            match self.store.senders() {
                Ok(senders) => self.senders = senders,
                Err(error) => {
                    let line = format!("{error}; until then all who may send now still may");
                    events.push(GateEvent::Store(line));
                }
            }
        }
        if self.stale || self.expiry.is_some_and(|at| wall_clock() >= at) {
            driver.set_access(self.access()).await;
            self.stale = false;
        }
        events
    }

    /// Takes what the seal and writes of the store have reported.
    fn reported(&mut self) -> Vec<GateEvent> {
        let mut events = Vec::new();
        while let Ok(report) = self.reports.1.try_recv() {
            match report {
                Report::Enrolled(token, key) => {
                    self.enrol(token, key);
                    events.push(GateEvent::Enrolled { key });
                }
                Report::Established(peer, cipher) => drop(self.ciphers.insert(peer, cipher)),
                // The seal reports eight a minute at most.
                Report::Refused(key, from) => {
                    let known = self.senders.get(&key).is_some();
                    events.push(GateEvent::Refused { key, from, known });
                }
                // The seal reports one a minute.
                Report::OtherVersion(from, version) => events.push(GateEvent::OtherVersion { from, version }),
                Report::Unwritten(line) => events.push(GateEvent::Store(line)),
            }
        }
        events
    }

    /// What lines call a sender: its name or the short form of its key, and the cipher.
    pub fn label(&self, key: &PublicKey) -> String {
        let name = self.senders.get(key).map_or_else(|| fingerprint(key), |sender| sender.label());
        self.ciphers.get(key).map_or(name.clone(), |cipher| format!("{name}, {cipher}"))
    }

    /// Notes where the receiver listens: that is what pairing strings name by default, here and in `strandcast key pair`.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub fn listens(&mut self, listen: &[SocketAddr]) -> Result<(), Error> {
        if self.senders.listen == listen {
            return Ok(());
        }
        self.senders.listen = listen.to_vec();
        self.store.change_senders(|senders| {
            senders.listen = listen.to_vec();
            Ok::<_, Error>(())
        })
    }

    /// Whether any sender has paired.
    pub fn has_senders(&self) -> bool {
        !self.senders.senders().is_empty()
    }

    /// The pairing string that any sender may use, until the store says otherwise: the one that is there, or a new one.
    ///
    /// # Errors
    /// [`Error::Store`]; [`Error::Network`]: this machine has no address that others can reach, or too many.
    pub fn pairing(&self) -> Result<Zeroizing<String>, Error> {
        let now = wall_clock();
        let hosts = reachable(&[], &self.senders.listen)?;
        let mut random = random()?;
        let token =
            self.store.change_senders(|senders| Ok::<_, Error>(senders.reusable(&mut random, now)))?;
        let pairing = Pairing { once: false, hosts, peer: Peer { key: self.identity.public(), token } };
        pairing.encode().ok_or_else(|| Error::Network("this machine has too many addresses".into()))
    }

    /// Who may connect now.
    fn access(&mut self) -> Access {
        let now = self.now();
        for (token, key) in &self.enrolled {
            self.senders.enrol(*token, *key, now);
        }
        if self.senders.expire(now) {
            // Else a clock that goes back, as one without a battery does, opens them again.
            self.write(Change::Expired(now));
        }
        self.expiry = self.senders.next_expiry(now);
        self.senders.access(now)
    }

    /// The time of day, never before the newest in the store.
    fn now(&self) -> WallClock {
        wall_clock().max(self.senders.newest())
    }

    /// Changes what is known here at once, and the store in a while.
    fn write(&mut self, change: Change) {
        change.apply(&mut self.senders);
        let (store, reports) = (self.store.clone(), self.reports.0.clone());
        // Without a gate the command is ending.
        let told = move |line| drop(reports.send(Report::Unwritten(line)));
        self.writes.get_or_insert_with(|| Keeper::start(store, told)).write(change);
    }

    /// Stores a sender that has enrolled. A store that cannot be written is reported later, and the stream goes on.
    fn enrol(&mut self, token: TokenId, key: PublicKey) {
        self.enrolled.push((token, key));
        self.write(Change::Enrolled(token, key, self.now()));
    }
}

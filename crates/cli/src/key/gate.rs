//! Who may connect to a command that listens, while the store changes.

use std::collections::BTreeMap;
use std::io::stderr;
use std::net::SocketAddr;

use strandcast_net::driver::{Driver, SealHooks, ServerSeal};
use strandcast_seal::{Access, Cipher, Peer, PublicKey, SealConfig, SealEvent, SecretKey, TokenId};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::client::speaks;
use super::command::announced_identity;
use super::forms::{fingerprint, key_text};
use super::hosts::reachable;
use super::keeper::{Change, Keeper};
use super::keylog::KeyLogFile;
use super::pairing::Pairing;
use super::store::{ChangeDetector, Senders, Store, WallClock, random, wall_clock};
use super::terminal::{pairing_text, shows_secrets};
use crate::args::SealArgs;
use crate::error::CliError;
use crate::print;

/// The store of a running receiver.
#[derive(Debug)]
pub(crate) struct Gate {
    store: Store,
    identity: SecretKey,
    changes: ChangeDetector,
    senders: Senders,
    /// Those who enrolled meanwhile: the file may not have them yet, or ever.
    enrolled: Vec<(TokenId, PublicKey)>,
    /// When access changes by itself, in seconds since 1970.
    expiry: Option<u64>,
    ciphers: BTreeMap<PublicKey, Cipher>,
    keylog: KeyLogFile,
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
    Line(String),
}

impl Gate {
    /// Opens the store, and makes an identity if there never was one; `None` with `--plain`.
    ///
    /// # Errors
    /// [`CliError::Store`].
    pub(crate) fn open(args: &SealArgs) -> Result<Option<Gate>, CliError> {
        if args.plain {
            return Ok(None);
        }
        let store = Store::of(args.key.as_deref())?;
        let identity = announced_identity(&store)?;
        let changes = ChangeDetector::new(&store);
        let senders = store.senders()?;
        let keylog = KeyLogFile::open(args, &store)?;
        Ok(Some(Gate {
            store,
            identity,
            changes,
            senders,
            enrolled: Vec::new(),
            expiry: None,
            ciphers: BTreeMap::new(),
            keylog,
            writes: None,
            reports: unbounded_channel(),
        }))
    }

    /// The seal of a server, with this much memory in bytes for its sessions.
    pub(crate) fn seal(&mut self, memory: usize) -> ServerSeal {
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
        let hooks = SealHooks { on_event: Some(Box::new(on_event)), keylog: self.keylog.sink() };
        ServerSeal { identity: self.identity.clone(), access: self.access(), max_sessions, hooks }
    }

    /// Waits until what was learnt at last is in the store, for a second at most; lines to print.
    pub(crate) async fn end(&mut self) -> Vec<String> {
        let mut lines = self.reported();
        if let Some(writes) = self.writes.take() {
            lines.extend(writes.end().await);
        }
        lines.extend(self.reported());
        lines
    }

    /// Looks at the store and at what the seal has reported, several times per second; lines to print.
    pub(crate) async fn poll(&mut self, driver: &Driver) -> Vec<String> {
        let mut lines = self.reported();
        let changed = self.changes.changed();
        if changed {
            match self.store.senders() {
                Ok(senders) => self.senders = senders,
                Err(error) => lines.push(format!("{error}; until then all who may send now still may")),
            }
        }
        if changed || self.expiry.is_some_and(|at| wall_clock() >= at) {
            driver.set_access(self.access()).await;
        }
        lines
    }

    /// Takes what the seal and writes of the store have reported; lines to print.
    fn reported(&mut self) -> Vec<String> {
        let mut lines = Vec::new();
        while let Ok(report) = self.reports.1.try_recv() {
            match report {
                Report::Enrolled(token, key) => lines.push(self.enrol(token, key)),
                Report::Established(peer, cipher) => drop(self.ciphers.insert(peer, cipher)),
                // The seal reports eight a minute at most.
                Report::Refused(key, from) => lines.push(self.refused(&key, from)),
                // The seal reports one a minute.
                Report::OtherVersion(from, version) => {
                    lines.push(format!("{from} {}", speaks(version, "the sender's")));
                }
                Report::Line(line) => lines.push(line),
            }
        }
        lines
    }

    /// What lines call a sender: its name or the short form of its key, and the cipher.
    pub(crate) fn label(&self, key: &PublicKey) -> String {
        let name = self.senders.get(key).map_or_else(|| fingerprint(key), |sender| sender.label());
        self.ciphers.get(key).map_or(name.clone(), |cipher| format!("{name}, {cipher}"))
    }

    /// The line on a sender that was refused. A sender that never was here is only known by its whole key.
    fn refused(&self, key: &PublicKey, from: SocketAddr) -> String {
        let short = fingerprint(key);
        let who = self.senders.get(key).map_or_else(|| key_text(key), |_| short.clone());
        format!("refused {short} at {from}: strandcast key allow {who} admits it")
    }

    /// Lines on how to pair with the receiver that listens there: on a terminal a pairing string while no sender is known,
    /// else what makes one.
    pub(crate) fn invite(&mut self, listen: &[SocketAddr]) {
        if let Err(error) = self.try_invite(listen) {
            print::line(&format!("{error}; strandcast key pair makes a pairing string for a sender"));
        }
    }

    fn try_invite(&mut self, listen: &[SocketAddr]) -> Result<(), CliError> {
        if self.senders.listen != listen {
            // What a pairing string names by default, here and in `strandcast key pair`.
            self.senders.listen = listen.to_vec();
            self.store.change_senders(|senders| {
                senders.listen = listen.to_vec();
                Ok::<_, CliError>(())
            })?;
        }
        let terminal = stderr();
        if !self.senders.senders().is_empty() || !shows_secrets(&terminal) {
            print::line("strandcast key pair makes a pairing string for a sender");
            return Ok(());
        }
        let now = wall_clock();
        let hosts = reachable(&[], &self.senders.listen)?;
        let mut random = random()?;
        let token =
            self.store.change_senders(|senders| Ok::<_, CliError>(senders.reusable(&mut random, now)))?;
        let pairing = Pairing { once: false, hosts, peer: Peer { key: self.identity.public(), token } };
        match pairing.encode() {
            Some(text) => print::error_bytes(&pairing_text(&text, &terminal)),
            None => return Err(CliError::Network("this machine has too many addresses".into())),
        }
        print::line("at the sender: strandcast key add NAME, then strandcast send INPUT @NAME");
        Ok(())
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
        let told = move |line| drop(reports.send(Report::Line(line)));
        self.writes.get_or_insert_with(|| Keeper::start(store, told)).write(change);
    }

    /// Stores a sender that has enrolled. A store that cannot be written is reported later, and the stream goes on.
    fn enrol(&mut self, token: TokenId, key: PublicKey) -> String {
        self.enrolled.push((token, key));
        self.write(Change::Enrolled(token, key, self.now()));
        let short = fingerprint(&key);
        format!("new sender {short}: strandcast key allow {short} --as NAME names it")
    }
}

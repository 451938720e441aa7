//! Senders of this machine: tokens of pairings, and the keys of senders.

use std::collections::BTreeSet;
use std::net::SocketAddr;

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use strandcast_net::resolve::HostPort;
use strandcast_proto::seeds::Random;
use strandcast_seal::{Access, Grant, MOST_SENDERS, PublicKey, Token, TokenId};

use super::serial::{key_form, token_form};
use crate::error::Error;
use crate::pairing::forms::{fingerprint, is_fingerprint, parse_key, token_id_text};

/// Maximum number of senders. Once it is reached, no token admits a new sender. A stolen string therefore cannot fill
/// the disk.
const MOST: usize = MOST_SENDERS;

/// Seconds since 1970 in UTC.
pub type WallClock = u64;

/// All tokens and senders, and the last listening addresses of the receiver.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Senders {
    /// Version of the file. The version is read before the other fields and written before them.
    #[serde(rename = "version", default, skip_serializing)]
    _version: IgnoredAny,
    /// Last listening addresses of the receiver. Pairing strings contain them by default.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub listen: Vec<SocketAddr>,
    #[serde(default, rename = "token", skip_serializing_if = "Vec::is_empty")]
    tokens: Vec<TokenEntry>,
    #[serde(default, rename = "sender", skip_serializing_if = "Vec::is_empty")]
    senders: Vec<Sender>,
}

/// Token of a pairing string, and the senders that it admits.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct TokenEntry {
    /// Secret of the token.
    #[serde(with = "token_form")]
    pub secret: Token,
    /// Time at which the token was made.
    pub made: WallClock,
    /// True if the first sender that uses the token closes it.
    pub once: bool,
    /// True if the token admits new senders.
    pub open: bool,
    /// Time after which the token admits only known senders.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<WallClock>,
    /// Hosts that the user named for the token's string. With them, the string can be shown again without a change.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<String>,
}

impl TokenEntry {
    /// Returns whether the token still admits new senders.
    pub fn admits_others(&self, now: WallClock) -> bool {
        self.open && self.expires.is_none_or(|expires| now < expires)
    }
}

/// One sender.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sender {
    /// Key of the sender.
    #[serde(with = "key_form")]
    pub key: PublicKey,
    /// Name of the sender.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Time at which the sender was first received, allowed or revoked.
    pub since: WallClock,
    /// Id of the token with which the sender enrolled. `None` if a user allowed the sender.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    token: Option<String>,
    /// True if the sender may no longer send.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub revoked: bool,
    /// Time at which the sender was revoked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revoked_since: Option<WallClock>,
}

impl Sender {
    /// Name of the sender, or the short form of its key.
    pub fn label(&self) -> String {
        self.name.clone().unwrap_or_else(|| fingerprint(&self.key))
    }
}

/// Reason why a sender cannot be allowed or revoked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WhoError {
    /// The text is not a key, and no sender has this name or short form.
    #[error("there is no sender {0}: strandcast key list shows all, and any key (sck1-...) can be given")]
    Unknown(String),
    /// Another sender has this name.
    #[error("another sender is named {0}: revoke it or choose another name")]
    Taken(String),
    /// The key is damaged.
    #[error("{0}")]
    Damaged(String),
}

impl From<WhoError> for Error {
    fn from(error: WhoError) -> Self {
        Error::Usage(error.to_string())
    }
}

impl Senders {
    /// Adds a token.
    pub fn pair(&mut self, secret: Token, once: bool, expires: Option<WallClock>, now: WallClock) {
        self.prune(now);
        self.tokens.push(TokenEntry { secret, made: now, once, open: true, expires, hosts: Vec::new() });
    }

    /// Keeps the hosts that the user named for the string of the token that was added last.
    pub(super) fn keep_hosts(&mut self, hosts: &[HostPort]) {
        if let Some(entry) = self.tokens.last_mut() {
            entry.hosts = hosts.iter().map(ToString::to_string).collect();
        }
    }

    /// Returns the hosts that the user named for the string of a token.
    pub(in crate::pairing) fn hosts_of(&self, token: &Token) -> Vec<HostPort> {
        let entry = self.tokens.iter().find(|entry| entry.secret.id() == token.id());
        entry.into_iter().flat_map(|entry| &entry.hosts).filter_map(|host| host.parse().ok()).collect()
    }

    /// Returns a token that does not expire and that admits any sender. Makes such a token if none exists. A receiver
    /// shows the token until a sender has paired.
    pub fn reusable(&mut self, random: &mut Random, now: WallClock) -> Token {
        let fits = |entry: &&TokenEntry| !entry.once && entry.expires.is_none() && entry.open;
        if let Some(known) = self.tokens.iter().find(fits) {
            return known.secret.clone();
        }
        let token = Token::generate(random);
        self.pair(token.clone(), false, None, now);
        token
    }

    /// Enrols a sender that has connected with this token. If the token is for a single sender, it is closed. Returns
    /// whether the sender is new.
    pub fn enrol(&mut self, token: TokenId, key: PublicKey, now: WallClock) -> bool {
        let full = self.senders.len() + 1 >= MOST;
        let used = self.tokens.iter_mut().find(|entry| entry.secret.id() == token);
        used.into_iter().for_each(|entry| entry.open &= !entry.once && !full);
        if self.senders.len() >= MOST || self.senders.iter().any(|sender| sender.key == key) {
            return false;
        }
        let token = Some(token_id_text(token));
        self.senders.push(Sender { key, name: None, since: now, token, revoked: false, revoked_since: None });
        true
    }

    /// Allows a sender to use any token of this machine. If a name is given, the sender gets this name. Returns the
    /// sender.
    ///
    /// # Errors
    /// [`WhoError`].
    pub fn allow(&mut self, who: &str, name: Option<&str>, now: WallClock) -> Result<&Sender, WhoError> {
        let key = self.key_of(who)?;
        let taken = |s: &Sender| s.key != key && name.is_some() && s.name.as_deref() == name;
        if let (Some(name), true) = (name, self.senders.iter().any(taken)) {
            return Err(WhoError::Taken(name.to_owned()));
        }
        let sender = self.entry(key, now);
        (sender.revoked, sender.revoked_since) = (false, None);
        sender.name = name.map(str::to_owned).or(sender.name.take());
        Ok(sender)
    }

    /// Revokes a sender, and closes the token with which it enrolled. The token would otherwise admit the same person
    /// with a new key. Returns the sender, and whether a token was closed.
    ///
    /// # Errors
    /// [`WhoError`].
    pub fn revoke(&mut self, who: &str, now: WallClock) -> Result<(&Sender, bool), WhoError> {
        let key = self.key_of(who)?;
        let token = self.entry(key, now).token.clone();
        let its = self.tokens.iter_mut().find(|entry| Some(token_id_text(entry.secret.id())) == token);
        let closed = its.is_some_and(|entry| {
            let open = entry.admits_others(now);
            entry.open = false;
            open
        });
        let sender = self.entry(key, now);
        if !std::mem::replace(&mut sender.revoked, true) {
            sender.revoked_since = Some(now);
        }
        Ok((sender, closed))
    }

    /// Closes the pairing string with this id, so that it no longer admits new senders. Returns whether the string
    /// exists.
    pub fn close(&mut self, id: &str) -> bool {
        let id = id.to_ascii_lowercase();
        let token = self.tokens.iter_mut().find(|entry| token_id_text(entry.secret.id()) == id);
        token.map(|entry| entry.open = false).is_some()
    }

    /// Returns the sender with this key.
    pub fn get(&self, key: &PublicKey) -> Option<&Sender> {
        self.senders.iter().find(|sender| sender.key == *key)
    }

    /// Returns the sender with this name, short form of a key, or key.
    pub fn find(&self, who: &str) -> Option<&Sender> {
        self.key_of(who).ok().and_then(|key| self.get(&key))
    }

    /// Returns all senders in the order in which they were added.
    pub fn senders(&self) -> &[Sender] {
        &self.senders
    }

    /// Returns all tokens.
    pub fn tokens(&self) -> &[TokenEntry] {
        &self.tokens
    }

    /// Returns the senders that may connect now. Each sender that is not revoked may use any token. The sender's key
    /// decides, because its only token may be the closed token of a one-time pairing.
    pub fn access(&self, now: WallClock) -> Access {
        let known = |revoked: bool| -> BTreeSet<PublicKey> {
            self.senders.iter().filter(|s| s.revoked == revoked).map(|s| s.key).collect()
        };
        let senders = known(false);
        let grants = self.tokens.iter().map(|entry| {
            let open = entry.admits_others(now);
            // The first sender that uses a one-time token closes the token. This includes a sender that is already
            // known, because it is new to the seal.
            let senders = if open && entry.once { BTreeSet::new() } else { senders.clone() };
            Grant { token: entry.secret.clone(), senders, open, once: entry.once }
        });
        Access { grants: grants.collect(), revoked: known(true) }
    }

    /// Permanently closes the open tokens that have expired. Returns whether it closed a token.
    pub fn expire(&mut self, now: WallClock) -> bool {
        let expired = |entry: &&mut TokenEntry| entry.open && !entry.admits_others(now);
        self.tokens.iter_mut().filter(expired).map(|entry| entry.open = false).count() > 0
    }

    /// Returns the newest time that is stored with a token or a sender. This time has passed, so that a clock with an
    /// earlier time is slow.
    pub fn newest(&self) -> WallClock {
        let tokens = self.tokens.iter().map(|entry| entry.made);
        let senders = self.senders.iter().flat_map(|s| [s.since, s.revoked_since.unwrap_or(0)]);
        tokens.chain(senders).max().unwrap_or(0)
    }

    /// Time at which [`access`](Self::access) next changes without a request.
    pub fn next_expiry(&self, now: WallClock) -> Option<WallClock> {
        self.tokens
            .iter()
            .filter(|entry| entry.open)
            .filter_map(|entry| entry.expires)
            .filter(|&at| at > now)
            .min()
    }

    fn key_of(&self, who: &str) -> Result<PublicKey, WhoError> {
        let named =
            |sender: &&Sender| sender.name.as_deref() == Some(who) || is_fingerprint(who, &sender.key);
        match (self.senders.iter().find(named), parse_key(who)) {
            (Some(sender), _) => Ok(sender.key),
            (None, Ok(key)) => Ok(key),
            (None, Err(error)) if who.starts_with("sck") => Err(WhoError::Damaged(error.to_string())),
            (None, Err(_)) => Err(WhoError::Unknown(who.to_owned())),
        }
    }

    fn entry(&mut self, key: PublicKey, now: WallClock) -> &mut Sender {
        let at = self.senders.iter().position(|sender| sender.key == key).unwrap_or_else(|| {
            self.senders.push(Sender {
                key,
                name: None,
                since: now,
                token: None,
                revoked: false,
                revoked_since: None,
            });
            self.senders.len() - 1
        });
        &mut self.senders[at]
    }

    /// Drops tokens that admit no sender. Such tokens are closed, and no allowed sender enrolled with them. A closed
    /// one-time token without an enrolled sender is kept, because a known sender has used it and still needs it.
    fn prune(&mut self, now: WallClock) {
        let users: BTreeSet<&str> =
            self.senders.iter().filter(|s| !s.revoked).filter_map(|s| s.token.as_deref()).collect();
        let enrolled = |id: &str| self.senders.iter().any(|s| s.token.as_deref() == Some(id));
        let by_hand = self.senders.iter().any(|sender| !sender.revoked && sender.token.is_none());
        self.tokens.retain(|entry| {
            let id = token_id_text(entry.secret.id());
            let of_known = entry.once && !entry.open && !enrolled(&id);
            by_hand || entry.admits_others(now) || users.contains(id.as_str()) || of_known
        });
    }
}

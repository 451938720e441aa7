//! Receivers to which this machine may send, by name.

use std::collections::BTreeMap;

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use strandcast_net::resolve::HostPort;
use strandcast_seal::{Peer, PublicKey, Token};

use super::serial::{key_form, token_form};
use crate::error::Error;
use crate::pairing::pairing::Pairing;

/// All receivers.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Receivers {
    /// Version of the file. The version is read before the other fields and written before them.
    #[serde(rename = "version", default, skip_serializing)]
    _version: IgnoredAny,
    #[serde(default)]
    receiver: BTreeMap<String, Receiver>,
}

/// One receiver.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Receiver {
    /// Hosts on which the receiver listens.
    hosts: Vec<String>,
    /// Key of the receiver.
    #[serde(with = "key_form")]
    pub key: PublicKey,
    /// Token that admits this machine at the receiver.
    #[serde(with = "token_form")]
    token: Token,
}

impl Receiver {
    /// Hosts on which the receiver listens. A text that is not a host was not written by this program, and is left out.
    pub fn hosts(&self) -> Vec<HostPort> {
        self.hosts.iter().filter_map(|host| host.parse().ok()).collect()
    }

    /// Returns the receiver's key and token for a connection.
    pub fn peer(&self) -> Peer {
        Peer { key: self.key, token: self.token.clone() }
    }
}

impl Receivers {
    /// Adds a receiver, or renews the pairing with it.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] if another receiver has this name.
    pub fn add(&mut self, name: &str, pairing: &Pairing) -> Result<(), Error> {
        if self.receiver.get(name).is_some_and(|known| known.key != pairing.peer.key) {
            return Err(Error::Usage(format!("another receiver already has the name @{name}")));
        }
        let receiver = Receiver {
            hosts: pairing.hosts.iter().map(ToString::to_string).collect(),
            key: pairing.peer.key,
            token: pairing.peer.token.clone(),
        };
        self.receiver.insert(name.to_owned(), receiver);
        Ok(())
    }

    /// Removes a receiver. Returns whether it existed.
    pub fn remove(&mut self, name: &str) -> bool {
        self.receiver.remove(name).is_some()
    }

    /// Returns the receiver with this name.
    pub fn get(&self, name: &str) -> Option<&Receiver> {
        self.receiver.get(name)
    }

    /// Returns all receivers in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Receiver)> {
        self.receiver.iter().map(|(name, receiver)| (name.as_str(), receiver))
    }
}

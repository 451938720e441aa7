//! New pairing strings.

use strandcast_net::resolve::HostPort;
use strandcast_seal::{Peer, Token};
use zeroize::Zeroizing;

use super::folder::{Store, random, wall_clock};
use super::senders::WallClock;
use crate::error::Error;
use crate::pairing::hosts::reachable;
use crate::pairing::name::Name;
use crate::pairing::pairing::Pairing;

/// A pairing string that admits no sender yet.
#[derive(Debug)]
pub struct Minted {
    store: Store,
    token: Token,
    once: bool,
    expires: Option<WallClock>,
    made: WallClock,
    hosts: Vec<HostPort>,
    /// Hosts that the user named.
    named: Vec<HostPort>,
    text: Zeroizing<String>,
}

impl Minted {
    /// Hosts at which senders with this string try to reach this machine.
    pub fn hosts(&self) -> &[HostPort] {
        &self.hosts
    }

    /// Returns the string. The string is a secret: it admits everyone who has it.
    pub fn text(&self) -> &Zeroizing<String> {
        &self.text
    }

    /// Admits senders with this string from now on.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub fn admit(self) -> Result<Zeroizing<String>, Error> {
        let Minted { store, token, once, expires, made, named, text, .. } = self;
        store.change_senders(|senders| {
            senders.pair(token, once, expires, made);
            senders.keep_hosts(&named);
            Ok::<_, Error>(())
        })?;
        Ok(text)
    }
}

impl Store {
    /// Makes a new pairing string. `hosts` are the hosts at which senders reach this machine. If `hosts` is empty, the
    /// receiver's last listening addresses are used. If `once` is true, the string admits only the first sender that
    /// uses it. After the time `expires` the string admits no new sender.
    ///
    /// # Errors
    /// Returns [`Error::Network`] if this machine has no address that others can reach. Returns [`Error::Usage`] if no
    /// string can contain these hosts. Other errors are [`Error::Store`].
    pub fn pair(
        &self,
        hosts: &[HostPort],
        once: bool,
        expires: Option<WallClock>,
    ) -> Result<Zeroizing<String>, Error> {
        self.mint(hosts, once, expires)?.admit()
    }

    /// Makes a new pairing string that admits no sender yet. A caller needs this if it must first store the string.
    ///
    /// # Errors
    /// The errors of [`Store::pair`].
    pub fn mint(&self, hosts: &[HostPort], once: bool, expires: Option<WallClock>) -> Result<Minted, Error> {
        let (identity, _) = self.identity_or_new()?;
        let token = Token::generate(&mut random()?);
        let named = hosts.to_vec();
        let hosts = reachable(hosts, &self.senders()?.listen)?;
        let pairing = Pairing { once, hosts, peer: Peer { key: identity.public(), token: token.clone() } };
        let text = pairing.encode().ok_or_else(|| Error::Usage(unwritable(&pairing)))?;
        let hosts = pairing.hosts;
        Ok(Minted { store: self.clone(), token, once, expires, made: wall_clock(), hosts, named, text })
    }

    /// Stores a pairing with a receiver under a name. If no identity has ever existed, the function makes one.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] if another receiver has this name. Other errors are [`Error::Store`].
    pub fn add_receiver(&self, name: &Name, pairing: &Pairing) -> Result<(), Error> {
        self.identity_or_new()?;
        self.change_receivers(|receivers| receivers.add(name.as_str(), pairing))
    }
}

/// Reason why no string can contain these hosts.
fn unwritable(pairing: &Pairing) -> String {
    let alone = |host: &HostPort| Pairing { hosts: vec![host.clone()], ..pairing.clone() };
    match pairing.hosts.iter().find(|host| alone(host).encode().is_none()) {
        Some(host) => format!("{:?} is neither an address nor a name of a host", host.host),
        None => format!("{} hosts are too many for one pairing string", pairing.hosts.len()),
    }
}

//! Whom `send` and `perf client` connect to.

use super::command::announced_identity;
use super::forms::fingerprint;
use super::keylog::KeyLogFile;
use super::name::{Name, nearest};
use super::pairing::{Pairing, looks_like_pairing};
use super::store::{Receivers, Store};
use crate::args::SealArgs;
use crate::error::CliError;
use std::fmt;
use std::str::FromStr;
use strandcast_net::resolve::HostPort;
use strandcast_seal::{Peer, SecretKey};
use zeroize::Zeroizing;

/// The receiver on a command line.
#[derive(Clone)]
pub(crate) enum Target {
    /// `HOST[:PORT]`, without a pairing.
    Host(HostPort),
    /// `@NAME`, a receiver that `strandcast key add` has stored.
    Named(String),
    /// `sc1-...`. It is read later, so that no diagnostic of the command line repeats it.
    Paired(Zeroizing<String>),
}

impl FromStr for Target {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.strip_prefix('@') {
            Some(_) => Ok(Target::Named(text.parse::<Name>()?.as_str().to_owned())),
            None if looks_like_pairing(text) => Ok(Target::Paired(Zeroizing::new(text.to_owned()))),
            None => text.parse().map(Target::Host).map_err(|error| format!("{error}")),
        }
    }
}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Target::Host(host) => write!(f, "{host}"),
            Target::Named(name) => write!(f, "@{name}"),
            Target::Paired(_) => f.write_str("sc1-(hidden)"),
        }
    }
}

/// A receiver that can be connected to.
#[derive(Clone, Debug)]
pub(crate) struct Destination {
    /// What lines call it.
    pub(crate) label: String,
    /// Where it listens.
    pub(crate) hosts: Vec<HostPort>,
    /// Who this machine is and who it must be; none: nothing is encrypted.
    pub(crate) seal: Option<(SecretKey, Peer)>,
    pub(super) keylog: KeyLogFile,
}

impl Destination {
    /// Finds the receiver, and makes this machine's identity if there never was one.
    ///
    /// # Errors
    /// [`CliError::Usage`]: it is not paired; [`CliError::Store`].
    pub(crate) fn find(target: &Target, args: &SealArgs) -> Result<Destination, CliError> {
        let usage = |what: String| Err(CliError::Usage(what));
        let (label, hosts, peer) = match target {
            Target::Host(host) if args.plain => {
                return Ok(Destination {
                    label: host.to_string(),
                    hosts: vec![host.clone()],
                    seal: None,
                    keylog: KeyLogFile::default(),
                });
            }
            _ if args.plain => return usage(format!("--plain needs HOST[:PORT], not {target:?}")),
            Target::Host(host) => {
                return usage(unpaired(host, &Store::of(args.key.as_deref())?.receivers()?));
            }
            Target::Named(name) => {
                let receivers = Store::of(args.key.as_deref())?.receivers()?;
                let Some(receiver) = receivers.get(name) else { return usage(unknown(name, &receivers)) };
                (format!("@{name}"), receiver.hosts(), receiver.peer())
            }
            Target::Paired(text) => {
                let pairing = Pairing::decode(text).map_err(|error| CliError::Usage(error.to_string()))?;
                if !pairing.once {
                    return usage(
                        "this pairing string can be used again, and other users see command lines: \
                         run strandcast key add NAME, paste it there, and send to @NAME"
                            .into(),
                    );
                }
                (fingerprint(&pairing.peer.key), pairing.hosts, pairing.peer)
            }
        };
        let store = Store::of(args.key.as_deref())?;
        let (identity, keylog) = (announced_identity(&store)?, KeyLogFile::open(args, &store)?);
        Ok(Destination { label, hosts, seal: Some((identity, peer)), keylog })
    }
}

/// The diagnostic for a host without a pairing. Nothing is sent there.
fn unpaired(host: &HostPort, receivers: &Receivers) -> String {
    let at =
        |known: &HostPort| known.host == host.host && host.port.is_none_or(|port| known.port == Some(port));
    let mut paired = receivers.iter().filter(|(_, receiver)| receiver.hosts().iter().any(at));
    match paired.next() {
        Some((name, _)) => format!("{host} is paired as @{name}: name it so"),
        None => format!(
            "{host} is not paired: run strandcast key pair there, strandcast key add NAME here, and send to @NAME; \
             --plain sends without encryption"
        ),
    }
}

fn unknown(name: &str, receivers: &Receivers) -> String {
    match nearest(name, receivers.iter().map(|(name, _)| name)) {
        Some(near) => format!("there is no receiver @{name}, but @{near}"),
        None => {
            format!("there is no receiver @{name}: strandcast key add {name} (strandcast key list shows all)")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_told_apart_and_strings_are_never_repeated() {
        let shown = |text: &str| format!("{:?}", text.parse::<Target>().unwrap());
        assert_eq!(shown("studio.example"), "studio.example");
        assert_eq!(shown("[::1]:7"), "[::1]:7");
        assert_eq!(shown("@studio"), "@studio");
        for text in ["sc1-000", "SC1-mistyped", "sc9-0"] {
            assert_eq!(shown(text), "sc1-(hidden)");
        }
        for text in ["host:0", "@", "@a b", "@@"] {
            assert!(text.parse::<Target>().is_err(), "{text}");
        }
    }
}

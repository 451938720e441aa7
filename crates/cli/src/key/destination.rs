//! Whom `send` and `perf client` connect to.

use strandcast_net::resolve::HostPort;
use strandcast_seal::{Peer, SecretKey};

use super::command::announced_identity;
use super::forms::fingerprint;
use super::keylog::KeyLogFile;
use super::name::nearest;
use super::pairing::Pairing;
use super::store::{Receivers, Store};
use super::target::Target;
use crate::args::SealArgs;
use crate::error::CliError;

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

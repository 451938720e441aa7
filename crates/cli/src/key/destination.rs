//! The receiver of `send` and `perf client`.

use strandcast::pairing::{Destination, Pairing, Receivers, Store};
use strandcast_net::resolve::HostPort;

use super::command::announced;
use super::keylog::key_log;
use super::store::store;
use super::target::Target;
use crate::args::SealArgs;
use crate::error::CliError;

/// Finds the receiver. Makes this machine's identity if there has never been one.
///
/// # Errors
/// Returns [`CliError::Usage`] if the receiver is not paired. Other errors are [`CliError::Store`].
pub(crate) fn destination(target: &Target, args: &SealArgs) -> Result<Destination, CliError> {
    let usage = |what: String| Err(CliError::Usage(what));
    let store = match target {
        Target::Host(host) if args.plain => return Ok(Destination::plain(host.clone())),
        _ if args.plain => return usage(format!("--plain needs HOST[:PORT], not {target:?}")),
        _ => store(args.key.as_deref())?,
    };
    let found = || {
        if let (Some(path), Target::Named(name)) = (&args.key, target) {
            // Without the file of `--key`, the error would wrongly report that the receiver's name is unknown.
            let path = path.display();
            let remedy = format!("strandcast key add {name} --key {path} makes the file");
            let none = || CliError::Store(format!("cannot read {path}: no such file; {remedy}"));
            store.identity()?.ok_or_else(none)?;
        }
        find(target, &store)
    };
    let mut to = announced(&store, found)?;
    to.keylog = key_log(args, &store)?;
    Ok(to)
}

/// Minimum length of a text that can be a part of a pairing string, in characters.
const SHORTEST: usize = 40;

fn find(target: &Target, store: &Store) -> Result<Destination, CliError> {
    let usage = |what: String| Err(CliError::Usage(what));
    match target {
        Target::Host(host) => usage(unpaired(host, &store.receivers()?)),
        Target::Named(name) => Ok(Destination::named(store, name)?),
        Target::Paired(text) if text.len() < SHORTEST => {
            usage("not a pairing string: strandcast key pair at the receiver makes one".into())
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
            Ok(Destination::paired(store, pairing)?)
        }
    }
}

/// Returns the error message for a host without a pairing. No packet is sent to this host.
fn unpaired(host: &HostPort, receivers: &Receivers) -> String {
    let at =
        |known: &HostPort| known.host == host.host && host.port.is_none_or(|port| known.port == Some(port));
    let mut paired = receivers.iter().filter(|(_, receiver)| receiver.hosts().iter().any(at));
    let named = receivers.iter().find(|(name, _)| *name == host.host);
    match paired.next().or(named) {
        Some((name, _)) if name == host.host => {
            format!("{host} is not an address of a receiver: did you mean @{name}?")
        }
        Some((name, _)) => format!("{host} is paired as @{name}: use that name"),
        None => format!(
            "{host} is not paired: run strandcast key pair there, strandcast key add NAME here, and send to @NAME; \
             --plain sends without encryption"
        ),
    }
}

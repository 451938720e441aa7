//! `strandcast key`.

use std::io::stdout;

use strandcast_net::resolve::HostPort;
use strandcast_seal::{Peer, PublicKey, SecretKey, Token};
use zeroize::Zeroizing;

use super::forms::{fingerprint, key_text};
use super::hosts::reachable;
use super::list;
use super::name::nearest;
use super::pairing::Pairing;
use super::store::{Store, random, wall_clock, write_new};
use super::terminal::{pairing_text, read_pairing, shows_secrets};
use crate::args::{KeyArgs, KeyPairArgs, KeyVerb};
use crate::error::CliError;
use crate::print;

/// Manages keys and pairings.
///
/// # Errors
/// [`CliError`].
pub(crate) async fn run(args: KeyArgs) -> Result<(), CliError> {
    let store = Store::of(args.key.as_deref())?;
    match args.verb {
        KeyVerb::New => new(&store),
        KeyVerb::Show { json } => show(&store, json),
        KeyVerb::Pair(args) => pair(&store, &args),
        KeyVerb::Add { name } => add(&store, name.as_str()).await,
        KeyVerb::List { json } => {
            let own = store.identity()?.map(|key| key.public());
            list::print(own.as_ref(), &store.receivers()?, &store.senders()?, wall_clock(), json)
        }
        KeyVerb::Allow { who, name } => allow(&store, &who, name.as_ref().map(|name| name.as_str())),
        KeyVerb::Revoke { who } => revoke(&store, &who),
        KeyVerb::Remove { name } => remove(&store, name.as_str()),
    }
}

fn new(store: &Store) -> Result<(), CliError> {
    let (key, made) = store.identity_or_new()?;
    let path = store.path().display();
    if !made {
        let why = format!("{path} is an identity already: name another file with --key, or move it away");
        return Err(CliError::Usage(why));
    }
    print::line(&format!("new identity in {path}"));
    show_key(&key.public(), false)
}

fn show(store: &Store, json: bool) -> Result<(), CliError> {
    let key = store.identity()?;
    let none =
        || CliError::Store(format!("there is no identity {}: strandcast key new", store.path().display()));
    show_key(&key.ok_or_else(none)?.public(), json)
}

fn show_key(key: &PublicKey, json: bool) -> Result<(), CliError> {
    if json {
        return print::json(&format!("{:#}\n", list::key_json(key)));
    }
    print::text(&format!("{}\n{}  (to read aloud)\n", key_text(key), fingerprint(key)))
}

fn pair(store: &Store, args: &KeyPairArgs) -> Result<(), CliError> {
    let out = stdout();
    if args.out.is_none() && !shows_secrets(&out) {
        return Err(CliError::Usage(
            "a pairing string is a secret and goes to a terminal only: run strandcast key pair in one, or add --out FILE"
                .into(),
        ));
    }
    let key = announced_identity(store)?.public();
    let now = wall_clock();
    let token = Token::generate(&mut random()?);
    let hosts = reachable(&args.host, &store.senders()?.listen)?;
    let pairing = Pairing { once: args.once, hosts, peer: Peer { key, token: token.clone() } };
    let text = pairing.encode().ok_or_else(|| CliError::Usage(unwritable(&pairing)))?;
    let expires = args.expires.map(|after| now + after.as_secs());
    // A string that could not be written must not admit anyone.
    if let Some(path) = &args.out {
        write_new(path, &Zeroizing::new(format!("{}\n", text.as_str())))?;
    }
    let minted = store.change_senders(|senders| {
        senders.pair(token, args.once, expires, now);
        Ok::<_, CliError>(())
    });
    match &args.out {
        Some(path) => minted.inspect_err(|_| drop(std::fs::remove_file(path)))?,
        None => minted.and_then(|()| print::terminal(&pairing_text(&text, &out)))?,
    }
    print::line(&list::terms(args.once, expires));
    print::line("at the sender: strandcast key add NAME, then strandcast send INPUT @NAME");
    Ok(())
}

/// Why no string can name these hosts.
fn unwritable(pairing: &Pairing) -> String {
    let alone = |host: &HostPort| Pairing { hosts: vec![host.clone()], ..pairing.clone() };
    match pairing.hosts.iter().find(|host| alone(host).encode().is_none()) {
        Some(host) => format!("--host {:?} is neither an address nor a name of a host", host.host),
        None => format!("--host: {} hosts are too many for one pairing string", pairing.hosts.len()),
    }
}

/// The identity, which is made if there never was one; then a line says so.
///
/// # Errors
/// [`CliError::Store`].
pub(super) fn announced_identity(store: &Store) -> Result<SecretKey, CliError> {
    let (key, made) = store.identity_or_new()?;
    if made {
        print::line(&format!("new identity in {}", store.path().display()));
    }
    Ok(key)
}

async fn add(store: &Store, name: &str) -> Result<(), CliError> {
    announced_identity(store)?;
    let pairing = read_pairing(name).await?;
    store.change_receivers(|receivers| receivers.add(name, &pairing))?;
    let hosts: Vec<String> = pairing.hosts.iter().map(ToString::to_string).collect();
    let (hosts, key) = (hosts.join(", "), fingerprint(&pairing.peer.key));
    print::line(&format!("added @{name}, {key}, at {hosts}: strandcast send INPUT @{name}"));
    Ok(())
}

fn allow(store: &Store, who: &str, name: Option<&str>) -> Result<(), CliError> {
    announced_identity(store)?;
    let label = store.change_senders(|senders| {
        let sender = senders.allow(who, name, wall_clock())?;
        Ok::<_, CliError>(sender.label())
    })?;
    print::line(&format!("{label} may send: a receiver that runs knows it within a second"));
    Ok(())
}

fn revoke(store: &Store, who: &str) -> Result<(), CliError> {
    announced_identity(store)?;
    let revoked = store.change_senders(|senders| {
        if senders.close(who) {
            return Ok(None);
        }
        let (sender, closed) = senders.revoke(who, wall_clock())?;
        Ok::<_, CliError>(Some((sender.label(), closed)))
    })?;
    let Some((label, closed)) = revoked else {
        print::line(&format!(
            "pairing string {who} admits no new sender; those that paired with it still may send"
        ));
        return Ok(());
    };
    print::line(&format!("{label} may no longer send: a receiver that runs ends its stream"));
    if closed {
        print::line("its pairing string admits no new sender either: strandcast key pair makes another one");
    }
    Ok(())
}

fn remove(store: &Store, name: &str) -> Result<(), CliError> {
    store.change_receivers(|receivers| match receivers.remove(name) {
        true => Ok(()),
        false => {
            let near = nearest(name, receivers.iter().map(|(name, _)| name));
            let near = near.map_or(String::new(), |near| format!(", but @{near}"));
            Err(CliError::Usage(format!("there is no receiver @{name}{near} (strandcast key list)")))
        }
    })?;
    print::line(&format!("removed @{name}"));
    Ok(())
}

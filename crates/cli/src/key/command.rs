//! `strandcast key`.

use std::io::stdout;
use std::net::SocketAddr;

use strandcast::Error;
use strandcast::pairing::{
    Name, Store, fingerprint, key_text, nearest, reachable_line, wall_clock, write_new,
};
use strandcast_seal::{PublicKey, SecretKey};
use zeroize::Zeroizing;

use super::list;
use super::store::store;
use super::terminal::{pairing_text, read_pairing, shows_secrets};
use crate::args::{KeyArgs, KeyPairArgs, KeyVerb};
use crate::error::CliError;
use crate::print;

/// Manages keys and pairings.
///
/// # Errors
/// [`CliError`].
pub(crate) async fn run(args: KeyArgs) -> Result<(), CliError> {
    let store = store(args.key.as_deref())?;
    match args.verb {
        KeyVerb::New => new(&store),
        KeyVerb::Show { json } => show(&store, json),
        KeyVerb::Pair(args) => pair(&store, &args),
        KeyVerb::Add { name } => add(&store, &name).await,
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
    let none = || {
        CliError::Store(format!("there is no identity {}: run strandcast key new", store.path().display()))
    };
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
    announced_identity(store)?;
    let expires = args.expires.map(|after| wall_clock() + after.as_secs());
    let minted = store.mint(&args.host, args.once, expires).map_err(|error| match error {
        Error::Usage(line) => CliError::Usage(format!("--host: {line}")),
        Error::Network(line) => CliError::Network(format!("{line}: name one with --host")),
        other => other.into(),
    })?;
    // If the string cannot be written to the file, it must not admit a sender.
    if let Some(path) = &args.out {
        write_new(path, &Zeroizing::new(format!("{}\n", minted.text().as_str())))?;
    }
    let mut reachable = reachable_line(minted.hosts());
    let listens = store.senders()?.listen.first().map(SocketAddr::port);
    if let Some(port) = listens.filter(|port| minted.hosts().iter().all(|host| host.port != Some(*port))) {
        reachable.push_str(&format!(
            "; the last receiver listened on port {port}: give this port by --host HOST:{port}"
        ));
    }
    let text = minted.admit();
    match &args.out {
        Some(path) => drop(text.inspect_err(|_| drop(std::fs::remove_file(path)))?),
        None => print::terminal(&pairing_text(&text?, &out))?,
    }
    print::line(&list::terms(args.once, expires));
    print::line(&reachable);
    print::line("at the sender: strandcast key add NAME, then strandcast send INPUT @NAME");
    Ok(())
}

/// Returns the identity. An identity is made if there never was one, and a line reports that.
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

/// Returns the result of `make`. If there has never been an identity, `make` creates it, and a line reports the new
/// identity.
///
/// # Errors
/// Returns the errors of `make`.
pub(super) fn announced<T>(store: &Store, make: impl FnOnce() -> Result<T, CliError>) -> Result<T, CliError> {
    let new = !store.path().exists();
    let made = make();
    // If a later step fails, a separate line reports that failure.
    if new && store.path().exists() {
        print::line(&format!("new identity in {}", store.path().display()));
    }
    made
}

async fn add(store: &Store, name: &Name) -> Result<(), CliError> {
    announced_identity(store)?;
    let pairing = read_pairing(name.as_str()).await?;
    store.add_receiver(name, &pairing).map_err(|error| match error {
        Error::Usage(why) => {
            CliError::Usage(format!("{why}: run strandcast key remove {} first", name.as_str()))
        }
        other => other.into(),
    })?;
    let hosts: Vec<String> = pairing.hosts.iter().map(ToString::to_string).collect();
    let (hosts, key) = (hosts.join(", "), fingerprint(&pairing.peer.key));
    let name = name.as_str();
    print::line(&format!("added @{name}, {key}, at {hosts}: strandcast send INPUT @{name}"));
    Ok(())
}

fn allow(store: &Store, who: &str, name: Option<&str>) -> Result<(), CliError> {
    announced_identity(store)?;
    let label = store.change_senders(|senders| {
        let sender = senders.allow(who, name, wall_clock())?;
        Ok::<_, Error>(sender.label())
    })?;
    print::line(&format!("{label} may send: a running receiver admits it within a second"));
    Ok(())
}

fn revoke(store: &Store, who: &str) -> Result<(), CliError> {
    announced_identity(store)?;
    let revoked = store.change_senders(|senders| {
        if senders.close(who) {
            return Ok(None);
        }
        let (sender, closed) = senders.revoke(who, wall_clock())?;
        Ok::<_, Error>(Some((sender.label(), closed)))
    })?;
    let Some((label, closed)) = revoked else {
        print::line(&format!(
            "pairing string {who} admits no new sender; those that paired with it still may send"
        ));
        return Ok(());
    };
    print::line(&format!("{label} may no longer send; a running receiver ends its stream"));
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
            Err(Error::Usage(format!("there is no receiver @{name}{near} (strandcast key list shows all)")))
        }
    })?;
    print::line(&format!("removed @{name}"));
    Ok(())
}

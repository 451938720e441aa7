//! Carries out changes that requests ask for.

use serde_json::{Value, json};

use super::request::{Change, Outcome};
use super::senders::senders_json;
use crate::error::Error;
use crate::files::aside;
use crate::live::sender::Sender;
use crate::live::serve::Server;
use crate::pairing::{Name, Store, wall_clock};

/// A change of a link by request, for a line and an event of the program.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Changed {
    /// Name of the event: `link-off`, `link-on` or `tariff`.
    pub event: &'static str,
    /// Name of the link.
    pub link: String,
    /// The change as a line of text.
    pub text: String,
}

impl Change {
    /// Carries out a change of a sender. Returns the outcome for the client, and the change for the program's own lines
    /// if anything has changed.
    pub fn at_sender(self, sender: &Sender) -> (Outcome, Option<Changed>) {
        let made = match self {
            Change::Link { link, on } => switch(sender, link, on),
            Change::Tariff(tariff) => {
                let link = tariff.link.clone();
                let text = format!("costs of {link} changed by request");
                sender.set_tariff(tariff).map(|()| Some(Changed { event: "tariff", link, text }))
            }
            _ => {
                let why = "a sender cannot do this: it can only switch links and set their costs";
                return (Err(why.to_owned()), None);
            }
        };
        match made {
            Ok(changed) => (Ok(done(())), changed),
            Err(error) => (Err(error.to_string()), None),
        }
    }

    /// Carries out a change of a server: of its streams and outputs, or of its senders in `store`.
    ///
    /// # Errors
    /// Returns the change itself if only the program can carry it out, such as a reload, or if it concerns an object
    /// that a server does not have, such as a link.
    pub async fn at_server(self, server: &Server, store: &Store) -> Result<Outcome, Change> {
        let store = store.clone();
        let made = match self {
            Change::Stream { name, on: false } => server.stop_stream(&name).await.map(done),
            Change::Stream { name, on: true } => server.start_stream(&name).await.map(done),
            Change::Output { name, number, on: false } => server.stop_output(&name, number).await.map(done),
            Change::Output { name, number, on: true } => server.start_output(&name, number).await.map(done),
            Change::Senders => aside(move || senders(&store)).await,
            Change::Allow { who, name } => {
                aside(move || allow(&store, &who, name.as_deref()).map(done)).await
            }
            Change::Revoke { who } => aside(move || revoke(&store, &who).map(done)).await,
            other => return Err(other),
        };
        Ok(made.map_err(|error| error.to_string()))
    }
}

fn switch(sender: &Sender, link: String, on: bool) -> Result<Option<Changed>, Error> {
    let changes = sender.switch_link(&link, on)?;
    let (event, word) = if on { ("link-on", "on") } else { ("link-off", "off") };
    let text = format!("{link} switched {word} by request");
    Ok(changes.then_some(Changed { event, link, text }))
}

/// Returns the senders in the store.
fn senders(store: &Store) -> Result<Value, Error> {
    Ok(json!({ "senders": senders_json(&store.senders()?) }))
}

/// Allows a sender. A server starts to admit the sender within a second.
fn allow(store: &Store, who: &str, name: Option<&str>) -> Result<(), Error> {
    let named = |text: &str| {
        let wrong = |why: &str| Error::Usage(format!("{text:?} is not a name of a sender: {why}"));
        text.parse::<Name>().map_err(wrong)
    };
    let name = name.map(named).transpose()?;
    store.change_senders(|senders| {
        senders.allow(who, name.as_ref().map(Name::as_str), wall_clock())?;
        Ok::<_, Error>(())
    })?;
    Ok(())
}

/// Revokes a sender. A server stops admitting the sender within a second.
fn revoke(store: &Store, who: &str) -> Result<(), Error> {
    store.change_senders(|senders| {
        // A key that is not in the store cannot be revoked, and needs no entry.
        let known = senders.find(who).is_some();
        match known {
            true => senders.revoke(who, wall_clock()).map(drop).map_err(Error::from),
            false => Err(Error::Usage(format!("there is no sender {who}"))),
        }
    })?;
    Ok(())
}

fn done((): ()) -> Value {
    json!({ "done": true })
}

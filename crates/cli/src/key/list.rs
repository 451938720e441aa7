//! Prints the contents of the store without its secrets.

use serde_json::{Value, json};
use strandcast::live::api::senders_json;
use strandcast::pairing::{
    Receiver, Receivers, Senders, TokenEntry, WallClock, fingerprint, key_text, token_id_text,
};
use strandcast::text::date;
use strandcast_seal::PublicKey;

use crate::error::CliError;
use crate::print;

/// Prints receivers, senders and open pairings.
///
/// # Errors
/// Returns [`CliError::Media`] if standard output cannot be written.
pub(super) fn print(
    own: Option<&PublicKey>,
    receivers: &Receivers,
    senders: &Senders,
    now: WallClock,
    as_json: bool,
) -> Result<(), CliError> {
    match as_json {
        true => print::json(&format!("{:#}\n", json(own, receivers, senders, now))),
        false => print::text(&text(receivers, senders, now)),
    }
}

fn text(receivers: &Receivers, senders: &Senders, now: WallClock) -> String {
    let mut out = String::from("receivers that this machine may send to\n");
    for (name, receiver) in receivers.iter() {
        let hosts: Vec<String> = receiver.hosts().iter().map(ToString::to_string).collect();
        out += &format!("  @{name:<20} {}  {}\n", fingerprint(&receiver.key), hosts.join(", "));
    }
    out += "senders of this machine\n";
    for sender in senders.senders() {
        let name = sender.name.as_deref().unwrap_or("-");
        let state = match sender.revoked_since {
            Some(at) if sender.revoked => format!("since {}, revoked since {}", date(sender.since), date(at)),
            _ if sender.revoked => "revoked".to_owned(),
            _ => format!("since {}", date(sender.since)),
        };
        out += &format!("  {name:<21} {}  {state}\n", fingerprint(&sender.key));
    }
    out += "pairing strings that admit new senders\n";
    for token in open(senders, now) {
        let terms = terms(token.once, token.expires);
        out += &format!("  {:<21} made {}; {terms}\n", token_id_text(token.secret.id()), date(token.made));
    }
    out
}

/// Describes which senders a pairing string admits.
pub(super) fn terms(once: bool, expires: Option<WallClock>) -> String {
    let whom = if once { "admits the first sender that uses it" } else { "admits any sender that has it" };
    match expires {
        Some(at) => format!("{whom}, until {}", date(at)),
        None => whom.to_owned(),
    }
}

fn open(senders: &Senders, now: WallClock) -> impl Iterator<Item = &TokenEntry> {
    senders.tokens().iter().filter(move |token| token.admits_others(now))
}

fn json(own: Option<&PublicKey>, receivers: &Receivers, senders: &Senders, now: WallClock) -> Value {
    let receiver = |(name, receiver): (&str, &Receiver)| {
        let hosts: Vec<String> = receiver.hosts().iter().map(ToString::to_string).collect();
        with(key_json(&receiver.key), json!({ "name": name, "hosts": hosts }))
    };
    let pairing = |token: &TokenEntry| {
        let (id, once) = (token_id_text(token.secret.id()), token.once);
        json!({ "id": id, "made": token.made, "once": once, "expires": token.expires })
    };
    json!({
        "identity": own.map(key_json),
        "receivers": receivers.iter().map(receiver).collect::<Vec<_>>(),
        "senders": senders_json(senders),
        "pairings": open(senders, now).map(pairing).collect::<Vec<_>>(),
    })
}

/// Returns a key in both of its text forms.
pub(super) fn key_json(key: &PublicKey) -> Value {
    json!({ "key": key_text(key), "fingerprint": fingerprint(key) })
}

fn with(mut first: Value, second: Value) -> Value {
    if let (Value::Object(first), Value::Object(second)) = (&mut first, second) {
        first.extend(second);
    }
    first
}

//! Senders of a server as JSON.

use serde_json::{Value, json};

use crate::pairing::{Sender, Senders, fingerprint, key_text};

/// Returns all senders of a store as JSON, without the pairing strings that admitted them.
pub fn senders_json(senders: &Senders) -> Value {
    let sender = |sender: &Sender| {
        json!({
            "key": key_text(&sender.key),
            "fingerprint": fingerprint(&sender.key),
            "name": sender.name,
            "since": sender.since,
            "revoked": sender.revoked,
            "revoked_since": sender.revoked_since,
        })
    };
    senders.senders().iter().map(sender).collect()
}

//! Rights of senders to streams.

use std::collections::BTreeMap;

use strandcast_seal::PublicKey;

use super::config::StreamConfig;
use crate::pairing::Gate;

/// Decision about a sender.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The sender sends this stream.
    Sends(String),
    /// The sender may send no stream, or may not send the stream that it requests. The value contains the names of the
    /// streams that the sender may send.
    Refused(Vec<String>),
}

/// Decides which of `streams` a sender with `key` sends. `asks` is the name of the requested stream, and may be empty.
pub(super) fn decide(
    streams: &BTreeMap<String, StreamConfig>,
    gate: &Gate,
    key: Option<&PublicKey>,
    asks: &str,
) -> Verdict {
    let allowed = |config: &StreamConfig| {
        key.is_some_and(|key| config.senders.iter().any(|who| gate.is_sender(who, key)))
    };
    let mut may: Vec<String> =
        streams.iter().filter(|(_, config)| allowed(config)).map(|(name, _)| name.clone()).collect();
    match (asks, &may[..]) {
        ("", [_]) => Verdict::Sends(may.remove(0)),
        (asks, _) if may.iter().any(|name| name == asks) => Verdict::Sends(asks.to_owned()),
        _ => Verdict::Refused(may),
    }
}

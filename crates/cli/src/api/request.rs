//! Requests that change the server. The command carries them out.

use serde_json::Value;
use strandcast::live::LinkTariff;
use tokio::sync::oneshot;

/// A change that a request asks for.
#[derive(Clone, Debug)]
pub(crate) enum Change {
    /// Stops a stream, or starts it again.
    Stream { name: String, on: bool },
    /// Stops an output of a stream, or starts it again.
    Output { name: String, number: usize, on: bool },
    /// Lists senders. Only the command has their store.
    Senders,
    /// Allows a sender, and names it.
    Allow { who: String, name: Option<String> },
    /// Revokes a sender.
    Revoke { who: String },
    /// Switches a link of a sender off, or on again.
    Link { link: String, on: bool },
    /// Replaces the costs of a link of a sender.
    Tariff(LinkTariff),
    /// Reads the configuration again.
    Reload,
}

/// Result of a change, or the line that says why nothing has changed.
pub(crate) type Outcome = Result<Value, String>;

/// A change, and the place for its outcome.
#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) change: Change,
    pub(crate) told: oneshot::Sender<Outcome>,
}

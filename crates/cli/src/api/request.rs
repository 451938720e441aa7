//! Requests that change the server. The command carries them out.

use serde_json::Value;
use strandcast::live::LinkTariff;
use tokio::sync::oneshot;

/// A change that a request asks for.
#[derive(Clone, Debug)]
pub(crate) enum Change {
    /// Stops a stream, or starts it again.
    Stream { name: String, on: bool },
    /// Stops an output of a stream, or starts that output again.
    Output { name: String, number: usize, on: bool },
    /// Lists senders. Only the command can read the store of senders.
    Senders,
    /// Allows a sender, and gives the sender a name.
    Allow { who: String, name: Option<String> },
    /// Revokes a sender.
    Revoke { who: String },
    /// Switches a link of a sender off, or on.
    Link { link: String, on: bool },
    /// Replaces the costs of a link of a sender.
    Tariff(LinkTariff),
    /// Reads the configuration again.
    Reload,
}

/// The result of a change, or one line with the reason why nothing has changed.
pub(crate) type Outcome = Result<Value, String>;

/// A requested change, and the channel for its outcome.
#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) change: Change,
    pub(crate) told: oneshot::Sender<Outcome>,
}

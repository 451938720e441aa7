//! Requests that change a stream or a server. The program carries them out.

use serde_json::Value;
use tokio::sync::oneshot;

use crate::live::tariff::LinkTariff;

/// A change that a request asks for.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Change {
    /// Stops a stream, or starts it again.
    Stream {
        /// Name of the stream.
        name: String,
        /// True if the stream starts.
        on: bool,
    },
    /// Stops an output of a stream, or starts that output again.
    Output {
        /// Name of the stream.
        name: String,
        /// Number of the output, from 0.
        number: usize,
        /// True if the output starts.
        on: bool,
    },
    /// Lists the senders of the store.
    Senders,
    /// Allows a sender, and gives the sender a name.
    Allow {
        /// Name or key of the sender.
        who: String,
        /// New name of the sender.
        name: Option<String>,
    },
    /// Revokes a sender.
    Revoke {
        /// Name or key of the sender.
        who: String,
    },
    /// Switches a link of a sender off, or on.
    Link {
        /// Name of the link.
        link: String,
        /// True if the link is switched on.
        on: bool,
    },
    /// Replaces the costs of a link of a sender.
    Tariff(LinkTariff),
    /// Reads the configuration again.
    Reload,
}

/// The result of a change, or one line with the reason why nothing has changed.
pub type Outcome = Result<Value, String>;

/// A requested change, and the channel for its outcome.
#[derive(Debug)]
pub struct Asked {
    /// The change.
    pub change: Change,
    /// Receiver of the outcome. If it is dropped, the client learns that the server ends.
    pub answer: Answer,
}

/// Receiver of the outcome of a change.
#[derive(Debug)]
pub struct Answer(pub(super) oneshot::Sender<Outcome>);

impl Answer {
    /// Sends the outcome to the client. Does nothing if the client has left.
    pub fn send(self, outcome: Outcome) {
        let _ = self.0.send(outcome);
    }
}

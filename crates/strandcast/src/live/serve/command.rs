//! Requests of a program to its server.

use tokio::sync::oneshot;

use super::config::{Config, StreamConfig};
use super::event::Changes;
use crate::error::Error;
use crate::live::output::{OutputNow, ViewFrom, Viewer, Viewers};

/// Channel for the outcome of a request.
pub(super) type Answer<T> = oneshot::Sender<Result<T, Error>>;

/// A request.
#[derive(Debug)]
pub(super) enum Command {
    /// Applies the difference to another configuration.
    Reload(Box<Config>, Answer<Changes>),
    /// Stops or starts the stream with this name.
    Stream(String, bool, Answer<()>),
    /// Stops or starts an output. The values are the name of the stream and the number of the output.
    Output(String, usize, bool, Answer<()>),
    /// Returns the state of all streams.
    Look(oneshot::Sender<Vec<StreamNow>>),
}

/// State of a stream of a server at one time.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct StreamNow {
    /// Configuration of the stream.
    pub config: StreamConfig,
    /// True if the stream was stopped by request.
    pub stopped: bool,
    /// State of the stream's outputs, in the order of the configuration. Empty until the outputs are opened.
    pub outputs: Vec<OutputNow>,
    /// Viewers of the stream, if it runs.
    pub(super) viewers: Option<Viewers>,
}

impl StreamNow {
    /// Begins to view the stream's media; `None` if the stream is stopped or has ended. A viewer that reads too slowly
    /// loses messages, but no other viewer does.
    pub fn view(&self, from: ViewFrom) -> Option<Viewer> {
        self.viewers.as_ref()?.join(from)
    }
}

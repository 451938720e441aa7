//! Handle of a server.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use tokio::sync::mpsc::{Receiver, UnboundedSender, channel, unbounded_channel};
use tokio::sync::oneshot;

use super::command::{Answer, Command, StreamNow};
use super::config::Config;
use super::event::{Changes, Event};
use super::router::Router;
use super::stream::Common;
use crate::error::Error;
use crate::live::feed::Feed;
use crate::live::receiver::ReceiverConfig;
use crate::live::receiver::door::{Own, listener};
use crate::live::receiver::untaken::Untaken;
use crate::pairing::Gate;
use crate::scheme::Scheme;

/// Maximum number of waiting events.
const MOST: usize = 1024;

/// Receives many streams over one port. Dropping the handle ends the server.
#[derive(Debug)]
pub struct Server {
    feed: Feed,
    events: Receiver<Event>,
    commands: UnboundedSender<Command>,
    addresses: Vec<SocketAddr>,
}

impl Server {
    /// Listens, and begins all streams of `config`. `scheme` is the scheme of the data that the server sends, and
    /// `gate` admits senders. Call it inside a tokio runtime.
    ///
    /// # Errors
    /// Returns [`Error::Network`] if an address is in use, or does not belong to this machine.
    pub fn start(config: Config, scheme: Scheme, gate: Gate) -> Result<Server, Error> {
        let mut receiver = ReceiverConfig::new(scheme.clone());
        (receiver.listen, receiver.memory, receiver.gate) =
            (config.listen.clone(), config.memory, Some(gate));
        let listener = listener(&mut receiver)?;
        let addresses = listener.driver().local_addrs().to_vec();
        let listener = Untaken::new(listener);
        let (events, read) = channel(MOST);
        let (commands, asked) = unbounded_channel();
        let (ended, ends) = unbounded_channel();
        let streams = config.streams.keys().cloned().collect();
        // The queue is empty.
        let _ = events.try_send(Event::Listening { addresses: addresses.clone(), streams });
        let memory = config.memory.shared_by(config.max_streams);
        let feed = Feed::start(|_reporter, stop| async move {
            let common = Common { scheme, memory, events, ended, watched: config.api.is_some() };
            let router = Router {
                door: Own { listener: listener.take(), gate: receiver.gate.take() },
                config,
                common,
                ready: unbounded_channel(),
                commands: asked,
                ended: ends,
                streams: BTreeMap::new(),
                stopped: BTreeMap::new(),
                runs: 0,
                missed: 0,
            };
            router.run(stop).await
        });
        Ok(Server { feed, events: read, commands, addresses })
    }

    /// Addresses on which the server listens.
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// Returns the next event. Returns `None` after the server has ended. Cancel safe.
    pub async fn event(&mut self) -> Option<Event> {
        self.events.recv().await
    }

    /// Applies the difference to another configuration. Streams that are equal in both configurations continue without
    /// a loss. After an error, nothing has changed.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] if a running server cannot change this. Returns [`Error::Aborted`] if the server has
    /// ended.
    pub async fn reload(&self, config: Config) -> Result<Changes, Error> {
        self.request(|told| Command::Reload(Box::new(config), told)).await
    }

    async fn request<T>(&self, command: impl FnOnce(Answer<T>) -> Command) -> Result<T, Error> {
        let (told, outcome) = oneshot::channel();
        self.commands.send(command(told)).map_err(|_| Error::Aborted)?;
        outcome.await.unwrap_or(Err(Error::Aborted))
    }

    /// Stops a stream until [`Server::start_stream`]. All data that have arrived are played at once, and the outputs
    /// are closed. Senders of the stream are refused. A stopped stream remains stopped after a reload.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] if there is no such stream. Returns [`Error::Aborted`] if the server has ended.
    pub async fn stop_stream(&self, name: &str) -> Result<(), Error> {
        self.request(|told| Command::Stream(name.to_owned(), false, told)).await
    }

    /// Starts a stream that was stopped. A running stream is not affected.
    ///
    /// # Errors
    /// The errors of [`Server::stop_stream`].
    pub async fn start_stream(&self, name: &str) -> Result<(), Error> {
        self.request(|told| Command::Stream(name.to_owned(), true, told)).await
    }

    /// Stops an output of a stream until [`Server::start_output`]. The waiting data of the output are written first.
    /// Outputs are numbered from 0, as in the configuration. When a stream starts again, all its outputs start.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] if there is no such output, or its stream is stopped. Returns [`Error::Aborted`] if the
    /// server has ended.
    pub async fn stop_output(&self, name: &str, number: usize) -> Result<(), Error> {
        self.request(|told| Command::Output(name.to_owned(), number, false, told)).await
    }

    /// Opens an output again that was stopped. An output that is not stopped is not affected.
    ///
    /// # Errors
    /// The errors of [`Server::stop_output`].
    pub async fn start_output(&self, name: &str, number: usize) -> Result<(), Error> {
        self.request(|told| Command::Output(name.to_owned(), number, true, told)).await
    }

    /// Returns all streams in the order of their names. The list is empty after the server has ended.
    pub async fn streams(&self) -> Vec<StreamNow> {
        let (told, streams) = oneshot::channel();
        // Without a router, there is no answer to a request.
        let _ = self.commands.send(Command::Look(told));
        streams.await.unwrap_or_default()
    }

    /// Ends all streams. All data that have arrived are played at once.
    pub fn stop(&self) {
        self.feed.stop();
    }

    /// Waits for the end. Cancel safe. Events can still be read afterwards.
    ///
    /// # Errors
    /// Returns [`Error::Network`] if the server could not listen for a while. Other errors are [`Error::Aborted`].
    pub async fn wait(&self) -> Result<(), Error> {
        self.feed.wait().await
    }
}

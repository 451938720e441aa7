//! Handle of a server.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use tokio::sync::mpsc::{Receiver, UnboundedSender, channel, unbounded_channel};
use tokio::sync::oneshot;

use super::config::Config;
use super::event::{Changes, Event};
use super::router::{Reload, Router};
use super::stream::Common;
use crate::error::Error;
use crate::live::feed::Feed;
use crate::live::receiver::ReceiverConfig;
use crate::live::receiver::door::{Own, listener};
use crate::live::receiver::untaken::Untaken;
use crate::pairing::Gate;
use crate::scheme::Scheme;

/// Maximum number of events that wait.
const MOST: usize = 1024;

/// Receives many streams over one port. Dropping it ends it.
#[derive(Debug)]
pub struct Server {
    feed: Feed,
    events: Receiver<Event>,
    reloads: UnboundedSender<Reload>,
    addresses: Vec<SocketAddr>,
}

impl Server {
    /// Listens, and begins all streams of `config`. `scheme` is the one of the data that the server itself sends, and
    /// `gate` admits senders. Call it inside a tokio runtime.
    ///
    /// # Errors
    /// [`Error::Network`]: an address is in use, or does not belong to this machine.
    pub fn start(config: Config, scheme: Scheme, gate: Gate) -> Result<Server, Error> {
        let mut receiver = ReceiverConfig::new(scheme.clone());
        (receiver.listen, receiver.memory, receiver.gate) =
            (config.listen.clone(), config.memory, Some(gate));
        let listener = listener(&mut receiver)?;
        let addresses = listener.driver().local_addrs().to_vec();
        let listener = Untaken::new(listener);
        let (events, read) = channel(MOST);
        let (reloads, asked) = unbounded_channel();
        let (ended, ends) = unbounded_channel();
        let streams = config.streams.keys().cloned().collect();
        // The queue is empty.
        let _ = events.try_send(Event::Listening { addresses: addresses.clone(), streams });
        let memory = config.memory.shared_by(config.max_streams);
        let feed = Feed::start(|_reporter, stop| async move {
            let common = Common { scheme, memory, events, ended };
            let router = Router {
                door: Own { listener: listener.take(), gate: receiver.gate.take() },
                config,
                common,
                ready: unbounded_channel(),
                reloads: asked,
                ended: ends,
                streams: BTreeMap::new(),
                runs: 0,
                missed: 0,
            };
            router.run(stop).await
        });
        Ok(Server { feed, events: read, reloads, addresses })
    }

    /// Addresses on which the server listens.
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// Returns the next event; `None` after the server has ended. Cancel safe.
    pub async fn event(&mut self) -> Option<Event> {
        self.events.recv().await
    }

    /// Applies the difference to another configuration: streams that are equal in both lose nothing. With an error nothing
    /// has changed.
    ///
    /// # Errors
    /// [`Error::Usage`]: a running server cannot change this; [`Error::Aborted`]: it has ended.
    pub async fn reload(&self, config: Config) -> Result<Changes, Error> {
        let (told, outcome) = oneshot::channel();
        self.reloads.send((config, told)).map_err(|_| Error::Aborted)?;
        outcome.await.unwrap_or(Err(Error::Aborted))
    }

    /// Ends all streams: all data that have arrived are played at once.
    pub fn stop(&self) {
        self.feed.stop();
    }

    /// Waits for the end. Cancel safe. Events can still be read afterwards.
    ///
    /// # Errors
    /// [`Error::Network`]: the server could not listen for a while; [`Error::Aborted`].
    pub async fn wait(&self) -> Result<(), Error> {
        self.feed.wait().await
    }
}

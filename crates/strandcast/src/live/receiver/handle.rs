//! Handle of a receiver.

use std::net::SocketAddr;
use std::sync::Arc;

use tokio::sync::mpsc::unbounded_channel;

use super::config::ReceiverConfig;
use super::door::{Door, Own, listener};
use super::session::{Open, Session};
use super::untaken::Untaken;
use crate::error::Error;
use crate::live::event::Event;
use crate::live::feed::Feed;
use crate::live::output::{Outlets, Output, OutputNow, ViewFrom, Viewer, Viewers};
use crate::live::stats::{Role, Stats};
use crate::pairing::Gate;

/// A receiver that listens and has no output yet.
#[derive(Debug)]
pub struct Listening {
    config: ReceiverConfig,
    listener: Untaken,
    addresses: Vec<SocketAddr>,
}

impl Listening {
    /// Starts to listen. Call it inside a tokio runtime.
    ///
    /// # Errors
    /// Returns [`Error::Network`] if an address is in use, or does not belong to this machine.
    pub fn start(mut config: ReceiverConfig) -> Result<Listening, Error> {
        let listener = listener(&mut config)?;
        let addresses = listener.driver().local_addrs().to_vec();
        Ok(Listening { config, listener: Untaken::new(listener), addresses })
    }

    /// Addresses on which the receiver listens.
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// Gate of the receiver. `None` if streams are not encrypted.
    pub fn gate(&mut self) -> Option<&mut Gate> {
        self.config.gate.as_mut()
    }

    /// Plays received streams to `output`. Call it inside a tokio runtime.
    pub fn play(self, output: impl Output) -> Receiver {
        self.play_all(vec![output])
    }

    /// Plays received streams to each of these outputs. An output that stalls or fails does not delay the others. Call
    /// it inside a tokio runtime.
    pub fn play_all(self, outputs: Vec<impl Output>) -> Receiver {
        let Listening { mut config, listener, addresses } = self;
        let names: Vec<String> = outputs.iter().map(Output::name).collect();
        let listening = Event::Listening { addresses, output: names.join(", ") };
        let unprotected = config.gate.is_none().then_some(Event::Unprotected(Role::Receive));
        let viewers = Viewers::default();
        let seen = viewers.clone();
        let kept = config.watched.then(|| config.memory.recent());
        let outlets = Outlets::start(outputs, config.memory.output()).with(viewers.clone(), kept);
        let feed = Feed::start(|reporter, stop| {
            reporter.report(listening);
            unprotected.into_iter().for_each(|event| reporter.report(event));
            async move {
                let door = Door::Own(Own { listener: listener.take(), gate: config.gate.take() });
                // The outputs of this receiver are neither stopped nor started by request.
                let (ready, (_, switches)) = (unbounded_channel(), unbounded_channel());
                let open = Open { config, door, ready, outlets, reporter, stop, switches };
                let outcome = Session::run(open).await;
                seen.close();
                outcome
            }
        });
        Receiver { feed, viewers }
    }
}

/// Receives streams and plays one sender at a time. Dropping the handle ends the receiver.
#[derive(Debug)]
pub struct Receiver {
    pub(in crate::live) feed: Feed,
    pub(in crate::live) viewers: Viewers,
}

impl Receiver {
    /// Listens, and plays received streams to `output`. Call it inside a tokio runtime.
    ///
    /// # Errors
    /// Returns [`Error::Network`] if an address is in use, or does not belong to this machine.
    pub async fn start(config: ReceiverConfig, output: impl Output) -> Result<Receiver, Error> {
        Ok(Listening::start(config)?.play(output))
    }

    /// Returns the next event. Returns `None` after the receiver has ended. Cancel safe. Unread events are dropped when
    /// newer ones need room.
    pub async fn event(&self) -> Option<Event> {
        self.feed.event().await
    }

    /// Returns the last figures. Returns `None` before the first figures.
    pub fn stats(&self) -> Option<Arc<Stats>> {
        self.feed.stats()
    }

    /// Returns the state of the outputs, which is updated every quarter of a second.
    pub fn outputs(&self) -> Vec<OutputNow> {
        self.feed.outputs()
    }

    /// Begins to view what is played; `None`: the receiver has ended. A viewer that reads too slowly loses messages of its
    /// own and no other ones. [`ReceiverConfig::watched`] keeps the media for [`ViewFrom::LastKeyFrame`].
    pub fn view(&self, from: ViewFrom) -> Option<Viewer> {
        self.viewers.join(from)
    }

    /// Ends the stream. All data that have arrived are played at once.
    pub fn stop(&self) {
        self.feed.stop();
    }

    /// Ends the stream at once, as dropping the handle does.
    pub fn abort(&self) {
        self.feed.abort();
        self.viewers.close();
    }

    /// Waits for the end. Cancel safe. Events can still be read afterwards.
    ///
    /// # Errors
    /// Returns [`Error::Media`] if the output cannot be written. Returns [`Error::Peer`] if the only sender was lost.
    /// Returns [`Error::Network`] if the receiver could not listen for a while. Other errors are [`Error::Aborted`].
    pub async fn wait(&self) -> Result<(), Error> {
        self.feed.wait().await
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.viewers.close();
    }
}

//! A receiver, as its application holds it.

use std::net::SocketAddr;
use std::sync::Arc;

use strandcast_net::driver;
use strandcast_proto::endpoint::EndpointConfig;

use super::config::ReceiverConfig;
use super::session::{Open, Session};
use super::untaken::Untaken;
use crate::error::Error;
use crate::live::event::Event;
use crate::live::feed::Feed;
use crate::live::output::{Outlet, Output};
use crate::live::stats::{Role, Stats};
use crate::live::tap::Taps;
use crate::pairing::Gate;
use crate::transport::open_error;

/// A receiver that listens and has no output yet.
#[derive(Debug)]
pub struct Listening {
    config: ReceiverConfig,
    listener: Untaken,
    addresses: Vec<SocketAddr>,
}

impl Listening {
    /// Listens. Call it inside a tokio runtime.
    ///
    /// # Errors
    /// [`Error::Network`]: an address is in use, or is not this machine's.
    pub fn start(mut config: ReceiverConfig) -> Result<Listening, Error> {
        let memory = config.memory;
        let endpoint = config.transport.endpoint(&config.scheme, true);
        let associations = memory.beside_playout(config.gate.is_some());
        let endpoint = EndpointConfig { memory: associations, decodes_unasked: false, ..endpoint };
        let seal = config.gate.as_mut().map(|gate| gate.seal(memory.sessions()));
        let (listen, tap) = (config.listen.clone(), config.taps.as_ref().map(Taps::tap));
        let listener = driver::Server { endpoint, listen, seal, tap }.listen();
        let listener = listener.map_err(|error| open_error(&error))?;
        let addresses = listener.driver().local_addrs().to_vec();
        Ok(Listening { config, listener: Untaken::new(listener), addresses })
    }

    /// Addresses that it listens on.
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// The gate, if streams are encrypted.
    pub fn gate(&mut self) -> Option<&mut Gate> {
        self.config.gate.as_mut()
    }

    /// Plays what comes to `output`. Call it inside a tokio runtime.
    pub fn play(self, output: impl Output) -> Receiver {
        let Listening { config, listener, addresses } = self;
        let listening = Event::Listening { addresses, output: output.name() };
        let unprotected = config.gate.is_none().then_some(Event::Unprotected(Role::Receive));
        let outlet = Outlet::start(output, config.memory.output());
        Receiver(Feed::start(|reporter, stop| {
            reporter.report(listening);
            unprotected.into_iter().for_each(|event| reporter.report(event));
            Session::run(Open { config, listener, outlet, reporter, stop })
        }))
    }
}

/// Receives streams: senders come and go, and one at a time is played. It ends when it is dropped.
#[derive(Debug)]
pub struct Receiver(Feed);

impl Receiver {
    /// Listens, and plays what comes to `output`. Call it inside a tokio runtime.
    ///
    /// # Errors
    /// [`Error::Network`]: an address is in use, or is not this machine's.
    pub async fn start(config: ReceiverConfig, output: impl Output) -> Result<Receiver, Error> {
        Ok(Listening::start(config)?.play(output))
    }

    /// The next event; `None` once it has ended. Cancel safe. Unread events make room for newer ones.
    pub async fn event(&mut self) -> Option<Event> {
        self.0.event().await
    }

    /// The last figures; `None` before the first ones.
    pub fn stats(&self) -> Option<Arc<Stats>> {
        self.0.stats()
    }

    /// Ends the stream: everything that has arrived is played at once.
    pub fn stop(&self) {
        self.0.stop();
    }

    /// Waits for the end. Events can still be read afterwards.
    ///
    /// # Errors
    /// [`Error::Media`]: the output cannot be written; [`Error::Peer`]: the only sender was lost; [`Error::Network`]: it could not
    /// listen for a while.
    ///
    /// # Panics
    /// When it is called again after it has returned.
    pub async fn wait(&mut self) -> Result<(), Error> {
        self.0.wait().await
    }
}

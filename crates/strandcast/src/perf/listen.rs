//! A server of measurements over real networks.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::time::Duration;

use strandcast_net::driver::{self, Driver};
use strandcast_proto::endpoint::EndpointConfig;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::task::JoinHandle;
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at};

use super::control::Totals;
use super::server::{Desk, NO_STREAM, Served};
use super::usage::Cpu;
use crate::error::Error;
use crate::live::parts::listen_changes;
use crate::live::{ListenChange, Taps};
use crate::memory::Memory;
use crate::pairing::{Gate, GateEvent};
use crate::scheme::Scheme;
use crate::transport::{TransportOptions, anywhere};

/// Interval at which the list of permitted clients is read again.
const LOOK: Duration = Duration::from_millis(250);

/// Configuration of a server of measurements.
#[derive(Debug)]
#[non_exhaustive]
pub struct ServerConfig {
    /// Addresses on which the server listens.
    pub listen: Vec<SocketAddr>,
    /// Scheme of the data that the server sends.
    pub scheme: Scheme,
    /// Gate that admits clients. `None`: measurements are not encrypted.
    pub gate: Option<Gate>,
    /// Memory limit of the process.
    pub memory: Memory,
    /// Parameters of the transport.
    pub transport: TransportOptions,
    /// Observers of every packet.
    pub taps: Option<Taps>,
    /// Reason for refusing a peer that sends media.
    pub no_stream: String,
}

impl ServerConfig {
    /// Makes the configuration of a server on the default port of all addresses, without encryption.
    pub fn new(scheme: Scheme) -> ServerConfig {
        let (listen, transport) = (vec![anywhere(crate::UDP_PORT)], TransportOptions::default());
        let no_stream = NO_STREAM.to_owned();
        ServerConfig {
            listen,
            scheme,
            gate: None,
            memory: Memory::default(),
            transport,
            taps: None,
            no_stream,
        }
    }
}

/// Event of a server of measurements.
#[derive(Debug)]
#[non_exhaustive]
pub enum ServerEvent {
    /// A measurement begins.
    Begun {
        /// Address of the client.
        client: String,
        /// True if the client receives.
        reverse: bool,
    },
    /// A measurement has ended.
    Done {
        /// Totals of the receiver.
        totals: Totals,
        /// Processor time of the server.
        cpu: Cpu,
    },
    /// A diagnostic line of the scheme with which the server sends.
    Diagnostic(String),
    /// A client has left after its measurement.
    Left,
    /// A client was refused or lost, for this reason.
    Failed(String),
    /// The gate reports a client.
    Gate(GateEvent),
    /// A listening address fails or returns.
    Socket(ListenChange),
}

impl From<Served> for ServerEvent {
    fn from(served: Served) -> ServerEvent {
        match served {
            Served::Begun { client, reverse } => ServerEvent::Begun { client, reverse },
            Served::Done(totals, cpu) => ServerEvent::Done { totals, cpu },
            Served::Diagnostic(line) => ServerEvent::Diagnostic(line),
            Served::Left => ServerEvent::Left,
            Served::Failed(why) => ServerEvent::Failed(why),
        }
    }
}

/// A server of measurements. Dropping this value ends the server.
pub struct Server {
    driver: Driver,
    _task: JoinHandle<Desk>,
    served: UnboundedReceiver<Served>,
    gate: Option<Gate>,
    waiting: VecDeque<ServerEvent>,
    /// Times at which the server looks at its addresses and at its gate.
    looks: Interval,
    /// The question for changes of the addresses, until its answer was read. It stays here if a caller of
    /// [`Server::event`] stops waiting, because the answer is given only once.
    looking: Option<Looking>,
}

/// A question for changes of the addresses.
type Looking = JoinHandle<Result<Vec<ListenChange>, Error>>;

impl Server {
    /// Starts to listen. Call it inside a tokio runtime.
    ///
    /// # Errors
    /// Returns [`Error::Network`] if an address is in use, or does not belong to this machine.
    pub fn start(config: ServerConfig) -> Result<Server, Error> {
        let ServerConfig { listen, scheme, mut gate, memory: limit, transport, taps, no_stream } = config;
        let memory = limit.for_transfers(gate.is_some());
        let endpoint = EndpointConfig { memory, ..transport.endpoint(&scheme, true) };
        let seal = gate.as_mut().map(|gate| gate.seal(limit.sessions()));
        let server = driver::Server { endpoint, listen, seal, tap: taps.as_ref().map(Taps::tap) };
        let (report, served) = unbounded_channel();
        let started = server.run(Desk::new(report, &no_stream));
        let (driver, task) = started.map_err(|error| Error::Network(error.to_string()))?;
        if let Some(gate) = &mut gate {
            gate.listens(driver.local_addrs());
        }
        let mut looks = interval_at(Instant::now() + LOOK, LOOK);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Ok(Server { driver, _task: task, served, gate, waiting: VecDeque::new(), looks, looking: None })
    }

    /// Addresses on which the server listens.
    pub fn addresses(&self) -> &[SocketAddr] {
        self.driver.local_addrs()
    }

    /// Gate of the server. `None` if measurements are not encrypted.
    pub fn gate(&mut self) -> Option<&mut Gate> {
        self.gate.as_mut()
    }

    /// Waits for the next event. The server also reads who may connect in this function, so that a program calls it
    /// again and again.
    ///
    /// Cancel safe: if the future is dropped, no event is lost.
    ///
    /// # Errors
    /// Returns [`Error::Network`] if the server no longer listens. Returns [`Error::Aborted`] if the tokio runtime has
    /// ended a task of the server.
    pub async fn event(&mut self) -> Result<ServerEvent, Error> {
        loop {
            if let Some(event) = self.waiting.pop_front() {
                return Ok(event);
            }
            tokio::select! {
                next = self.served.recv() => {
                    let stopped = || Error::Network("the transport stopped".into());
                    return next.map(ServerEvent::from).ok_or_else(stopped);
                }
                changes = answer(&mut self.looking) => {
                    self.looking = None;
                    self.waiting.extend(changes?.into_iter().map(ServerEvent::Socket));
                }
                _ = self.looks.tick() => self.look().await,
            }
        }
    }

    /// Reads again who may connect, and asks whether the server still listens. Cancel safe.
    async fn look(&mut self) {
        if self.looking.is_none() {
            let driver = self.driver.clone();
            self.looking = Some(tokio::spawn(async move { listen_changes(&driver).await }));
        }
        if let Some(gate) = &mut self.gate {
            self.waiting.extend(gate.poll(&self.driver).await.into_iter().map(ServerEvent::Gate));
        }
    }

    /// Ends the server. Returns the last events of its gate.
    pub async fn end(mut self) -> Vec<GateEvent> {
        match &mut self.gate {
            Some(gate) => gate.end().await,
            None => Vec::new(),
        }
    }
}

/// Waits for the answer to a question, if there is one. Cancel safe.
async fn answer(looking: &mut Option<Looking>) -> Result<Vec<ListenChange>, Error> {
    match looking {
        Some(looking) => looking.await.unwrap_or(Err(Error::Aborted)),
        None => std::future::pending().await,
    }
}

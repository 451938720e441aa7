//! The public handle of a relay.

use std::future::poll_fn;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use strandcast_proto::seeds::Seeds;
use tokio::task::JoinHandle;

use super::config::{Direction, EmulateError, RelayConfig, RelayStats};
use super::state::State;
use crate::clock::Clock;
use crate::socket::SocketError;

/// A path that is emulated in real time. Datagrams from clients reach the server through one link. The server's answers
/// return through another link. Each client address has a separate port in the direction of the server, as behind a
/// NAT.
///
/// All clients share the two links. The size of a datagram includes 28 bytes of IPv4 and UDP headers. A datagram leaves
/// up to a millisecond late (tokio's timer). The scheduling delay of the machine is added. This lateness does not add
/// up over time, because the links compute with due times and not with actual times. Packet loss depends only on the
/// seed, the name and the packet number. The relay runs until it is dropped.
#[derive(Debug)]
pub struct Relay {
    state: Arc<Mutex<State>>,
    local: SocketAddr,
    task: JoinHandle<()>,
}

impl Relay {
    /// Starts the relay. Call this inside a tokio runtime.
    ///
    /// # Errors
    /// [`EmulateError`], a one-line diagnostic.
    pub fn start(config: RelayConfig, seeds: &Seeds) -> Result<Relay, EmulateError> {
        for link in [&config.network.forward, &config.network.reverse] {
            link.validate().map_err(|e| EmulateError::Link(config.network.name.clone(), e))?;
        }
        let state = State::new(config, seeds, Clock::start())?;
        let local = state.local_addr();
        let state = Arc::new(Mutex::new(state));
        let task = tokio::spawn(run(Arc::clone(&state)));
        Ok(Relay { state, local, task })
    }

    /// The address that clients send to.
    pub fn local_addr(&self) -> SocketAddr {
        self.local
    }

    /// Starts or ends a black hole. A black hole drops every packet, including those in transit.
    pub fn set_black_hole(&self, direction: Direction, on: bool) {
        locked(&self.state).link(direction).set_black_hole(on);
    }

    /// Takes the direction down or brings it up again. When it goes down, packets in transit are dropped.
    pub fn set_down(&self, direction: Direction, down: bool) {
        let mut state = locked(&self.state);
        let now = state.now();
        state.link(direction).set_down(now, down);
    }

    /// Gives every client another port in the direction of the server. A NAT does the same after it has lost its
    /// mappings. Datagrams that the server sends to the old ports are lost. Call this inside the runtime.
    ///
    /// # Errors
    /// [`SocketError`]. The old ports then remain.
    pub fn rebind(&self) -> Result<(), SocketError> {
        locked(&self.state).rebind()
    }

    /// Time since a datagram was last delivered in this direction. `None` before the first datagram.
    pub fn quiet(&self, direction: Direction) -> Option<Duration> {
        locked(&self.state).quiet(direction)
    }

    /// Current counters.
    pub fn stats(&self) -> RelayStats {
        locked(&self.state).stats()
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn run(state: Arc<Mutex<State>>) {
    let mut timer = pin!(tokio::time::sleep(std::time::Duration::ZERO));
    poll_fn(|cx| locked(&state).poll(cx, timer.as_mut())).await;
}

/// Locks the state. A poisoned lock is no problem, because counters and links are consistent after every step.
fn locked(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

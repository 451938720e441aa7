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

/// A path emulated in real time. Datagrams from clients reach the server through one link, and the server's
/// answers return through another. Each client address has its own port towards the server, as with a NAT.
///
/// All clients share the two links. The size of a datagram includes 28 bytes of IPv4 and UDP headers. Datagrams leave
/// up to a millisecond (tokio's timer) plus the machine's scheduling delay late; the lateness does not accumulate,
/// because the links work with due times. Packet loss depends only on seed, name and packet number. The relay runs
/// until it is dropped.
#[derive(Debug)]
pub struct Relay {
    state: Arc<Mutex<State>>,
    local: SocketAddr,
    task: JoinHandle<()>,
}

impl Relay {
    /// Starts relaying. Call it inside a tokio runtime.
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

    /// Turns a black hole on or off. A black hole drops every packet, including those in transit.
    pub fn set_black_hole(&self, direction: Direction, on: bool) {
        locked(&self.state).link(direction).set_black_hole(on);
    }

    /// Takes the direction down, dropping packets in transit, or up again.
    pub fn set_down(&self, direction: Direction, down: bool) {
        let mut state = locked(&self.state);
        let now = state.now();
        state.link(direction).set_down(now, down);
    }

    /// Gives every client another port towards the server, as a NAT does that has lost its mappings. Datagrams that the
    /// server sends to the old ports are lost. Call it inside the runtime.
    ///
    /// # Errors
    /// [`SocketError`]; the old ports then remain.
    pub fn rebind(&self) -> Result<(), SocketError> {
        locked(&self.state).rebind()
    }

    /// Time since a datagram was last delivered in this direction; `None` before the first.
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

/// Counters and links are consistent after every step, so a poisoned lock is harmless.
fn locked(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

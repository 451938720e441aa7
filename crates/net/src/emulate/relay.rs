//! The relay as its user holds it.

use super::config::{Direction, EmulateError, RelayConfig, RelayStats};
use super::state::State;
use crate::clock::Clock;
use crate::socket::SocketError;
use std::future::poll_fn;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use strandcast_proto::seeds::Seeds;
use tokio::task::JoinHandle;

/// A path emulated in real time: whatever is sent to it comes to the server through one link, and the server's
/// answers come back through another. Each client address has its own port towards the server, as behind a NAT.
///
/// All clients share the two links. A datagram counts with 28 bytes of IPv4 and UDP header. Datagrams leave at most a
/// millisecond (tokio's timer) and the machine's scheduling late; lateness does not add up, because the links reckon
/// with due times. Which packets are lost depends on seed, name and packet number alone. Runs until it is dropped.
#[derive(Debug)]
pub struct Relay {
    state: Arc<Mutex<State>>,
    local: SocketAddr,
    task: JoinHandle<()>,
}

impl Relay {
    /// Starts relaying; call it inside a tokio runtime.
    ///
    /// # Errors
    /// [`EmulateError`], one line.
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

    /// Where clients send to.
    pub fn local_addr(&self) -> SocketAddr {
        self.local
    }

    /// While on, the direction swallows everything, also what is under way.
    pub fn set_black_hole(&self, direction: Direction, on: bool) {
        locked(&self.state).link(direction).set_black_hole(on);
    }

    /// Takes the direction down, with all that is under way, or up again.
    pub fn set_down(&self, direction: Direction, down: bool) {
        let mut state = locked(&self.state);
        let now = state.now();
        state.link(direction).set_down(now, down);
    }

    /// Gives every client another port towards the server, as a NAT does that has forgotten them; what the server
    /// still sends to the old ports is lost. Call it inside the runtime.
    ///
    /// # Errors
    /// [`SocketError`]; the old ports then stay.
    pub fn rebind(&self) -> Result<(), SocketError> {
        locked(&self.state).rebind()
    }

    /// How long ago a datagram last came through the direction and left; `None` if none has.
    pub fn quiet(&self, direction: Direction) -> Option<Duration> {
        locked(&self.state).quiet(direction)
    }

    /// What has happened so far.
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

/// Counters and links are whole after every step, so a panic elsewhere while locked does no harm.
fn locked(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

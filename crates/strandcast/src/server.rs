//! Accepting connections.

use std::net::SocketAddr;

use strandcast_net::driver::{AssociationHandle, Listener};
use strandcast_proto::config::TransportConfig;
use strandcast_proto::endpoint::EndpointConfig;

use crate::error::Error;
use crate::listen;
use crate::memory::Memory;
use crate::scheme::Scheme;
use crate::transport::anywhere;
use crate::{SCTP_PORT, UDP_PORT};

/// Interval between two reads of a server's store.
#[cfg(feature = "seal")]
const LOOK: std::time::Duration = std::time::Duration::from_millis(250);

/// Server that accepts connections of clients.
#[derive(Debug)]
pub struct Server {
    scheme: Scheme,
    transport: TransportConfig,
    sctp_port: u16,
    listen: Vec<SocketAddr>,
    memory: Memory,
    #[cfg(feature = "seal")]
    gate: Option<crate::pairing::Gate>,
}

/// A server that listens. Dropping it ends its connections. A program should therefore first await their
/// [`closed`](crate::Connection::closed).
#[derive(Debug)]
pub struct Incoming {
    listener: Listener,
    #[cfg(feature = "seal")]
    seal: Option<Sealed>,
}

/// Gate of a server, and the time of its next poll.
#[cfg(feature = "seal")]
#[derive(Debug)]
struct Sealed {
    gate: crate::pairing::Gate,
    look: tokio::time::Interval,
    /// A connection that was accepted, but not returned yet.
    ready: Option<AssociationHandle>,
}

impl Server {
    /// Makes a server with the transport of live streams. The server listens on UDP port 9899 of all addresses, unless
    /// [`Server::listen`] adds addresses. It accepts every client without encryption. On each connection, the server
    /// sends with `scheme`.
    pub fn new(scheme: Scheme) -> Server {
        Server {
            scheme,
            transport: TransportConfig::live(),
            sctp_port: SCTP_PORT,
            listen: Vec::new(),
            memory: Memory::default(),
            #[cfg(feature = "seal")]
            gate: None,
        }
    }

    /// Adds an address to listen on. The unspecified address stands for all addresses.
    #[must_use]
    pub fn listen(mut self, address: SocketAddr) -> Server {
        self.listen.push(address);
        self
    }

    /// Sets the parameters of the transport. The scheme then changes the parameters that it needs.
    #[must_use]
    pub fn transport(self, transport: TransportConfig) -> Server {
        Server { transport, ..self }
    }

    /// Sets the SCTP port of both sides.
    #[must_use]
    pub fn sctp_port(self, sctp_port: u16) -> Server {
        Server { sctp_port, ..self }
    }

    /// Sets the memory limit. If it is reached, clients wait or are refused. The default is 256 MiB.
    #[must_use]
    pub fn memory(self, memory: Memory) -> Server {
        Server { memory, ..self }
    }

    /// Makes a server that encrypts, and that accepts only senders that this gate admits.
    #[cfg(feature = "seal")]
    #[must_use]
    pub fn sealed(self, gate: crate::pairing::Gate) -> Server {
        Server { gate: Some(gate), ..self }
    }

    /// Starts to listen. Call it inside a tokio runtime.
    ///
    /// # Errors
    /// Returns [`Error::Network`] if an address is in use, or does not belong to this machine.
    pub fn start(self) -> Result<Incoming, Error> {
        #[cfg(feature = "seal")]
        let sealed = self.gate.is_some();
        #[cfg(not(feature = "seal"))]
        let sealed = false;
        let endpoint = self.endpoint(sealed);
        let listen = if self.listen.is_empty() { vec![anywhere(UDP_PORT)] } else { self.listen };
        #[cfg(feature = "seal")]
        if let Some(mut gate) = self.gate {
            let sessions = self.memory.sessions();
            let listener = listen::sealed(endpoint, listen, None, (&mut gate, sessions))?;
            let mut look = tokio::time::interval(LOOK);
            look.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
            return Ok(Incoming { listener, seal: Some(Sealed { gate, look, ready: None }) });
        }
        Ok(Incoming {
            listener: listen::plain(endpoint, listen, None)?,
            #[cfg(feature = "seal")]
            seal: None,
        })
    }

    fn endpoint(&self, sealed: bool) -> EndpointConfig {
        let endpoint = self.scheme.endpoint(self.transport.clone(), true);
        EndpointConfig { port: self.sctp_port, memory: self.memory.for_transfers(sealed), ..endpoint }
    }
}

impl Incoming {
    /// Addresses on which the server listens.
    pub fn addresses(&self) -> &[SocketAddr] {
        self.listener.driver().local_addrs()
    }

    /// Returns the next connection. Returns `None` if its driver was stopped. Cancel safe. A sealed server reads
    /// changes of its store only inside this call. The call must be repeated in a loop, because otherwise new pairings
    /// and revocations have no effect. A server that needs only one connection may stop calling this function.
    pub async fn accept(&mut self) -> Option<AssociationHandle> {
        #[cfg(feature = "seal")]
        while let Some(Sealed { gate, look, ready }) = &mut self.seal {
            if ready.is_some() {
                // The seal has reported the sender earlier.
                gate.poll(self.listener.driver()).await;
                return ready.take();
            }
            tokio::select! {
                accepted = self.listener.accept() => match accepted {
                    None => return None,
                    some => *ready = some,
                },
                _ = look.tick() => drop(gate.poll(self.listener.driver()).await),
            }
        }
        self.listener.accept().await
    }
}

impl Drop for Incoming {
    fn drop(&mut self) {
        // The driver runs the connections that were accepted, so that they end with the driver.
        self.listener.driver().stop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_clients_together_have_a_share_of_the_servers_memory() {
        let least = Memory::new(32 << 20).expect("it is the least");
        let server = Server::new(Scheme::rfc9260()).memory(least);
        assert_eq!(server.endpoint(false).memory, 24 << 20);
        assert_eq!(server.endpoint(true).memory, 20 << 20, "and its sessions the rest");
    }
}

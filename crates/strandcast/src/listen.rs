//! Listening, with or without a gate.

use std::net::SocketAddr;

use strandcast_net::driver::{Listener, PacketTap, Server};
use strandcast_proto::endpoint::EndpointConfig;

use crate::error::Error;
use crate::transport::open_error;

/// Listens without a seal.
///
/// # Errors
/// Returns [`Error::Network`] if an address is in use, or is not this machine's.
pub(crate) fn plain(
    endpoint: EndpointConfig,
    listen: Vec<SocketAddr>,
    tap: Option<PacketTap>,
) -> Result<Listener, Error> {
    Server { endpoint, listen, seal: None, tap }.listen().map_err(|error| open_error(&error))
}

/// Listens behind a gate, so that only admitted senders connect. The sessions of the gate may take `sessions` bytes of
/// memory. The gate's store records the addresses.
///
/// # Errors
/// The errors of [`plain`].
#[cfg(feature = "seal")]
pub(crate) fn sealed(
    endpoint: EndpointConfig,
    listen: Vec<SocketAddr>,
    tap: Option<PacketTap>,
    (gate, sessions): (&mut crate::pairing::Gate, usize),
) -> Result<Listener, Error> {
    let seal = Some(gate.seal(sessions));
    let listener = Server { endpoint, listen, seal, tap }.listen().map_err(|error| open_error(&error))?;
    gate.listens(listener.driver().local_addrs());
    Ok(listener)
}

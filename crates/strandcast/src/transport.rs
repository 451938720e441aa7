//! Transport of live media and bulk data.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use strandcast_net::driver::OpenError;
use strandcast_net::entropy;
use strandcast_net::resolve::resolve;
use strandcast_proto::config::TransportConfig;
use strandcast_proto::endpoint::EndpointConfig;
use strandcast_proto::policy::Scheme as Policies;

use crate::error::Error;
use crate::scheme::Scheme;
use crate::{SCTP_PORT, UDP_PORT};

/// Parameters of the transport that both ends of a connection set.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TransportOptions {
    /// SCTP port of both sides.
    pub sctp_port: u16,
    /// IP-level MTU in bytes of paths for which no other value is given.
    pub mtu: u16,
    /// Maximum size in bytes of the send and the receive buffer of an association.
    pub buffer: usize,
}

impl Default for TransportOptions {
    fn default() -> Self {
        TransportOptions { sctp_port: SCTP_PORT, mtu: 1400, buffer: 16 << 20 }
    }
}

impl TransportOptions {
    /// Returns the endpoint's configuration, tuned for the scheme.
    pub fn endpoint(&self, scheme: &Scheme, accepts: bool) -> EndpointConfig {
        let live = TransportConfig::live();
        let transport = TransportConfig {
            mtu: self.mtu,
            outbound_streams: 2,
            receive_buffer: live.receive_buffer.min(u32::try_from(self.buffer).unwrap_or(u32::MAX)),
            send_buffer: live.send_buffer.min(self.buffer),
            buffer_limit: Some(self.buffer),
            ..live
        };
        EndpointConfig { port: self.sctp_port, ..scheme.endpoint(transport, accepts) }
    }
}

/// Makes the policies of an association that is opened here.
///
/// # Errors
/// Returns [`Error::Network`] if the system has no randomness.
pub fn policies(scheme: &Scheme) -> Result<Box<dyn Policies>, Error> {
    let seeds = entropy::seeds().map_err(|e| open_error(&OpenError::Entropy(e)))?;
    Ok(scheme.build(&seeds))
}

/// Returns the addresses to listen on. The addresses are the addresses of `host`, or all addresses of this machine.
///
/// # Errors
/// [`Error::Network`].
pub async fn listen_addresses(host: Option<&str>, port: Option<u16>) -> Result<Vec<SocketAddr>, Error> {
    let port = port.unwrap_or(UDP_PORT);
    match host {
        Some(host) => resolve(host, port).await.map_err(|e| Error::Network(e.to_string())),
        None => Ok(vec![anywhere(port)]),
    }
}

/// Returns this port of all addresses, including IPv4.
pub(crate) const fn anywhere(port: u16) -> SocketAddr {
    SocketAddr::new(IpAddr::V6(Ipv6Addr::UNSPECIFIED), port)
}

/// Converts the error of a failed start.
pub fn open_error(error: &OpenError) -> Error {
    let text = error.to_string();
    // The number of a system's error does not help the user.
    let plain = text.split(" (os error").next().unwrap_or(&text).to_owned();
    Error::Network(plain)
}

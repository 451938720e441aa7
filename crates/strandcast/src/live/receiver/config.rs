//! What a receiver needs to know.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use crate::UDP_PORT;
use crate::live::memory::Memory;
use crate::live::tap::Taps;
use crate::pairing::Gate;
use crate::scheme::Scheme;
use crate::transport::TransportOptions;

/// Default silence after which a sender is given up.
const SILENCE: Duration = Duration::from_secs(65);

/// What a [`Receiver`](crate::live::Receiver) needs to know.
#[derive(Debug)]
#[non_exhaustive]
pub struct ReceiverConfig {
    /// Decides how data that the receiver itself sends leave; senders bring their own.
    pub scheme: Scheme,
    /// Addresses to listen on; the unspecified one means all.
    pub listen: Vec<SocketAddr>,
    /// Who may send; `None`: anyone, and nothing is encrypted.
    pub gate: Option<Gate>,
    /// From sending to playing; `None`: what the sender asks for.
    pub latency: Option<Duration>,
    /// Silence after which a sender is given up. Another one may take its place sooner.
    pub silence: Duration,
    /// End after the first sender's stream.
    pub once: bool,
    /// Limit of memory: senders wait or are refused when it is reached.
    pub memory: Memory,
    /// What both ends set of the transport.
    pub transport: TransportOptions,
    /// Who sees every packet.
    pub taps: Option<Taps>,
}

impl ReceiverConfig {
    /// The defaults of `strandcast receive`, without encryption.
    pub fn new(scheme: Scheme) -> ReceiverConfig {
        ReceiverConfig {
            scheme,
            listen: vec![SocketAddr::new(IpAddr::V6(Ipv6Addr::UNSPECIFIED), UDP_PORT)],
            gate: None,
            latency: None,
            silence: SILENCE,
            once: false,
            memory: Memory::default(),
            transport: TransportOptions::default(),
            taps: None,
        }
    }
}

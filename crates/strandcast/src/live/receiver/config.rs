//! Configuration of a receiver.

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

/// Configuration of a [`Receiver`](crate::live::Receiver).
#[derive(Debug)]
#[non_exhaustive]
pub struct ReceiverConfig {
    /// Decides how data that the receiver itself sends leave; senders bring their own.
    pub scheme: Scheme,
    /// Addresses to listen on; the unspecified one means all.
    pub listen: Vec<SocketAddr>,
    /// Admits senders; `None`: anyone may send, and nothing is encrypted.
    pub gate: Option<Gate>,
    /// Time from sending to playing; `None`: the one that the sender asks for.
    pub latency: Option<Duration>,
    /// Silence after which a sender is given up. Another one may take its place sooner.
    pub silence: Duration,
    /// End after the first sender's stream.
    pub once: bool,
    /// Limit of memory: senders wait or are refused when it is reached.
    pub memory: Memory,
    /// Parameters of the transport that both ends set.
    pub transport: TransportOptions,
    /// Observers of every packet.
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

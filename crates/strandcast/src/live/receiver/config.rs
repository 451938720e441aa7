//! Configuration of a receiver.

use std::net::SocketAddr;
use std::time::Duration;

use crate::UDP_PORT;
use crate::live::slate::Slate;
use crate::live::tap::Taps;
use crate::memory::Memory;
use crate::pairing::Gate;
use crate::scheme::Scheme;
use crate::transport::{TransportOptions, anywhere};

/// Default silence after which the receiver gives up a sender.
const SILENCE: Duration = Duration::from_secs(65);

/// Configuration of a [`Receiver`](crate::live::Receiver).
#[derive(Debug)]
#[non_exhaustive]
pub struct ReceiverConfig {
    /// Scheme of the data that the receiver sends. Senders have a separate scheme.
    pub scheme: Scheme,
    /// Addresses to listen on. The unspecified address stands for all addresses.
    pub listen: Vec<SocketAddr>,
    /// Gate that admits senders. `None`: anyone may send, without encryption.
    pub gate: Option<Gate>,
    /// Time from sending to playing. `None`: the receiver uses the latency that the sender requests.
    pub latency: Option<Duration>,
    /// Silence after which the receiver gives up a sender. Another sender may replace the silent one earlier.
    pub silence: Duration,
    /// If true, the receiver ends after the first sender's stream.
    pub once: bool,
    /// Limit of memory. Senders wait or are refused when the limit is reached.
    pub memory: Memory,
    /// Parameters of the transport that both ends set.
    pub transport: TransportOptions,
    /// Slate of the outputs. `None`: the outputs receive no data while no sender plays.
    pub slate: Option<Slate>,
    /// If true, viewers ([`Receiver::view`](crate::live::Receiver::view)) get the slate, also if no output does, and the
    /// media since the last key frame are kept for those that begin there.
    pub watched: bool,
    /// Observers of every packet.
    pub taps: Option<Taps>,
}

impl ReceiverConfig {
    /// Returns the defaults of `strandcast receive`, without encryption.
    pub fn new(scheme: Scheme) -> ReceiverConfig {
        ReceiverConfig {
            scheme,
            listen: vec![anywhere(UDP_PORT)],
            gate: None,
            latency: None,
            silence: SILENCE,
            once: false,
            memory: Memory::default(),
            transport: TransportOptions::default(),
            slate: None,
            watched: false,
            taps: None,
        }
    }
}

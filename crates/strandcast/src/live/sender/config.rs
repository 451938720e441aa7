//! What a sender needs to know.

use std::time::Duration;

use strandcast_net::interface::PathSpec;

use crate::live::retry::Retry;
use crate::live::tap::Taps;
use crate::live::tariff::LinkTariff;
use crate::pairing::Destination;
use crate::scheme::Scheme;
use crate::transport::TransportOptions;

/// Default playout latency.
const LATENCY: Duration = Duration::from_secs(1);

/// What a [`Sender`](crate::live::Sender) needs to know.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SenderConfig {
    /// The receiver.
    pub to: Destination,
    /// Decides which path takes what.
    pub scheme: Scheme,
    /// From sending to playing; what would be later is dropped.
    pub latency: Duration,
    /// How long to try to connect, also after refusals; a path that is not there yet is then waited for. `None`: 30 s, no longer
    /// where the receiver refuses, and for ever once a live input was connected.
    pub retry: Option<Retry>,
    /// The paths; without any, one over every interface that is up and has a route to the receiver.
    pub paths: Vec<PathSpec>,
    /// What links cost.
    pub tariffs: Vec<LinkTariff>,
    /// What both ends set of the transport.
    pub transport: TransportOptions,
    /// Who sees every packet.
    pub taps: Option<Taps>,
}

impl SenderConfig {
    /// The defaults of `strandcast send`.
    pub fn new(to: Destination, scheme: Scheme) -> SenderConfig {
        SenderConfig {
            to,
            scheme,
            latency: LATENCY,
            retry: None,
            paths: Vec::new(),
            tariffs: Vec::new(),
            transport: TransportOptions::default(),
            taps: None,
        }
    }
}

//! Configuration of a sender.

use std::path::PathBuf;
use std::time::Duration;

use strandcast_net::interface::PathSpec;

use crate::live::retry::Retry;
use crate::live::tap::Taps;
use crate::live::tariff::LinkTariff;
use crate::pairing::{Destination, Name};
use crate::scheme::Scheme;
use crate::transport::TransportOptions;

/// Default playout latency.
const LATENCY: Duration = Duration::from_secs(1);

/// Configuration of a [`Sender`](crate::live::Sender).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SenderConfig {
    /// The receiver.
    pub to: Destination,
    /// Name of the stream at a receiver that has several. The name is needed if the sender's key may send more than one
    /// stream.
    pub stream: Option<Name>,
    /// Scheme that chooses a path for each chunk.
    pub scheme: Scheme,
    /// Time from sending to playing. Messages that would arrive later are dropped.
    pub latency: Duration,
    /// Time for which the sender tries to connect, including after refusals. With a value, the sender waits for
    /// interfaces, routes and names that do not exist yet. `None` means 30 s before the first connection, and no
    /// further attempt after a refusal. Once a live input was connected, there is no limit.
    pub retry: Option<Retry>,
    /// Paths to use. If the list is empty, there is one path over every interface that has a route to the receiver.
    /// Paths over interfaces that appear later are included.
    pub paths: Vec<PathSpec>,
    /// Bit rate that replaces the clock of a file or a pipe.
    pub rate_bps: Option<u64>,
    /// If true, a pipe that is faster than its own clock is paced by that clock. The pipe may be ahead of its clock by
    /// one latency, and by the time for which it waited for the receiver.
    pub paces_pipes: bool,
    /// Costs of links.
    pub tariffs: Vec<LinkTariff>,
    /// File with the bytes that links with a monthly allowance have used ([`LinkTariff::month_begins`]). It is created if
    /// it does not exist.
    pub ledger: Option<PathBuf>,
    /// Parameters of the transport that both ends set.
    pub transport: TransportOptions,
    /// Observers of every packet.
    pub taps: Option<Taps>,
}

impl SenderConfig {
    /// Returns the defaults of `strandcast send`.
    pub fn new(to: Destination, scheme: Scheme) -> SenderConfig {
        SenderConfig {
            to,
            stream: None,
            scheme,
            latency: LATENCY,
            retry: None,
            paths: Vec::new(),
            rate_bps: None,
            paces_pipes: true,
            tariffs: Vec::new(),
            ledger: None,
            transport: TransportOptions::default(),
            taps: None,
        }
    }
}

//! Counters of a connection.

use core::time::Duration;

/// Counters of a connection since its beginning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Number of packets sent for the first time.
    pub sent: u64,
    /// Number of retransmitted packets.
    pub retransmitted: u64,
    /// Number of packets that the sender dropped because they were too late.
    pub dropped: u64,
    /// Number of packets for which the sender's buffer had no room.
    pub refused: u64,
    /// Number of received packets. Each packet counts once.
    pub received: u64,
    /// Number of packets that were received again.
    pub duplicates: u64,
    /// Number of packets that arrived after their delivery time.
    pub late: u64,
    /// Number of packets that the receiver gave up.
    pub lost: u64,
    /// Number of packets whose key is unknown, and of unencrypted packets on an encrypted connection.
    pub undecryptable: u64,
    /// Number of packets that are malformed or make no sense in this connection.
    pub bad: u64,
    /// Number of lists of losses sent or received.
    pub naks: u64,
    /// Number of changes of keys.
    pub refreshes: u64,
    /// Smoothed round-trip time; zero before the first measurement.
    pub rtt: Duration,
    /// Latency that the receiver applies.
    pub latency: Duration,
}

/// Counters of an endpoint that belong to no connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EndpointStats {
    /// Number of datagrams that are malformed or belong to no connection.
    pub strays: u64,
    /// Number of conclusion requests with a wrong cookie.
    pub bad_cookies: u64,
    /// Number of handshakes that exceeded the budget of derivations.
    pub over_budget: u64,
    /// Number of refused callers.
    pub refused: u64,
}

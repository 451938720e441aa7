//! Figures of a connection.

use core::time::Duration;

/// Figures of a connection since its beginning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Packets sent for the first time.
    pub sent: u64,
    /// Packets sent again.
    pub retransmitted: u64,
    /// Packets that the sender dropped because they were too late.
    pub dropped: u64,
    /// Packets that the sender's buffer had no room for.
    pub refused: u64,
    /// Packets received, each counted once.
    pub received: u64,
    /// Packets received again.
    pub duplicates: u64,
    /// Packets that arrived after their time.
    pub late: u64,
    /// Packets that the receiver gave up.
    pub lost: u64,
    /// Packets with a key that is not known, or without one on an encrypted connection.
    pub undecryptable: u64,
    /// Packets that are malformed or have no place in this connection.
    pub bad: u64,
    /// Lists of losses sent or received.
    pub naks: u64,
    /// Changes of keys.
    pub refreshes: u64,
    /// Smoothed round-trip time; zero before the first measurement.
    pub rtt: Duration,
    /// Latency of the receiver.
    pub latency: Duration,
}

/// Figures of an endpoint that concern no connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EndpointStats {
    /// Datagrams that are malformed or belong to no connection.
    pub strays: u64,
    /// Conclusions with a wrong cookie.
    pub bad_cookies: u64,
    /// Handshakes beyond the budget.
    pub over_budget: u64,
    /// Refused callers.
    pub refused: u64,
}

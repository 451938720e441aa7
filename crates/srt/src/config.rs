//! Configuration of an SRT endpoint.

use core::fmt;
use core::time::Duration;

use zeroize::Zeroizing;

use crate::crypto::Derivation;
use crate::wire::MAX_STREAM_ID;

/// Permitted lengths of a passphrase in bytes.
const PASSPHRASE: core::ops::RangeInclusive<usize> = 10..=79;
/// Largest payload of a packet in bytes: 1500 minus the headers of IPv4, UDP and SRT.
pub const MAX_PAYLOAD: usize = 1456;

/// Direction of the media. The direction applies to all connections of an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// This endpoint sends media to its peers.
    Send,
    /// This endpoint receives media from its peers.
    Receive,
}

/// Length of an AES key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum KeySize {
    /// The key has 16 bytes.
    Aes128,
    /// The key has 24 bytes.
    Aes192,
    /// The key has 32 bytes.
    Aes256,
}

impl KeySize {
    /// Returns the number of bytes of the key.
    pub const fn bytes(self) -> usize {
        match self {
            KeySize::Aes128 => 16,
            KeySize::Aes192 => 24,
            KeySize::Aes256 => 32,
        }
    }

    /// Returns the size of a key of 16, 24 or 32 bytes; `None` for other lengths.
    pub const fn from_bytes(bytes: usize) -> Option<KeySize> {
        match bytes {
            16 => Some(KeySize::Aes128),
            24 => Some(KeySize::Aes192),
            32 => Some(KeySize::Aes256),
            _ => None,
        }
    }

    pub(crate) fn of(bytes: usize) -> KeySize {
        KeySize::from_bytes(bytes).expect("keys have one of three lengths")
    }

    /// Returns the value for the encryption field of a handshake.
    pub(crate) fn field(self) -> u16 {
        self.bytes() as u16 / 8
    }

    pub(crate) fn from_field(field: u16) -> Option<KeySize> {
        KeySize::from_bytes(usize::from(field) * 8)
    }
}

/// Reason for refusing a value of the configuration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// The passphrase has a forbidden length.
    #[error("a passphrase has 10 to 79 bytes, this one has {0}")]
    Passphrase(usize),
    /// The stream id is too long or contains a zero byte.
    #[error("a stream id has at most 512 bytes, none of them zero")]
    StreamId,
    /// The latency does not fit into its field of the handshake.
    #[error("a latency is at most 65535 ms")]
    Latency,
}

/// The passphrase of encrypted connections. A passphrase is printed as dots.
#[derive(Clone, PartialEq, Eq)]
pub struct Passphrase(Zeroizing<String>);

impl Passphrase {
    /// Returns a passphrase of 10 to 79 bytes.
    ///
    /// # Errors
    /// Returns [`ConfigError::Passphrase`] for other lengths.
    pub fn new(text: impl Into<String>) -> Result<Passphrase, ConfigError> {
        let text = Zeroizing::new(text.into());
        if PASSPHRASE.contains(&text.len()) {
            Ok(Passphrase(text))
        } else {
            Err(ConfigError::Passphrase(text.len()))
        }
    }

    pub(crate) fn derivation(&self) -> Derivation {
        Derivation::new(self.0.as_bytes())
    }
}

impl fmt::Debug for Passphrase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Passphrase(..)")
    }
}

/// Limit of the rate at which a sender sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bandwidth {
    /// The limit is this number of bytes per second.
    Fixed(u64),
    /// The limit is the rate of the input, plus a percentage.
    Input {
        /// Percentage that is added to the rate of the input.
        overhead: u32,
    },
}

/// Configuration of an endpoint.
#[derive(Clone, Debug)]
pub struct Config {
    /// Direction of the media.
    pub direction: Direction,
    /// Latency that this endpoint proposes. The larger of both endpoints' proposals applies.
    pub latency: Duration,
    /// Passphrase of the connections. With a passphrase, every connection is encrypted. Without one, no connection is.
    pub passphrase: Option<Passphrase>,
    /// Length of the keys that a caller creates and that a listener advertises. If the value is `None`, a caller
    /// creates keys of the length that the listener advertises. Without an advertised length, keys have 16 bytes. An
    /// endpoint accepts keys of any permitted length.
    pub key_size: Option<KeySize>,
    /// Stream id that a caller sends. A listener refuses callers that send another stream id.
    pub stream_id: Option<String>,
    /// Limit of the rate, including retransmissions.
    pub bandwidth: Bandwidth,
    /// Maximum number of later packets that may overtake a packet before it is reported as lost. The tolerance in use
    /// begins at 0. The tolerance in use grows up to this value as packets are found to arrive out of order.
    pub reorder_tolerance: u32,
    /// Maximum number of packets in the buffer of a connection, at most 65536.
    pub buffer_packets: u32,
    /// Maximum number of connections that a listener accepts.
    pub max_connections: usize,
    /// Time without packets from the peer after which a connection ends.
    pub idle_timeout: Duration,
    /// Time after which a caller stops its attempt to connect.
    pub connect_timeout: Duration,
    /// Number of packets that are encrypted with one key. One key encrypts at least twice `announce_packets` packets.
    pub refresh_packets: u32,
    /// Number of packets before a change of keys at which the new key is announced.
    pub announce_packets: u32,
    /// Number of the first packet of a caller. If the field is `None`, the number of the first packet is random.
    pub first_number: Option<u32>,
}

impl Config {
    /// Maximum number of packets that are encrypted with one key.
    pub const MOST_PACKETS: u32 = 1 << 30;

    /// Returns the configuration with the values of the draft: 120 ms of latency, 1 Gbit/s, 8192 packets, no
    /// encryption.
    pub fn new(direction: Direction) -> Config {
        Config {
            direction,
            latency: Duration::from_millis(120),
            passphrase: None,
            key_size: None,
            stream_id: None,
            bandwidth: Bandwidth::Fixed(125_000_000),
            reorder_tolerance: 0,
            buffer_packets: 8192,
            max_connections: 1,
            idle_timeout: Duration::from_secs(5),
            connect_timeout: Duration::from_secs(3),
            refresh_packets: 1 << 24,
            announce_packets: 1 << 12,
            first_number: None,
        }
    }

    /// Checks the values that a handshake carries.
    ///
    /// # Errors
    /// Returns a [`ConfigError`] if a value is invalid.
    pub fn check(&self) -> Result<(), ConfigError> {
        if self.latency > Duration::from_millis(u64::from(u16::MAX)) {
            return Err(ConfigError::Latency);
        }
        match &self.stream_id {
            Some(id) if id.len() > MAX_STREAM_ID || id.contains('\0') => Err(ConfigError::StreamId),
            _ => Ok(()),
        }
    }

    pub(crate) fn latency_ms(&self) -> u16 {
        u16::try_from(self.latency.as_millis()).unwrap_or(u16::MAX)
    }

    pub(crate) fn capacity(&self) -> usize {
        self.buffer_packets.clamp(32, 1 << 16) as usize
    }
}

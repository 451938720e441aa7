//! Configuration of an endpoint.

use core::fmt;
use core::time::Duration;

use zeroize::Zeroizing;

use crate::crypto::Derivation;
use crate::wire::MAX_STREAM_ID;

/// Shortest and longest passphrase in bytes.
const PASSPHRASE: core::ops::RangeInclusive<usize> = 10..=79;
/// Largest payload of a packet in bytes: 1500 less the headers of IPv4, UDP and SRT.
pub const MAX_PAYLOAD: usize = 1456;

/// Direction of the media, the same for all connections of an endpoint.
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
    /// 16 bytes.
    Aes128,
    /// 24 bytes.
    Aes192,
    /// 32 bytes.
    Aes256,
}

impl KeySize {
    /// Number of bytes.
    pub const fn bytes(self) -> usize {
        match self {
            KeySize::Aes128 => 16,
            KeySize::Aes192 => 24,
            KeySize::Aes256 => 32,
        }
    }

    /// The size of a key of 16, 24 or 32 bytes; `None` for other lengths.
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

    /// The value of a handshake's encryption field.
    pub(crate) fn field(self) -> u16 {
        self.bytes() as u16 / 8
    }

    pub(crate) fn from_field(field: u16) -> Option<KeySize> {
        KeySize::from_bytes(usize::from(field) * 8)
    }
}

/// Reason why a value is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// The passphrase has a forbidden length.
    #[error("a passphrase has 10 to 79 bytes, this one has {0}")]
    Passphrase(usize),
    /// The stream id is too long or has a zero byte.
    #[error("a stream id has at most 512 bytes, none of them zero")]
    StreamId,
    /// The latency does not fit into its field.
    #[error("a latency is at most 65535 ms")]
    Latency,
}

/// A passphrase. A passphrase prints as dots.
#[derive(Clone, PartialEq, Eq)]
pub struct Passphrase(Zeroizing<String>);

impl Passphrase {
    /// A passphrase of 10 to 79 bytes.
    ///
    /// # Errors
    /// [`ConfigError::Passphrase`].
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

/// Limit of a sender's rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bandwidth {
    /// Bytes per second.
    Fixed(u64),
    /// The rate of the input plus this percentage.
    Input {
        /// Percent that are added.
        overhead: u32,
    },
}

/// Configuration of an endpoint.
#[derive(Clone, Debug)]
pub struct Config {
    /// Direction of the media.
    pub direction: Direction,
    /// Latency that this end proposes. The larger of both proposals applies.
    pub latency: Duration,
    /// Passphrase. With one, every connection is encrypted; without one, none is.
    pub passphrase: Option<Passphrase>,
    /// Length of the keys that a caller makes and that a listener advertises. Without it a caller makes keys of the
    /// advertised length, else of 16 bytes. Keys of any length are accepted.
    pub key_size: Option<KeySize>,
    /// Stream id: a caller sends it, a listener refuses callers with another one.
    pub stream_id: Option<String>,
    /// Limit of the rate with retransmissions.
    pub bandwidth: Bandwidth,
    /// Largest number of later packets that may arrive before an earlier one, which is then not reported as lost.
    /// The tolerance grows from 0 to this value as packets prove to arrive in another order.
    pub reorder_tolerance: u32,
    /// Packets that the buffer of a connection holds, at most 65536.
    pub buffer_packets: u32,
    /// Connections that a listener accepts.
    pub max_connections: usize,
    /// Time without packets of the peer after which a connection ends.
    pub idle_timeout: Duration,
    /// Time after which a caller stops calling.
    pub connect_timeout: Duration,
    /// Packets that are encrypted with one key, at least twice `announce_packets`.
    pub refresh_packets: u32,
    /// Packets before a change of keys at which the new key is announced.
    pub announce_packets: u32,
    /// Number of a caller's first packet. Without it the number is random.
    pub first_number: Option<u32>,
}

impl Config {
    /// Largest number of packets that are encrypted with one key.
    pub const MOST_PACKETS: u32 = 1 << 30;

    /// The configuration with the draft's values: 120 ms of latency, 1 Gbit/s, 8192 packets, no encryption.
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

    /// Checks the values that a handshake has to carry.
    ///
    /// # Errors
    /// [`ConfigError`].
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

//! All constants of the TCP agents.

use core::time::Duration;

use strandcast_keys::{Key, Keyed, Setting, Values, closest, keys, words};

use super::value::TcpValue;

words! {
    /// Loss recovery of the sender.
    pub enum Recovery {
        /// Fast retransmit and fast recovery until the first new acknowledgement (RFC 5681 §3.2).
        Reno = "reno",
        /// Fast recovery until all data sent before the loss are acknowledged (RFC 6582).
        NewReno = "newreno",
        /// Recovery by selective acknowledgements (RFC 2018, RFC 6675).
        Sack = "sack",
        /// As `sack`; in addition, a retransmission is lost once data sent after it arrived (RFC 8985 §6.2,
        /// because a subflow never reorders).
        Rack = "rack",
    }
}

impl Recovery {
    /// Returns whether the receiver sends selective acknowledgements.
    pub(super) fn is_selective(self) -> bool {
        matches!(self, Recovery::Sack | Recovery::Rack)
    }
}

/// Initial slow-start threshold of a connection.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum InitialSsthresh {
    /// The threshold is "arbitrarily high" (RFC 5681 §3.1).
    Unbounded,
    /// The threshold equals the receive window.
    ReceiveWindow,
    /// The threshold is a number of bytes.
    Bytes(u64),
}

/// Maximum value of a number of packets, and of the bytes in a packet.
const MOST_COUNT: u64 = u32::MAX as u64;
/// Maximum value of a number of bytes. TOML cannot represent every larger whole number.
const MOST_BYTES: u64 = 1 << 53;

keys! {
    /// Constants of a TCP or MPTCP flow, for both sides. One value therefore creates sender and receiver. The fields
    /// have the names of the keys in a scenario file. [`super::Profile`] lists the values of the standards and of other
    /// programs.
    pub struct Config in snake_case {
        /// Method of loss recovery.
        recovery: Recovery,
        /// Send a new segment for each of the first two duplicate acknowledgements (RFC 3042).
        limited_transmit: bool,
        /// Duplicate acknowledgements that indicate a loss (DupThresh).
        dup_threshold: u32 [0, MOST_COUNT],
        /// Maximum number of segments sent in answer to one acknowledgement; 0 for no limit.
        max_burst: u32 [0, MOST_COUNT],
        /// Maximum number of segments sent in answer to one acknowledgement during fast recovery; 0 for no
        /// limit.
        recovery_burst: u32 [0, MOST_COUNT],
        /// The retransmission timer restarts with a fast retransmit (BSD does so, RFC 6298 §5 does not
        /// require it).
        fast_retransmit_restarts_timer: bool,
        /// The acknowledgement that ends fast recovery makes the window grow like any other.
        full_ack_grows: bool,
        /// A second timeout for the same segment halves the threshold again (RFC 5681 §3.1 forbids it).
        backoff_cuts_ssthresh: bool,
        /// Maximum window in segments after an RTO of silence (RFC 5681 §4.1); 0 keeps the window.
        restart_window: u32 [0, MOST_COUNT],
        /// Hold back a segment that is not full while anything is unacknowledged (RFC 9293 §3.7.4).
        nagle: bool,
        /// Bytes of data in a full segment (SMSS).
        segment: u32 [0, MOST_COUNT],
        /// Initial window, segments. The congestion control is built with it.
        initial_window: u32 [0, MOST_COUNT],
        /// Initial slow-start threshold. The congestion control is built with it.
        initial_ssthresh: InitialSsthresh,
        /// RTO before the first round-trip time.
        rto_initial: Duration [0, u64::MAX, "s"],
        /// Minimum RTO.
        rto_min: Duration [0, u64::MAX, "s"],
        /// The minimum RTO bounds the term added to the smoothed round-trip time, not the sum.
        rto_min_above_srtt: bool,
        /// Maximum RTO.
        rto_max: Duration [0, u64::MAX, "s"],
        /// Tick of the clock that measures round-trip times (G of RFC 6298).
        granularity: Duration [0, u64::MAX, "s"],
        /// A round trip opens a subflow before data flow; otherwise the sender begins at once.
        handshake: bool,
        /// Timestamps option: one round-trip time per acknowledgement (RFC 7323); otherwise one per round
        /// trip.
        timestamps: bool,
        /// Number of segments per acknowledgement (RFC 5681 §4.2: at most two).
        ack_every: u32 [0, MOST_COUNT],
        /// Maximum delay of an acknowledgement.
        ack_delay: Duration [0, u64::MAX, "s"],
        /// Bytes that the receiver accepts beyond those delivered.
        receive_window: u64 [0, MOST_BYTES, "bytes"],
        /// SACK blocks in an acknowledgement, at most 4.
        sack_blocks: u32 [0, MOST_COUNT],
        /// Bytes of IP and TCP header.
        header: u32 [0, MOST_COUNT],
        /// Bytes of the timestamps option with its padding.
        timestamp_bytes: u32 [0, MOST_COUNT],
        /// Bytes of the SACK option without blocks, with its padding.
        sack_header_bytes: u32 [0, MOST_COUNT],
        /// Bytes of a SACK block; 0 makes the option free.
        sack_block_bytes: u32 [0, MOST_COUNT],
        /// MPTCP: bytes of the Data Sequence Mapping option in each segment of data, padded.
        mapping_bytes: u32 [0, MOST_COUNT],
        /// MPTCP: bytes of the Data ACK option in each acknowledgement, padded.
        data_ack_bytes: u32 [0, MOST_COUNT],
        /// MPTCP: when the receive window is full, the segment that blocks it is also sent on a much faster
        /// subflow, and the slow one's window is cut.
        opportunistic: bool,
    } and {
        /// Several subflows form one connection (RFC 8684). Set by the builder of the flow, not a key.
        multipath: bool,
    }
}

impl Config {
    /// Returns the initial window in bytes.
    pub fn initial_window_bytes(&self) -> u64 {
        u64::from(self.initial_window.max(1)) * u64::from(self.segment)
    }

    /// Returns the initial slow-start threshold in bytes; `None` if it is arbitrarily high.
    pub fn initial_ssthresh_bytes(&self) -> Option<u64> {
        match self.initial_ssthresh {
            InitialSsthresh::Unbounded => None,
            InitialSsthresh::ReceiveWindow => Some(self.receive_window),
            InitialSsthresh::Bytes(bytes) => Some(bytes),
        }
    }

    /// Checks whether the values of the keys are compatible.
    ///
    /// # Errors
    /// Returns an error if one constant, or two together, would prevent any flow of data.
    pub fn validate(&self) -> Result<(), ConfigError> {
        let wrong = |key, why: &str| Err(ConfigError::Value { key, why: why.into() });
        if self.segment == 0 {
            return wrong("segment", "a segment has at least 1 byte");
        }
        if self.receive_window < u64::from(self.segment) {
            return wrong("receive_window", "the receive window must hold one segment");
        }
        if self.receive_window > u64::from(u32::MAX) {
            return wrong("receive_window", "the receive window is below 4 GiB");
        }
        if self.ack_every == 0 {
            return wrong("ack_every", "an acknowledgement stands for at least 1 segment");
        }
        if self.dup_threshold == 0 {
            return wrong("dup_threshold", "at least 1 duplicate acknowledgement makes a loss");
        }
        if self.rto_max < self.rto_min {
            return wrong("rto_max", "rto_max is below rto_min");
        }
        if self.rto_initial.is_zero() || self.rto_max.is_zero() {
            return wrong("rto_initial", "timeouts must be above 0 s");
        }
        Ok(())
    }

    /// Sets the constant that is named `name`.
    ///
    /// # Errors
    /// Returns an error if the key is unknown or the value is invalid.
    pub fn set(&mut self, name: &str, value: &TcpValue) -> Result<(), ConfigError> {
        let keys = Keyed::keys(self);
        let Some(key) = keys.iter().find(|key| key.name == name) else {
            let nearest = nearest(name, keys.iter().map(|key| key.name));
            return Err(ConfigError::Unknown { what: "tcp key", word: name.into(), nearest });
        };
        let wrong = || ConfigError::Value { key: key.name, why: takes(&key.values) };
        let text = match (key.values, value) {
            (Values::Switch, TcpValue::Switch(on)) => if *on { "on" } else { "off" }.into(),
            (Values::OneOf(words), TcpValue::Word(word)) if words.contains(&word.as_str()) => word.clone(),
            (Values::OneOf(words), TcpValue::Word(word)) => {
                let nearest = nearest(word, words.iter().copied());
                return Err(ConfigError::Unknown { what: key.name, word: word.clone(), nearest });
            }
            // A zero without its sign.
            (Values::Number(..) | Values::Decimal(..) | Values::OneOf(_), TcpValue::Number(n)) => {
                (n + 0.0).to_string()
            }
            (_, TcpValue::Switch(_) | TcpValue::Word(_) | TcpValue::Number(_)) => return Err(wrong()),
        };
        Keyed::set(self, name, &text).map(|_| ()).map_err(|_| wrong())
    }

    /// Returns whether the constant that is named `name` is a time.
    pub fn is_time(&self, name: &str) -> bool {
        let is = |key: &Key| key.name == name && matches!(key.values, Values::Decimal(.., "s"));
        Keyed::keys(self).iter().any(is)
    }

    /// Returns all keys with their values as text. Times are in seconds.
    pub fn values(&self) -> impl Iterator<Item = (&'static str, String)> {
        let value = |key: &Key| match (key.values, self.get(key.name)) {
            (Values::Switch, Some(on)) => (on == "on").to_string(),
            (_, value) => value.unwrap_or_default(),
        };
        Keyed::keys(self).into_iter().map(move |key| (key.name, value(&key)))
    }
}

/// Returns a description of the values of a key.
fn takes(values: &Values) -> String {
    match values {
        Values::Switch => "true or false".into(),
        Values::Number(.., "bytes") => "bytes, a whole number".into(),
        Values::Number(..) => "a whole number".into(),
        Values::Decimal(..) => "a time, as \"200 ms\"".into(),
        Values::OneOf(words) => match words {
            [others @ .., last] => format!("{} or {last}", others.join(", ")),
            [] => String::new(),
        },
    }
}

/// Reads a word, or a number of bytes.
impl Setting for InitialSsthresh {
    type Range = ();

    fn values((): ()) -> Values {
        Values::OneOf(&["unbounded", "receive-window", "bytes"])
    }

    fn read(text: &str, _: &Values) -> Option<Self> {
        match text {
            "unbounded" => Some(InitialSsthresh::Unbounded),
            "receive-window" => Some(InitialSsthresh::ReceiveWindow),
            bytes => bytes.parse().ok().filter(|n| *n <= MOST_BYTES).map(InitialSsthresh::Bytes),
        }
    }

    fn write(&self, _: &Values) -> String {
        match self {
            InitialSsthresh::Unbounded => "unbounded".into(),
            InitialSsthresh::ReceiveWindow => "receive-window".into(),
            InitialSsthresh::Bytes(bytes) => bytes.to_string(),
        }
    }
}

/// Returns the value that has the name `word` in `all`.
pub(super) fn by_name<T: Copy>(
    what: &'static str,
    word: &str,
    all: &[(&'static str, T)],
) -> Result<T, ConfigError> {
    let found = all.iter().find(|(name, _)| *name == word).map(|(_, value)| *value);
    found.ok_or_else(|| {
        let nearest = nearest(word, all.iter().map(|(name, _)| *name));
        ConfigError::Unknown { what, word: word.into(), nearest }
    })
}

/// Returns the name that differs from `word` by the fewest changes of single letters.
fn nearest(word: &str, names: impl Iterator<Item = &'static str>) -> &'static str {
    closest(word, names).unwrap_or_default()
}

/// Reason for rejecting constants of TCP.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// A key or a word is unknown.
    #[error("unknown {what} `{word}`; did you mean `{nearest}`?")]
    Unknown {
        /// Kind of word that is expected.
        what: &'static str,
        /// The unknown word.
        word: String,
        /// The most similar valid word.
        nearest: &'static str,
    },
    /// A value is invalid for its key.
    #[error("tcp.{key}: {why}")]
    Value {
        /// Name of the key.
        key: &'static str,
        /// Description of the valid values.
        why: String,
    },
}

#[cfg(test)]
mod tests {
    use super::super::Profile;
    use super::*;

    fn rfc() -> Config {
        Config::from(Profile::Rfc)
    }

    #[test]
    fn keys_set_what_they_name() {
        let mut config = rfc();
        config.set("recovery", &TcpValue::Word("reno".into())).unwrap();
        config.set("segment", &TcpValue::Number(1000.0)).unwrap();
        config.set("rto_min", &TcpValue::Number(0.2)).unwrap();
        config.set("timestamps", &TcpValue::Switch(true)).unwrap();
        config.set("initial_ssthresh", &TcpValue::Number(64_000.0)).unwrap();
        assert_eq!(config.recovery, Recovery::Reno);
        assert_eq!((config.segment, config.rto_min), (1000, Duration::from_millis(200)));
        assert!(config.timestamps);
        assert_eq!(config.initial_ssthresh_bytes(), Some(64_000));
        config.set("initial_ssthresh", &TcpValue::Word("receive-window".into())).unwrap();
        assert_eq!(config.initial_ssthresh_bytes(), Some(config.receive_window));
    }

    #[test]
    fn every_key_changes_something_and_nothing_else() {
        let other = |value: f64| {
            [TcpValue::Number(value), TcpValue::Switch(value > 5.0), TcpValue::Word("sack".into())]
        };
        for key in Config::keys() {
            let changes = |value| {
                other(value).iter().any(|v| {
                    let mut config = rfc();
                    config.set(key, v).is_ok() && config != rfc()
                })
            };
            assert!(changes(7.0) || changes(3.0) || key == "recovery", "{key}");
        }
    }

    #[test]
    fn what_is_wrong_is_named_with_the_mend() {
        let said = |key: &str, value| rfc().set(key, &value).unwrap_err().to_string();
        assert_eq!(
            said("segmnt", TcpValue::Number(1.0)),
            "unknown tcp key `segmnt`; did you mean `segment`?"
        );
        let word = |word: &str| TcpValue::Word(word.into());
        let start = "tcp.initial_ssthresh: unbounded, receive-window or bytes";
        assert_eq!(said("initial_ssthresh", word("bytes")), start);
        assert_eq!(said("initial_ssthresh", TcpValue::Number(-1.0)), start);
        assert_eq!(
            said("initial_ssthresh", word("unbound")),
            "unknown initial_ssthresh `unbound`; did you mean `unbounded`?"
        );
        assert_eq!(said("nagle", word("on")), "tcp.nagle: true or false");
        assert_eq!(said("segment", word("1460")), "tcp.segment: a whole number");
        assert_eq!(
            said("receive_window", TcpValue::Number(0.5)),
            "tcp.receive_window: bytes, a whole number"
        );
        let word = word("newrenno");
        assert_eq!(said("recovery", word), "unknown recovery `newrenno`; did you mean `newreno`?");
        assert_eq!(said("segment", TcpValue::Number(1.5)), "tcp.segment: a whole number");
        assert_eq!(said("rto_min", TcpValue::Number(-1.0)), "tcp.rto_min: a time, as \"200 ms\"");
        let profile = "linus".parse::<Profile>().unwrap_err();
        assert_eq!(profile.to_string(), "unknown tcp profile `linus`; did you mean `linux`?");
        let tiny = Config { receive_window: 10, ..rfc() };
        assert_eq!(
            tiny.validate().unwrap_err().to_string(),
            "tcp.receive_window: the receive window must hold one segment"
        );
    }
}

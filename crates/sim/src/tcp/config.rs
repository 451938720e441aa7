//! Every constant of the TCP agents.

use super::value::TcpValue;
use core::fmt;
use core::str::FromStr;
use core::time::Duration;
use strandcast_keys::{closest, words};

words! {
    /// What the sender does about losses, beside its window.
    pub enum Recovery {
        /// Fast retransmit and fast recovery until the first new acknowledgement (RFC 5681 §3.2).
        Reno = "reno",
        /// Until everything sent before the loss is acknowledged (RFC 6582).
        NewReno = "newreno",
        /// By selective acknowledgements (RFC 2018, RFC 6675).
        Sack = "sack",
    }
}

/// The slow-start threshold a connection begins with.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum InitialSsthresh {
    /// "Arbitrarily high" (RFC 5681 §3.1).
    Unbounded,
    /// The receive window.
    ReceiveWindow,
    /// So many bytes.
    Bytes(u64),
}

/// The constants of a TCP or MPTCP flow: of both sides, so that one value builds sender and receiver. Fields with the
/// same name as a key of the scenario file; [`super::Profile`] lists the values of the standards and of other programs.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// How losses are repaired.
    pub recovery: Recovery,
    /// Send a new segment for each of the first two duplicate acknowledgements (RFC 3042).
    pub limited_transmit: bool,
    /// Duplicate acknowledgements that make a loss (DupThresh).
    pub dup_threshold: u32,
    /// Segments sent in answer to one acknowledgement at most; 0: no limit.
    pub max_burst: u32,
    /// The same during fast recovery.
    pub recovery_burst: u32,
    /// The retransmission timer restarts with a fast retransmit (RFC 6298 §5 does not say so, BSD does).
    pub fast_retransmit_restarts_timer: bool,
    /// The acknowledgement that ends fast recovery makes the window grow like any other.
    pub full_ack_grows: bool,
    /// A second timeout for the same segment halves the threshold again (RFC 5681 §3.1 forbids it).
    pub backoff_cuts_ssthresh: bool,
    /// After an RTO of silence the window is at most so many segments (RFC 5681 §4.1); 0: it stays.
    pub restart_window: u32,
    /// Hold back a segment that is not full while anything is unacknowledged (RFC 9293 §3.7.4).
    pub nagle: bool,
    /// Bytes of data in a full segment (SMSS).
    pub segment: u32,
    /// Initial window, segments. The congestion control is built with it.
    pub initial_window: u32,
    /// Initial slow-start threshold. The congestion control is built with it.
    pub initial_ssthresh: InitialSsthresh,
    /// RTO before the first round-trip time.
    pub rto_initial: Duration,
    /// Least RTO.
    pub rto_min: Duration,
    /// The least RTO is a bound on what is added to the smoothed round-trip time, not on the sum.
    pub rto_min_above_srtt: bool,
    /// Largest RTO.
    pub rto_max: Duration,
    /// Tick of the clock that measures round-trip times (G of RFC 6298).
    pub granularity: Duration,
    /// A round trip opens a subflow before data flow; without, the sender begins at once.
    pub handshake: bool,
    /// Timestamps option: a round-trip time with each acknowledgement (RFC 7323); without, once a round trip.
    pub timestamps: bool,
    /// The receiver acknowledges every so many segments (RFC 5681 §4.2: at least every second).
    pub ack_every: u32,
    /// And at the latest after this time.
    pub ack_delay: Duration,
    /// Bytes the receiver takes beyond those it delivered.
    pub receive_window: u64,
    /// SACK blocks in an acknowledgement, at most 4.
    pub sack_blocks: u32,
    /// Bytes of IP and TCP header.
    pub header: u32,
    /// Bytes of the timestamps option with its padding.
    pub timestamp_bytes: u32,
    /// Bytes of the SACK option without blocks, with its padding.
    pub sack_header_bytes: u32,
    /// Bytes of a SACK block; 0: the option costs nothing.
    pub sack_block_bytes: u32,
    /// Several subflows make one connection (RFC 8684). Set by whoever builds the flow, not a key.
    pub multipath: bool,
    /// MPTCP: bytes of the Data Sequence Mapping option in each segment of data, padded.
    pub mapping_bytes: u32,
    /// MPTCP: bytes of the Data ACK option in each acknowledgement, padded.
    pub data_ack_bytes: u32,
    /// MPTCP: when the receive window is full, the segment that holds it up is sent on a much faster subflow, too, and
    /// the slow one's window is cut.
    pub opportunistic: bool,
}

impl Config {
    /// The initial window in bytes.
    pub fn initial_window_bytes(&self) -> u64 {
        u64::from(self.initial_window.max(1)) * u64::from(self.segment)
    }

    /// The initial slow-start threshold in bytes; `None`: arbitrarily high.
    pub fn initial_ssthresh_bytes(&self) -> Option<u64> {
        match self.initial_ssthresh {
            InitialSsthresh::Unbounded => None,
            InitialSsthresh::ReceiveWindow => Some(self.receive_window),
            InitialSsthresh::Bytes(bytes) => Some(bytes),
        }
    }

    /// Checks what single keys cannot show.
    ///
    /// # Errors
    /// A constant, or two together, with which no data would flow.
    pub fn validate(&self) -> Result<(), ConfigError> {
        let wrong = |key, why| Err(ConfigError::Value { key, why });
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

    /// Replaces the constant named `key`.
    ///
    /// # Errors
    /// No such key, or not such a value.
    pub fn set(&mut self, key: &str, value: &TcpValue) -> Result<(), ConfigError> {
        let Some((name, slot)) = KEYS.iter().find(|(name, _)| *name == key) else {
            let nearest = nearest(key, KEYS.iter().map(|(name, _)| *name));
            return Err(ConfigError::Unknown { what: "tcp key", word: key.into(), nearest });
        };
        let wrong = |why| ConfigError::Value { key: name, why };
        match (slot(self), value) {
            (Slot::Switch(slot), TcpValue::Switch(on)) => *slot = *on,
            (Slot::Switch(_), _) => return Err(wrong("true or false")),
            (Slot::Count(slot), TcpValue::Number(n)) => {
                *slot = whole(*n, u64::from(u32::MAX)).ok_or(wrong("a whole number"))? as u32;
            }
            (Slot::Count(_), _) => return Err(wrong("a whole number")),
            (Slot::Bytes(slot), TcpValue::Number(n)) => {
                *slot = whole(*n, 1 << 53).ok_or(wrong("bytes, a whole number"))?;
            }
            (Slot::Bytes(_), _) => return Err(wrong("bytes, a whole number")),
            (Slot::Time(slot), TcpValue::Number(s)) => {
                *slot = Duration::try_from_secs_f64(*s).map_err(|_| wrong("a time, as \"200 ms\""))?;
            }
            (Slot::Time(_), _) => return Err(wrong("a time, as \"200 ms\"")),
            (Slot::Recovery(slot), TcpValue::Word(word)) => *slot = word.parse()?,
            (Slot::Recovery(_), _) => return Err(wrong("reno, newreno or sack")),
            (Slot::Ssthresh(slot), TcpValue::Word(word)) => *slot = word.parse()?,
            (Slot::Ssthresh(slot), TcpValue::Number(n)) => {
                *slot = InitialSsthresh::Bytes(whole(*n, 1 << 53).ok_or(wrong("bytes, a whole number"))?);
            }
            (Slot::Ssthresh(_), _) => return Err(wrong("unbounded, receive-window or bytes")),
        }
        Ok(())
    }

    /// All keys.
    pub fn keys() -> impl Iterator<Item = &'static str> {
        KEYS.iter().map(|(name, _)| *name)
    }

    /// All keys with their values as people write them, times in seconds.
    pub fn values(&self) -> impl Iterator<Item = (&'static str, String)> {
        let mut config = self.clone();
        KEYS.iter().map(move |(name, slot)| (*name, slot(&mut config).to_string()))
    }
}

/// A constant that a key may replace.
enum Slot<'a> {
    Switch(&'a mut bool),
    Count(&'a mut u32),
    Bytes(&'a mut u64),
    Time(&'a mut Duration),
    Recovery(&'a mut Recovery),
    Ssthresh(&'a mut InitialSsthresh),
}

impl fmt::Display for Slot<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Slot::Switch(on) => on.fmt(f),
            Slot::Count(n) => n.fmt(f),
            Slot::Bytes(n) => n.fmt(f),
            Slot::Time(time) => time.as_secs_f64().fmt(f),
            Slot::Recovery(recovery) => recovery.fmt(f),
            Slot::Ssthresh(InitialSsthresh::Bytes(n)) => n.fmt(f),
            Slot::Ssthresh(InitialSsthresh::Unbounded) => f.write_str("unbounded"),
            Slot::Ssthresh(InitialSsthresh::ReceiveWindow) => f.write_str("receive-window"),
        }
    }
}

/// Where the constant of a key is kept.
type Key = (&'static str, fn(&mut Config) -> Slot<'_>);

const KEYS: &[Key] = &[
    ("recovery", |c| Slot::Recovery(&mut c.recovery)),
    ("limited_transmit", |c| Slot::Switch(&mut c.limited_transmit)),
    ("dup_threshold", |c| Slot::Count(&mut c.dup_threshold)),
    ("max_burst", |c| Slot::Count(&mut c.max_burst)),
    ("recovery_burst", |c| Slot::Count(&mut c.recovery_burst)),
    ("fast_retransmit_restarts_timer", |c| Slot::Switch(&mut c.fast_retransmit_restarts_timer)),
    ("full_ack_grows", |c| Slot::Switch(&mut c.full_ack_grows)),
    ("backoff_cuts_ssthresh", |c| Slot::Switch(&mut c.backoff_cuts_ssthresh)),
    ("restart_window", |c| Slot::Count(&mut c.restart_window)),
    ("nagle", |c| Slot::Switch(&mut c.nagle)),
    ("segment", |c| Slot::Count(&mut c.segment)),
    ("initial_window", |c| Slot::Count(&mut c.initial_window)),
    ("initial_ssthresh", |c| Slot::Ssthresh(&mut c.initial_ssthresh)),
    ("rto_initial", |c| Slot::Time(&mut c.rto_initial)),
    ("rto_min", |c| Slot::Time(&mut c.rto_min)),
    ("rto_min_above_srtt", |c| Slot::Switch(&mut c.rto_min_above_srtt)),
    ("rto_max", |c| Slot::Time(&mut c.rto_max)),
    ("granularity", |c| Slot::Time(&mut c.granularity)),
    ("handshake", |c| Slot::Switch(&mut c.handshake)),
    ("timestamps", |c| Slot::Switch(&mut c.timestamps)),
    ("ack_every", |c| Slot::Count(&mut c.ack_every)),
    ("ack_delay", |c| Slot::Time(&mut c.ack_delay)),
    ("receive_window", |c| Slot::Bytes(&mut c.receive_window)),
    ("sack_blocks", |c| Slot::Count(&mut c.sack_blocks)),
    ("header", |c| Slot::Count(&mut c.header)),
    ("timestamp_bytes", |c| Slot::Count(&mut c.timestamp_bytes)),
    ("sack_header_bytes", |c| Slot::Count(&mut c.sack_header_bytes)),
    ("sack_block_bytes", |c| Slot::Count(&mut c.sack_block_bytes)),
    ("mapping_bytes", |c| Slot::Count(&mut c.mapping_bytes)),
    ("data_ack_bytes", |c| Slot::Count(&mut c.data_ack_bytes)),
    ("opportunistic", |c| Slot::Switch(&mut c.opportunistic)),
];

/// A number that is whole, not negative and not above `most`.
fn whole(n: f64, most: u64) -> Option<u64> {
    (n >= 0.0 && n <= most as f64 && n == n.trunc()).then_some(n as u64)
}

impl FromStr for Recovery {
    type Err = ConfigError;
    fn from_str(word: &str) -> Result<Self, ConfigError> {
        let unknown = || ConfigError::Unknown {
            what: "recovery",
            word: word.into(),
            nearest: nearest(word, Recovery::WORDS.iter().copied()),
        };
        Recovery::from_word(word).ok_or_else(unknown)
    }
}

impl FromStr for InitialSsthresh {
    type Err = ConfigError;
    fn from_str(word: &str) -> Result<Self, ConfigError> {
        let all =
            [("unbounded", InitialSsthresh::Unbounded), ("receive-window", InitialSsthresh::ReceiveWindow)];
        by_name("initial_ssthresh", word, &all)
    }
}

/// The value named `word` among `all`.
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

/// The name with the fewest single-letter changes from `word`.
fn nearest(word: &str, names: impl Iterator<Item = &'static str>) -> &'static str {
    closest(word, names).unwrap_or_default()
}

/// Why constants of TCP are refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// A key or a word that does not exist.
    #[error("unknown {what} `{word}`; did you mean `{nearest}`?")]
    Unknown {
        /// What sort of word it should be.
        what: &'static str,
        /// What was written.
        word: String,
        /// The right word closest to it.
        nearest: &'static str,
    },
    /// A value that the key does not take.
    #[error("tcp.{key}: {why}")]
    Value {
        /// The key.
        key: &'static str,
        /// What it takes.
        why: &'static str,
    },
}

impl fmt::Display for Recovery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
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
        let word = TcpValue::Word("newrenno".into());
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

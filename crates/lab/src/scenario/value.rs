//! Values of keys: numbers that may change, files, tables by name.

use core::time::Duration;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use serde::{Serialize, Serializer};
use sha2::{Digest, Sha256};
use strandcast_netem::number;

/// Values by name. They are ordered by name. A run therefore does not depend on the order in the file.
pub type Named<T> = BTreeMap<String, T>;

/// A file to which a scenario refers. The content is that at the time when the scenario was read. A scenario's hash
/// includes the content of the file, and not its path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceFile {
    /// Path of the file, resolved against the scenario's folder.
    pub path: PathBuf,
    /// Text of the file.
    pub text: Arc<str>,
}

impl Serialize for TraceFile {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&hex(&Sha256::digest(self.text.as_bytes())))
    }
}

/// Bytes as lower-case hexadecimal digits.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A number of a link or source that may change.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub enum Number {
    /// The number is constant.
    Constant(f64),
    /// `{ uniform = [low, high], every = … }`
    Uniform {
        /// Lower end.
        low: f64,
        /// Upper end.
        high: f64,
        /// Times at which the number is drawn.
        every: Every,
    },
    /// `{ steps = [[time, value], …] }`: each value holds from its time on.
    Steps(Vec<(Duration, f64)>),
    /// `{ trace = "file.csv", loop = true }`: each line has a time in seconds and a value (SI).
    Trace {
        /// The file.
        file: TraceFile,
        /// True if the trace begins again after the time of its last line.
        repeat: bool,
    },
    /// `{ normal = [mean, deviation], within = [low, high], correlation = 0.9, every = … }`
    Drawn {
        /// Distribution.
        law: Law,
        /// Ends of the range. A draw outside is moved to the nearer end.
        within: [f64; 2],
        /// Correlation of a draw with the one before it.
        correlation: f64,
        /// Times at which the number is drawn.
        every: Every,
    },
    /// `{ trace = ["a.csv", "b.csv"], loop = true, offset = "random" }`: one of these traces, which is drawn once per
    /// run.
    Traces {
        /// The files.
        files: Vec<TraceFile>,
        /// True if the trace begins again after the time of its last line.
        repeat: bool,
        /// Time in the trace at which a run starts.
        offset: Offset,
    },
    /// `cause = "NAME"`: the number uses the random draws of the cause.
    Caused {
        /// Name of the cause.
        cause: String,
        /// The number.
        number: Box<Number>,
    },
}

/// A distribution.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub enum Law {
    /// `normal = [mean, deviation]`
    Normal {
        /// Mean.
        mean: f64,
        /// Standard deviation.
        deviation: f64,
    },
    /// `lognormal = [mean, deviation]`. Both describe the number, and not its logarithm.
    Lognormal {
        /// Mean.
        mean: f64,
        /// Standard deviation.
        deviation: f64,
    },
    /// `pareto = [mean, shape]`
    Pareto {
        /// Mean.
        mean: f64,
        /// Shape, above 1.
        shape: f64,
    },
}

impl Law {
    /// Returns the law of draws that are moved into a range.
    pub(crate) fn within(self, [low, high]: [f64; 2], correlation: f64) -> number::Law {
        let shape = match self {
            Law::Normal { mean, deviation } => number::Shape::Normal { mean, deviation },
            Law::Lognormal { mean, deviation } => number::Shape::Lognormal { mean, deviation },
            Law::Pareto { mean, shape } => number::Shape::Pareto { mean, shape },
        };
        number::Law { shape, low, high, correlation }
    }
}

/// Time in a trace at which a run starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Offset {
    /// A time of the trace.
    Fixed(Duration),
    /// A random time, drawn once per run.
    Random,
}

/// Times at which a random number is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Every {
    /// A draw per run.
    Run,
    /// A draw per packet.
    Packet,
    /// A draw at each multiple of this time.
    Period(Duration),
}

/// A link's rate.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub enum LinkRate {
    /// Packets take no time on the link.
    Infinite,
    /// Rate in bit/s.
    Number(Number),
    /// `{ trace = "file" }` with a mahimahi file. The name of the file must not end in `.csv`. Each line has a time in
    /// milliseconds at which 1500 bytes may be sent.
    Opportunities {
        /// The file.
        file: TraceFile,
    },
    /// One of several files, or one with an offset.
    Recorded {
        /// The files.
        files: Vec<TraceFile>,
        /// Time in the trace at which a run starts.
        offset: Offset,
        /// Name of the cause. The random draws of this cause select the file and the offset.
        cause: Option<String>,
    },
}

/// Capacity of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum QueueLimit {
    /// The queue has no limit.
    Unlimited,
    /// `"50 packets"`, or a plain number.
    Packets(u64),
    /// `"64 kB"`, `"64 KiB"`.
    Bytes(u64),
}

/// A constant of TCP as written in the file.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub enum TcpValue {
    /// A number: bytes, packets, seconds (units already applied).
    Number(f64),
    /// A word (`recovery = "sack"`).
    Word(String),
    /// A switch.
    Switch(bool),
}

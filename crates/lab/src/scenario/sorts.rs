//! The types of values that keys can have.

use core::time::Duration;

use serde::Serialize;
use serde_json::{Value as Json, json};
use strandcast_netem::loss::Modulation;
use strandcast_sim::tcp::Profile;

use super::app::Burst;
use super::spec::{Minimum, ValueType, Variation};
use super::table::{Item, Read};
use super::typed::Sort;
use super::units::Quantity;
use super::value::{Every, Law, LinkRate, Number, Offset, QueueLimit, TraceFile};

/// Any text.
pub(super) const TEXT: Sort<String> =
    Sort { value_type: ValueType::Text, read: |item| item.text(), write: |text| json!(text) };

/// `true` or `false`.
pub(super) const SWITCH: Sort<bool> =
    Sort { value_type: ValueType::Switch, read: |item| item.switch(), write: |on| json!(on) };

/// Values that are words.
pub(super) trait Words: Sized + Copy + 'static {
    /// The words, in the order of listings.
    const LIST: &'static [&'static str];
    fn find(word: &str) -> Option<Self>;
    fn say(self) -> &'static str;
}

/// Makes [`Words`] of enums that `words!` declares.
macro_rules! words_of {
    ($($ty:ty),+) => {$(
        impl $crate::scenario::sorts::Words for $ty {
            const LIST: &'static [&'static str] = <$ty>::WORDS;
            fn find(word: &str) -> Option<Self> {
                <$ty>::from_word(word)
            }
            fn say(self) -> &'static str {
                self.word()
            }
        }
    )+};
}
pub(super) use words_of;

/// One word of a list of words.
pub(super) const fn word<T: Words>() -> Sort<T> {
    Sort {
        value_type: ValueType::Word(T::LIST),
        read: |item| item.word(T::LIST.iter().copied(), T::find),
        write: |one| json!(one.say()),
    }
}

impl Words for Modulation {
    const LIST: &'static [&'static str] = &["bpsk", "qpsk", "16qam", "64qam", "dbpsk", "dqpsk"];

    fn find(word: &str) -> Option<Self> {
        use Modulation::{Bpsk, Dbpsk, Dqpsk, Qam16, Qam64, Qpsk};
        [Bpsk, Qpsk, Qam16, Qam64, Dbpsk, Dqpsk].into_iter().find(|one| one.say() == word)
    }

    fn say(self) -> &'static str {
        match self {
            Modulation::Bpsk => "bpsk",
            Modulation::Qpsk => "qpsk",
            Modulation::Qam16 => "16qam",
            Modulation::Qam64 => "64qam",
            Modulation::Dbpsk => "dbpsk",
            Modulation::Dqpsk => "dqpsk",
        }
    }
}

impl Words for Profile {
    const LIST: &'static [&'static str] =
        &[Profile::ALL[0].0, Profile::ALL[1].0, Profile::ALL[2].0, Profile::ALL[3].0];

    fn find(word: &str) -> Option<Self> {
        word.parse().ok()
    }

    fn say(self) -> &'static str {
        Profile::ALL[self as usize].0
    }
}

/// A whole number from `LEAST` to `MOST`.
pub(super) const fn whole<T: TryFrom<u64> + Serialize, const LEAST: i64, const MOST: i64>() -> Sort<T> {
    Sort {
        value_type: ValueType::Whole(LEAST, MOST),
        read: |item| fitting(item, item.whole((LEAST, MOST))?),
        write: |n| json!(n),
    }
}

/// A whole number of bytes from `LEAST` to `MOST`.
pub(super) const fn size<T: TryFrom<u64> + Serialize, const LEAST: i64, const MOST: i64>() -> Sort<T> {
    Sort {
        value_type: ValueType::Size(LEAST, MOST),
        read: |item| fitting(item, item.bytes((LEAST, MOST))?),
        write: |n| json!(n),
    }
}

fn fitting<T: TryFrom<u64>>(item: &Item<'_>, n: u64) -> Read<T> {
    T::try_from(n).map_err(|_| item.error(format!("{n} is out of range")))
}

macro_rules! amounts {
    ($($(#[$doc:meta])* $name:ident = $quantity:ident $minimum:ident;)+) => {$(
        $(#[$doc])*
        pub(super) const $name: Sort<f64> = Sort {
            value_type: ValueType::Amount(Quantity::$quantity, Minimum::$minimum),
            read: |item| item.amount(Quantity::$quantity, Minimum::$minimum),
            write: |n| json!(n),
        };
    )+};
}

amounts! {
    /// A number from 0 to 1.
    SHARE = Share Zero;
    /// A number above 0 and up to 1.
    SOME_SHARE = Share Positive;
    /// A number of packets, which need not be whole.
    SOME_PACKETS = Packets Positive;
    /// A rate in bit/s that does not change.
    CONSTANT_RATE = Rate Positive;
    /// Metres.
    DISTANCE = Distance Zero;
    /// Metres, above 0.
    SOME_DISTANCE = Distance Positive;
    /// A plain number.
    PLAIN = Plain Positive;
}

macro_rules! changing {
    ($($(#[$doc:meta])* $name:ident = $quantity:ident $minimum:ident $variation:ident;)+) => {$(
        $(#[$doc])*
        pub(super) const $name: Sort<Number> = Sort {
            value_type: ValueType::Number(
                Quantity::$quantity,
                Minimum::$minimum,
                Variation::$variation,
            ),
            read: |item| {
                item.changing(Quantity::$quantity, Minimum::$minimum, Variation::$variation)
            },
            write: number,
        };
    )+};
}

changing! {
    /// A time that may change during a run.
    CHANGING_TIME = Time Zero Free;
    /// A time that differs between runs.
    DRAWN_TIME = Time Zero EachRun;
    /// Rate of a source in bit/s, which may change.
    CHANGING_RATE = Rate Positive Free;
    /// A share that may change.
    CHANGING_SHARE = Share Zero Free;
    /// A share that changes in time.
    LOAD = Share Zero InTime;
    /// A ratio in dB that may change.
    CHANGING_RATIO = Decibel Zero Free;
}

/// A time.
pub(super) const TIME: Sort<Duration> = Sort {
    value_type: ValueType::Amount(Quantity::Time, Minimum::Zero),
    read: |item| item.time(Minimum::Zero),
    write: seconds,
};

/// A time above zero.
pub(super) const SPAN: Sort<Duration> = Sort {
    value_type: ValueType::Amount(Quantity::Time, Minimum::Positive),
    read: |item| item.time(Minimum::Positive),
    write: seconds,
};

/// The rate of a link.
pub(super) const LINK_RATE: Sort<LinkRate> = Sort {
    value_type: ValueType::Rate,
    read: |item| item.rate(),
    write: |rate| match rate {
        LinkRate::Infinite => json!("infinite"),
        LinkRate::Number(rate) => number(rate),
        LinkRate::Opportunities { file } => json!({ "trace": path(file) }),
        LinkRate::Recorded { files, offset, cause } => {
            let traces = json!({ "trace": paths(files), "offset": begin(*offset) });
            cause.iter().fold(traces, |traces, cause| with_cause(traces, cause))
        }
    },
};

/// The limit of a queue. A limit in bytes needs a unit, because a plain number counts packets.
pub(super) const LIMIT: Sort<QueueLimit> = Sort {
    value_type: ValueType::Limit,
    read: |item| item.limit(),
    write: |limit| match limit {
        QueueLimit::Unlimited => json!("unlimited"),
        QueueLimit::Packets(packets) => json!(packets),
        QueueLimit::Bytes(bytes) => json!(format!("{bytes} B")),
    },
};

/// Amount that a source hands over at once. Bytes need a unit, because a plain number is a time.
pub(super) const BURST: Sort<Burst> = Sort {
    value_type: ValueType::Burst,
    read: |item| item.burst(),
    write: |burst| match burst {
        Burst::Time(time) => seconds(time),
        Burst::Bytes(bytes) => json!(format!("{bytes} B")),
    },
};

/// A file.
pub(super) const FILE: Sort<TraceFile> =
    Sort { value_type: ValueType::File, read: |item| item.file(), write: path };

/// Names of links that form a route. Each has its place in the file.
pub(super) const LINKS: Sort<Vec<String>> =
    Sort { value_type: ValueType::Links, read: |item| Ok(item.names()?.1), write: |links| json!(links) };

/// Names of nodes.
pub(super) const STATIONS: Sort<Vec<String>> = Sort {
    value_type: ValueType::Stations,
    read: |item| item.list("a list of nodes as [\"a\", \"b\"]")?.iter().map(Item::text).collect(),
    write: |stations| json!(stations),
};

fn seconds(time: &Duration) -> Json {
    json!(time.as_secs_f64())
}

fn path(file: &TraceFile) -> Json {
    json!(file.path.to_string_lossy())
}

fn paths(files: &[TraceFile]) -> Vec<Json> {
    files.iter().map(path).collect()
}

fn begin(offset: Offset) -> Json {
    match offset {
        Offset::Fixed(offset) => seconds(&offset),
        Offset::Random => json!("random"),
    }
}

fn how_often(every: Every) -> Json {
    match every {
        Every::Run => json!("run"),
        Every::Packet => json!("packet"),
        Every::Period(period) => seconds(&period),
    }
}

fn with_cause(mut number: Json, cause: &str) -> Json {
    number["cause"] = json!(cause);
    number
}

fn number(value: &Number) -> Json {
    match value {
        Number::Constant(value) => json!(value),
        Number::Uniform { low, high, every } => json!({ "uniform": [low, high], "every": how_often(*every) }),
        Number::Drawn { law, within, correlation, every } => {
            let (word, numbers) = match law {
                Law::Normal { mean, deviation } => ("normal", [mean, deviation]),
                Law::Lognormal { mean, deviation } => ("lognormal", [mean, deviation]),
                Law::Pareto { mean, shape } => ("pareto", [mean, shape]),
            };
            let mut table = json!({ word: numbers, "every": how_often(*every), "within": within });
            if *correlation > 0.0 {
                table["correlation"] = json!(correlation);
            }
            table
        }
        Number::Traces { files, repeat, offset } => {
            json!({ "trace": paths(files), "loop": repeat, "offset": begin(*offset) })
        }
        Number::Caused { cause, number: caused } => with_cause(number(caused), cause),
        Number::Steps(steps) => {
            let steps = steps.iter().map(|(time, value)| json!([time.as_secs_f64(), value]));
            json!({ "steps": steps.collect::<Vec<_>>() })
        }
        Number::Trace { file, repeat } => json!({ "trace": path(file), "loop": repeat }),
    }
}

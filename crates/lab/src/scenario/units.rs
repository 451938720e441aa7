//! Numbers with units.

use super::error::{hint, nearest};

/// Quantity of a number. A number without a unit is in the first unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quantity {
    /// bit/s.
    Rate,
    /// Seconds.
    Time,
    /// Bytes.
    Size,
    /// A number from 0 to 1.
    Share,
    /// Packets.
    Packets,
    /// A ratio of powers in dB, which is at least 0.
    Decibel,
    /// Metres.
    Distance,
    /// Metres per second.
    Speed,
    /// A number without unit.
    Plain,
}

/// A unit: its name, and the factor and the divisor that convert a number to the quantity's first unit.
type Unit = (&'static str, f64, f64);

const RATE: &[Unit] = &[
    ("bit/s", 1.0, 1.0),
    ("kbit/s", 1e3, 1.0),
    ("Mbit/s", 1e6, 1.0),
    ("Gbit/s", 1e9, 1.0),
    ("bps", 1.0, 1.0),
    ("kbps", 1e3, 1.0),
    ("Mbps", 1e6, 1.0),
    ("Gbps", 1e9, 1.0),
];
/// Units of bytes per second, which are refused. Each has its value in bytes per second.
const BYTE_RATES: &[(&str, f64)] = &[
    ("B/s", 1.0),
    ("kB/s", 1e3),
    ("MB/s", 1e6),
    ("GB/s", 1e9),
    ("KiB/s", 1024.0),
    ("MiB/s", 1_048_576.0),
    ("GiB/s", 1_073_741_824.0),
    ("MBps", 1e6),
    ("kBps", 1e3),
];
const TIME: &[Unit] = &[
    ("s", 1.0, 1.0),
    ("ms", 1.0, 1e3),
    ("us", 1.0, 1e6),
    ("ns", 1.0, 1e9),
    ("min", 60.0, 1.0),
    ("h", 3600.0, 1.0),
];
const SIZE: &[Unit] = &[
    ("B", 1.0, 1.0),
    ("kB", 1e3, 1.0),
    ("MB", 1e6, 1.0),
    ("GB", 1e9, 1.0),
    ("KiB", 1024.0, 1.0),
    ("MiB", 1_048_576.0, 1.0),
    ("GiB", 1_073_741_824.0, 1.0),
];
const SHARE: &[Unit] = &[("%", 1.0, 100.0)];
const PACKETS: &[Unit] = &[("packets", 1.0, 1.0), ("packet", 1.0, 1.0)];

const DECIBEL: &[Unit] = &[("dB", 1.0, 1.0)];

const DISTANCE: &[Unit] = &[("m", 1.0, 1.0), ("km", 1e3, 1.0)];

const SPEED: &[Unit] = &[("m/s", 1.0, 1.0), ("km/h", 1.0, 3.6)];

const ALL: &[Quantity] = &[
    Quantity::Rate,
    Quantity::Time,
    Quantity::Size,
    Quantity::Share,
    Quantity::Packets,
    Quantity::Decibel,
    Quantity::Distance,
    Quantity::Speed,
];

/// Names of the quantities, in the order of the enum.
const NAMES: [&str; 8] = ["rate", "time", "size", "share", "packets", "ratio", "distance", "speed"];

impl Quantity {
    const fn table(self) -> &'static [Unit] {
        match self {
            Quantity::Rate => RATE,
            Quantity::Time => TIME,
            Quantity::Size => SIZE,
            Quantity::Share => SHARE,
            Quantity::Packets => PACKETS,
            Quantity::Decibel => DECIBEL,
            Quantity::Distance => DISTANCE,
            Quantity::Speed => SPEED,
            Quantity::Plain => &[],
        }
    }

    /// The names of the quantity's units.
    pub fn units(self) -> impl Iterator<Item = &'static str> + Clone {
        self.table().iter().map(|(name, ..)| *name)
    }

    /// Name of the quantity, with an example.
    pub fn describe(self) -> &'static str {
        match self {
            Quantity::Rate => "a rate as \"10 Mbit/s\", or a number of bit/s",
            Quantity::Time => "a time as \"50 ms\", or a number of seconds",
            Quantity::Size => "a size as \"64 KiB\", or a number of bytes",
            Quantity::Share => "a share from 0 to 1, or as \"2 %\"",
            Quantity::Packets => "a number of packets",
            Quantity::Decibel => "a ratio as \"20 dB\", or a number of dB from 0",
            Quantity::Distance => "a distance as \"200 m\", or a number of metres",
            Quantity::Speed => "a speed as \"5 m/s\", or a number of metres per second",
            Quantity::Plain => "a number without unit",
        }
    }

    fn noun(self) -> &'static str {
        match self {
            Quantity::Rate => "a rate",
            Quantity::Time => "a time",
            Quantity::Size => "a size",
            Quantity::Share => "a share",
            Quantity::Packets => "a number of packets",
            Quantity::Decibel => "a ratio in dB",
            Quantity::Distance => "a distance",
            Quantity::Speed => "a speed",
            Quantity::Plain => "a number without unit",
        }
    }

    /// Returns the largest allowed value.
    pub fn most(self) -> f64 {
        match self {
            Quantity::Share => 1.0,
            Quantity::Decibel => 200.0,
            Quantity::Time => 1e9,
            Quantity::Distance | Quantity::Speed => 1e6,
            Quantity::Rate | Quantity::Size | Quantity::Packets | Quantity::Plain => 1e15,
        }
    }

    /// Reads a number with one of the units. Returns it in the first unit. `Err` describes the mistake.
    pub fn parse(self, text: &str) -> Result<f64, String> {
        let text = text.trim();
        let Some((number, unit)) = split(text) else {
            return Err(format!("\"{text}\" is not a number; give {}", self.describe()));
        };
        if unit.is_empty() {
            return Ok(number);
        }
        match self.table().iter().find(|(name, ..)| *name == unit) {
            Some((_, times, through)) => Ok(number * times / through),
            None => Err(self.no_unit(text, unit)),
        }
    }

    fn no_unit(self, text: &str, unit: &str) -> String {
        let number = text[..text.len() - unit.len()].trim_end();
        let other = ALL.iter().find(|other| other.units().any(|name| name == unit));
        let names = || self.units().collect::<Vec<_>>().join(", ");
        if let Some(decimals) =
            unit.strip_prefix(',').filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
        {
            return format!("\"{text}\" has a comma; write a decimal point: \"{number}.{decimals}\"");
        }
        if number.ends_with('0') && unit.starts_with(['x', 'o', 'b']) {
            return format!("\"{text}\" is not a decimal number; give {}", self.describe());
        }
        if let Some((_, bytes)) = BYTE_RATES.iter().find(|(name, _)| self == Quantity::Rate && *name == unit)
        {
            let megabits = number.parse::<f64>().map_or(0.0, |number| number * bytes * 8.0 / 1e6);
            return format!("`{unit}` is a rate of bytes; \"{text}\" is \"{megabits} Mbit/s\"");
        }
        match (nearest(unit, self.units()), other) {
            (_, Some(other)) if self != Quantity::Plain => {
                format!("\"{text}\" is {}, not {}; units are {}", other.noun(), self.noun(), names())
            }
            (Some(near), _) => {
                format!("`{unit}` is not a unit of {}; did you mean \"{number} {near}\"?", self.noun())
            }
            (None, _) if self == Quantity::Plain => {
                format!("\"{text}\" has a unit; give {}", self.describe())
            }
            (None, _) => format!("`{unit}` is not a unit of {}; choose from {}", self.noun(), names()),
        }
    }
}

/// Reads a number with or without a unit, as in scenario files. The units are bit/s, seconds, bytes, a share of 1,
/// packets or dB. `quantity` is `rate`, `time`, `size`, `share`, `packets` or `ratio`. `None`: the unit determines the
/// quantity.
///
/// # Errors
/// Returns one line with the mistake and its remedy. Possible mistakes are a text that is not a number, an unknown
/// unit, and an unknown quantity.
pub fn amount(text: &str, quantity: Option<&str>) -> Result<f64, String> {
    if let Some(name) = quantity {
        let found = NAMES.iter().zip(ALL).find(|(known, _)| **known == name);
        let (_, quantity) =
            found.ok_or_else(|| format!("there is no quantity `{name}`{}", hint(name, NAMES)))?;
        return quantity.parse(text);
    }
    let unit = split(text.trim()).map(|(_, unit)| unit).unwrap_or_default();
    match ALL.iter().find(|quantity| quantity.units().any(|name| name == unit)) {
        Some(quantity) => quantity.parse(text),
        None if unit.is_empty() => Quantity::Plain.parse(text),
        None => {
            let units = ALL.iter().flat_map(|quantity| quantity.units());
            Err(format!("there is no unit `{unit}`{}", hint(unit, units)))
        }
    }
}

/// Returns the longest number at the beginning of `text`, and the rest of the text.
fn split(text: &str) -> Option<(f64, &str)> {
    if !text.starts_with(|c: char| c.is_ascii_digit() || ['+', '-', '.'].contains(&c)) {
        return None;
    }
    let ends = text.char_indices().map(|(at, c)| at + c.len_utf8()).rev();
    ends.filter(|&end| text[..end].ends_with(|c: char| c.is_ascii_digit() || c == '.'))
        .find_map(|end| Some((text[..end].parse::<f64>().ok()?, text[end..].trim_start())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_number_is_in_si_units() {
        for (quantity, text, value) in [
            (Quantity::Rate, "10 Mbit/s", 1e7),
            (Quantity::Rate, "384kbps", 384_000.0),
            (Quantity::Rate, "0.1 Gbit/s", 1e8),
            (Quantity::Rate, "64", 64.0),
            (Quantity::Time, "50 ms", 0.05),
            (Quantity::Time, "2.5us", 2.5e-6),
            (Quantity::Time, "1e3 ns", 1e-6),
            (Quantity::Time, "1.5 min", 90.0),
            (Quantity::Time, "2 h", 7200.0),
            (Quantity::Size, "64 kB", 64_000.0),
            (Quantity::Size, "64KiB", 65_536.0),
            (Quantity::Size, " 1 MiB ", 1_048_576.0),
            (Quantity::Share, "2 %", 0.02),
            (Quantity::Share, "0.02", 0.02),
            (Quantity::Packets, "50 packets", 50.0),
            (Quantity::Time, "-1 s", -1.0),
        ] {
            assert_eq!(quantity.parse(text), Ok(value), "{text}");
        }
    }

    #[test]
    fn a_wrong_unit_is_named_with_the_right_one() {
        let said = |quantity: Quantity, text| quantity.parse(text).expect_err(text);
        assert_eq!(
            said(Quantity::Rate, "10 mbit"),
            "`mbit` is not a unit of a rate; did you mean \"10 Mbit/s\"?"
        );
        assert_eq!(
            said(Quantity::Rate, "1 mbps"),
            "`mbps` is not a unit of a rate; did you mean \"1 Mbps\"?"
        );
        assert_eq!(
            said(Quantity::Rate, "10 ms"),
            "\"10 ms\" is a time, not a rate; units are bit/s, kbit/s, Mbit/s, Gbit/s, bps, kbps, Mbps, Gbps"
        );
        assert_eq!(
            said(Quantity::Time, "5 parsec"),
            "`parsec` is not a unit of a time; choose from s, ms, us, ns, min, h"
        );
        assert_eq!(
            said(Quantity::Time, "soon"),
            "\"soon\" is not a number; give a time as \"50 ms\", or a number of seconds"
        );
    }

    /// A value that is eight times as large is not a typing mistake.
    #[test]
    fn slips_of_the_pen_are_not_taken_for_another_number() {
        let said = |text| Quantity::Rate.parse(text).expect_err(text);
        assert_eq!(said("30 MB/s"), "`MB/s` is a rate of bytes; \"30 MB/s\" is \"240 Mbit/s\"");
        assert_eq!(said("1 MiB/s"), "`MiB/s` is a rate of bytes; \"1 MiB/s\" is \"8.388608 Mbit/s\"");
        assert_eq!(
            said("10,5 Mbit/s"),
            "\"10,5 Mbit/s\" has a comma; write a decimal point: \"10.5 Mbit/s\""
        );
        assert!(said("0x10 Mbit/s").starts_with("\"0x10 Mbit/s\" is not a decimal number"));
    }

    #[test]
    fn a_unit_says_what_is_measured() {
        for (text, value) in
            [("50 Mbit/s", 5e7), ("20ms", 0.02), ("64 KiB", 65_536.0), ("2 %", 0.02), ("12", 12.0)]
        {
            assert_eq!(amount(text, None), Ok(value), "{text}");
        }
        assert_eq!(amount("50", Some("packets")), Ok(50.0));
        assert_eq!(amount("20 dB", Some("ratio")), Ok(20.0));
        let said = |text, quantity| amount(text, quantity).expect_err(text);
        assert!(said("20 ms", Some("rate")).starts_with("\"20 ms\" is a time, not a rate"));
        assert!(said("20 ms", Some("rat")).starts_with("there is no quantity `rat`; did you mean `rate`?"));
        assert!(said("20 mbit", None).starts_with("there is no unit `mbit`; did you mean"));
        assert!(said("fast", None).starts_with("\"fast\" is not a number"));
    }

    proptest! {
        #[test]
        fn a_number_with_any_unit_reads_back(n in -1e9..1e9f64, index in 0..ALL.len(), unit in 0..8usize, space in any::<bool>()) {
            let quantity = ALL[index];
            let (name, times, through) = quantity.table()[unit % quantity.table().len()];
            let text = format!("{n}{}{name}", if space { " " } else { "" });
            prop_assert_eq!(quantity.parse(&text), Ok(n * times / through));
        }

        #[test]
        fn no_text_makes_it_panic(text in "\\PC*") {
            for quantity in ALL {
                let _ = quantity.parse(&text);
            }
        }
    }
}

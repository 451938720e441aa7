//! Types of keys, and the text form of their values.

use core::time::Duration;

use crate::key::{BadValue, Key, Values};
use crate::nearest::nearest;

/// A type that a key can have.
pub trait Setting: Sized {
    /// Type of the range in the declaration.
    type Range;

    /// Returns the possible values of a key with this range.
    fn values(range: Self::Range) -> Values;

    /// Parses a value from `text`.
    fn read(text: &str, values: &Values) -> Option<Self>;

    /// Returns the value as text.
    fn write(&self, values: &Values) -> String;
}

/// Minimum, maximum and unit.
type Whole = (u64, u64, &'static str);

/// Parses a whole number within the range. The unit of the number may follow.
fn whole(text: &str, values: &Values) -> Option<u64> {
    let Values::Number(least, most, unit) = values else { return None };
    bare(text, unit).parse().ok().filter(|n| (least..=most).contains(&n))
}

/// Returns `text` without the unit at its end.
fn bare<'a>(text: &'a str, unit: &str) -> &'a str {
    text.strip_suffix(unit).map_or(text, str::trim_end)
}

macro_rules! whole_numbers {
    ($($ty:ty),+) => {$(
        impl Setting for $ty {
            type Range = Whole;
            fn values((least, most, unit): Whole) -> Values {
                Values::Number(least, most, unit)
            }
            fn read(text: &str, values: &Values) -> Option<Self> {
                whole(text, values)?.try_into().ok()
            }
            fn write(&self, _: &Values) -> String {
                self.to_string()
            }
        }

        /// The number 0 stands for `None`.
        impl Setting for Option<$ty> {
            type Range = Whole;
            fn values((least, most, unit): Whole) -> Values {
                Values::Number(least, most, unit)
            }
            fn read(text: &str, values: &Values) -> Option<Self> {
                let n = <$ty>::try_from(whole(text, values)?).ok()?;
                Some(Some(n).filter(|n| *n > 0))
            }
            fn write(&self, _: &Values) -> String {
                self.unwrap_or_default().to_string()
            }
        }
    )+};
}

whole_numbers!(u32, u64, usize);

/// The text is in milliseconds. If the unit is `s`, it is in seconds with decimals.
impl Setting for Duration {
    type Range = Whole;
    fn values((least, most, unit): Whole) -> Values {
        match unit {
            "s" => Values::Decimal(least as f64, most as f64, unit),
            _ => Values::Number(least, most, unit),
        }
    }
    fn read(text: &str, values: &Values) -> Option<Self> {
        match values {
            Values::Decimal(..) => Duration::try_from_secs_f64(f64::read(text, values)?).ok(),
            Values::Number(..) | Values::OneOf(_) | Values::Switch => {
                whole(text, values).map(Duration::from_millis)
            }
        }
    }
    fn write(&self, values: &Values) -> String {
        match values {
            Values::Decimal(..) => self.as_secs_f64().to_string(),
            Values::Number(..) | Values::OneOf(_) | Values::Switch => self.as_millis().to_string(),
        }
    }
}

/// The number 0 stands for `None`.
impl Setting for Option<Duration> {
    type Range = Whole;
    fn values(range: Whole) -> Values {
        Duration::values(range)
    }
    fn read(text: &str, values: &Values) -> Option<Self> {
        Duration::read(text, values).map(|time| Some(time).filter(|t| !t.is_zero()))
    }
    fn write(&self, values: &Values) -> String {
        self.unwrap_or_default().write(values)
    }
}

impl Setting for f64 {
    type Range = (f64, f64, &'static str);
    fn values((least, most, unit): Self::Range) -> Values {
        Values::Decimal(least, most, unit)
    }
    fn read(text: &str, values: &Values) -> Option<Self> {
        let Values::Decimal(least, most, unit) = values else { return None };
        bare(text, unit).parse().ok().filter(|n| (least..=most).contains(&n))
    }
    fn write(&self, _: &Values) -> String {
        self.to_string()
    }
}

impl Setting for bool {
    type Range = ();
    fn values((): ()) -> Values {
        Values::Switch
    }
    fn read(text: &str, _: &Values) -> Option<Self> {
        match text {
            "on" => Some(true),
            "off" => Some(false),
            _ => None,
        }
    }
    fn write(&self, _: &Values) -> String {
        if *self { "on" } else { "off" }.into()
    }
}

/// Sets `field` if `name` is the name of `key`.
///
/// # Errors
/// Returns an error if the key cannot have this value.
pub fn assign<T: Setting>(field: &mut T, key: &Key, name: &str, text: &str) -> Result<bool, BadValue> {
    if key.name != name {
        return Ok(false);
    }
    let wrong = || BadValue {
        key: key.name,
        value: text.into(),
        suggestion: match key.values {
            Values::OneOf(words) => nearest(text, words.iter().copied()),
            Values::Switch | Values::Number(..) | Values::Decimal(..) => None,
        },
        expected: key.values.describe(),
    };
    *field = T::read(text, &key.values).ok_or_else(wrong)?;
    Ok(true)
}

/// Returns the text of `field` if `name` is the name of `key`.
pub fn written<T: Setting>(field: &T, key: &Key, name: &str) -> Option<String> {
    (key.name == name).then(|| field.write(&key.values))
}

/// Returns the bytes of `name`, which has `N` letters, with hyphens in place of underscores. For example, `loss_gain`
/// is the key `loss-gain`.
pub const fn hyphens<const N: usize>(name: &str) -> [u8; N] {
    let mut bytes = [0; N];
    let mut i = 0;
    while i < N {
        let letter = name.as_bytes()[i];
        bytes[i] = if letter == b'_' { b'-' } else { letter };
        i += 1;
    }
    bytes
}

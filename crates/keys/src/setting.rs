//! Types that a key can have, and how they are written.

use strandcast_proto::time::Duration;

use crate::key::{BadValue, Key, Values};
use crate::nearest::nearest;

/// A type that a key can have.
pub trait Setting: Sized {
    /// What the declaration says of the range.
    type Range;

    /// What such a key can be set to.
    fn values(range: Self::Range) -> Values;

    /// The value that `text` stands for.
    fn read(text: &str, values: &Values) -> Option<Self>;

    /// The text that stands for the value.
    fn write(&self) -> String;
}

/// Least, most, unit.
type Whole = (u64, u64, &'static str);

/// A whole number within the range.
fn whole(text: &str, values: &Values) -> Option<u64> {
    let Values::Number(least, most, _) = values else { return None };
    text.parse().ok().filter(|n| (least..=most).contains(&n))
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
            fn write(&self) -> String {
                self.to_string()
            }
        }

        /// 0 stands for `None`.
        impl Setting for Option<$ty> {
            type Range = Whole;
            fn values((least, most, unit): Whole) -> Values {
                Values::Number(least, most, unit)
            }
            fn read(text: &str, values: &Values) -> Option<Self> {
                let n = <$ty>::try_from(whole(text, values)?).ok()?;
                Some(Some(n).filter(|n| *n > 0))
            }
            fn write(&self) -> String {
                self.unwrap_or_default().to_string()
            }
        }
    )+};
}

whole_numbers!(u32, u64, usize);

/// Milliseconds.
impl Setting for Duration {
    type Range = Whole;
    fn values((least, most, unit): Whole) -> Values {
        Values::Number(least, most, unit)
    }
    fn read(text: &str, values: &Values) -> Option<Self> {
        whole(text, values).map(Duration::from_millis)
    }
    fn write(&self) -> String {
        self.as_millis().to_string()
    }
}

/// Milliseconds; 0 stands for `None`.
impl Setting for Option<Duration> {
    type Range = Whole;
    fn values((least, most, unit): Whole) -> Values {
        Values::Number(least, most, unit)
    }
    fn read(text: &str, values: &Values) -> Option<Self> {
        Duration::read(text, values).map(|time| Some(time).filter(|t| !t.is_zero()))
    }
    fn write(&self) -> String {
        self.map_or(0, |time| time.as_millis()).to_string()
    }
}

impl Setting for f64 {
    type Range = (f64, f64, &'static str);
    fn values((least, most, unit): Self::Range) -> Values {
        Values::Decimal(least, most, unit)
    }
    fn read(text: &str, values: &Values) -> Option<Self> {
        let Values::Decimal(least, most, _) = values else { return None };
        text.parse().ok().filter(|n| (least..=most).contains(&n))
    }
    fn write(&self) -> String {
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
    fn write(&self) -> String {
        if *self { "on" } else { "off" }.into()
    }
}

/// Sets `field` if `name` names `key`.
///
/// # Errors
/// The key cannot have this value.
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

/// The bytes of `name`, of `N` letters, with hyphens for underscores: `loss_gain` is the key `loss-gain`.
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

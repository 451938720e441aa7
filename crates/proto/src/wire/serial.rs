//! Separate types for the numbers on the wire, and serial arithmetic (RFC 1982) for numbers that wrap around.

use core::fmt;
use core::ops::{Add, AddAssign, Sub};

/// Defines a type for a number without arithmetic.
macro_rules! number {
    ($(#[$doc:meta])* $name:ident($repr:ty)) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
        pub struct $name(pub $repr);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

/// Defines a type for a number that wraps around. The type has no `Ord`, because serial numbers have no total order
/// (RFC 1982 §3.2). "Before" and "after" are defined only for numbers that are less than half of the number space
/// apart.
macro_rules! serial {
    ($(#[$doc:meta])* $name:ident($repr:ty), signed $signed:ty) => {
        number!($(#[$doc])* $name($repr));

        impl $name {
            /// Returns the number after this one.
            #[must_use]
            pub const fn next(self) -> Self {
                Self(self.0.wrapping_add(1))
            }

            /// Returns the number before this one.
            #[must_use]
            pub const fn prev(self) -> Self {
                Self(self.0.wrapping_sub(1))
            }

            /// Returns whether this number is less than `other` (RFC 1982 §3.2). Two numbers that are exactly half of
            /// the number space apart are not ordered.
            pub const fn is_before(self, other: Self) -> bool {
                other.is_after(self)
            }

            /// Returns whether this number is greater than `other` (RFC 1982 §3.2).
            pub const fn is_after(self, other: Self) -> bool {
                self.0.wrapping_sub(other.0) as $signed > 0
            }

            /// Returns the number of steps from `earlier` up to this number.
            pub const fn distance_from(self, earlier: Self) -> $repr {
                self.0.wrapping_sub(earlier.0)
            }
        }

        impl Add<$repr> for $name {
            type Output = Self;
            fn add(self, steps: $repr) -> Self {
                Self(self.0.wrapping_add(steps))
            }
        }

        impl AddAssign<$repr> for $name {
            fn add_assign(&mut self, steps: $repr) {
                *self = *self + steps;
            }
        }

        impl Sub<$repr> for $name {
            type Output = Self;
            fn sub(self, steps: $repr) -> Self {
                Self(self.0.wrapping_sub(steps))
            }
        }

        /// Signed distance from `other` to `self`. The distance is positive if `self` is after `other`.
        impl Sub for $name {
            type Output = $signed;
            fn sub(self, other: Self) -> $signed {
                self.0.wrapping_sub(other.0) as $signed
            }
        }
    };
}

serial! {
    /// Transmission Sequence Number: counts DATA chunks of one direction of an association (RFC 9260 §1.6).
    Tsn(u32), signed i32
}
serial! {
    /// Stream Sequence Number: counts ordered messages of one stream (RFC 9260 §3.3.1).
    Ssn(u16), signed i16
}
serial! {
    /// Message Identifier: counts the ordered or the unordered messages of one stream in I-DATA (RFC 8260 §2.1).
    Mid(u32), signed i32
}
serial! {
    /// Fragment Sequence Number: counts fragments of one I-DATA message (RFC 8260 §2.1).
    Fsn(u32), signed i32
}
number! {
    /// Stream Identifier (RFC 9260 §3.3.1).
    StreamId(u16)
}
number! {
    /// Payload Protocol Identifier, set by the application. The transport does not read it (RFC 9260 §3.3.1).
    Ppid(u32)
}
number! {
    /// Verification Tag in the common header (RFC 9260 §8.5). The Verification Tag is 0 only in a packet with INIT.
    VerificationTag(u32)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn order_holds_across_the_wrap() {
        assert!(Tsn(u32::MAX).is_before(Tsn(0)));
        assert!(Tsn(0).is_after(Tsn(u32::MAX)));
        assert_eq!(Tsn(u32::MAX).next(), Tsn(0));
        assert_eq!(Ssn(0).prev(), Ssn(u16::MAX));
        assert_eq!(Tsn(2) - Tsn(u32::MAX), 3);
        assert_eq!(Tsn(u32::MAX) - Tsn(2), -3);
        assert!(!Tsn(7).is_before(Tsn(7)) && !Tsn(7).is_after(Tsn(7)));
    }

    proptest! {
        /// RFC 1982 §3.1: adding up to 2^31 - 1 gives a greater number.
        #[test]
        fn adding_goes_up(start: u32, steps in 1..1u32 << 31) {
            let later = Tsn(start) + steps;
            prop_assert!(later.is_after(Tsn(start)) && Tsn(start).is_before(later));
            prop_assert!(!later.is_before(Tsn(start)));
            prop_assert_eq!(later.distance_from(Tsn(start)), steps);
            prop_assert_eq!(later - steps, Tsn(start));
        }

        #[test]
        fn adding_goes_up_16(start: u16, steps in 1..1u16 << 15) {
            prop_assert!((Ssn(start) + steps).is_after(Ssn(start)));
            prop_assert_eq!((Ssn(start) + steps) - Ssn(start), steps as i16);
        }
    }
}

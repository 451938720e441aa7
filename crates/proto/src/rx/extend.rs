//! TSNs without their wrap: 64-bit numbers that order like any other, so that they can be keys.

use crate::wire::serial::Tsn;

/// The 64-bit number of the first TSN a peer announces; far enough from 0 that nothing before it underflows.
pub(crate) fn origin(initial: Tsn) -> u64 {
    (1 << 32) + u64::from(initial.0)
}

/// The 64-bit number of `tsn` that lies within 2³¹ of `near` (RFC 9260 §1.6: serial number arithmetic).
pub(crate) fn extend(near: u64, tsn: Tsn) -> u64 {
    let offset = tsn - narrow(near);
    near.wrapping_add_signed(i64::from(offset))
}

/// What goes on the wire for `extended`.
pub(crate) fn narrow(extended: u64) -> Tsn {
    Tsn(extended as u32)
}

//! TSNs without wrap-around: 64-bit numbers in numerical order, which can be keys.

use crate::wire::serial::Tsn;

/// Returns the 64-bit number of the first TSN that a peer announces. The number is far from 0, so that earlier TSNs do
/// not underflow.
pub(crate) fn origin(initial: Tsn) -> u64 {
    (1 << 32) + u64::from(initial.0)
}

/// Returns the 64-bit number of `tsn` that lies within 2³¹ of `near` (serial number arithmetic, RFC 9260 §1.6).
pub(crate) fn extend(near: u64, tsn: Tsn) -> u64 {
    let offset = tsn - narrow(near);
    near.wrapping_add_signed(i64::from(offset))
}

/// Returns the TSN on the wire for `extended`.
pub(crate) fn narrow(extended: u64) -> Tsn {
    Tsn(extended as u32)
}

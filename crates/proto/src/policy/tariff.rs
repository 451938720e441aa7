//! What a link costs, as the application knows.

use crate::time::Instant;

/// What data on a link cost ([`Association::set_tariff`](crate::association::Association::set_tariff)). The core counts;
/// what follows from it is a scheme's decision. The default costs nothing.
#[derive(Copy, Clone, PartialEq, Default, Debug)]
pub struct Tariff {
    /// Links of a higher class are for when those of lower ones do not suffice; 0: use it freely.
    pub class: u8,
    /// Price of 10⁹ bytes, in whatever currency the application counts.
    pub per_gb: Option<f64>,
    /// Bytes that may still be used, either way and with all headers: counted down with each datagram, to 0.
    pub left: Option<u64>,
    /// Until when `left` has to last.
    pub until: Option<Instant>,
}

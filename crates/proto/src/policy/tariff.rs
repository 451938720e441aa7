//! Costs of a link, set by the application.

use crate::time::Instant;

/// Costs of data on a link ([`Association::set_tariff`](crate::association::Association::set_tariff)). The core counts
/// the bytes. A scheme decides on the consequences. By default data cost nothing.
#[derive(Copy, Clone, PartialEq, Default, Debug)]
pub struct Tariff {
    /// Cost class of the link. Links of a higher class are used only if links of lower classes do not suffice. Links of
    /// class 0 are used without restriction.
    pub class: u8,
    /// Price of 10⁹ bytes, in the application's currency.
    pub per_gb: Option<f64>,
    /// Bytes that the link may still carry, in both directions and with all headers. Each datagram reduces the bytes
    /// that are left, down to 0.
    pub left: Option<u64>,
    /// Time until which the bytes in `left` must last.
    pub until: Option<Instant>,
}

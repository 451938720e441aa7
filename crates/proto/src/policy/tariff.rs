//! Costs of a link, as set by the application.

use crate::time::Instant;

/// Costs of data on a link ([`Association::set_tariff`](crate::association::Association::set_tariff)). The core counts
/// the bytes, and a scheme decides on the consequences. By default data cost nothing.
#[derive(Copy, Clone, PartialEq, Default, Debug)]
pub struct Tariff {
    /// Cost class. Links of a higher class are used if links of lower classes do not suffice. Links of class 0 are used
    /// freely.
    pub class: u8,
    /// Price of 10⁹ bytes, in the application's currency.
    pub per_gb: Option<f64>,
    /// Bytes that may still be used, in both directions and with all headers. Each datagram reduces the number, down to
    /// 0.
    pub left: Option<u64>,
    /// Time until which `left` has to last.
    pub until: Option<Instant>,
}

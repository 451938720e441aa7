//! Costs of a link, as set by the application.

use crate::time::Instant;

/// Costs of data on a link ([`Association::set_tariff`](crate::association::Association::set_tariff)). The core counts;
/// a scheme decides on the consequences. The default costs nothing.
#[derive(Copy, Clone, PartialEq, Default, Debug)]
pub struct Tariff {
    /// Cost class. Links of a higher class are used where those of lower classes do not suffice; 0: used freely.
    pub class: u8,
    /// Price of 10⁹ bytes, in the application's currency.
    pub per_gb: Option<f64>,
    /// Bytes that may still be used, in both directions and with all headers: counted down with each datagram, to 0.
    pub left: Option<u64>,
    /// Time until which `left` has to last.
    pub until: Option<Instant>,
}

//! What a link costs.

use std::time::Duration;

/// What data on a link cost, and how much of them may be used.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct LinkTariff {
    /// The path's name: that of its interface, or its address.
    pub link: String,
    /// Class: links of a higher one are used where those below it do not suffice.
    pub class: u8,
    /// Price of 10^9 bytes.
    pub price: Option<f64>,
    /// Bytes that may be used.
    pub left: Option<u64>,
    /// How long they have to last.
    pub lasts: Option<Duration>,
}

impl LinkTariff {
    /// A link that costs nothing.
    pub fn new(link: impl Into<String>) -> LinkTariff {
        LinkTariff { link: link.into(), class: 0, price: None, left: None, lasts: None }
    }
}

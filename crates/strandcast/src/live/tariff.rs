//! Costs of a link.

use std::time::Duration;

/// Costs of data on a link, and the part of them that may be used.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct LinkTariff {
    /// Name of the path: its interface or address.
    pub link: String,
    /// Cost class. Links of a higher class are used only if links of lower classes do not suffice.
    pub class: u8,
    /// Price of 10^9 bytes.
    pub price: Option<f64>,
    /// Bytes that may be used. If [`LinkTariff::month_begins`] is set, they are the allowance of each month.
    pub left: Option<u64>,
    /// Day of the calendar month on which a month of the plan begins, 1 to 28, by the date in UTC. The bytes that were
    /// used before in this month are in the [ledger](crate::live::SenderConfig::ledger). `None`: the allowance counts
    /// from the start of the stream.
    pub month_begins: Option<u8>,
    /// Time for which these bytes have to last.
    pub lasts: Option<Duration>,
}

impl LinkTariff {
    /// Makes the tariff of a link without costs.
    pub fn new(link: impl Into<String>) -> LinkTariff {
        LinkTariff { link: link.into(), class: 0, price: None, left: None, month_begins: None, lasts: None }
    }
}

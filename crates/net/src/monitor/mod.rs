//! Frame counters of interfaces, for [`Signal::Link`](strandcast_proto::policy::Signal::Link): on Linux the station
//! counters of Wi-Fi (nl80211). An interface without counters gives no samples, and the scheme reports that it works
//! without them.

mod message;
mod poll;
mod reading;
mod refusal;
mod source;
mod station;
#[cfg(test)]
mod tests;

pub(crate) use poll::Monitor;
pub use reading::{MonitorStats, Reading};
pub use refusal::Refusal;
#[cfg(test)]
pub(crate) use source::Source;
#[cfg(test)]
pub(crate) use station::Station;

//! Frame counters of interfaces, for [`Signal::Link`](strandcast_proto::policy::Signal::Link). On Linux, these are the
//! station counters of Wi-Fi (nl80211). An interface without counters gives no samples. A scheme that needs samples
//! reports that it works without them.

mod poll;
mod reading;
mod source;
mod station;
#[cfg(test)]
mod tests;

pub use crate::netlink::Refusal;
pub(crate) use poll::Monitor;
pub use reading::{MonitorStats, Reading};
#[cfg(test)]
pub(crate) use source::Source;
#[cfg(test)]
pub(crate) use station::Station;

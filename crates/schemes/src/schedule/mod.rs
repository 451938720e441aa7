//! Schedulers, which choose the paths of new data.

mod blest;
mod blocking;
mod daps;
mod earliest_arrival;
mod ecf;
mod expectation;
mod fastest;
mod flights;
mod fmtcp;
mod linux;
mod loss_ordered;
mod lowest_rtt;
mod metered;
mod nc_mptcp;
mod per_block;
mod primary;
mod quota;
mod receiver_choice;
mod redundant;
mod round_robin;
#[cfg(test)]
pub(crate) mod tests;
mod trains;
mod triage;
mod unsuspected;
mod wary;
mod widest;

pub use blest::{Blest, BlestConfig};
pub use blocking::{BlockingConfig, Remedy};
pub use daps::{Daps, DapsConfig};
pub use earliest_arrival::{EarliestArrival, EarliestArrivalConfig};
pub use ecf::{Ecf, EcfConfig};
pub use fmtcp::{Counting, Fmtcp, FmtcpConfig};
pub use linux::{Linux, LinuxConfig};
pub use loss_ordered::{LossOrdered, LossOrderedConfig};
pub use lowest_rtt::{LowestRtt, LowestRttConfig};
pub use nc_mptcp::{NcMptcp, NcMptcpConfig};
pub use primary::PrimaryConfig;
pub use quota::{Allocation, Distribution, Entry, Offer, Quota, capacity, most, period, weight};
pub use receiver_choice::{ReceiverChoice, ReceiverConfig};
pub use redundant::{Redundant, RedundantConfig};
pub use round_robin::{RoundRobin, RoundRobinConfig, Turn};
pub use trains::{TRAIN_MOST, Trains};
pub use wary::{Wary, WaryConfig};
pub use widest::{Spill, Widest, WidestConfig};

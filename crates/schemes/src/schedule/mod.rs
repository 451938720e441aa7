//! Which path takes new data.

mod earliest_arrival;
mod loss_ordered;
mod lowest_rtt;
mod quota;
mod receiver_choice;
mod redundant;
mod round_robin;
#[cfg(test)]
mod tests;

pub use earliest_arrival::EarliestArrival;
pub use loss_ordered::LossOrdered;
pub use lowest_rtt::LowestRtt;
pub use quota::{Allocation, Distribution, Entry, Offer, Quota, capacity, most, period, weight};
pub use receiver_choice::ReceiverChoice;
pub use redundant::Redundant;
pub use round_robin::{RoundRobin, Turn};

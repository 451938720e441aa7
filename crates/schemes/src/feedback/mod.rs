//! When and how arrivals are acknowledged.

mod dac;

pub use dac::DelayedAck;

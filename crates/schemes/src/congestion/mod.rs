//! How much may be in flight.

mod lia;
#[cfg(test)]
mod tests;

pub use lia::Linked;

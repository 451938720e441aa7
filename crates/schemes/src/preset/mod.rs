//! One file a paper: which policies it is, and which of its equations lives where.

pub mod cmt;
pub mod cmt_la;
mod combine;
pub mod lia;
pub mod redundant;
pub mod sctp;
#[cfg(test)]
mod tests;

//! Presets, one file per paper. Each file names the policies of its scheme, and the code of each equation.

pub mod bond;
pub mod cmt;
pub mod cmt_cl;
pub mod cmt_la;
pub mod cmt_qa;
pub(crate) mod combine;
pub mod fmtcp;
pub mod lia;
pub mod mpr;
pub mod mptcp;
pub mod nc_mptcp;
mod quality;
pub mod redundant;
pub mod sctp;
pub mod sctp_rev;
pub mod strand;
#[cfg(test)]
mod tests;
mod transport;

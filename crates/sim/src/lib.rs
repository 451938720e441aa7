//! Discrete-event network simulator: nodes joined by emulated links, hosts with Strandcast's transport, TCP
//! and MPTCP agents, and sources of traffic. Time is an argument, and labelled seeds give the randomness, so
//! a run repeats bit for bit on any machine. The crate reads no files and contains no schemes: the caller
//! passes both in.
#![forbid(unsafe_code)]

pub mod flow;
pub mod host;
pub mod net;
pub mod tcp;
pub mod traffic;

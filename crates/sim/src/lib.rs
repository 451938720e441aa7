//! Discrete-event network simulator: nodes joined by emulated links, hosts with our own transport, TCP and MPTCP agents,
//! and sources of traffic. Time is an argument and randomness comes from labelled seeds, so a run repeats bit for bit on
//! any machine. It knows no files and no schemes: both are handed in, built.
#![forbid(unsafe_code)]

pub mod flow;
pub mod host;
pub mod net;
pub mod tcp;
pub mod traffic;

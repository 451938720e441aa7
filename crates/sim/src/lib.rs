//! Discrete-event network simulator: an event engine, links with loss, and named networks of them. Time is an
//! argument and randomness comes from labelled seeds, so a run repeats bit for bit on any machine.
#![forbid(unsafe_code)]

pub mod engine;
pub mod flow;
pub mod host;
pub mod link;
pub mod loss;
pub mod net;
pub mod number;
pub mod result;
pub mod scenario;
pub mod simulation;
pub mod tcp;
pub mod topology;
pub mod traffic;

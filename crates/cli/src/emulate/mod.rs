//! `strandcast emulate`: any programs over a scenario's network, in real time.
//!
//! The two ends of a flow are network namespaces with a TUN device for each path of the flow. What programs write into a
//! device crosses the simulated network and comes out of the device of the same path at the other end.

mod ends;
mod network;
mod outcome;
mod pump;
mod run;

pub(crate) use run::run;

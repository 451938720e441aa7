//! `strandcast emulate`: runs any programs over the network of a scenario, in real time.
//!
//! The two ends of a flow are network namespaces with a TUN device for each path of the flow. Packets that programs
//! write to a device cross the simulated network and leave it by the device of the same path at the other end.

mod ends;
mod network;
mod outcome;
mod pump;
mod run;

pub(crate) use run::run;

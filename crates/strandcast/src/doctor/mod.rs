//! Examination of a machine, its links and a receiver. The examination finds causes that prevent a stream, and names
//! their remedies. It changes nothing on this machine or at the receiver. It sends only small datagrams to the
//! receiver.

mod examine;
mod exchange;
mod judge;
mod links;
mod machine;
mod probe;
mod report;

pub use examine::{Doctor, Wait};
pub use report::{Clock, Finding, Link, Machine, Peer, Probed, Report, Route};

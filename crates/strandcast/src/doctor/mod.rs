//! Examination of a machine, its links and a receiver: what keeps a stream from it, and how to mend that. Nothing is
//! changed, here or at the receiver; nothing is sent but small datagrams to the receiver.

mod examine;
mod exchange;
mod judge;
mod links;
mod machine;
mod probe;
mod report;

pub use examine::{Doctor, Wait};
pub use report::{Clock, Finding, Link, Machine, Peer, Probed, Report, Route};

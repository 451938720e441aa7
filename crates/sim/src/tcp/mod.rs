//! TCP and MPTCP agents as state machines without I/O. The agents have segments, and cumulative, selective and
//! duplicate acknowledgements. The caller passes in congestion windows, which implement the trait of Strandcast's
//! transport.

mod config;
mod multipath;
mod profile;
mod ranges;
mod receiver;
mod rto;
mod schedule;
mod scoreboard;
mod segment;
mod sender;
mod shared;
mod stats;
mod subflow;
#[cfg(test)]
mod tests;
mod value;
mod window;

pub use config::{Config, ConfigError, InitialSsthresh, Recovery};
pub use profile::Profile;
pub use receiver::{Arrival, Receiver};
pub use segment::{SackBlocks, Segment};
pub use sender::Sender;
pub use stats::{Limits, ReceiverStats, SubflowStats};
pub use value::TcpValue;

//! One SCTP association over any number of paths.

mod ack;
mod acknowledger;
mod arrival_reports;
mod auth;
mod buffer_size;
#[cfg(any(test, feature = "testing"))]
mod consistent;
mod control;
mod control_queue;
mod copies;
mod data_rx;
mod dispatch;
mod event;
mod give_back;
mod handshake;
mod head_of_line;
mod held;
mod join;
mod loss;
mod memory;
mod moving;
mod output;
mod packet;
mod path_ack;
mod path_table;
mod paths;
mod pick;
mod reports;
mod right_sizing;
mod send;
mod shutdown;
mod silence;
mod state;
mod stats;
mod tail;
mod timers;
mod verdict;

pub use event::{CloseReason, Event, PathChange};
pub use held::{HeldBack, HeldBy};
pub use output::Transmit;
pub use right_sizing::{Buffer, Buffers};
pub use send::{SendError, SendOptions};
pub use state::{Association, AssociationError};
pub use stats::AssociationStats;
pub use timers::Timer;

pub(crate) use auth::AuthParams;
pub(crate) use copies::{Settled, Unsettled};
pub(crate) use handshake::{Capabilities, Established, Offer, init_chunk};
pub(crate) use moving::Candidate;
pub(crate) use right_sizing::Sounding;
pub(crate) use state::State;
pub(crate) use tail::Tail;

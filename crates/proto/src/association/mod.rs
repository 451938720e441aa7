//! One SCTP association over any number of paths.

mod acknowledger;
mod advisor;
mod asconf;
mod assembler;
mod auth;
mod buffer_size;
mod coded;
#[cfg(any(test, feature = "testing"))]
mod consistent;
mod context;
mod control_queue;
mod dispatch;
mod dropped;
mod event;
mod handshake;
mod lifecycle;
mod path_manager;
mod path_table;
mod receiver;
mod reports;
mod right_sizing;
mod sender;
mod shutdown;
mod state;
mod stats;
mod timers;

pub use assembler::Transmit;
pub use coded::Coded;
#[cfg(any(test, feature = "testing"))]
pub use consistent::entries;
pub use dropped::{DropCause, DropCounts, Dropped};
pub use event::{CloseReason, Event, PathChange};
pub use lifecycle::AssociationError;

pub use right_sizing::{Buffer, Buffers};
pub use sender::{HeldBack, HeldBy, HeldTimes, SendError, SendOptions};
pub use state::{Association, allowance_used, ip_mtu, path_number};
pub use stats::AssociationStats;
pub use timers::Timer;

pub(crate) use auth::AuthParams;
pub(crate) use handshake::{Capabilities, Established, Offer, accepted_coding, init_chunk};
pub(crate) use lifecycle::State;

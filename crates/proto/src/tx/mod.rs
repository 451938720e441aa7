//! Data of the sending half: waiting messages, outstanding chunks, and the effects of SACKs on both.

mod arrival_reports;
mod bits;
mod needless;
mod outstanding;
mod path_ack;
mod peer_arrivals;
mod resent;
mod retransmission;
mod send_queue;

pub(crate) use arrival_reports::ArrivalReports;
pub(crate) use outstanding::{Carries, ChunkState, Outgoing};
pub(crate) use path_ack::{AckOutcome, PathAck};
pub(crate) use peer_arrivals::{ArrivedReports, ReceivedReport};
pub(crate) use retransmission::{MANY_GAPS, RetransmissionQueue, Unsettled};
pub(crate) use send_queue::{ByAge, Cut, QueuedMessage, SendQueue, chunks_of, next_chunk};

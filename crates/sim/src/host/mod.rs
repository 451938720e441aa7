//! Endpoints as nodes of a network: hosts that are joined by paths, with applications. A path is a pair of links.

mod apps;
mod chunks;
mod gauges;
mod net;
mod sctp;
mod symbols;
#[cfg(test)]
mod tests;
mod verdicts;

pub use apps::{Adaptive, BulkSender, Cbr, Delivery, Sink};
pub use chunks::{DataChunk, DataPart, chunk_types, data_chunks, data_parts};
pub use net::{AppId, Direction, HostId, Net, NetPath};
pub use sctp::{SctpHost, TracedApp};
pub use symbols::{SymbolName, application_bytes, symbol};
pub use verdicts::ArrivalTimes;

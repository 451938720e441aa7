//! Endpoints as nodes of a network: hosts joined by paths, each a pair of links, with applications on top.

mod apps;
mod chunks;
mod gauges;
mod net;
mod sctp;
#[cfg(test)]
mod tests;
mod verdicts;

pub use apps::{BulkSender, Cbr, Delivery, Sink};
pub use chunks::{DataChunk, DataPart, application_bytes, chunk_types, data_chunks, data_parts, symbol};
pub use net::{AppId, Direction, HostId, Net, NetPath};
pub use sctp::{SctpHost, TracedApp};
pub use verdicts::Witness;

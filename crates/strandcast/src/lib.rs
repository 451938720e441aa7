//! Send live video over several networks at once: the front door to the crates of this workspace.
//!
//! Without any feature it is the state machine of the transport, which neither opens a socket nor reads a clock. The feature
//! `schemes` adds all presets by name.
#![forbid(unsafe_code)]

pub use strandcast_proto::config::TransportConfig;
pub use strandcast_proto::endpoint::{Endpoint, EndpointConfig};
#[cfg(feature = "schemes")]
pub use strandcast_schemes::{Spec, parse_spec};

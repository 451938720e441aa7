//! Erasure codes, applied between the application's messages and DATA chunks ([`strandcast_coding`]). An association
//! may cut its data into coded blocks, or may send repair symbols in addition to its messages. Both ends code and
//! decode below `send` and `recv`, so applications see only messages. The scheme decides which symbols are sent
//! ([`crate::policy::Scheduler::next_symbol`], [`crate::policy::Scheduler::next_repair`]). A ledger limits the
//! redundancy (`ledger.rs`).
//!
//! Both ends must be built with codecs (feature `coding`). A build without this feature neither codes nor offers to
//! decode, for any configuration:
//!
//! ```
//! use std::sync::Arc;
//!
//! use bytes::Bytes;
//! use strandcast_proto::association::Event;
//! use strandcast_proto::coding::{Code, Coding, RepairCode, RepairCoding, RepairWhen};
//! use strandcast_proto::config::TransportConfig;
//! use strandcast_proto::endpoint::{Connect, Endpoint, EndpointConfig, Input};
//! use strandcast_proto::path::FourTuple;
//! use strandcast_proto::policy::LinkId;
//! use strandcast_proto::rfc;
//! use strandcast_proto::seeds::Seeds;
//! use strandcast_proto::time::Instant;
//!
//! let repair = RepairCoding { code: RepairCode::Rlc, redundancy: 0.1, when: RepairWhen::Late, window: 64 };
//! let transport = TransportConfig { coding: Some(Coding::Repair(repair)), ..TransportConfig::live() };
//! let config = EndpointConfig { transport: Arc::new(transport), ..EndpointConfig::default() };
//! let server = EndpointConfig { accept: Some(Arc::new(|_| Box::new(rfc::scheme()))), ..config.clone() };
//! let (a, b) = ("10.0.0.1:9899".parse()?, "10.0.0.2:9899".parse()?);
//! let tuples = [FourTuple::new(LinkId(0), a, b), FourTuple::new(LinkId(0), b, a)];
//! let seeds = Seeds::new(1, 0);
//! let mut ends = [Endpoint::new(config, &seeds.child("a")), Endpoint::new(server, &seeds.child("b"))];
//! let (now, scheme) = (Instant::ZERO, Box::new(rfc::scheme()));
//! let id = ends[0].connect(now, Connect { paths: vec![(tuples[0], None)], port: 5000, scheme, transport: None })?;
//!
//! let (mut connected, mut buf) = (false, Vec::new());
//! for side in [0, 1].into_iter().cycle().take(8) {
//!     while let Some(sent) = ends[side].poll_output(now, &mut buf) {
//!         let (tuple, data) = (tuples[1 - side], Bytes::from(std::mem::take(&mut buf)));
//!         ends[1 - side].handle_input(now, Input::Datagrams { tuple, data, segment_size: sent.segment_size });
//!     }
//!     while let Some((_, event)) = ends[side].poll_event() {
//!         connected |= matches!(event, Event::Connected { .. });
//!     }
//! }
//! assert!(connected);
//! let coded = ends[0].association(id).ok_or("closed")?.coded();
//! assert_eq!((coded.out().is_some(), coded.incoming().is_some()), (Code::BUILT, Code::BUILT));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod agreement;
mod blocks;
mod budget;
mod coder;
mod config;
mod covered;
mod receiver;
mod record;
mod repair;
mod risk;
mod stats;
mod written;

pub use agreement::Mode as CodingMode;
pub(crate) use agreement::{Agreed, Announced};
#[cfg(any(test, feature = "testing"))]
pub use budget::most as most_work;
pub(crate) use coder::Coder;
pub use config::{BlockCoding, Coding, RepairCode, RepairCoding, RepairWhen};
pub(crate) use receiver::{Decoding, Undecodable};
pub(crate) use record::{BadRecord, LONGEST_RECORD};
pub(crate) use repair::Leaving;
pub use stats::CodingStats;
pub use strandcast_coding::Code;
pub use strandcast_coding::symbol::Header;
pub(crate) use written::Written;

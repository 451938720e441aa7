//! Discrete-event network simulator. The simulator has nodes joined by emulated links, hosts with Strandcast's own
//! transport, TCP and MPTCP agents, and sources of traffic. Time is an argument of calls and randomness comes from
//! labelled seeds. Equal runs are therefore equal bit for bit on any machine. The crate reads no files and contains no
//! schemes. The caller passes both to it.
//!
//! [`net::Network`] is the whole network: directed links, radios, routes, and the agents at their ends. [`host::Net`]
//! is a simpler interface for hosts that are joined by paths:
//!
//! 1. [`add_host`](host::Net::add_host) adds each end, and [`add_path`](host::Net::add_path) adds each path between two
//!    ends;
//! 2. [`add_app`](host::Net::add_app) adds sources and sinks to hosts, and [`connect`](host::Net::connect) opens an
//!    association;
//! 3. [`run_for`](host::Net::run_for) advances time. Between two calls, links may be taken down and all state can be
//!    read.
//!
//! ```
//! use std::sync::Arc;
//! use std::time::Duration;
//!
//! use strandcast_netem::link::{LinkConfig, Rate};
//! use strandcast_netem::number::Number;
//! use strandcast_netem::topology::PathNetwork;
//! use strandcast_proto::endpoint::EndpointConfig;
//! use strandcast_proto::rfc;
//! use strandcast_proto::seeds::Seeds;
//! use strandcast_sim::host::{BulkSender, Net, Sink};
//!
//! let run = |seed| {
//!     let seeds = Seeds::new(seed, 0);
//!     let mut net = Net::new(&seeds);
//!     let client = net.add_host(EndpointConfig::default());
//!     let accept: strandcast_proto::endpoint::SchemeFactory = Arc::new(|_| Box::new(rfc::scheme()));
//!     let server = net.add_host(EndpointConfig { accept: Some(accept), ..EndpointConfig::default() });
//!     let link = LinkConfig {
//!         rate: Rate::Constant(8_000_000),
//!         delay: Number::from(Duration::from_millis(10)),
//!         ..LinkConfig::default()
//!     };
//!     let path = net.add_path(client, server, PathNetwork { name: "lan".into(), forward: link.clone(), reverse: link });
//!     let sink = net.add_app(server, Sink::default());
//!     net.connect(client, &[path], Box::new(rfc::scheme())).expect("a path");
//!     net.add_app(client, BulkSender::new(1200));
//!     net.run_for(Duration::from_secs(10));
//!     (net.app::<Sink>(sink).bytes(), net.fingerprint())
//! };
//! let (bytes, fingerprint) = run(1);
//! // 8 Mbit/s for 10 s are 10 MB; headers and the start take some.
//! assert!((8_000_000..10_000_000).contains(&bytes), "{bytes}");
//! assert_eq!(run(1).1, fingerprint);
//! ```
//!
//! The crate `strandcast-lab` has scenario files, metrics and results.
#![forbid(unsafe_code)]

pub mod flow;
pub mod host;
pub mod net;
pub mod tcp;
pub mod traffic;

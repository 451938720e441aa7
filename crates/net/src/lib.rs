//! Strandcast in real time. This crate contains the clock, the operating system's randomness, one UDP socket per path,
//! the machine's network interfaces and their counters, and links that are emulated on one machine. Other crates make
//! the decisions of the protocol. This crate only moves bytes and measures time.
//!
//! A [`Server`](driver::Server) listens. A [`Client`](driver::Client) connects, with one path per
//! [`Uplink`](driver::Uplink). Each of them runs one tokio task, which is called the driver. The driver also works on a
//! current-thread runtime. The application uses handles. [`Listener::accept`](driver::Listener::accept) returns an
//! [`AssociationHandle`](driver::AssociationHandle) for each peer, and `Client::connect` returns one. Use the functions
//! of a handle in this order:
//!
//! 1. [`connected`](driver::AssociationHandle::connected) waits for the handshake, or returns the reason why the
//!    handshake failed.
//! 2. [`send`](driver::AssociationHandle::send) waits while the send queue is full.
//!    [`recv`](driver::AssociationHandle::recv) waits for the next message. Any number of tasks may call either
//!    function.
//! 3. [`event`](driver::AssociationHandle::event) reports paths that join and leave.
//! 4. [`shutdown`](driver::AssociationHandle::shutdown) closes the association once all messages are delivered.
//!    [`closed`](driver::AssociationHandle::closed) waits for the end.
//!
//! A server needs [`accept`](strandcast_proto::endpoint::EndpointConfig::accept), which creates the schemes of accepted
//! associations. A server without this function refuses every peer.
//!
//! ```
//! use std::net::SocketAddr;
//! use std::sync::Arc;
//!
//! use bytes::Bytes;
//! use strandcast_net::driver::{Client, Server, Uplink};
//! use strandcast_net::entropy;
//! use strandcast_proto::association::SendOptions;
//! use strandcast_proto::endpoint::EndpointConfig;
//! use strandcast_schemes::parse_spec;
//!
//! # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
//! let spec = parse_spec("cmt")?;
//! let mut endpoint = EndpointConfig::default();
//! spec.tune(Arc::make_mut(&mut endpoint.transport));
//! let scheme = spec.build(&entropy::seeds()?);
//! let accepting = EndpointConfig { accept: Some(Arc::new(move |seeds| spec.build(seeds))), ..endpoint.clone() };
//! let listen: Vec<SocketAddr> = vec!["127.0.0.1:0".parse()?];
//! let mut listener = Server { endpoint: accepting, listen, seal: None, tap: None }.listen()?;
//!
//! // Two paths, each with a separate local address.
//! let to = listener.driver().local_addrs();
//! let uplinks = vec![Uplink::new("bind=127.0.0.1".parse()?, &to), Uplink::new("bind=127.0.0.2".parse()?, &to)];
//! let client = Client { endpoint, uplinks, port: 5000, scheme, seal: None, tap: None }.connect()?;
//! client.connected().await?;
//! client.send(Bytes::from_static(b"hello"), SendOptions::default()).await?;
//!
//! let server = listener.accept().await.ok_or("the server ended")?;
//! assert_eq!(server.recv().await.ok_or("no message")?.payload, "hello");
//! client.shutdown();
//! client.closed().await;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Both sides can use a seal. [`ClientSeal`](driver::ClientSeal) and [`ServerSeal`](driver::ServerSeal) contain the
//! keys of `strandcast-seal`. An application that must run within the driver's loop implements
//! [`App`](strandcast_proto::app::App) and uses [`Client::run`](driver::Client::run) or
//! [`Server::run`](driver::Server::run).
#![forbid(unsafe_code)]

pub mod clock;
pub mod driver;
pub mod emulate;
pub mod entropy;
pub mod interface;
pub mod monitor;
mod netlink;
pub mod pcap;
pub mod pool;
pub mod resolve;
pub mod socket;

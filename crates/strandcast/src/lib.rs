//! Sends live video, or other data, over several networks at once.
//!
//! | feature | adds |
//! |---|---|
//! | none | the transport as a state machine without sockets and clock ([`proto`]), RFC 9260's own policies |
//! | `schemes` | all schemes by name: [`Scheme::new`]`("strand")` |
//! | `net` | [`Client`] and [`Server`] over UDP sockets, on tokio |
//! | `seal` | encrypted connections: [`pairing`], [`Client::connect_to`], [`Server::sealed`]; [`capture`] decrypts recorded ones |
//! | `coding` | erasure codes: coded streams are sent and decoded |
//! | `live` | live streams that connect again, with events, figures and reports: [`live::Sender`], [`live::Receiver`] |
//! | `srt` | SRT as input and output of live streams: `live::input::Srt`, `live::output::Srt`, `srt://` of `AnyInput` and `AnyOutput` |
//! | `api` | an HTTP API and a page for live streams, and a client of the API: `strandcast::live::api` |
//! | `perf` | measurements of networks: a bulk transfer, measured on both sides: `strandcast::perf` |
//! | `lab` | scenario files, simulations and their results: `strandcast::lab`, for which a [`Scheme`] is a catalog |
//! | `emulation` | real programs over the network of a scenario, in real time: `strandcast::emulation` |
//!
//! The features `coding`, `live` and `schemes` are on by default. A [`Scheme`] decides which path carries which data.
//! Each end of a connection chooses the scheme for the data that it sends. Ports ([`UDP_PORT`], [`SCTP_PORT`]), seeds
//! and parameters have defaults.
//!
//! A receiver pairs with a sender once, by a string. The sender then connects to the receiver over all of its networks:
//!
//! ```
//! use strandcast::pairing::{Destination, Gate, Pairing, Store};
//! use strandcast::{Client, Scheme, SendOptions, Server};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = std::env::temp_dir().join(format!("strandcast-front-{}", std::process::id()));
//! // At the receiver: a server that admits who has the string.
//! let studio = Store::at(folder.join("studio/identity"));
//! let gate = Gate::open(&studio, None)?;
//! let mut server = Server::new(Scheme::new("strand")?).listen("127.0.0.1:0".parse()?).sealed(gate).start()?;
//! let string = studio.pair(&[server.addresses()[0].to_string().parse()?], false, None)?;
//!
//! // At the sender: two paths to it.
//! let van = Store::at(folder.join("van/identity"));
//! let to = Destination::paired(&van, Pairing::decode(&string)?)?;
//! let client = Client::new(Scheme::new("strand")?).path("bind=127.0.0.2".parse()?).path("bind=127.0.0.3".parse()?);
//! let (connection, accepted) = tokio::join!(client.connect_to(&to), server.accept());
//! connection?.send("hello".into(), SendOptions::default()).await?;
//! let accepted = accepted.ok_or("the server has ended")?;
//! assert_eq!(accepted.recv().await.ok_or("it was closed")?.payload, "hello");
//! # // The gate may still write there.
//! # let _ = std::fs::remove_dir_all(folder);
//! # Ok(())
//! # }
//! ```
//!
//! [`Connection::send`] returns before the message is delivered. To end a transfer, call [`Connection::shutdown`] and
//! await [`Connection::closed`] at both ends. The result `CloseReason::Shutdown` means that all data were delivered.
//! Any other reason means that data are missing. If a program ends without a shutdown, its peer waits for about a
//! minute.
//!
//! ```
//! # use strandcast::{Client, CloseReason, Scheme, SendOptions, Server};
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let mut server = Server::new(Scheme::rfc9260()).listen("127.0.0.1:0".parse()?).start()?;
//! # let client = Client::new(Scheme::rfc9260());
//! # let address = server.addresses()[0].to_string();
//! # let (connection, accepted) = tokio::join!(client.connect(&address), server.accept());
//! # let (connection, accepted) = (connection?, accepted.ok_or("the server has ended")?);
//! connection.send("the last message".into(), SendOptions::default()).await?;
//! connection.shutdown();
//! assert_eq!(connection.closed().await, CloseReason::Shutdown);
//! // At the other end, messages can be read until there is none:
//! assert!(accepted.recv().await.is_some());
//! assert!(accepted.recv().await.is_none());
//! assert_eq!(accepted.closed().await, CloseReason::Shutdown);
//! # Ok(())
//! # }
//! ```
//!
//! An error is one line that names the fault and its remedy.
//!
//! Later versions of the library add fields and variants. Types that the library returns are `#[non_exhaustive]`.
//! Patterns therefore end with `..`, and each `match` needs an arm for unknown variants. Configurations have defaults.
//! For [`TransportConfig`] and [`SendOptions`], set single fields and take the other fields from a default, as in
//! `TransportConfig { mtu: 1300, ..TransportConfig::live() }`. All other configurations are made with `new` or
//! `default`, and have fields or functions that change them.
//!
//! The command `strandcast` (crate `strandcast-cli`) is the first user of this library.
#![forbid(unsafe_code)]

#[cfg(feature = "seal")]
pub mod capture;
#[cfg(feature = "lab")]
mod catalog;
#[cfg(feature = "net")]
mod client;
#[cfg(feature = "live")]
#[doc(hidden)]
pub mod doctor;
#[cfg(feature = "emulation")]
pub mod emulation;
mod error;
#[cfg(feature = "seal")]
#[doc(hidden)]
pub mod files;
#[cfg(feature = "net")]
mod listen;
#[cfg(feature = "live")]
pub mod live;
#[cfg(feature = "net")]
mod memory;
#[cfg(feature = "seal")]
pub mod pairing;
#[cfg(feature = "perf")]
pub mod perf;
#[cfg(feature = "net")]
#[doc(hidden)]
pub mod route;
mod scheme;
#[cfg(feature = "seal")]
pub mod secrets;
#[cfg(feature = "net")]
mod server;
#[cfg(any(feature = "net", feature = "lab"))]
#[doc(hidden)]
pub mod text;
#[cfg(feature = "net")]
#[doc(hidden)]
pub mod transport;

#[cfg(feature = "net")]
pub use client::Client;
pub use error::Error;
#[cfg(feature = "net")]
pub use memory::Memory;
pub use scheme::Scheme;
#[cfg(feature = "net")]
pub use server::{Incoming, Server};
#[cfg(feature = "lab")]
pub use strandcast_lab as lab;
#[cfg(feature = "net")]
pub use strandcast_net::driver::{AssociationHandle as Connection, PathSnapshot, SendFailed, Snapshot};
#[cfg(feature = "net")]
pub use strandcast_net::interface::PathSpec as Path;
#[cfg(feature = "net")]
pub use strandcast_net::resolve::HostPort;
pub use strandcast_proto as proto;
pub use strandcast_proto::association::{CloseReason, Event as ConnectionEvent, SendOptions};
pub use strandcast_proto::config::TransportConfig;
pub use strandcast_proto::rx::Message;
#[cfg(feature = "schemes")]
pub use strandcast_schemes as schemes;
#[cfg(feature = "net")]
pub use transport::TransportOptions;

/// The default UDP port (RFC 6951).
pub const UDP_PORT: u16 = 9899;
/// The default SCTP port on both sides.
pub const SCTP_PORT: u16 = 5000;

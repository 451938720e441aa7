//! Live SRT without a clock, sockets or global randomness.
//!
//! An [`Endpoint`] calls a listener or waits for callers, and sends or receives live media. An endpoint implements
//! handshake version 5 with cookies, encryption with AES-128, AES-192 and AES-256, and retransmission. Payloads are
//! delivered at the sender's time plus a latency, and packets that are too late are dropped. Time is an argument of
//! each call, and randomness comes from [`Seeds`](strandcast_proto::seeds::Seeds). `docs/models/srt.md` lists the
//! features that the crate omits, and its departures from the draft.
//!
//! ```
//! use strandcast_proto::seeds::Seeds;
//! use strandcast_proto::time::Instant;
//! use strandcast_srt::{Config, Direction, Endpoint, Event};
//!
//! let (sender, receiver) = ("192.0.2.1:5000".parse()?, "192.0.2.2:9000".parse()?);
//! let seeds = Seeds::new(1, 0);
//! let mut listener = Endpoint::listen(Config::new(Direction::Receive), &seeds.child("listener"));
//! let config = Config::new(Direction::Send);
//! let mut caller = Endpoint::call(Instant::ZERO, config, receiver, &seeds.child("caller"));
//!
//! let (mut played, mut buf) = (Vec::new(), Vec::new());
//! for ms in 0..1000 {
//!     let now = Instant::from_millis(ms);
//!     while caller.poll_output(now, &mut buf).is_some() {
//!         listener.handle_datagram(now, sender, &buf);
//!     }
//!     while listener.poll_output(now, &mut buf).is_some() {
//!         caller.handle_datagram(now, receiver, &buf);
//!     }
//!     while let Some(event) = caller.poll_event() {
//!         if let Event::Connected { id, .. } = event {
//!             caller.send(now, id, b"a transport packet")?;
//!         }
//!     }
//!     while let Some((_, payload)) = listener.poll_media(now) {
//!         played.push((ms, payload));
//!     }
//! }
//! assert_eq!(played, [(121, b"a transport packet".to_vec())]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

mod config;
mod connection;
mod crypto;
mod endpoint;
mod event;
#[cfg(any(test, feature = "testing"))]
pub mod fuzzing;
mod handshake;
mod refusal;
mod seq;
mod stats;
mod wire;

pub use config::{Bandwidth, Config, ConfigError, Direction, KeySize, MAX_PAYLOAD, Passphrase};
pub use connection::{Ended, SendError};
pub use endpoint::Endpoint;
pub use event::{ConnectionId, Event};
pub use refusal::Refusal;
pub use stats::{EndpointStats, Stats};

//! Multipath SCTP as a state machine without sockets, clock or global randomness. This state machine implements RFC
//! 9260 over UDP (RFC 6951).
//!
//! An [`Endpoint`](endpoint::Endpoint) has all associations on one set of local addresses. A driver has the sockets and
//! the clock, and calls the endpoint. Each call has the time as an argument: an [`Instant`](time::Instant), in
//! nanoseconds since an origin that the driver chooses. Randomness comes from [`Seeds`](seeds::Seeds), which the driver
//! passes once. Equal sequences of calls therefore give equal datagrams.
//!
//! After each call that changes something (`connect`, `send`, `recv`, `handle_input`, `handle_timeout`, ...), a driver
//!
//! 1. calls [`poll_output`](endpoint::Endpoint::poll_output) until it returns `None`, and sends the datagrams that the
//!    call appended to the buffer;
//! 2. calls [`poll_event`](endpoint::Endpoint::poll_event) until it returns `None`. After the event `Readable`, the
//!    driver calls [`recv`](endpoint::Endpoint::recv) until that call returns `None`;
//! 3. sleeps until the time of [`poll_timeout`](endpoint::Endpoint::poll_timeout) or until a datagram arrives, and then
//!    passes the timeout or the datagram to the endpoint.
//!
//! A [`Scheme`](policy::Scheme) decides which path each chunk takes, how windows grow and which chunks are lost. The
//! application creates a scheme for each association. [`rfc::scheme`] is the scheme of plain RFC 9260. The crate
//! `strandcast-schemes` has many others.
//!
//! Example: two endpoints in memory, on a network without delay.
//!
//! ```
//! use std::sync::Arc;
//!
//! use bytes::Bytes;
//! use strandcast_proto::association::{Event, SendOptions};
//! use strandcast_proto::endpoint::{Connect, Endpoint, EndpointConfig, Input};
//! use strandcast_proto::path::FourTuple;
//! use strandcast_proto::policy::LinkId;
//! use strandcast_proto::rfc;
//! use strandcast_proto::seeds::Seeds;
//! use strandcast_proto::time::Instant;
//!
//! let (a, b) = ("10.0.0.1:9899".parse()?, "10.0.0.2:9899".parse()?);
//! let tuples = [FourTuple::new(LinkId(0), a, b), FourTuple::new(LinkId(0), b, a)];
//! let seeds = Seeds::new(1, 0);
//! let server = EndpointConfig { accept: Some(Arc::new(|_| Box::new(rfc::scheme()))), ..EndpointConfig::default() };
//! let mut ends = [
//!     Endpoint::new(EndpointConfig::default(), &seeds.child("client")),
//!     Endpoint::new(server, &seeds.child("server")),
//! ];
//! let mut now = Instant::ZERO;
//! let scheme = Box::new(rfc::scheme());
//! let id = ends[0].connect(now, Connect { paths: vec![(tuples[0], None)], port: 5000, scheme, transport: None })?;
//!
//! let (mut received, mut buf) = (None, Vec::new());
//! while received.is_none() {
//!     let mut quiet = true;
//!     for side in [0, 1] {
//!         while let Some(sent) = ends[side].poll_output(now, &mut buf) {
//!             let (tuple, data) = (tuples[1 - side], Bytes::from(std::mem::take(&mut buf)));
//!             ends[1 - side].handle_input(now, Input::Datagrams { tuple, data, segment_size: sent.segment_size });
//!             quiet = false;
//!         }
//!         while let Some((association, event)) = ends[side].poll_event() {
//!             match event {
//!                 Event::Connected { .. } if side == 0 => {
//!                     ends[0].send(now, id, Bytes::from_static(b"hello"), SendOptions::default())?;
//!                     quiet = false;
//!                 }
//!                 Event::Readable => received = ends[side].recv(association),
//!                 Event::Closed(reason) => return Err(reason.into()),
//!                 _ => {}
//!             }
//!         }
//!     }
//!     // Nothing is under way: the next thing to happen is a timer.
//!     if quiet && received.is_none() {
//!         now = ends.iter().filter_map(Endpoint::poll_timeout).min().ok_or("no timer runs")?;
//!         ends.iter_mut().for_each(|end| end.handle_timeout(now));
//!     }
//! }
//! assert_eq!(received.unwrap().payload, "hello");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Bytes of a peer never cause a panic or an error. Invalid input is dropped and counted
//! ([`Endpoint::dropped`](endpoint::Endpoint::dropped)). A call with invalid arguments returns an error.
//!
//! With the feature `coding`, which is on by default, an association can send erasure-coded symbols. The option is
//! [`TransportConfig::coding`](config::TransportConfig::coding). Without the feature, the crate contains no codec.
#![forbid(unsafe_code)]

pub mod app;
pub mod association;
pub mod coding;
pub mod config;
pub mod endpoint;
mod ledger;
pub mod path;
pub mod policy;
pub mod rfc;
pub mod rx;
pub mod seeds;
pub mod time;
mod tx;
pub mod units;
pub mod wire;
pub mod work;

//! An HTTP API and a page that show live streams, and that change them by request.
//!
//! A program with a [`Server`](crate::live::serve::Server), a [`Sender`](crate::live::Sender) or a
//! [`Receiver`](crate::live::Receiver) starts an [`Api`]. The API listens on a Unix socket and on an address. An
//! address that other machines can reach needs TLS and a token. The API has a separate thread and a separate runtime,
//! so that requests take no time from the thread that carries media.
//!
//! The program shows the state of its streams every second ([`Api::show`]), passes events on ([`Api::events`]), and
//! carries out the changes that requests ask for ([`Api::asked`]):
//!
//! ```no_run
//! use std::sync::Arc;
//! use std::time::{Duration, Instant};
//!
//! use strandcast::live::api::{Access, Api, Shown};
//! use strandcast::live::lines::Lines;
//! use strandcast::live::output::AnyOutput;
//! use strandcast::live::serve::ApiConfig;
//! use strandcast::live::{Event, Receiver, ReceiverConfig, Role};
//! use strandcast::Scheme;
//!
//! # async fn run(output: AnyOutput) -> Result<(), Box<dyn std::error::Error>> {
//! let mut config = ApiConfig::default();
//! config.listen = Some("127.0.0.1:8890".parse()?);
//! let mut api = Api::start(&config, Access::read(&config)?, "studio")?;
//!
//! let mut receiver = ReceiverConfig::new(Scheme::new("strand")?);
//! receiver.watched = true;
//! let receiver = Arc::new(Receiver::start(receiver, output).await?);
//! let (mut lines, events) = (Lines::new(Role::Receive, Instant::now()), api.events());
//! let (mut line, mut second) = (lines.idle(), tokio::time::interval(Duration::from_secs(1)));
//! loop {
//!     tokio::select! {
//!         _ = second.tick() => {
//!             if lines.is_idle() {
//!                 line = lines.idle();
//!             }
//!             let line = line.clone().named("live").value();
//!             api.show(vec![Shown::receiver("live", &receiver, None, &line)], vec![line]);
//!         }
//!         asked = api.asked() => asked.answer.send(Err("this receiver changes nothing".into())),
//!         event = receiver.event() => match event {
//!             Some(Event::Stats(stats)) => line = lines.figures(&stats).unwrap_or(line),
//!             Some(event) => {
//!                 events.send(&lines.event(&event, &event.to_string(), 0).text());
//!                 if let Event::Received(_) = event {
//!                     lines.end();
//!                 }
//!             }
//!             None => return Ok(()),
//!         },
//!     }
//! }
//! # }
//! ```
//!
//! [`Client`] sends requests to an API.

mod access;
mod board;
mod body;
mod changes;
mod client;
mod guard;
mod handle;
mod links;
mod listen;
mod media;
mod offer;
mod openapi;
mod page;
mod patient;
mod pem;
mod request;
mod route;
mod senders;
mod server;
mod session;
mod shown;
mod sls;
mod stream;
mod tls;
mod tokens;

pub use access::Access;
pub use changes::Changed;
pub use client::{Client, ClientError, Response};
pub use offer::{Api, Events};
pub use request::{Answer, Asked, Change, Outcome};
pub use senders::senders_json;
pub use shown::Shown;

/// Returns whether this program contains the page.
pub const fn has_page() -> bool {
    cfg!(page)
}

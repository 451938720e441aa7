//! Live streams: `strandcast send` and `strandcast receive` as objects.
//!
//! A [`Sender`] reads an MPEG transport stream from an [`Input`](input::Input), connects, and connects again after a
//! loss as [`Retry`] permits. A [`Receiver`] plays one sender at a time to an [`Output`](output::Output). It plays each
//! message at its send time plus a latency. Senders and receivers run in a task of the tokio runtime in which they were
//! started. This runtime may have a single thread. Any number of senders and receivers can run in parallel. Dropping
//! one of them ends it. They print nothing and do not read the environment. They report [`Event`]s, which can be
//! written as lines of text, and [`Stats`], which contain the current figures.
//!
//! ```
//! use std::io;
//! use std::sync::{Arc, Mutex};
//!
//! use strandcast::live::output::{Batch, Output};
//! use strandcast::live::{Event, Receiver, ReceiverConfig};
//! use strandcast::Scheme;
//!
//! /// Collects what is played.
//! struct Collect(Arc<Mutex<Vec<u8>>>);
//!
//! impl Output for Collect {
//!     fn name(&self) -> String {
//!         "memory".to_owned()
//!     }
//!
//!     async fn write(&mut self, batch: &Batch) -> io::Result<()> {
//!         self.0.lock().expect("no holder panics").extend_from_slice(batch.bytes());
//!         Ok(())
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let played = Arc::new(Mutex::new(Vec::new()));
//! let mut config = ReceiverConfig::new(Scheme::rfc9260());
//! config.listen = vec!["127.0.0.1:0".parse()?];
//! let receiver = Receiver::start(config, Collect(Arc::clone(&played))).await?;
//! if let Some(Event::Listening { addresses, .. }) = receiver.event().await {
//!     println!("send to {addresses:?}");
//! }
//! drop(receiver);
//! # Ok(())
//! # }
//! ```

mod admission;
#[cfg(feature = "api")]
pub mod api;
mod asking;
mod described;
mod event;
mod feed;
mod idle;
pub mod input;
mod ledger;
pub mod lines;
mod links;
pub mod output;
#[doc(hidden)]
pub mod parts;
mod place;
mod receiver;
pub mod report;
mod retry;
pub(crate) mod seen;
mod sender;
pub mod serve;
mod slate;
#[cfg(feature = "srt")]
mod srt;
mod stats;
mod stop;
mod tap;
mod tariff;
mod url;
mod via;
mod words;

pub use event::Event;
pub use links::PathTrouble;
pub use receiver::{ListenChange, Listening, ReceiveSummary, Receiver, ReceiverConfig};
pub use retry::Retry;
pub use sender::{LinkSetting, SendSummary, Sender, SenderConfig};
pub use slate::Slate;
#[cfg(feature = "srt")]
pub use srt::{SrtMode, SrtUrl};
pub use stats::{
    AdviceNow, BufferNow, BuffersNow, CodingNow, Diagnostic, DropCause, Drops, GivenUpNow, LinkMonitorNow,
    LinkNow, MediaNow, PathNow, Role, Stats, StreamEvent, StreamState, WireNow,
};
pub use tap::Taps;
pub use tariff::LinkTariff;
pub use url::UdpUrl;

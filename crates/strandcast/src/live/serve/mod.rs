//! A server of many streams. It accepts senders on one port. Each sender may send the streams that the configuration
//! allows for its key.
//!
//! A [`Config`] is a file of TOML. A [`Server`] plays each stream to separate outputs, which stay open while the stream
//! has no sender. A stream that fails does not affect others. [`Server::reload`] applies the difference to another
//! configuration. It does not affect streams whose configuration is unchanged.

mod api;
mod command;
mod config;
mod event;
mod file;
mod lasting;
mod place;
mod rights;
mod router;
mod server;
mod stopped;
mod stream;

pub use api::ApiConfig;
pub use command::StreamNow;
pub use config::{Config, StreamConfig};
pub use event::{Changes, Event};
pub use place::Place;
pub use server::Server;

//! The API of a server: HTTP on a Unix socket and on an address. An address that other machines can reach needs TLS.
//!
//! The API has a separate thread and a separate runtime, so that requests take no time from the thread that carries
//! media. The command gives it a [`Snapshot`] each second.

mod access;
mod board;
mod body;
mod guard;
mod handle;
mod links;
mod listen;
mod media;
mod openapi;
mod page;
mod patient;
mod request;
mod route;
mod server;
mod session;
mod sls;
mod stream;
mod tls;
mod tokens;

pub(crate) use access::Access;
pub(crate) use board::{Board, Shown, Snapshot, View};
pub(crate) use request::{Asked, Change, Outcome};
pub(crate) use server::Api;

/// True if this program contains the page.
pub(crate) const HAS_PAGE: bool = cfg!(page);

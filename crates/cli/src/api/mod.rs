//! The API of a server: HTTP on a Unix socket and on an address, with TLS if other machines can reach that.
//!
//! The API has a thread and a runtime of its own: requests take no time of the thread that carries media. The command
//! gives it a [`Snapshot`] each second.

mod board;
mod body;
mod guard;
mod handle;
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

use strandcast::live::serve::ApiConfig;

use crate::error::CliError;

pub(crate) use board::{Board, Snapshot};
pub(crate) use request::{Asked, Change, Outcome};
pub(crate) use server::Api;

/// Checks the files of a configuration: tokens, certificate and key.
///
/// # Errors
/// [`CliError::Usage`]: a line with the file and the remedy.
pub(crate) fn check(config: &ApiConfig) -> Result<(), CliError> {
    tokens::Tokens::read(config)?;
    tls::Tls::read(config).map(drop)
}

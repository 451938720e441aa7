//! The part of a configuration that is about the API of a server. The library only reads it.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use toml::Spanned;

use super::file::{Api, Text};
use crate::error::Error;

/// Places and tokens of an API that a program offers. The library itself has no API.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ApiConfig {
    /// Path of a Unix socket.
    pub socket: Option<PathBuf>,
    /// Address and TCP port of a listener for HTTP.
    pub listen: Option<SocketAddr>,
    /// File of the tokens that may look.
    pub view_tokens: Option<PathBuf>,
    /// File of the tokens that may do everything.
    pub control_tokens: Option<PathBuf>,
}

impl Api {
    /// The configuration that this describes. Relative paths begin at `folder`. `at` is the place of the table.
    ///
    /// # Errors
    /// [`Error::Usage`]: a line with its place and the remedy.
    pub(super) fn read(&self, text: Text<'_>, at: usize, folder: &Path) -> Result<ApiConfig, Error> {
        let listen = self.listen.as_ref().map(|given| listener(text, given)).transpose()?;
        let path = |given: &Option<Spanned<String>>| given.as_ref().map(|path| folder.join(path.get_ref()));
        let socket = path(&self.socket);
        if socket.is_none() && listen.is_none() {
            let why = "[api] has no place: add socket = \"PATH\" or listen = \"127.0.0.1:PORT\" to it";
            return Err(text.wrong(at, why));
        }
        let (view_tokens, control_tokens) = (path(&self.view_tokens), path(&self.control_tokens));
        Ok(ApiConfig { socket, listen, view_tokens, control_tokens })
    }
}

fn listener(text: Text<'_>, given: &Spanned<String>) -> Result<SocketAddr, Error> {
    let (shown, at) = (given.get_ref(), given.span().start);
    let address: SocketAddr = shown.parse().map_err(|_| {
        text.wrong(
            at,
            &format!("{shown} is no address and port: write \"127.0.0.1:8890\", or with another port"),
        )
    })?;
    match address.ip().is_loopback() {
        true => Ok(address),
        false => {
            let why = format!(
                "{address} can be reached from other machines, and HTTP is not encrypted: write \"127.0.0.1:{}\" instead",
                address.port()
            );
            Err(text.wrong(at, &why))
        }
    }
}

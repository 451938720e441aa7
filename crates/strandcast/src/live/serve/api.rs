//! Part of a configuration for the API of a server.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use toml::Spanned;

use super::file::{Api, Text};
use crate::error::Error;

/// Addresses and tokens of an API. The feature `api` serves it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ApiConfig {
    /// Path of a Unix socket.
    pub socket: Option<PathBuf>,
    /// Address and TCP port of a listener for HTTP.
    pub listen: Option<SocketAddr>,
    /// File with the certificate of `listen` and the certificates that lead to its authority, in PEM.
    pub certificate: Option<PathBuf>,
    /// File of the certificate's private key, in PEM.
    pub certificate_key: Option<PathBuf>,
    /// File with the tokens that permit reading.
    pub view_tokens: Option<PathBuf>,
    /// File with the tokens that permit everything.
    pub control_tokens: Option<PathBuf>,
}

impl Api {
    /// Returns the configuration of this table. Relative paths begin at `folder`. `at` is the position of the table.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] with a line that contains its place and the remedy.
    pub(super) fn read(&self, text: Text<'_>, at: usize, folder: &Path) -> Result<ApiConfig, Error> {
        let listen = self.listen.as_ref().map(|given| address(text, given)).transpose()?;
        let path = |given: &Option<Spanned<String>>| given.as_ref().map(|path| folder.join(path.get_ref()));
        let config = ApiConfig {
            socket: path(&self.socket),
            listen,
            certificate: path(&self.certificate),
            certificate_key: path(&self.certificate_key),
            view_tokens: path(&self.view_tokens),
            control_tokens: path(&self.control_tokens),
        };
        if config.socket.is_none() && listen.is_none() {
            let why = "[api] has no place: add socket = \"PATH\" or listen = \"127.0.0.1:PORT\" to it";
            return Err(text.wrong(at, why));
        }
        self.check_certificate(text, &config)?;
        Ok(config)
    }

    /// Checks the requirements of an address. If other machines can reach the address, it needs TLS and a token.
    fn check_certificate(&self, text: Text<'_>, config: &ApiConfig) -> Result<(), Error> {
        let halves = [(&self.certificate, "certificate_key"), (&self.certificate_key, "certificate")];
        for (given, other) in halves.map(|(given, other)| (given.as_ref(), other)) {
            let Some(at) = given.map(|given| given.span().start) else { continue };
            if config.certificate.is_none() || config.certificate_key.is_none() {
                return Err(text.wrong(at, &format!("add {other} = \"FILE\" to [api]")));
            }
            if config.listen.is_none() {
                return Err(text.wrong(at, "it is for listen, which [api] does not have"));
            }
        }
        let (Some(address), Some(given)) = (config.listen, &self.listen) else { return Ok(()) };
        if address.ip().is_loopback() {
            return Ok(());
        }
        let (needs, port) = (format!("{address} can be reached from other machines"), address.port());
        let why = match config {
            ApiConfig { certificate: None, .. } => format!(
                "{needs}, and HTTP is not encrypted: add certificate and certificate_key to [api], or write \"127.0.0.1:{port}\" instead"
            ),
            ApiConfig { view_tokens: None, control_tokens: None, .. } => {
                format!(
                    "{needs}: add view_tokens or control_tokens to [api], or write \"127.0.0.1:{port}\" instead"
                )
            }
            _ => return Ok(()),
        };
        Err(text.wrong(given.span().start, &why))
    }
}

fn address(text: Text<'_>, given: &Spanned<String>) -> Result<SocketAddr, Error> {
    let shown = given.get_ref();
    let why = format!("{shown} is no address and port: write \"127.0.0.1:8890\", or with another port");
    shown.parse().map_err(|_| text.wrong(given.span().start, &why))
}

//! Tokens, certificate and key of an API.

use super::session::hex;
use super::tls::Tls;
use super::tokens::Tokens;
use crate::error::Error;
use crate::live::serve::ApiConfig;

/// The tokens of an API, and the certificate and the private key of its address.
#[derive(Debug)]
pub struct Access {
    pub(super) tokens: Tokens,
    pub(super) tls: Option<Tls>,
}

impl Access {
    /// Reads the files of a configuration: tokens, certificate and key.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] with a line that contains the file and the remedy.
    pub fn read(config: &ApiConfig) -> Result<Access, Error> {
        Ok(Access { tokens: Tokens::read(config)?, tls: Tls::read(config)? })
    }

    /// Makes a new token. Afterwards requests without a token are refused. The token also permits control if `controls`
    /// is true. Returns the token.
    ///
    /// # Errors
    /// Returns [`Error::Network`] if the system gives no random number.
    pub fn drawn(controls: bool) -> Result<(Access, String), Error> {
        let mut secret = [0; 16];
        getrandom::fill(&mut secret)
            .map_err(|error| Error::Network(format!("cannot start the API: {error}")))?;
        let token = hex(&secret);
        Ok((Access { tokens: Tokens::one(&token, controls), tls: None }, token))
    }
}

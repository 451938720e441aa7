//! Tokens, certificate and key of an API.

use strandcast::live::serve::ApiConfig;

use super::session::hex;
use super::tls::Tls;
use super::tokens::Tokens;
use crate::error::CliError;

/// The tokens of an API, and the certificate and the private key of its address.
#[derive(Debug)]
pub(crate) struct Access {
    pub(super) tokens: Tokens,
    pub(super) tls: Option<Tls>,
}

impl Access {
    /// Reads the files of a configuration: tokens, certificate and key.
    ///
    /// # Errors
    /// Returns [`CliError::Usage`] with a line that contains the file and the remedy.
    pub(crate) fn read(config: &ApiConfig) -> Result<Access, CliError> {
        Ok(Access { tokens: Tokens::read(config)?, tls: Tls::read(config)? })
    }

    /// Makes a new token. Afterwards requests without a token are refused. The token also permits control if `controls`
    /// is true. Returns the token.
    ///
    /// # Errors
    /// Returns [`CliError::Network`] if the system gives no random number.
    pub(crate) fn drawn(controls: bool) -> Result<(Access, String), CliError> {
        let mut secret = [0; 16];
        getrandom::fill(&mut secret)
            .map_err(|error| CliError::Network(format!("cannot start the API: {error}")))?;
        let token = hex(&secret);
        Ok((Access { tokens: Tokens::one(&token, controls), tls: None }, token))
    }
}

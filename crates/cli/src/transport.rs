//! Configuration of the transport from the options of the command.

use strandcast::transport::TransportOptions;
use strandcast::{Error, Scheme};
use strandcast_keys::catalog::{Catalog, SchemePlan};
use strandcast_net::driver::OpenError;

use crate::args::TransportArgs;
use crate::error::CliError;

/// Returns the scheme that `--scheme` names.
///
/// # Errors
/// [`CliError::Usage`], with suggestions.
pub(crate) fn scheme(text: &str, catalog: &dyn Catalog) -> Result<Scheme, CliError> {
    let plan = catalog.scheme(text, "").map_err(|e| CliError::Usage(format!("--scheme {text}: {e}")))?;
    let SchemePlan { tune, build } = plan;
    Ok(Scheme::custom(text, move |config| tune(config), build))
}

/// Returns the options that both ends set.
pub(crate) fn options(args: &TransportArgs) -> TransportOptions {
    let mut options = TransportOptions::default();
    (options.sctp_port, options.mtu, options.buffer) = (args.sctp_port, args.mtu, args.buffer.bytes());
    options
}

/// Converts the error of a failed start.
pub(crate) fn open_error(error: &OpenError) -> CliError {
    Error::Network(error.to_string()).into()
}

#[cfg(test)]
mod tests;

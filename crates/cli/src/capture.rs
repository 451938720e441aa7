//! `--pcap`.

use crate::error::CliError;
use strandcast_net::driver::Tap;

/// A capture file that all associations of a command write to; none if none was asked for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Capture;

impl Capture {
    /// As `--pcap` says.
    ///
    /// # Errors
    /// [`CliError::Media`]: the file cannot be made.
    pub(crate) fn open(path: Option<&std::path::Path>) -> Result<Capture, CliError> {
        let _ = path;
        Ok(Capture)
    }

    /// What a driver shows its datagrams to.
    pub(crate) fn tap(&self) -> Option<Tap> {
        None
    }
}

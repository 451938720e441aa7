//! Logs of the keys of connections, with which recorded packets can be decrypted.

use std::fmt;
use std::sync::Arc;

use strandcast_net::driver::KeyLogSink;

/// Receives the lines of all connections' key logs. Anyone who has these lines can read a recorded stream. Clones write
/// to the same log.
#[derive(Clone)]
pub struct KeyLog(Arc<dyn Fn(&str) + Send + Sync>);

impl KeyLog {
    /// Makes a log that calls `line` with each line. The call is made in the loop of a connection, so that `line` must
    /// not wait.
    pub fn new(line: impl Fn(&str) + Send + Sync + 'static) -> KeyLog {
        KeyLog(Arc::new(line))
    }

    /// Returns a sink for the lines of a driver.
    pub(super) fn sink(&self) -> KeyLogSink {
        let line = Arc::clone(&self.0);
        Box::new(move |text| line(text))
    }
}

impl fmt::Debug for KeyLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeyLog")
    }
}

//! RFC 9260's window: `rfc::Aimd` with `rfc::Reno` of the core.

use strandcast_keys::keys;
use strandcast_proto::rfc::{Aimd, Reno, WindowConfig};

use super::TcpConfig;
use super::window::{WindowPart, Windows};

keys! {
    /// RFC 9260's window has no keys of its own.
    pub struct RfcConfig {}
}

impl WindowPart for RfcConfig {
    fn paper(&self) -> &'static str {
        "RFC 9260"
    }

    fn summary(&self) -> &'static str {
        "one MTU more per round trip, half at a loss, counted in bytes; one window per path"
    }

    fn sctp(&self, config: WindowConfig) -> Windows {
        Box::new(Aimd::new(config, Reno))
    }

    fn tcp(&self, _: TcpConfig) -> Result<Windows, &'static str> {
        Err("it is SCTP's window, TCP's is reno")
    }
}

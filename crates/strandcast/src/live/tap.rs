//! Observers of every packet.

use std::fmt;
use std::sync::Arc;

use strandcast_net::driver::PacketTap;

/// Factory of taps, one for each connection. A tap receives every packet before encryption, in the loop of the
/// connection.
#[derive(Clone)]
pub struct Taps(Arc<dyn Fn() -> PacketTap + Send + Sync>);

impl Taps {
    /// Makes a factory from the function `make`.
    pub fn new(make: impl Fn() -> PacketTap + Send + Sync + 'static) -> Taps {
        Taps(Arc::new(make))
    }

    /// Makes another tap.
    pub(crate) fn tap(&self) -> PacketTap {
        (self.0)()
    }
}

impl fmt::Debug for Taps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Taps")
    }
}

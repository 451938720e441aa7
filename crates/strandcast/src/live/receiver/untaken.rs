//! Listener whose driver is not used yet.

use strandcast_net::driver::Listener;

/// Time for which a sender tries to connect.
#[derive(Debug)]
pub(in crate::live) struct Untaken(Option<Listener>);

impl Untaken {
    pub(in crate::live) fn new(listener: Listener) -> Self {
        Untaken(Some(listener))
    }

    /// Takes the listener. The caller must then stop its driver.
    pub(in crate::live) fn take(mut self) -> Listener {
        self.0.take().expect("it is taken once")
    }
}

impl Drop for Untaken {
    fn drop(&mut self) {
        self.0.iter().for_each(|listener| listener.driver().stop());
    }
}

//! The application's side of an endpoint, the same in the simulator and over real sockets.

use core::any::Any;

use crate::association::Event;
use crate::endpoint::{AssociationId, Endpoint};
use crate::time::Instant;

/// What runs on top of an [`Endpoint`], inside the loop that drives it: nothing is waited for, nothing is locked.
///
/// The loop sends what the endpoint has, hands over one event, and so on until there is none; then it polls, and
/// begins again as long as that made the endpoint do something. The application that opened or accepted an association releases it
/// ([`Endpoint::release`]) when its [`Event::Closed`] has come and what was received is read.
pub trait App: Any + Send {
    /// Something happened to an association; what had to be sent before has been sent.
    fn on_event(&mut self, _now: Instant, _endpoint: &mut Endpoint, _id: AssociationId, _event: &Event) {}

    /// Called after every batch of inputs, and when [`App::poll_timeout`] is due.
    fn poll(&mut self, _now: Instant, _endpoint: &mut Endpoint) {}

    /// When to be polled even if nothing happens; must move on with each poll that was due.
    fn poll_timeout(&self) -> Option<Instant> {
        None
    }
}

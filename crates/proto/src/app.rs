//! The application's side of an endpoint. The application is the same in the simulator and over real sockets.

use core::any::Any;

use crate::association::Event;
use crate::endpoint::{AssociationId, Endpoint};
use crate::time::Instant;

/// An application on top of an [`Endpoint`], inside the loop that drives it. An application must not wait and must not
/// lock.
///
/// The loop sends all packets of the endpoint, hands over one event, and repeats this until there are no more events.
/// The loop then polls the application, and starts again as long as the poll made the endpoint do something. The
/// application that opened or accepted an association releases it ([`Endpoint::release`]) after its [`Event::Closed`]
/// has arrived and all received messages are read.
pub trait App: Any + Send {
    /// Handles an event of an association. All packets due before the event have been sent.
    fn on_event(&mut self, _now: Instant, _endpoint: &mut Endpoint, _id: AssociationId, _event: &Event) {}

    /// Called after every batch of inputs, and at the time of [`App::poll_timeout`].
    fn poll(&mut self, _now: Instant, _endpoint: &mut Endpoint) {}

    /// Time of the next poll if nothing else happens. The time must become later, or `None`, with each poll that was
    /// due.
    fn poll_timeout(&self) -> Option<Instant> {
        None
    }
}

//! Interface between an endpoint and its application. It is the same in the simulator and over real sockets.

use core::any::Any;

use crate::association::Event;
use crate::endpoint::{AssociationId, Endpoint};
use crate::time::Instant;

/// An application on top of an [`Endpoint`], inside the loop that drives it. An application must not wait and must not
/// lock.
///
/// The loop sends all packets of the endpoint, passes one event to the application, and repeats this until there are no
/// more events. It then polls the application. If the poll gave the endpoint new output or events, the loop starts
/// again. The application that opened or accepted an association releases it ([`Endpoint::release`]) after its
/// [`Event::Closed`] has arrived and all received messages are read.
pub trait App: Any + Send {
    /// Handles an event of an association. All packets due before the event have been sent.
    fn on_event(&mut self, _now: Instant, _endpoint: &mut Endpoint, _id: AssociationId, _event: &Event) {}

    /// Called after every batch of inputs, and at the time of [`App::poll_timeout`].
    fn poll(&mut self, _now: Instant, _endpoint: &mut Endpoint) {}

    /// Time of the next poll if nothing else happens. After each poll that was due, it must be later than before, or
    /// `None`.
    fn poll_timeout(&self) -> Option<Instant> {
        None
    }
}

//! Interface between an endpoint and its application. The interface is the same in the simulator and over real sockets.

use core::any::Any;

use crate::association::Event;
use crate::endpoint::{AssociationId, Endpoint};
use crate::time::Instant;

/// An application on top of an [`Endpoint`], inside the loop that drives it. An application must not wait and must not
/// lock.
///
/// The loop sends all packets of the endpoint and then passes one event to the application. The loop repeats both steps
/// until there are no more events. The loop then polls the application. If the poll gives the endpoint new output or
/// events, the loop starts again. The application that opened or accepted an association must release the association
/// ([`Endpoint::release`]). The application does so after [`Event::Closed`] has arrived and after it has read all
/// received messages.
pub trait App: Any + Send {
    /// Handles an event of an association. All packets due before the event have been sent.
    fn on_event(&mut self, _now: Instant, _endpoint: &mut Endpoint, _id: AssociationId, _event: &Event) {}

    /// The loop calls this method after every batch of inputs, and at the time of [`App::poll_timeout`].
    fn poll(&mut self, _now: Instant, _endpoint: &mut Endpoint) {}

    /// Time of the next poll if nothing else happens. After a poll at this time, the method must return a later time or
    /// `None`.
    fn poll_timeout(&self) -> Option<Instant> {
        None
    }
}

//! Facts about messages and their packets at the end of the run.

use strandcast_proto::time::Instant;
use strandcast_sim::net::Paths;

use super::{Explainer, Flight, Open};
use crate::result::meter::LossPlace;
use crate::simulation::explain::explanation::{Hold, MessageTrace, Outcome, Transmission};
use crate::simulation::explain::waits::Span;

impl Explainer {
    /// Builds the trace of a message from all recorded data.
    pub(super) fn told(&self, open: Open) -> MessageTrace {
        let mut explanation = open.explanation;
        let flights: Vec<&Flight> = open.packets.iter().map(|id| &self.flights[id]).collect();
        let shares = |a: &Flight, b: &Flight| a.parts.iter().any(|part| b.parts.contains(part));
        explanation.transmissions = flights.iter().map(|flight| self.finished(flight)).collect();
        for (i, flight) in flights.iter().enumerate() {
            let told = &mut explanation.transmissions[i];
            told.nth = 1 + flights[..i].iter().filter(|earlier| shares(earlier, flight)).count() as u32;
            let next = flights[i + 1..].iter().find(|later| shares(later, flight));
            let sent = told.sent;
            told.timeout =
                next.and_then(|next| self.waits.timeout(flight.path, sent, next.transmission.sent));
        }
        explanation
    }

    /// Returns the waits of the sender while one of `messages` waited in its host.
    pub(super) fn holds(&self, messages: &[MessageTrace]) -> Vec<Hold> {
        let from = messages.iter().map(|m| m.created).min().unwrap_or(Instant::MAX);
        let sent = |m: &MessageTrace| m.transmissions.iter().map(|t| t.sent).max();
        let last = messages.iter().map(|m| sent(m).unwrap_or(Instant::MAX)).max();
        let to = last.unwrap_or(Instant::ZERO);
        let name = |paths: Paths| -> Vec<String> {
            paths.iter().map(|path| self.names.path(self.subject.flow, path).to_owned()).collect()
        };
        let spans = self.waits.spans.iter().filter(|span| span.to > from && span.from < to);
        let hold = |span: &Span| Hold {
            by: span.held.by,
            from: span.from,
            to: span.to,
            behind: span.behind,
            full: name(span.held.full),
            open: name(span.held.open),
        };
        spans.map(hold).collect()
    }

    /// Builds the record of a packet at the end of the run. If the end of a packet is unknown, the packet was lost at a
    /// link that went down, is in transit, or was refused.
    fn finished(&self, flight: &Flight) -> Transmission {
        let mut transmission = flight.transmission.clone();
        if transmission.outcome != Outcome::UnderWay {
            return transmission;
        }
        let Some((hop, wire)) = transmission.hops.last().zip(flight.wires.last()) else {
            return transmission;
        };
        transmission.outcome = match hop.arrived {
            Some(at) => Outcome::Refused(at),
            None if wire.is_some_and(|wire| self.names.is_down_after(wire, hop.entered)) => {
                Outcome::Lost(LossPlace::Down)
            }
            None => Outcome::UnderWay,
        };
        transmission
    }
}

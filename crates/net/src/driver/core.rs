//! The endpoint with its seal, its sockets and its link monitor. This is the part of the state of a driver's task that
//! requests from other tasks can change.

use std::task::Context;

use strandcast_proto::association::Event;
use strandcast_proto::endpoint::{AssociationId, Endpoint, Input};
use strandcast_proto::time::Instant;
use strandcast_seal::{PlainAnswers, SealEvent, SealedEndpoint};

use super::interfaces::InterfaceList;
use super::sockets::PathSockets;
use super::waits::Waits;
use crate::monitor::Monitor;

/// Called with each event of the seal.
pub type SealObserver = Box<dyn FnMut(Instant, &SealEvent) + Send>;

/// The endpoint, its sockets and its link monitor.
pub(super) struct Core {
    pub sealed: SealedEndpoint,
    /// Answers of a side without a seal to senders with a seal.
    pub plain: PlainAnswers,
    pub observer: Option<SealObserver>,
    pub sockets: PathSockets,
    pub interfaces: InterfaceList,
    /// Limit on how often links are listed with their reasons: a start time, and the number of lists since that time.
    pub links_listed: (u32, Instant),
    pub links_changed: bool,
    pub monitor: Monitor,
    pub waits: Waits,
    /// Default IP-level MTU of a path.
    pub mtu: u16,
}

impl Core {
    /// The endpoint, with or without a seal.
    pub fn endpoint(&self) -> &Endpoint {
        self.sealed.endpoint()
    }

    /// The endpoint, mutable.
    pub fn endpoint_mut(&mut self) -> &mut Endpoint {
        self.sealed.endpoint_mut()
    }

    /// Passes new counters of the links to the schemes. Returns whether any counters were new.
    pub fn poll_link_monitor(&mut self, cx: &mut Context<'_>, now: Instant) -> bool {
        let Core { sealed, sockets, monitor, .. } = self;
        let heard = monitor.poll(cx, now, |reading| {
            sealed.handle_input(now, Input::Link(reading.sample.clone()));
            sockets.link_metadata.lock().readings.insert(reading.sample.link, reading);
        });
        if heard {
            sockets.link_metadata.lock().monitor = monitor.stats;
        }
        heard
    }

    /// Updates the waiting times of data, so that snapshots contain them.
    pub fn publish_waits(&mut self, now: Instant) {
        let held = self.waits.until(now);
        self.sockets.link_metadata.lock().held = held;
    }

    /// Sends all datagrams that are ready. Returns whether any datagrams were ready.
    pub fn send(&mut self, now: Instant, buffer: &mut Vec<u8>) -> bool {
        let mut any = false;
        while let Some(transmit) = self.sealed.poll_output(now, buffer) {
            any = true;
            if let Err(size) = self.sockets.send(&transmit, buffer) {
                self.sealed.handle_input(now, Input::TooBig { tuple: transmit.tuple, size });
            }
            buffer.clear();
        }
        any
    }

    /// Returns the next event of an association, after all events of the seal.
    pub fn poll_event(&mut self, now: Instant) -> Option<(AssociationId, Event)> {
        while let Some(event) = self.sealed.poll_seal_event() {
            if let Some(observer) = &mut self.observer {
                observer(now, &event);
            }
        }
        self.sealed.poll_event()
    }
}

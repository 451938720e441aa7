//! The endpoint with its seal, sockets and link monitor: the state of a driver's task that commands can change.

use std::task::Context;

use strandcast_proto::association::{AssociationError, Event};
use strandcast_proto::endpoint::{AssociationId, Endpoint, Input};
use strandcast_proto::path::FourTuple;
use strandcast_proto::policy::PathState;
use strandcast_proto::time::Instant;
use strandcast_seal::{PlainAnswers, SealEvent, SealedEndpoint};

use super::sockets::{PathSockets, current_interfaces};
use crate::monitor::Monitor;

/// Called with each event of the seal.
pub type SealObserver = Box<dyn FnMut(Instant, &SealEvent) + Send>;

/// The endpoint, its sockets and its link monitor.
pub(super) struct Core {
    pub sealed: SealedEndpoint,
    /// Answers to sealed senders that find no seal here.
    pub plain: PlainAnswers,
    pub observer: Option<SealObserver>,
    pub sockets: PathSockets,
    pub monitor: Monitor,
    /// Default IP-level MTU of a path.
    pub mtu: u16,
}

impl Core {
    /// The endpoint behind the seal, or without one.
    pub fn endpoint(&self) -> &Endpoint {
        self.sealed.endpoint()
    }

    /// The same, to change.
    pub fn endpoint_mut(&mut self) -> &mut Endpoint {
        self.sealed.endpoint_mut()
    }

    /// Brings the paths in line with the interfaces: closes those whose address has gone, moves those whose address has
    /// changed, and (re)opens those that can be.
    pub fn reconcile_interfaces(&mut self, now: Instant) {
        if self.sockets.iter_mut().all(|slot| slot.uplink.is_none()) {
            return;
        }
        let interfaces = current_interfaces();
        for slot in self.sockets.iter_mut() {
            let Some(owner) = slot.uplink.as_ref().and_then(|(_, owner)| *owner) else { continue };
            let Some(association) = self.sealed.endpoint().association(owner) else { continue };
            let id = slot.id;
            // A socket that cannot be opened now is retried at the next interface poll.
            let _ = slot.refresh(&interfaces);
            let mtu = slot.mtu(self.mtu);
            let open = |p: &&strandcast_proto::policy::PathView| p.link == id && p.state != PathState::Closed;
            let path = association.paths().iter().find(open).map(|p| p.id);
            let at = path.and_then(|p| association.tuple(p));
            let sealed = self.sealed.session(owner);
            let tuple = slot.tuple().map(|tuple| FourTuple { sealed, ..tuple });
            // A change that the peer refuses is retried at the next interface poll.
            let _: Result<(), AssociationError> = match (path, tuple) {
                (Some(path), Some(tuple)) if at != Some(tuple) => {
                    self.sealed.move_path(now, owner, path, tuple)
                }
                (Some(path), None) => self.sealed.endpoint_mut().with(owner, |a| a.remove_path(now, path)),
                (None, Some(tuple)) => self.sealed.add_path(now, owner, tuple, mtu).map(|_| ()),
                _ => Ok(()),
            };
            if let (Some(tuple), Some(mtu)) = (tuple, slot.mtu_limit()) {
                self.sealed.handle_input(now, Input::Mtu { tuple, mtu });
            }
        }
        let all: Vec<_> = self.sockets.iter().map(|slot| (slot.id, slot.interface(&interfaces))).collect();
        self.monitor.watch(&all);
    }

    /// Passes the links' new counters to the schemes; whether there were any.
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

    /// Sends all pending datagrams; whether there were any.
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

    /// The next event of an association, after those of the seal.
    pub fn poll_event(&mut self, now: Instant) -> Option<(AssociationId, Event)> {
        while let Some(event) = self.sealed.poll_seal_event() {
            if let Some(observer) = &mut self.observer {
                observer(now, &event);
            }
        }
        self.sealed.poll_event()
    }
}

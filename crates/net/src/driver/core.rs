//! The endpoint with its sockets and link monitor: the state of a driver's task that commands can change.

use std::task::Context;

use strandcast_proto::endpoint::{Endpoint, Input};
use strandcast_proto::policy::PathState;
use strandcast_proto::time::Instant;

use super::sockets::{PathSockets, current_interfaces};
use crate::monitor::Monitor;

/// The endpoint, its sockets and its link monitor.
pub(super) struct Core {
    pub endpoint: Endpoint,
    pub sockets: PathSockets,
    pub monitor: Monitor,
    /// Default IP-level MTU of a path.
    pub mtu: u16,
}

impl Core {
    /// Brings the paths in line with the interfaces: closes those whose address has gone, moves those whose address has
    /// changed, and (re)opens those that can be.
    pub fn reconcile_interfaces(&mut self, now: Instant) {
        if self.sockets.iter_mut().all(|slot| slot.uplink.is_none()) {
            return;
        }
        let interfaces = current_interfaces();
        for slot in self.sockets.iter_mut() {
            let Some(owner) = slot.uplink.as_ref().and_then(|(_, owner)| *owner) else { continue };
            let Some(association) = self.endpoint.association(owner) else { continue };
            let id = slot.id;
            // A socket that cannot be opened now is retried at the next interface poll.
            let _ = slot.refresh(&interfaces);
            let mtu = slot.mtu(self.mtu);
            let open = |p: &&strandcast_proto::policy::PathView| p.link == id && p.state != PathState::Closed;
            let path = association.paths().iter().find(open).map(|p| p.id);
            let at = path.and_then(|p| association.tuple(p));
            // A change that the peer refuses is retried at the next interface poll.
            let _ = match (path, slot.tuple()) {
                (Some(path), Some(tuple)) if at != Some(tuple) => {
                    self.endpoint.with(owner, |a| a.move_path(now, path, tuple))
                }
                (Some(path), None) => self.endpoint.with(owner, |a| a.remove_path(now, path)),
                (None, Some(tuple)) => self.endpoint.add_path(now, owner, tuple, mtu).map(|_| ()),
                _ => Ok(()),
            };
            if let (Some(tuple), Some(mtu)) = (slot.tuple(), slot.mtu_limit()) {
                self.endpoint.handle_input(now, Input::Mtu { tuple, mtu });
            }
        }
        let all: Vec<_> = self.sockets.iter().map(|slot| (slot.id, slot.interface(&interfaces))).collect();
        self.monitor.watch(&all);
    }

    /// Passes the links' new counters to the schemes; whether there were any.
    pub fn poll_link_monitor(&mut self, cx: &mut Context<'_>, now: Instant) -> bool {
        let Core { endpoint, sockets, monitor, .. } = self;
        let heard = monitor.poll(cx, now, |reading| {
            endpoint.handle_input(now, Input::Link(reading.sample.clone()));
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
        while let Some(transmit) = self.endpoint.poll_output(now, buffer) {
            any = true;
            if let Err(size) = self.sockets.send(now, &transmit, buffer) {
                self.endpoint.handle_input(now, Input::TooBig { tuple: transmit.tuple, size });
            }
            buffer.clear();
        }
        any
    }
}

//! The endpoint with its links: what a driver's task turns, and what commands from elsewhere change.

use std::task::Context;

use strandcast_proto::endpoint::{Endpoint, Input};
use strandcast_proto::path::FourTuple;
use strandcast_proto::policy::PathState;
use strandcast_proto::time::Instant;

use super::links::{Links, look};
use crate::monitor::Monitor;

/// The endpoint and what it needs to reach the world.
pub(super) struct Core {
    pub endpoint: Endpoint,
    pub links: Links,
    pub monitor: Monitor,
    /// IP-level MTU of paths that nothing else is known of.
    pub mtu: u16,
}

impl Core {
    /// Closes paths whose address is gone, moves those whose address has changed, opens those that can be (again).
    pub fn look_after_links(&mut self, now: Instant) {
        if self.links.iter_mut().all(|link| link.uplink.is_none()) {
            return;
        }
        let interfaces = look();
        for link in self.links.iter_mut() {
            let Some(owner) = link.uplink.as_ref().and_then(|(_, owner)| *owner) else { continue };
            let Some(association) = self.endpoint.association(owner) else { continue };
            let id = link.id;
            // A socket that can't be opened now is tried again with the next look.
            let _ = link.refresh(&interfaces);
            let mtu = link.mtu(self.mtu);
            let open = |p: &&strandcast_proto::policy::PathView| p.link == id && p.state != PathState::Closed;
            let path = association.paths().iter().find(open).map(|p| p.id);
            let at = path.and_then(|p| association.tuple(p));
            // What a peer that can't follow refuses stays as it is and is tried again with the next look.
            let _ = match (path, link.tuple()) {
                (Some(path), Some(tuple)) if at != Some(tuple) => {
                    self.endpoint.with(owner, |a| a.move_path(now, path, tuple))
                }
                (Some(path), None) => self.endpoint.with(owner, |a| a.remove_path(now, path)),
                (None, Some(tuple)) => self.endpoint.add_path(now, owner, tuple, mtu).map(|_| ()),
                _ => Ok(()),
            };
            if let (Some(tuple), Some(mtu)) = (link.tuple(), mtu) {
                self.endpoint.handle_input(now, Input::Mtu { tuple, mtu });
            }
        }
        let all: Vec<_> = self.links.iter().map(|link| (link.id, link.interface(&interfaces))).collect();
        self.monitor.watch(&all);
    }

    /// Lets schemes hear what links count; whether there was anything.
    pub fn listen_to_links(&mut self, cx: &mut Context<'_>, now: Instant) -> bool {
        let Core { endpoint, links, monitor, .. } = self;
        let heard = monitor.poll(cx, now, |reading| {
            endpoint.handle_input(now, Input::Link(reading.sample.clone()));
            links.notes.lock().readings.insert(reading.sample.link, reading);
        });
        if heard {
            links.notes.lock().monitor = monitor.stats;
        }
        heard
    }

    /// Sends all there is; whether there was anything.
    pub fn send(&mut self, now: Instant, buffer: &mut Vec<u8>) -> bool {
        let mut any = false;
        while let Some(transmit) = self.endpoint.poll_output(now, buffer) {
            any = true;
            let tuple: FourTuple = transmit.tuple;
            if let Err(size) = self.links.send(now, &tuple, transmit.segment_size, buffer) {
                self.endpoint.handle_input(now, Input::TooBig { tuple, size });
            }
            buffer.clear();
        }
        any
    }
}

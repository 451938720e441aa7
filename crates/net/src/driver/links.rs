//! The links of a client: the interfaces that match its requests. Interfaces may appear, disappear and be renamed at
//! any time.

use strandcast_proto::endpoint::AssociationId;
use strandcast_proto::policy::LinkId;

use super::snapshot::LinkSnapshot;
use super::sockets::{PathSockets, UplinkState, Wish};
use super::uplink::Uplink;
use crate::interface::{Interface, PathError, Routes};

/// Maximum number of links. If there are more, links without an interface are removed, the oldest link first. A modem
/// usually returns under its old name, but a tunnel may get a new name each time.
const MOST: usize = 32;

impl PathSockets {
    /// Adds a request for an uplink. If the request names an address, its link is added as well.
    pub fn add_uplink(&mut self, uplink: Uplink, owner: Option<AssociationId>) {
        let (wish, follows) = (self.wishes.len(), uplink.spec.follows_interfaces());
        let connected = owner.is_some();
        self.wishes.push(Wish { uplink: uplink.clone(), owner, connected });
        if !follows {
            self.add_link(wish, uplink, None);
        }
    }

    fn add_link(&mut self, wish: usize, uplink: Uplink, index: Option<u32>) {
        let id = LinkId(self.next);
        let Wish { owner, connected, .. } = self.wishes[wish];
        self.link_metadata.lock().names.insert(id, uplink.name.clone());
        let (chosen, bad_since, present) = (None, None, true);
        self.uplinks.push(UplinkState {
            id,
            uplink,
            wish,
            index,
            present,
            owner,
            connected,
            chosen,
            bad_since,
        });
        self.next += 1;
    }

    /// Updates the links to match the interfaces. A link keeps its interface even if the interface is renamed. If the
    /// interface has disappeared, the link gets the next interface with the same name. Returns the new links.
    pub fn follow(&mut self, interfaces: &[Interface], routes: &mut Routes) -> Vec<LinkId> {
        let first = self.next;
        for link in self.uplinks.iter_mut().filter(|link| link.index.is_some()) {
            let there = interfaces.iter().find(|i| i.index == link.index);
            link.present = there.is_some();
            if let Some(there) = there.filter(|i| i.name != link.uplink.name) {
                link.uplink = link.uplink.on(there);
                self.link_metadata.lock().names.insert(link.id, there.name.clone());
            }
        }
        // An uplink that names the interface has precedence over an uplink with a pattern.
        let (patterns, names): (Vec<usize>, Vec<usize>) =
            (0..self.wishes.len()).partition(|wish| self.wishes[*wish].uplink.spec.is_pattern());
        for wish in names.into_iter().chain(patterns) {
            let uplink = self.wishes[wish].uplink.clone();
            let pattern = uplink.spec.is_pattern();
            let fit = interfaces.iter().filter(|i| uplink.spec.follows_interfaces() && uplink.spec.names(i));
            for interface in fit {
                let takes = |link: &UplinkState| link.present && link.index == interface.index;
                if self.uplinks.iter().any(|link| takes(link) && (pattern || link.wish == wish)) {
                    continue;
                }
                let gone = |link: &&mut UplinkState| {
                    link.wish == wish && !link.present && link.uplink.name == interface.name
                };
                if let Some(link) = self.uplinks.iter_mut().find(gone) {
                    (link.index, link.present) = (interface.index, true);
                } else if !pattern || !uplink.on(interface).candidates(interfaces, routes).is_empty() {
                    self.add_link(wish, uplink.on(interface), interface.index);
                }
            }
        }
        self.forget_old();
        (first..self.next).map(LinkId).collect()
    }

    /// Removes the oldest links without an interface if there are too many.
    fn forget_old(&mut self) {
        while self.uplinks.len() > MOST {
            let old = self.uplinks.iter().position(|link| !link.present && !self.is_used(link.id));
            let Some(old) = old else { return };
            let link = self.uplinks.remove(old);
            self.drop_slots(link.id);
            self.link_metadata.lock().names.remove(&link.id);
        }
    }

    /// Removes an uplink and closes its sockets. If a pattern had created the uplink, its interface does not get
    /// another uplink.
    pub fn forget(&mut self, id: LinkId) {
        self.drop_slots(id);
        let Some(at) = self.uplinks.iter().position(|link| link.id == id) else { return };
        let wish = self.uplinks[at].wish;
        if self.wishes[wish].uplink.spec.is_pattern() {
            self.uplinks[at].owner = None;
        } else {
            // The numbers of the other requests do not change.
            self.wishes[wish].uplink.spec.interface = None;
            self.uplinks.remove(at);
        }
    }

    /// Returns all links, and all interfaces that were requested. If one cannot be used now, the result has the reason.
    pub fn link_snapshots(&self, interfaces: &[Interface], routes: &mut Routes) -> Vec<LinkSnapshot> {
        let mut all: Vec<LinkSnapshot> = Vec::new();
        for link in &self.uplinks {
            let why = match link.present {
                true => link.uplink.hindrance(interfaces, routes),
                false => Some(PathError::NoInterface(link.uplink.name.clone())),
            };
            all.push(snapshot(&link.uplink, Some(link.id), why));
        }
        for (number, wish) in self.wishes.iter().map(|wish| &wish.uplink).enumerate() {
            if !wish.spec.follows_interfaces() {
                continue;
            }
            if wish.spec.is_pattern() {
                all.extend(self.left_out(wish, interfaces, routes));
            } else if !self.uplinks.iter().any(|link| link.wish == number) {
                let why = Some(PathError::NoInterface(wish.name.clone()));
                all.push(snapshot(wish, None, why));
            }
        }
        all
    }

    /// Returns the interfaces that match a pattern and may lead to other machines, but have no route to the peer.
    fn left_out(&self, wish: &Uplink, interfaces: &[Interface], routes: &mut Routes) -> Vec<LinkSnapshot> {
        let taken = |i: &Interface| self.uplinks.iter().any(|link| link.present && link.index == i.index);
        let fit = interfaces.iter().filter(|i| i.may_lead_out() && wish.spec.names(i) && !taken(i));
        let left_out = fit.filter_map(|i| {
            let uplink = wish.on(i);
            let why = uplink.hindrance(interfaces, routes)?;
            Some(snapshot(&uplink, None, Some(why)))
        });
        left_out.collect()
    }
}

fn snapshot(uplink: &Uplink, id: Option<LinkId>, why: Option<PathError>) -> LinkSnapshot {
    let Uplink { name, spec, remotes } = uplink.clone();
    LinkSnapshot { id, name, interface: spec.interface, remotes, why }
}

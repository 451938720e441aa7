//! The links of a client: the interfaces that match its requests. Interfaces may appear, disappear and be renamed at
//! any time.

use strandcast_proto::endpoint::AssociationId;
use strandcast_proto::policy::LinkId;

use super::snapshot::LinkSnapshot;
use super::sockets::{PathSockets, UplinkState, Wish};
use super::uplink::Uplink;
use crate::interface::{Hardware, Interface, PathError, Routes};

/// If there are more links than this, links without an interface are removed, the oldest first. A modem returns with its
/// old hardware or its old name, but a tunnel may get a new name each time.
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

    fn add_link(&mut self, wish: usize, uplink: Uplink, interface: Option<&Interface>) {
        let index = interface.and_then(|i| i.index);
        let hardware = interface.map(|i| i.hardware.clone()).unwrap_or_default();
        let id = LinkId(self.next);
        let Wish { owner, connected, .. } = self.wishes[wish];
        self.link_metadata.lock().names.insert(id, uplink.name.clone());
        let (chosen, bad_since, present) = (None, None, true);
        self.uplinks.push(UplinkState {
            id,
            uplink,
            wish,
            index,
            hardware,
            present,
            owner,
            connected,
            chosen,
            bad_since,
        });
        self.next += 1;
    }

    /// Updates the links to match the interfaces. A link keeps its interface even if the interface is renamed. If the
    /// interface has disappeared, the link gets the next interface with the same hardware, or with the same name.
    /// Returns the new links.
    pub fn follow(&mut self, interfaces: &[Interface], routes: &mut Routes) -> Vec<LinkId> {
        let first = self.next;
        for link in self.uplinks.iter_mut().filter(|link| link.index.is_some()) {
            let there = interfaces.iter().find(|i| i.index == link.index);
            link.present = there.is_some();
            // The kernel may not have answered.
            if let Some(there) = there.filter(|i| i.hardware != Hardware::default()) {
                link.hardware.clone_from(&there.hardware);
            }
        }
        let before: Vec<String> = self.uplinks.iter().map(|link| link.uplink.name.clone()).collect();
        self.reunite(interfaces);
        self.rename(interfaces, &before);
        // An uplink that names the interface has precedence over an uplink with a pattern.
        let (patterns, names): (Vec<usize>, Vec<usize>) =
            (0..self.wishes.len()).partition(|wish| self.wishes[*wish].uplink.spec.is_pattern());
        for wish in names.into_iter().chain(patterns) {
            let uplink = self.wishes[wish].uplink.clone();
            let pattern = uplink.spec.is_pattern();
            let fit = interfaces.iter().filter(|i| uplink.spec.follows_interfaces() && uplink.spec.names(i));
            for interface in fit {
                if self.uplinks.iter().any(|link| self.serves(link, wish, interface)) {
                    continue;
                }
                let gone = |link: &&mut UplinkState| {
                    link.wish == wish && !link.present && link.uplink.name == interface.name
                };
                if let Some(link) = self.uplinks.iter_mut().find(gone) {
                    (link.index, link.present) = (interface.index, true);
                    link.hardware.clone_from(&interface.hardware);
                } else if !pattern || !uplink.on(interface).candidates(interfaces, routes).is_empty() {
                    self.add_link(wish, uplink.on(interface), Some(interface));
                }
            }
        }
        self.forget_old();
        (first..self.next).map(LinkId).collect()
    }

    /// Returns whether a link uses an interface, so that a request that fits the interface needs no other link. The link
    /// of another name serves it too: the interface had that name before.
    fn serves(&self, link: &UplinkState, wish: usize, interface: &Interface) -> bool {
        let (mine, its) = (&self.wishes[wish], &self.wishes[link.wish]);
        let pattern = |wish: &Wish| wish.uplink.spec.is_pattern();
        let renamed = !pattern(its) && its.owner == mine.owner && !its.uplink.spec.names(interface);
        link.present && link.index == interface.index && (pattern(mine) || link.wish == wish || renamed)
    }

    /// Returns interfaces to the links that had their hardware before it disappeared.
    fn reunite(&mut self, interfaces: &[Interface]) {
        for interface in interfaces {
            let here = |link: &UplinkState| link.present && link.index == interface.index;
            if self.uplinks.iter().any(here) {
                continue;
            }
            if let Some(at) = self.previous(interface, interfaces) {
                let link = &mut self.uplinks[at];
                (link.index, link.present) = (interface.index, true);
                link.hardware.clone_from(&interface.hardware);
            }
        }
    }

    /// The link without an interface that had the hardware of `interface`.
    fn previous(&self, interface: &Interface, interfaces: &[Interface]) -> Option<usize> {
        let hardware = &interface.hardware;
        let gone = |at: &usize| !self.uplinks[*at].present && self.uplinks[*at].index.is_some();
        let all = || (0..self.uplinks.len()).filter(gone);
        let in_port = |at: &usize| self.uplinks[*at].hardware.same_port(hardware);
        let named = |at: &usize| self.uplinks[*at].uplink.name == interface.name;
        let by_port = all().find(|at| in_port(at) && named(at)).or_else(|| all().find(in_port));
        let alone = || hardware.proven(interfaces).mac.is_some();
        let by_mac = || {
            let mut same = all().filter(|at| self.uplinks[*at].hardware.same_mac(hardware));
            same.next().filter(|_| same.next().is_none() && alone())
        };
        by_port.or_else(by_mac)
    }

    /// Names the links after their interfaces, where these have other names than before. The costs of a link follow its
    /// name. The name of a link without an interface gets its hardware added
    /// if another link now has this name.
    fn rename(&mut self, interfaces: &[Interface], before: &[String]) {
        for link in self.uplinks.iter_mut().filter(|link| link.present) {
            let there = interfaces.iter().find(|i| link.index.is_some() && i.index == link.index);
            if let Some(there) = there.filter(|i| i.name != link.uplink.name) {
                link.uplink = link.uplink.on(there);
            }
        }
        let used =
            |links: &[UplinkState], name: &str| links.iter().any(|l| l.present && l.uplink.name == name);
        for at in 0..self.uplinks.len() {
            let link = &self.uplinks[at];
            if link.index.is_some() && !link.present && used(&self.uplinks, &link.uplink.name) {
                let hardware = link.hardware.name().unwrap_or_else(|| format!("link {}", link.id.0));
                self.uplinks[at].uplink.name = format!("{} ({hardware})", link.uplink.name);
            }
        }
        let new = |name: &str| {
            let at = before.iter().position(|old| old == name)?;
            Some(self.uplinks[at].uplink.name.clone())
        };
        self.tariffs.iter_mut().for_each(|(name, _)| *name = new(name).unwrap_or_else(|| name.clone()));
        let mut metadata = self.link_metadata.lock();
        for link in &self.uplinks {
            if metadata.names.get(&link.id) != Some(&link.uplink.name) {
                metadata.names.insert(link.id, link.uplink.name.clone());
            }
        }
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
            let hardware = link.hardware.proven(interfaces);
            all.push(LinkSnapshot { hardware, ..snapshot(&link.uplink, Some(link.id), why) });
        }
        for (number, wish) in self.wishes.iter().map(|wish| &wish.uplink).enumerate() {
            if !wish.spec.follows_interfaces() {
                continue;
            }
            if wish.spec.is_pattern() {
                all.extend(self.left_out(wish, interfaces, routes));
            } else if !self.uplinks.iter().any(|link| link.wish == number || link.uplink.name == wish.name) {
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
    let hardware = Hardware::default();
    LinkSnapshot { id, name, interface: spec.interface, hardware, allowance_used: 0, remotes, why }
}

#[cfg(test)]
mod tests;

//! The paths of a session: their numbers, and where each of them is.

use strandcast_proto::path::{FourTuple, MAX_PATHS};
use strandcast_proto::seeds::Random;
use strandcast_proto::time::Instant;

use crate::keys::PATHS;
use crate::number::PacketNumber;
use crate::peer_address::PeerAddress;

/// So many numbers of [`PATHS`] were given that a new handshake is due.
const NUMBERS_SCARCE: u32 = 24;

/// Where one path is.
#[derive(Debug)]
pub(crate) struct Route {
    /// What the initiator calls the path.
    pub number: u8,
    /// Where packets go.
    pub addr: PeerAddress,
    /// Where its latest datagram came from, if that is elsewhere: packets go there once a challenge was answered there.
    pub candidate: Option<Box<PeerAddress>>,
    /// The highest number that came on it under the current keys.
    highest: Option<PacketNumber>,
    /// When it was used last: by the side that gives numbers to send, by the other one to receive.
    used: Instant,
}

impl Route {
    fn new(now: Instant, number: u8, addr: PeerAddress) -> Self {
        Route { number, addr, candidate: None, highest: None, used: now }
    }

    /// Takes note of an authentic datagram under the current keys. `fixed`: both ends of the path are as the initiator has
    /// them, and it does not follow its peer to another address (RFC 9000 §9).
    pub fn on_received(
        &mut self,
        now: Instant,
        number: PacketNumber,
        from: &FourTuple,
        len: usize,
        fixed: bool,
        random: &mut Random,
    ) {
        let newest = self.highest < Some(number);
        if newest {
            self.highest = Some(number);
        }
        if self.addr.tuple == *from {
            self.addr.earn(len);
            if newest {
                self.candidate = None;
            }
            return;
        }
        if let Some(candidate) = self.candidate.as_mut().filter(|c| c.tuple == *from) {
            return candidate.earn(len);
        }
        if !newest || fixed {
            return;
        }
        let mut candidate = PeerAddress::claimed(now, *from, random);
        candidate.earn(len);
        self.candidate = Some(Box::new(candidate));
    }

    /// Whether an address is to be proven.
    pub fn asks(&self) -> bool {
        self.candidate.is_some() || !self.addr.is_proven()
    }

    /// When its next challenge is due.
    fn deadline(&self) -> Option<Instant> {
        let candidate = self.candidate.as_ref().and_then(|c| c.deadline());
        self.addr.deadline().into_iter().chain(candidate).min()
    }
}

/// The paths of a session, at most as many as an association has.
#[derive(Debug, Default)]
pub(crate) struct Routes {
    routes: Vec<Route>,
    /// The number given last, and those given since the handshake: none is given twice.
    last: Option<u8>,
    given: u32,
}

impl Routes {
    pub fn iter(&self) -> impl Iterator<Item = &Route> {
        self.routes.iter()
    }

    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Route> {
        self.routes.iter_mut()
    }

    pub fn by_number(&mut self, number: u8) -> Option<&mut Route> {
        self.routes.iter_mut().find(|r| r.number == number)
    }

    /// The path that packets for `tuple` belong to.
    pub fn by_tuple(&mut self, tuple: &FourTuple) -> Option<&mut Route> {
        self.routes.iter_mut().find(|r| r.addr.tuple == *tuple)
    }

    /// The path that packets for `tuple` belong to, which gets the next number if there is none yet: the initiator's way.
    /// `None`: no number is left until the next handshake.
    pub fn of_initiator(&mut self, now: Instant, tuple: &FourTuple) -> Option<&mut Route> {
        let known = self.routes.iter().position(|r| r.addr.tuple == *tuple);
        let at = match known {
            Some(at) => at,
            None => {
                let number = self.next_number()?;
                self.insert(Route::new(now, number, PeerAddress::proven(*tuple)))
            }
        };
        let route = self.routes.get_mut(at)?;
        route.used = now;
        Some(route)
    }

    /// The path of an authentic datagram, which came from `tuple`; the responder learns it from the first one. A path at
    /// that address goes on under the new number.
    pub fn of_responder(
        &mut self,
        now: Instant,
        number: u8,
        addr: impl FnOnce() -> PeerAddress,
    ) -> Option<&mut Route> {
        let known = self.routes.iter().position(|r| r.number == number);
        let at = match known {
            Some(at) => at,
            None => {
                let mut new = Route::new(now, number, addr());
                match self.routes.iter().position(|r| r.addr.tuple == new.addr.tuple) {
                    Some(same) => {
                        if self.routes[same].addr.is_proven() {
                            new.addr.prove();
                        }
                        self.routes[same] = new;
                        same
                    }
                    None => self.insert(new),
                }
            }
        };
        let route = self.routes.get_mut(at)?;
        route.used = now;
        Some(route)
    }

    /// Makes room for a path, at the cost of the one that was not used for longest. Its place in the list.
    fn insert(&mut self, route: Route) -> usize {
        if self.routes.len() < MAX_PATHS {
            // Most sessions have few paths and last.
            self.routes.reserve_exact(1);
            self.routes.push(route);
            return self.routes.len() - 1;
        }
        let oldest = (0..self.routes.len()).min_by_key(|i| self.routes[*i].used).unwrap_or_default();
        self.routes[oldest] = route;
        oldest
    }

    /// The next number that was not given since the handshake, in a circle: one that was in use comes last.
    fn next_number(&mut self) -> Option<u8> {
        let after = self.last.map_or(0, |last| last + 1);
        let number = (0..PATHS).map(|step| (after + step) % PATHS).find(|n| self.given & 1 << n == 0)?;
        self.given |= 1 << number;
        self.last = Some(number);
        Some(number)
    }

    /// Whether few numbers are left: a new handshake brings more.
    pub fn are_scarce(&self) -> bool {
        self.given.count_ones() >= NUMBERS_SCARCE
    }

    /// There are new keys: packet numbers begin again, and each path keeps its own number.
    pub fn rekeyed(&mut self) {
        self.given = self.routes.iter().fold(0, |given, r| given | 1 << r.number);
        self.routes.iter_mut().for_each(|r| r.highest = None);
    }

    /// This side's own address of a path changed. Whether there was such a path.
    pub fn retarget(&mut self, from: &FourTuple, to: FourTuple) -> bool {
        let Some(route) = self.by_tuple(from) else { return false };
        route.addr = PeerAddress::proven(to);
        route.candidate = None;
        true
    }

    /// A challenge was answered from `from` on a path: `true` and where the path was, if it moves there; a path that was
    /// there is at its former address then, where it has to prove itself.
    pub fn answered(
        &mut self,
        now: Instant,
        number: u8,
        from: &FourTuple,
        nonce: &[u8; 8],
        random: &mut Random,
    ) -> Option<FourTuple> {
        let at = self.routes.iter().position(|r| r.number == number)?;
        let route = &mut self.routes[at];
        if route.addr.is_answer(from, nonce) {
            route.addr.prove();
            return None;
        }
        let mut candidate = route.candidate.take_if(|c| c.is_answer(from, nonce))?;
        candidate.prove();
        let left = core::mem::replace(&mut route.addr, *candidate).tuple;
        let displaced = (0..self.routes.len()).find(|i| *i != at && self.routes[*i].addr.tuple == *from);
        if let Some(displaced) = displaced.map(|i| &mut self.routes[i]) {
            displaced.addr = PeerAddress::claimed(now, left, random);
            displaced.candidate = None;
        }
        Some(left)
    }

    /// When the next challenge is due.
    pub fn deadline(&self) -> Option<Instant> {
        self.routes.iter().filter_map(Route::deadline).min()
    }
}

#[cfg(test)]
mod tests {
    use strandcast_proto::seeds::Seeds;

    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::from_millis(ms)
    }

    fn tuple(remote: u16) -> FourTuple {
        FourTuple::loopback(1, remote)
    }

    #[test]
    fn no_number_is_given_twice_within_a_handshake_and_each_path_keeps_its_own() {
        let mut routes = Routes::default();
        let mut given = Vec::new();
        for n in 0..32 {
            given.push(routes.of_initiator(at(n), &tuple(n as u16 + 1)).expect("a number").number);
            assert_eq!(routes.are_scarce(), n >= 23);
        }
        assert_eq!(given, (0..32).collect::<Vec<u8>>());
        assert!(routes.of_initiator(at(40), &tuple(99)).is_none(), "until the next handshake");
        // The sixteen used last are 16 to 31: the others are free.
        routes.rekeyed();
        assert!(!routes.are_scarce());
        assert_eq!(routes.of_initiator(at(41), &tuple(32)).map(|r| r.number), Some(31));
        let next = (0..16)
            .map(|n| routes.of_initiator(at(50 + n), &tuple(100 + n as u16)).expect("a number").number);
        assert_eq!(next.collect::<Vec<u8>>(), (0..16).collect::<Vec<u8>>());
        assert_eq!(routes.iter().count(), MAX_PATHS);
    }

    /// Two paths whose addresses a NAT exchanged: the one that proves its new address first leaves the other one the old.
    #[test]
    fn a_path_that_moves_to_anothers_address_exchanges_it() {
        let mut random = Seeds::new(1, 0).stream("routes");
        let mut routes = Routes::default();
        for (number, remote) in [(0, 10), (1, 11)] {
            routes.of_responder(at(0), number, || PeerAddress::proven(tuple(remote)));
        }
        let packet = |n| PacketNumber::reconstruct(n, None).expect("a number");
        let route = routes.by_number(0).expect("it is there");
        route.on_received(at(5), packet(7), &tuple(11), 100, false, &mut random);
        let Some(crate::control::Control::Challenge(nonce)) =
            route.candidate.as_mut().and_then(|c| c.challenge(at(5)))
        else {
            panic!("a challenge")
        };
        assert_eq!(routes.answered(at(6), 0, &tuple(10), &nonce, &mut random), None, "from the old addr");
        assert_eq!(routes.answered(at(6), 1, &tuple(11), &nonce, &mut random), None, "on another path");
        assert_eq!(routes.answered(at(6), 0, &tuple(11), &nonce, &mut random), Some(tuple(10)));
        let addrs: Vec<_> = routes.iter().map(|r| (r.number, r.addr.tuple, r.addr.is_proven())).collect();
        assert_eq!(addrs, [(0, tuple(11), true), (1, tuple(10), false)]);
    }

    /// What came before the highest number says nothing of where a path is.
    #[test]
    fn a_late_datagram_from_elsewhere_moves_nothing() {
        let mut random = Seeds::new(1, 0).stream("routes");
        let mut routes = Routes::default();
        let route = routes.of_responder(at(0), 0, || PeerAddress::proven(tuple(10))).expect("new");
        let packet = |n| PacketNumber::reconstruct(n, None).expect("a number");
        route.on_received(at(1), packet(9), &tuple(10), 100, false, &mut random);
        route.on_received(at(2), packet(8), &tuple(20), 100, false, &mut random);
        assert!(!route.asks());
        route.on_received(at(3), packet(10), &tuple(20), 100, false, &mut random);
        assert!(route.asks());
        // The peer is where it was: a copy came first.
        route.on_received(at(4), packet(11), &tuple(10), 100, false, &mut random);
        assert!(!route.asks());
    }
}

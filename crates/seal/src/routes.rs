//! The paths of a session: their numbers and addresses.

use strandcast_proto::path::{FourTuple, MAX_PATHS};
use strandcast_proto::seeds::Random;
use strandcast_proto::time::Instant;

use crate::keys::PATHS;
use crate::number::PacketNumber;
use crate::peer_address::PeerAddress;

/// When this many of the [`PATHS`] path numbers are assigned, a new handshake is due.
const NUMBERS_SCARCE: u32 = 24;

/// Number and addresses of one path.
#[derive(Debug)]
pub(crate) struct Route {
    /// Path number, assigned by the initiator.
    pub number: u8,
    /// Destination of packets.
    pub addr: PeerAddress,
    /// The source address of the latest datagram, if it is not the destination. After a challenge was answered from
    /// there, packets are sent there.
    pub candidate: Option<Box<PeerAddress>>,
    /// Highest number received on the path under the current keys.
    highest: Option<PacketNumber>,
    /// Time of the last use. For the side that assigns numbers, that is the last time of sending; for the other side,
    /// the last time of receiving.
    used: Instant,
}

impl Route {
    fn new(now: Instant, number: u8, addr: PeerAddress) -> Self {
        Route { number, addr, candidate: None, highest: None, used: now }
    }

    /// Records an authentic datagram under the current keys. If `fixed` is true, this side is the initiator. It decides
    /// both ends of the path, and does not follow its peer to another address (RFC 9000 §9).
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

    /// Returns whether an address must still be proven.
    pub fn asks(&self) -> bool {
        self.candidate.is_some() || !self.addr.is_proven()
    }

    /// Time of the next challenge.
    fn deadline(&self) -> Option<Instant> {
        let candidate = self.candidate.as_ref().and_then(|c| c.deadline());
        self.addr.deadline().into_iter().chain(candidate).min()
    }
}

/// The paths of a session. There are at most as many as an association may have.
#[derive(Debug, Default)]
pub(crate) struct Routes {
    routes: Vec<Route>,
    /// The number assigned last, and all numbers assigned since the handshake. No number is assigned twice.
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

    /// Returns the path of packets for `tuple`.
    pub fn by_tuple(&mut self, tuple: &FourTuple) -> Option<&mut Route> {
        self.routes.iter_mut().find(|r| r.addr.tuple == *tuple)
    }

    /// Returns the initiator's path for packets to `tuple`. A new path gets the next number. Returns `None` if no
    /// number is left before the next handshake.
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

    /// Returns the responder's path for an authentic datagram from `tuple`. The first datagram of a path creates it. If
    /// there is already a path at that address, it continues with the new number.
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

    /// Adds a path and returns its position in the list. If the list is full, the path that has been unused for the
    /// longest time is dropped.
    fn insert(&mut self, route: Route) -> usize {
        if self.routes.len() < MAX_PATHS {
            // Most sessions are long and have few paths.
            self.routes.reserve_exact(1);
            self.routes.push(route);
            return self.routes.len() - 1;
        }
        let oldest = (0..self.routes.len()).min_by_key(|i| self.routes[*i].used).unwrap_or_default();
        self.routes[oldest] = route;
        oldest
    }

    /// The next number that was not assigned since the handshake. The search goes upward and continues at 0 after the
    /// last number.
    fn next_number(&mut self) -> Option<u8> {
        let after = self.last.map_or(0, |last| last + 1);
        let number = (0..PATHS).map(|step| (after + step) % PATHS).find(|n| self.given & 1 << n == 0)?;
        self.given |= 1 << number;
        self.last = Some(number);
        Some(number)
    }

    /// Returns whether only few numbers are left, so that a new handshake is due.
    pub fn are_scarce(&self) -> bool {
        self.given.count_ones() >= NUMBERS_SCARCE
    }

    /// Prepares for new keys. Packet numbers start again, and each path keeps its path number.
    pub fn rekeyed(&mut self) {
        self.given = self.routes.iter().fold(0, |given, r| given | 1 << r.number);
        self.routes.iter_mut().for_each(|r| r.highest = None);
    }

    /// Changes this side's address of a path. Returns whether the path exists.
    pub fn retarget(&mut self, from: &FourTuple, to: FourTuple) -> bool {
        let Some(route) = self.by_tuple(from) else { return false };
        route.addr = PeerAddress::proven(to);
        route.candidate = None;
        true
    }

    /// Handles the answer to a challenge of a path. The answer came from `from`. If the path moves to that address,
    /// returns the path's previous address. If another path was at `from`, that path gets the previous address, where
    /// it is not proven.
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

    /// Time of the next challenge.
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
        // The sixteen paths used last are 16 to 31: the other numbers are free.
        routes.rekeyed();
        assert!(!routes.are_scarce());
        assert_eq!(routes.of_initiator(at(41), &tuple(32)).map(|r| r.number), Some(31));
        let next = (0..16)
            .map(|n| routes.of_initiator(at(50 + n), &tuple(100 + n as u16)).expect("a number").number);
        assert_eq!(next.collect::<Vec<u8>>(), (0..16).collect::<Vec<u8>>());
        assert_eq!(routes.iter().count(), MAX_PATHS);
    }

    /// A NAT exchanged the addresses of two paths: the first to prove its new address leaves its old one to
    /// the other.
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

    /// A datagram older than the highest number does not show where a path is.
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
        // The peer has not moved: a copy arrived first.
        route.on_received(at(4), packet(11), &tuple(10), 100, false, &mut random);
        assert!(!route.asks());
    }
}

//! The paths of a session: their path numbers and addresses.

use strandcast_proto::path::{FourTuple, MAX_PATHS};
use strandcast_proto::seeds::Random;
use strandcast_proto::time::Instant;

use crate::keys::PATHS;
use crate::number::PacketNumber;
use crate::peer_address::PeerAddress;

/// Number of assigned path numbers, of [`PATHS`] in total, at which a new handshake is due.
const NUMBERS_SCARCE: u32 = 24;

/// Number and addresses of one path.
#[derive(Debug)]
pub(crate) struct Route {
    /// Path number, assigned by the initiator.
    pub number: u8,
    /// Address to which packets are sent.
    pub addr: PeerAddress,
    /// Source address of the latest datagram, if it differs from the destination. Once the peer answers a challenge
    /// from there, packets are sent to this address.
    pub candidate: Option<Box<PeerAddress>>,
    /// Highest packet number received on the path under the current keys.
    highest: Option<PacketNumber>,
    /// Time at which the path was last used. For the side that assigns path numbers, sending is use; for the other
    /// side, receiving is.
    used: Instant,
}

impl Route {
    fn new(now: Instant, number: u8, addr: PeerAddress) -> Self {
        Route { number, addr, candidate: None, highest: None, used: now }
    }

    /// Records an authentic datagram under the current keys. `fixed` is true at the initiator. The initiator chooses
    /// both addresses of the path, and does not follow its peer to another address (RFC 9000 §9).
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

    /// Returns whether an address of the path must still be proven.
    pub fn asks(&self) -> bool {
        self.candidate.is_some() || !self.addr.is_proven()
    }

    /// Returns the time of the next challenge.
    fn deadline(&self) -> Option<Instant> {
        let candidate = self.candidate.as_ref().and_then(|c| c.deadline());
        self.addr.deadline().into_iter().chain(candidate).min()
    }
}

/// The paths of a session. The number of a session's paths is at most the maximum number of an association's paths.
#[derive(Debug, Default)]
pub(crate) struct Routes {
    routes: Vec<Route>,
    /// The last assigned path number, and all numbers assigned since the handshake. No path number is assigned twice.
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

    /// Returns the path that packets for `tuple` take.
    pub fn by_tuple(&mut self, tuple: &FourTuple) -> Option<&mut Route> {
        self.routes.iter_mut().find(|r| r.addr.tuple == *tuple)
    }

    /// Returns the path that the initiator's packets to `tuple` take. A new path gets the next path number. Returns
    /// `None` if no path number is left before the next handshake.
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

    /// Returns the responder's path for an authentic datagram from `tuple`. The first datagram of a path creates the
    /// path. If there is already a path with that address, the path gets the new path number.
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

    /// Adds a path to the list. Returns its position. If the list is full, the path that has been unused for the
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

    /// Returns the next path number that was not assigned since the handshake. The search goes upward, and continues at
    /// 0 after the last number.
    fn next_number(&mut self) -> Option<u8> {
        let after = self.last.map_or(0, |last| last + 1);
        let number = (0..PATHS).map(|step| (after + step) % PATHS).find(|n| self.given & 1 << n == 0)?;
        self.given |= 1 << number;
        self.last = Some(number);
        Some(number)
    }

    /// Returns whether few path numbers are left and a new handshake is therefore due.
    pub fn are_scarce(&self) -> bool {
        self.given.count_ones() >= NUMBERS_SCARCE
    }

    /// Prepares the paths for new keys. Packet numbers start again. Each path keeps its path number.
    pub fn rekeyed(&mut self) {
        self.given = self.routes.iter().fold(0, |given, r| given | 1 << r.number);
        self.routes.iter_mut().for_each(|r| r.highest = None);
    }

    /// Changes the local address of a path. Returns whether the path exists.
    pub fn retarget(&mut self, from: &FourTuple, to: FourTuple) -> bool {
        let Some(route) = self.by_tuple(from) else { return false };
        route.addr = PeerAddress::proven(to);
        route.candidate = None;
        true
    }

    /// Handles the peer's answer to a challenge of a path. The answer came from the address `from`. If the path moves
    /// to this address, returns the path's previous address. If another path was at `from`, it gets the previous
    /// address, which is not proven for it.
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

    /// Returns the time of the next challenge.
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

    /// A NAT exchanged the addresses of two paths. The path that proves its new address first leaves its old address to
    /// the other path.
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

    /// A datagram with a number below the highest one does not show where a path is.
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

//! Arrivals by each path, with times of this side's clock, for a peer that requested them. The REPORT items are ARRIVED
//! REQUEST and ARRIVED (docs/wire-format.md).

use smallvec::SmallVec;

use crate::time::Instant;
use crate::wire::chunk::report::{ArrivedBy, MAX_RETURN_PATHS, decode_return_paths};
use crate::wire::serial::Tsn;

/// Arrivals by one path since the peer requested reports.
#[derive(Copy, Clone, Debug)]
pub(crate) struct ArrivedHere {
    /// Highest TSN of the last packet with DATA, and the time at which that packet arrived.
    tsn: Tsn,
    at: Instant,
    packets: u32,
    bytes: u32,
}

impl ArrivedHere {
    /// Counts a packet of `bytes` bytes whose highest TSN is `tsn`. Earlier packets are counted in `before`.
    pub fn count(before: Option<ArrivedHere>, now: Instant, tsn: Tsn, bytes: u64) -> Self {
        let (packets, sum) = before.map_or((0, 0), |b| (b.packets, b.bytes));
        ArrivedHere { tsn, at: now, packets: packets.wrapping_add(1), bytes: sum.wrapping_add(bytes as u32) }
    }

    /// Returns the item of ARRIVED about `path` at `now`.
    pub fn say(&self, path: u16, now: Instant) -> ArrivedBy {
        let age = u32::try_from(micros(now) - micros(self.at)).unwrap_or(u32::MAX);
        ArrivedBy { path, tsn: self.tsn, age, packets: self.packets, bytes: self.bytes }
    }
}

/// Returns the time of the clock of ARRIVED: microseconds since the driver's origin, rounded down. An age subtracted
/// from it gives a time of arrival.
pub(crate) fn micros(now: Instant) -> u64 {
    now.as_nanos() / 1000
}

/// Request of the peer for reports of arrivals.
#[derive(Debug, Default)]
pub(crate) struct ArrivedRequest {
    /// Serial of the current request; `None` if there was no request.
    serial: Option<u32>,
    /// Wire ids of the return paths over which SACKs alternate.
    return_paths: SmallVec<[u16; MAX_RETURN_PATHS]>,
}

impl ArrivedRequest {
    /// Adopts a request of the peer, unless a newer one arrived before. Returns false if the request is malformed.
    pub fn ask(&mut self, serial: u32, payload: &[u8]) -> bool {
        let Some(return_paths) = decode_return_paths(payload) else { return false };
        if self.serial.is_none_or(|last| serial.wrapping_sub(last) < 1 << 31) {
            (self.serial, self.return_paths) = (Some(serial), return_paths);
        }
        true
    }

    /// Returns whether the peer requests reports.
    pub fn asked(&self) -> bool {
        self.serial.is_some()
    }

    /// Returns the wire ids of the return paths over which SACKs alternate.
    pub fn return_paths(&self) -> &[u16] {
        &self.return_paths
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Duration;

    #[test]
    fn packets_count_and_ages_add_up_to_the_clock() {
        let at = Instant::from_nanos(1_000_999);
        let first = ArrivedHere::count(None, at, Tsn(9), 100);
        let here = ArrivedHere::count(Some(first), at, Tsn(4), 1400);
        let now = at + Duration::from_nanos(2_001);
        let said = here.say(3, now);
        assert_eq!(said, ArrivedBy { path: 3, tsn: Tsn(4), age: 3, packets: 2, bytes: 1500 });
        assert_eq!(micros(now) - u64::from(said.age), micros(at));
        let much_later = at + Duration::from_secs(2 * 4295);
        assert_eq!(here.say(3, much_later).age, u32::MAX);
    }

    #[test]
    fn the_newest_request_counts_and_nonsense_does_not() {
        let mut request = ArrivedRequest::default();
        assert!(!request.ask(5, &[1]) && !request.asked());
        assert!(request.ask(u32::MAX, &[]) && request.asked() && request.return_paths().is_empty());
        assert!(request.ask(1, &[0, 1, 0x80, 0]));
        assert!(request.ask(0, &[0, 7]), "late, but no nonsense");
        assert_eq!(request.return_paths(), [1, 0x8000]);
    }
}

//! Needless transmissions: another transmission of their chunk also arrived.
//!
//! If a chunk was sent n times, up to n − 1 transmissions are needless:
//! - all transmissions but one that are in flight when the chunk is acknowledged, because only the first arrival was
//!   needed;
//! - retransmissions, if the earlier transmissions that seemed lost arrived as well. The peer reports a TSN that
//!   arrived again as a duplicate (RFC 9260 §3.3.4). The report comes with the acknowledgement of the chunk or after
//!   it.

use std::collections::VecDeque;

use crate::policy::{ChunkInfo, Transmission};
use crate::wire::serial::Tsn;

/// Number of acknowledged chunks that are recorded. Only chunks that were sent several times are recorded.
const REMEMBERED: usize = 256;

/// Number of needless transmissions of one chunk.
#[derive(Copy, Clone, Default, Debug)]
pub(crate) struct Needless {
    /// Number of transmissions in flight when the chunk was acknowledged, minus the one that was needed.
    beside: u8,
    /// Number of reports by the peer that the chunk is a duplicate.
    duplicates: u8,
}

impl Needless {
    /// Records the acknowledgement of the chunk. The chunk was sent `sent` times, and `in_flight` of these
    /// transmissions are in flight. Returns the number of transmissions that are now known to be needless. A chunk may
    /// be acknowledged again after the peer seemed to renege.
    pub fn acknowledged(&mut self, sent: usize, in_flight: usize) -> u64 {
        let known = self.known(sent);
        let beside = u8::try_from(in_flight.saturating_sub(1)).unwrap_or(u8::MAX);
        self.beside = self.beside.max(beside);
        self.known(sent) - known
    }

    /// Records a report by the peer that a chunk is a duplicate. The chunk was sent `sent` times. Returns the number of
    /// transmissions that are now known to be needless.
    pub fn duplicate(&mut self, sent: usize) -> u64 {
        let known = self.known(sent);
        self.duplicates = self.duplicates.saturating_add(1);
        self.known(sent) - known
    }

    fn known(self, sent: usize) -> u64 {
        u64::from(self.beside).max(u64::from(self.duplicates).min(sent.saturating_sub(1) as u64))
    }
}

/// Returns the first transmission of a chunk that was sent again because this transmission seemed lost. A report that
/// the chunk is a duplicate then shows that both transmissions arrived.
pub(crate) fn sent_again(chunk: &ChunkInfo) -> Option<Transmission> {
    let [first, second] = &chunk.transmissions[..] else { return None };
    (first.lost.is_some() && second.at > first.at).then_some(*first)
}

/// An acknowledged chunk of which further transmissions may turn out to be needless.
#[derive(Copy, Clone, Debug)]
struct Past {
    tsn: Tsn,
    bytes: u64,
    sent: usize,
    needless: Needless,
    again: Option<Transmission>,
}

/// The most recent acknowledged chunks of this kind, in the order of TSNs.
#[derive(Debug, Default)]
pub(crate) struct PastChunks(VecDeque<Past>);

impl PastChunks {
    /// Records the acknowledged chunk `tsn` of `bytes` bytes, because it is removed from the retransmission queue. The
    /// chunk was sent `sent` times.
    pub fn keep(
        &mut self,
        tsn: Tsn,
        bytes: usize,
        sent: usize,
        needless: Needless,
        again: Option<Transmission>,
    ) {
        if sent < 2 || needless.known(sent) + 1 >= sent as u64 {
            return;
        }
        if self.0.len() == REMEMBERED {
            self.0.pop_front();
        }
        self.0.push_back(Past { tsn, bytes: bytes as u64, sent, needless, again });
    }

    /// Handles a report by the peer that `tsn`, which was already removed from the queue, is a duplicate. Returns the
    /// number of bytes that are now known to be needless. Also returns the first transmission, if the chunk was
    /// retransmitted because this transmission seemed lost.
    pub fn duplicate(&mut self, tsn: Tsn) -> (u64, Option<Transmission>) {
        let at = self.0.partition_point(|past| past.tsn.is_before(tsn));
        let past = self.0.get_mut(at).filter(|past| past.tsn == tsn);
        past.map_or((0, None), |past| (past.needless.duplicate(past.sent) * past.bytes, past.again))
    }

    /// Releases all memory.
    pub fn clear(&mut self) {
        self.0 = VecDeque::new();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A chunk has a copy on each of three paths, and two of them arrive: the report of a duplicate adds no
    /// information.
    #[test]
    fn copies_are_counted_once() {
        let mut chunk = Needless::default();
        assert_eq!((chunk.acknowledged(3, 3), chunk.duplicate(3), chunk.duplicate(3)), (2, 0, 0));
    }

    /// The transmission that seemed lost arrived. Further duplicates, made by the network, add nothing.
    #[test]
    fn a_retransmission_is_needless_if_what_seemed_lost_arrived() {
        let mut chunk = Needless::default();
        assert_eq!((chunk.acknowledged(2, 1), chunk.duplicate(2), chunk.duplicate(2)), (0, 1, 0));
        assert_eq!(Needless::default().duplicate(1), 0, "it was sent once");
        assert_eq!((chunk.acknowledged(3, 2), chunk.acknowledged(4, 1)), (0, 0), "the peer seemed to renege");
    }

    /// The duplicate may be reported with the acknowledgement or before the acknowledgement.
    #[test]
    fn the_order_of_reports_makes_no_difference() {
        let mut chunk = Needless::default();
        assert_eq!((chunk.duplicate(3), chunk.acknowledged(3, 2), chunk.duplicate(3)), (1, 0, 1));
    }
}

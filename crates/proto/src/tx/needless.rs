//! Transmissions of chunks that also arrived otherwise.
//!
//! Of a chunk that was sent n times, n − 1 transmissions can be needless. Those are:
//! - when it is acknowledged, all in flight but one: whichever arrived first, the others were not needed;
//! - those that were sent since earlier ones seemed lost, if these arrived after all: the peer then reports the TSN as a duplicate
//!   (RFC 9260 §3.3.4), at once or after the chunk was acknowledged.

use std::collections::VecDeque;

use crate::policy::{ChunkInfo, Transmission};
use crate::wire::serial::Tsn;

/// Acknowledged chunks that are remembered, of those that were sent several times.
const REMEMBERED: usize = 256;

/// What is known of the transmissions of one chunk.
#[derive(Copy, Clone, Default, Debug)]
pub(crate) struct Needless {
    /// In flight beside the one that was needed, when the chunk was acknowledged.
    beside: u8,
    /// Times that the peer reported it as a duplicate.
    duplicates: u8,
}

impl Needless {
    /// The chunk, which was sent `sent` times, is acknowledged while `in_flight` transmissions are under way; how many of them
    /// turn out to be needless. It may be acknowledged again, if the peer seemed to renege.
    pub fn acknowledged(&mut self, sent: usize, in_flight: usize) -> u64 {
        let known = self.known(sent);
        let beside = u8::try_from(in_flight.saturating_sub(1)).unwrap_or(u8::MAX);
        self.beside = self.beside.max(beside);
        self.known(sent) - known
    }

    /// The peer reports a duplicate of a chunk that was sent `sent` times; how many turn out to be needless.
    pub fn duplicate(&mut self, sent: usize) -> u64 {
        let known = self.known(sent);
        self.duplicates = self.duplicates.saturating_add(1);
        self.known(sent) - known
    }

    fn known(self, sent: usize) -> u64 {
        u64::from(self.beside).max(u64::from(self.duplicates).min(sent.saturating_sub(1) as u64))
    }
}

/// The first transmission of a chunk that was sent twice, the second time since the first seemed lost. A duplicate of it shows that
/// both arrived.
pub(crate) fn sent_again(chunk: &ChunkInfo) -> Option<Transmission> {
    let [first, second] = &chunk.transmissions[..] else { return None };
    (first.lost.is_some() && second.at > first.at).then_some(*first)
}

/// An acknowledged chunk of which transmissions may turn out to be needless.
#[derive(Copy, Clone, Debug)]
struct Past {
    tsn: Tsn,
    bytes: u64,
    sent: usize,
    needless: Needless,
    again: Option<Transmission>,
}

/// The last of them, in the order of TSNs.
#[derive(Debug, Default)]
pub(crate) struct PastChunks(VecDeque<Past>);

impl PastChunks {
    /// The chunk `tsn` of `bytes` leaves the queue, acknowledged. It was sent `sent` times.
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

    /// The peer reports a duplicate of `tsn`, which left the queue; the bytes that turn out to be needless, and its first
    /// transmission, if it was sent again since that seemed lost.
    pub fn duplicate(&mut self, tsn: Tsn) -> (u64, Option<Transmission>) {
        let at = self.0.partition_point(|past| past.tsn.is_before(tsn));
        let past = self.0.get_mut(at).filter(|past| past.tsn == tsn);
        past.map_or((0, None), |past| (past.needless.duplicate(past.sent) * past.bytes, past.again))
    }

    /// Gives memory back.
    pub fn clear(&mut self) {
        self.0 = VecDeque::new();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A copy on each of three paths, two of which arrive: the duplicate says nothing new.
    #[test]
    fn copies_are_counted_once() {
        let mut chunk = Needless::default();
        assert_eq!((chunk.acknowledged(3, 3), chunk.duplicate(3), chunk.duplicate(3)), (2, 0, 0));
    }

    /// What seemed lost arrived after all; a network that duplicates packets adds nothing.
    #[test]
    fn a_retransmission_is_needless_if_what_seemed_lost_arrived() {
        let mut chunk = Needless::default();
        assert_eq!((chunk.acknowledged(2, 1), chunk.duplicate(2), chunk.duplicate(2)), (0, 1, 0));
        assert_eq!(Needless::default().duplicate(1), 0, "it was sent once");
        assert_eq!((chunk.acknowledged(3, 2), chunk.acknowledged(4, 1)), (0, 0), "the peer seemed to renege");
    }

    /// The duplicate may be reported with the acknowledgement or before it.
    #[test]
    fn the_order_of_reports_makes_no_difference() {
        let mut chunk = Needless::default();
        assert_eq!((chunk.duplicate(3), chunk.acknowledged(3, 2), chunk.duplicate(3)), (1, 0, 1));
    }
}

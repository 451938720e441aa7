//! Transmissions in flight on each path, with their times.

use std::collections::VecDeque;

use strandcast_proto::policy::{ChunkInfo, PathId, Transmission};
use strandcast_proto::time::Instant;
use strandcast_proto::wire::Tsn;

/// Transmissions of chunks, by path, in the order in which they left.
#[derive(Clone, Debug, Default)]
pub(super) struct Flights {
    /// Flights by path slot. A completed entry remains until all earlier entries are complete.
    paths: Vec<VecDeque<Flight>>,
}

/// One transmission.
#[derive(Copy, Clone, Debug)]
struct Flight {
    at: Instant,
    tsn: Tsn,
    under_way: bool,
}

impl Flights {
    /// Records that `chunk` left on the path of its last transmission.
    pub fn sent(&mut self, chunk: &ChunkInfo) {
        let Some(t) = chunk.transmissions.last() else { return };
        if self.paths.len() <= t.path.index() {
            self.paths.resize_with(t.path.index() + 1, VecDeque::new);
        }
        let path = &mut self.paths[t.path.index()];
        // Times never go back in an association. This check keeps the list sorted in any case.
        if path.back().is_none_or(|last| last.at <= t.at) {
            path.push_back(Flight { at: t.at, tsn: chunk.tsn, under_way: true });
        }
    }

    /// Removes the transmissions of `chunk` that are no longer in flight. Returns whether any transmission was removed.
    pub fn settle(&mut self, chunk: &ChunkInfo) -> bool {
        let mut any = false;
        for t in chunk.transmissions.iter().filter(|t| !t.in_flight) {
            any |= self.take(chunk.tsn, t);
        }
        any
    }

    /// Removes all transmissions of `chunk`.
    pub fn forget(&mut self, chunk: &ChunkInfo) {
        for t in &chunk.transmissions {
            self.take(chunk.tsn, t);
        }
    }

    /// Removes the transmissions on `path`, because the path is no longer used.
    pub fn close(&mut self, path: PathId) {
        if let Some(path) = self.paths.get_mut(path.index()) {
            path.clear();
        }
    }

    fn take(&mut self, tsn: Tsn, t: &Transmission) -> bool {
        let Some(path) = self.paths.get_mut(t.path.index()) else { return false };
        let from = path.partition_point(|flight| flight.at < t.at);
        let mut same = path.range_mut(from..).take_while(|flight| flight.at == t.at);
        let found = same.find(|flight| flight.tsn == tsn && flight.under_way);
        let any = found.map(|flight| flight.under_way = false).is_some();
        while path.front().is_some_and(|flight| !flight.under_way) {
            path.pop_front();
        }
        any
    }

    /// Returns place and departure time of the oldest transmission in flight on `path` at or after `place`. Place 0 is
    /// the first transmission.
    pub fn from(&self, path: PathId, place: usize) -> Option<(usize, Instant)> {
        let path = self.paths.get(path.index())?;
        let later = path.range(place.min(path.len())..).enumerate();
        later.into_iter().find(|(_, flight)| flight.under_way).map(|(i, flight)| (place + i, flight.at))
    }
}

#[cfg(test)]
mod tests {
    use strandcast_proto::policy::fixture::chunk;

    use super::*;

    fn left(tsn: u32, path: u8, ms: u64) -> ChunkInfo {
        let mut chunk = chunk(tsn, &[path]);
        chunk.transmissions[0].at = Instant::from_millis(ms);
        chunk
    }

    fn over(mut chunk: ChunkInfo) -> ChunkInfo {
        chunk.transmissions.iter_mut().for_each(|t| t.in_flight = false);
        chunk
    }

    fn times(flights: &Flights, path: u8) -> Vec<u64> {
        let next = |place: &usize| flights.from(PathId(path), *place);
        let all = core::iter::successors(next(&0), |(place, _)| next(&(place + 1)));
        all.map(|(_, t)| t.as_nanos() / 1_000_000).collect()
    }

    #[test]
    fn the_oldest_under_way_come_first() {
        let mut flights = Flights::default();
        for (tsn, ms) in [(1, 10), (2, 10), (3, 20), (4, 30)] {
            flights.sent(&left(tsn, 1, ms));
        }
        assert!(!flights.settle(&left(3, 1, 20)), "it is still in flight");
        assert!(flights.settle(&over(left(3, 1, 20))));
        assert_eq!(times(&flights, 1), [10, 10, 30]);
        assert!(flights.settle(&over(left(1, 1, 10))) && flights.settle(&over(left(2, 1, 10))));
        assert_eq!((times(&flights, 1), times(&flights, 0)), (vec![30], vec![]));
        assert!(!flights.settle(&over(left(2, 1, 10))), "twice");
        flights.forget(&left(4, 1, 30));
        assert!(times(&flights, 1).is_empty());
    }

    #[test]
    fn a_chunk_sent_again_is_the_later_transmission() {
        let mut flights = Flights::default();
        let mut again = over(left(7, 0, 10));
        flights.sent(&left(7, 0, 10));
        assert!(flights.settle(&again));
        again.transmissions.push(left(7, 2, 90).transmissions[0]);
        flights.sent(&again);
        assert!(!flights.settle(&again));
        assert_eq!((times(&flights, 0), times(&flights, 2)), (vec![], vec![90]));
        flights.close(PathId(2));
        assert!(times(&flights, 2).is_empty());
    }
}

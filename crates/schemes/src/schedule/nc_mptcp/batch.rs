//! Originals of a batch: the originals in flight, and the number that each path has carried.

use smallvec::SmallVec;
use strandcast_proto::policy::{ChunkInfo, PathId};
use strandcast_proto::time::Instant;

use super::Expected;

/// A batch of originals.
#[derive(Clone, Debug, Default)]
pub(super) struct Batch {
    /// Originals in flight.
    in_flight: SmallVec<[Original; 16]>,
    /// Number of symbols sent for the first time, by path slot.
    carried: SmallVec<[u32; 4]>,
}

/// An original in flight.
#[derive(Copy, Clone, PartialEq, Debug)]
struct Original {
    place: u16,
    path: PathId,
    at: Instant,
}

impl Batch {
    /// Records that `chunk` left. It is the original at `place`.
    pub fn sent(&mut self, place: u16, chunk: &ChunkInfo) {
        let Some(t) = chunk.transmissions.last() else { return };
        self.in_flight.push(Original { place, path: t.path, at: t.at });
        if chunk.sent_once() {
            if self.carried.len() <= t.path.index() {
                self.carried.resize(t.path.index() + 1, 0);
            }
            self.carried[t.path.index()] += 1;
        }
    }

    /// Records that some transmissions of `chunk` have ended. It is the original at `place`.
    pub fn settle(&mut self, place: u16, chunk: &ChunkInfo) {
        for t in chunk.transmissions.iter().filter(|t| !t.in_flight) {
            let over = Original { place, path: t.path, at: t.at };
            self.in_flight.retain(|original| *original != over);
        }
    }

    /// Drops the original at `place`, because it was abandoned.
    pub fn forget(&mut self, place: u16) {
        self.in_flight.retain(|original| original.place != place);
    }

    /// Expected number Σ (1 - p) of originals in flight that will have arrived at the time `now` plus `edt` seconds.
    pub fn due(&self, now: Instant, edt: f64, all: &Expected) -> f64 {
        let arrives = |original: &Original| {
            let (_, of) = all.iter().find(|(path, _)| *path == original.path)?;
            let age = now.saturating_since(original.at).as_secs_f64();
            (of.edt <= age + edt).then_some(1.0 - of.loss)
        };
        self.in_flight.iter().filter_map(arrives).sum()
    }

    /// ρ: number of coded packets on a path with the loss share `loss`. They replace the expected number of lost
    /// originals, and one standard deviation more.
    pub fn redundancy(&self, loss: f64, all: &Expected) -> f64 {
        let (mut mean, mut variance) = (0.0, 0.0);
        for (path, of) in all {
            let carried = f64::from(self.carried.get(path.index()).copied().unwrap_or(0));
            mean += carried * of.loss;
            variance += carried * of.loss * (1.0 - of.loss);
        }
        ((mean + variance.sqrt()) / (1.0 - loss)).ceil()
    }
}

//! Comparison of the verdicts of senders on paths with the behaviour of the links. The simulator can compare them
//! because it has access to both ends.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use strandcast_proto::association::{Association, Event, PathChange};
use strandcast_proto::policy::PathState;
use strandcast_proto::time::{Duration, Instant};

/// Time at which the peer's last packet arrived on each path. Both hosts of a flow share this record.
#[derive(Clone, Debug)]
pub struct ArrivalTimes(Arc<[AtomicU64]>);

impl ArrivalTimes {
    /// Creates the record for a flow with `paths` paths.
    pub fn new(paths: usize) -> Self {
        ArrivalTimes((0..paths).map(|_| AtomicU64::new(0)).collect())
    }

    /// Records the arrival of an undamaged packet on `path`.
    pub(super) fn record(&self, now: Instant, path: u8) {
        if let Some(at) = self.0.get(usize::from(path)) {
            at.store((now - Instant::ZERO).as_nanos() as u64, Ordering::Relaxed);
        }
    }

    fn last(&self, path: u8) -> Option<Instant> {
        let nanos = self.0.get(usize::from(path))?.load(Ordering::Relaxed);
        (nanos > 0).then(|| Instant::ZERO + Duration::from_nanos(nanos))
    }
}

/// Numbers of the verdicts of one sender by path, as pairs (potentially failed, failed). One pair counts all verdicts,
/// the other needless verdicts. A verdict is needless if the link delivered a packet of the sender during the RTO
/// before the verdict.
#[derive(Debug)]
pub(super) struct Verdicts {
    peer: ArrivalTimes,
    rto_min: Duration,
    counts: Vec<[u64; 4]>,
}

impl Verdicts {
    pub fn new(peer: ArrivalTimes, rto_min: Duration) -> Self {
        let counts = vec![[0; 4]; peer.0.len()];
        Verdicts { peer, rto_min, counts }
    }

    /// Handles an event of the association that is about `path`.
    pub fn hear(&mut self, now: Instant, association: &Association, event: &Event, path: Option<u8>) {
        let Event::Path(id, PathChange::State(state)) = event else { return };
        let kind = match state {
            PathState::PotentiallyFailed => 0,
            PathState::Inactive => 1,
            _ => return,
        };
        let Some(path) = path else { return };
        let raw = association.paths().get(id.index()).and_then(|v| v.rto_raw()).unwrap_or_default();
        let rto = raw.max(self.rto_min);
        let Some(counts) = self.counts.get_mut(usize::from(path)) else { return };
        counts[kind] += 1;
        if self.peer.last(path).is_some_and(|at| now - at <= rto) {
            counts[kind + 2] += 1;
        }
    }

    pub fn report(&self, report: &mut dyn FnMut(Option<u8>, &'static str, f64)) {
        let names = ["potentially_failed", "failed", "needless_pf", "needless_failed"];
        for (path, counts) in self.counts.iter().enumerate() {
            for (name, count) in names.into_iter().zip(counts) {
                report(Some(path as u8), name, *count as f64);
            }
        }
    }
}

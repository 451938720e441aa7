//! Figures of an association for people and logs.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use strandcast_proto::association::AssociationStats;
use strandcast_proto::endpoint::{AssociationId, Endpoint};
use strandcast_proto::path::{FourTuple, PathStats};
use strandcast_proto::policy::{LinkId, PathState, PathView};
use strandcast_proto::time::Instant;

/// An association at one moment. Counters run from its beginning.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// When, on the driver's clock.
    pub at: Instant,
    /// Name of its scheme.
    pub scheme: String,
    /// Counters of the association.
    pub stats: AssociationStats,
    /// Payload bytes queued or not yet acknowledged.
    pub send_buffered: usize,
    /// Its paths, closed ones left out.
    pub paths: Vec<PathSnapshot>,
}

/// A path at one moment.
#[derive(Clone, Debug)]
pub struct PathSnapshot {
    /// What people call it: the uplink's name, or the peer's address.
    pub name: String,
    /// Where it leads.
    pub tuple: FourTuple,
    /// State, round trips, window, bytes in flight, estimates.
    pub view: PathView,
    /// Its counters.
    pub stats: PathStats,
}

impl Snapshot {
    pub(super) fn of(
        endpoint: &Endpoint,
        id: AssociationId,
        names: &BTreeMap<LinkId, String>,
        now: Instant,
    ) -> Option<Snapshot> {
        let association = endpoint.association(id)?;
        let path = |view: &PathView| {
            let tuple = association.tuple(view.id)?;
            let name = names.get(&tuple.link).cloned().unwrap_or_else(|| tuple.remote.to_string());
            let stats = association.path_stats(view.id)?.clone();
            Some(PathSnapshot { name, tuple, view: view.clone(), stats })
        };
        let open = association.paths().iter().filter(|view| view.state != PathState::Closed);
        Some(Snapshot {
            at: now,
            scheme: association.scheme_name().to_owned(),
            stats: association.stats().clone(),
            send_buffered: association.send_buffered(),
            paths: open.filter_map(path).collect(),
        })
    }
}

/// Names of a client's links, for all who tell people of them.
#[derive(Clone, Debug, Default)]
pub(super) struct Names(Arc<Mutex<BTreeMap<LinkId, String>>>);

impl Names {
    pub fn lock(&self) -> MutexGuard<'_, BTreeMap<LinkId, String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

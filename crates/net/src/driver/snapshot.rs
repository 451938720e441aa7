//! Figures of an association for people and logs.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use strandcast_proto::association::{AssociationStats, Buffers};
use strandcast_proto::endpoint::{AssociationId, Endpoint};
use strandcast_proto::path::{FourTuple, PathStats};
use strandcast_proto::policy::{LinkId, PathState, PathView};
use strandcast_proto::time::Instant;

use crate::monitor::{MonitorStats, Reading};

/// An association at one moment. Counters run from its beginning.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// When, on the driver's clock.
    pub at: Instant,
    /// Name of its scheme.
    pub scheme: String,
    /// Counters of the association.
    pub stats: AssociationStats,
    /// What its scheme has to say of the state it is in.
    pub remarks: Vec<&'static str>,
    /// Its scheme's own counters.
    pub counters: Vec<(&'static str, u64)>,
    /// Payload bytes queued or not yet acknowledged.
    pub send_buffered: usize,
    /// Its buffers: how large they are, and what of them was used.
    pub buffers: Buffers,
    /// How often links were asked for their counters, and what came of it.
    pub monitor: MonitorStats,
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
    /// The peer has proven to receive there.
    pub confirmed: bool,
    /// State, round trips, window, bytes in flight, estimates.
    pub view: PathView,
    /// Its counters.
    pub stats: PathStats,
    /// What its link last counted; `None` if it does not.
    pub link: Option<Reading>,
}

impl Snapshot {
    pub(super) fn of(
        endpoint: &Endpoint,
        id: AssociationId,
        notes: &LinkNotes,
        now: Instant,
    ) -> Option<Snapshot> {
        let association = endpoint.association(id)?;
        let path = |view: &PathView| {
            let tuple = association.tuple(view.id)?;
            let name = notes.names.get(&tuple.link).cloned().unwrap_or_else(|| tuple.remote.to_string());
            let stats = association.path_stats(view.id)?.clone();
            let link = notes.readings.get(&tuple.link).cloned();
            let confirmed = association.is_confirmed(view.id);
            Some(PathSnapshot { name, tuple, confirmed, view: view.clone(), stats, link })
        };
        let open = association.paths().iter().filter(|view| view.state != PathState::Closed);
        Some(Snapshot {
            at: now,
            scheme: association.scheme_name().to_owned(),
            stats: association.stats().clone(),
            remarks: association.remarks(now),
            counters: association.scheme_counters(),
            monitor: notes.monitor,
            send_buffered: association.send_buffered(),
            buffers: association.buffers(),
            paths: open.filter_map(path).collect(),
        })
    }
}

/// What is known of a client's links besides their paths.
#[derive(Debug, Default)]
pub(super) struct LinkNotes {
    /// What people call them.
    pub names: BTreeMap<LinkId, String>,
    /// What they last counted.
    pub readings: BTreeMap<LinkId, Reading>,
    /// What came of asking them.
    pub monitor: MonitorStats,
}

/// The notes, for all who tell people of links.
#[derive(Clone, Debug, Default)]
pub(super) struct Notes(Arc<Mutex<LinkNotes>>);

impl Notes {
    pub fn lock(&self) -> MutexGuard<'_, LinkNotes> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

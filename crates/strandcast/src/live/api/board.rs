//! State that the program shares with the API.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use serde_json::{Value, json};
use tokio::sync::broadcast;

use super::shown::Shown;
use crate::live::lines::metrics;
use crate::live::output::{ViewFrom, Viewer};

/// If the last snapshot is older than this time, the program counts as hung.
const HUNG: Duration = Duration::from_secs(10);

/// Maximum number of events that wait for the slowest client.
const EVENTS: usize = 256;

/// The state of all streams at one time.
#[derive(Debug)]
pub(super) struct Snapshot {
    /// Streams by name.
    streams: BTreeMap<String, Shown>,
    /// Lines of statistics for the metrics, and the label of the program in the metrics.
    lines: (Vec<Value>, String),
    metrics: OnceLock<Bytes>,
    json: OnceLock<Bytes>,
    taken: Instant,
}

impl Snapshot {
    /// A snapshot of these streams. `metrics` has the last line of statistics of each stream, including links that no
    /// longer exist. `instance` is the label of the program.
    pub(super) fn of(streams: Vec<Shown>, metrics: Vec<Value>, instance: &str) -> Snapshot {
        Snapshot {
            streams: streams.into_iter().map(|stream| (stream.name.clone(), stream)).collect(),
            lines: (metrics, instance.to_owned()),
            metrics: OnceLock::new(),
            json: OnceLock::new(),
            taken: Instant::now(),
        }
    }

    /// Returns the descriptions of all streams, each as JSON.
    pub(super) fn described(&self) -> impl Iterator<Item = &Value> {
        self.streams.values().map(|stream| &stream.described)
    }

    /// Returns the descriptions of all streams as JSON. Each snapshot makes this text once, and all clients share the
    /// text.
    pub(super) fn streams(&self) -> Bytes {
        let all = || json!({ "streams": self.described().collect::<Vec<_>>() });
        self.json.get_or_init(|| format!("{}\n", all()).into()).clone()
    }

    /// Returns the description of the stream with this name, as JSON.
    pub(super) fn stream(&self, name: &str) -> Option<&Value> {
        self.streams.get(name).map(|stream| &stream.described)
    }

    /// A viewer of the stream with this name, or the reason why it cannot be viewed; `None`: there is no such stream.
    pub(super) fn view(&self, name: &str, from: ViewFrom) -> Option<Result<Viewer, String>> {
        self.streams.get(name).map(|stream| stream.view(from))
    }

    /// The metrics of all streams, in the text format of Prometheus. The metrics are written once for each snapshot.
    pub(super) fn metrics(&self) -> Bytes {
        let (lines, instance) = &self.lines;
        self.metrics.get_or_init(|| metrics(lines, instance).into()).clone()
    }
}

/// The last snapshot, and the state of the program.
#[derive(Debug)]
pub(super) struct Board {
    last: Mutex<Option<Arc<Snapshot>>>,
    stopping: AtomicBool,
    events: broadcast::Sender<Arc<str>>,
}

impl Default for Board {
    fn default() -> Board {
        Board {
            last: Mutex::default(),
            stopping: AtomicBool::default(),
            events: broadcast::Sender::new(EVENTS),
        }
    }
}

impl Board {
    fn lock(&self) -> MutexGuard<'_, Option<Arc<Snapshot>>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Replaces the snapshot.
    pub(super) fn set(&self, snapshot: Snapshot) {
        *self.lock() = Some(Arc::new(snapshot));
    }

    /// Gives an event to all clients, as a line of JSON.
    pub(super) fn event(&self, line: &str) {
        if self.events.receiver_count() > 0 {
            // The last client may leave between the check and this line.
            let _ = self.events.send(line.into());
        }
    }

    /// Returns a receiver of all events from now on.
    pub(super) fn events(&self) -> broadcast::Receiver<Arc<str>> {
        self.events.subscribe()
    }

    /// Records that the program ends.
    pub(super) fn stopping(&self) {
        self.stopping.store(true, Ordering::Relaxed);
    }

    /// Returns the last snapshot, or `None` before the first snapshot.
    pub(super) fn snapshot(&self) -> Option<Arc<Snapshot>> {
        self.lock().clone()
    }

    /// Returns whether the program still takes snapshots.
    pub(super) fn is_alive(&self) -> bool {
        self.lock().as_ref().is_some_and(|last| last.taken.elapsed() < HUNG)
    }

    /// Returns whether the program accepts senders.
    pub(super) fn is_ready(&self) -> bool {
        self.is_alive() && !self.stopping.load(Ordering::Relaxed)
    }
}

//! State that the command shares with the API.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use serde_json::{Value, json};
use strandcast::live::Receiver;
use strandcast::live::output::{ViewFrom, Viewer};
use strandcast::live::serve::StreamNow;
use tokio::sync::broadcast;

use crate::show::exposition;

/// If the last snapshot is older than this time, the command counts as hung.
const HUNG: Duration = Duration::from_secs(10);

/// Maximum number of events that wait for the slowest client.
const EVENTS: usize = 256;

/// The state of a stream at one time.
#[derive(Debug)]
pub(crate) struct Shown {
    pub(crate) name: String,
    /// Description of the stream as JSON.
    pub(crate) described: Value,
    pub(crate) view: View,
}

/// Place where the media of a stream can be viewed.
#[derive(Debug)]
pub(crate) enum View {
    /// A stream of a server.
    Served(Box<StreamNow>),
    Receiver(Arc<Receiver>),
    /// The stream of a sender, which plays no media.
    Nowhere,
}

impl View {
    /// Begins to view, or returns the reason why this cannot be.
    fn join(&self, name: &str, from: ViewFrom) -> Result<Viewer, String> {
        match self {
            View::Served(stream) => stream.view(from).ok_or_else(|| format!("the stream {name} is stopped")),
            View::Receiver(receiver) => receiver.view(from).ok_or_else(|| "the receiver ends".to_owned()),
            View::Nowhere => {
                Err("a sender does not play its stream: view the stream at the receiver".to_owned())
            }
        }
    }
}

/// The state of all streams at one time.
#[derive(Debug)]
pub(crate) struct Snapshot {
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
    pub(crate) fn of(streams: Vec<Shown>, metrics: Vec<Value>, instance: &str) -> Snapshot {
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
        self.streams.get(name).map(|stream| stream.view.join(name, from))
    }

    /// The metrics of all streams, in the text format of Prometheus. The metrics are written once for each snapshot.
    pub(super) fn metrics(&self) -> Bytes {
        let (lines, instance) = &self.lines;
        self.metrics.get_or_init(|| exposition(lines, instance).into()).clone()
    }
}

/// The last snapshot, and the state of the command.
#[derive(Debug)]
pub(crate) struct Board {
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
    pub(crate) fn set(&self, snapshot: Snapshot) {
        *self.lock() = Some(Arc::new(snapshot));
    }

    /// Gives an event to all clients, as a line of JSON.
    pub(crate) fn event(&self, line: &str) {
        if self.events.receiver_count() > 0 {
            // The last client may leave between the check and this line.
            let _ = self.events.send(line.into());
        }
    }

    /// Returns a receiver of all events from now on.
    pub(super) fn events(&self) -> broadcast::Receiver<Arc<str>> {
        self.events.subscribe()
    }

    /// Records that the command ends.
    pub(crate) fn stopping(&self) {
        self.stopping.store(true, Ordering::Relaxed);
    }

    /// Returns the last snapshot, or `None` before the first snapshot.
    pub(super) fn snapshot(&self) -> Option<Arc<Snapshot>> {
        self.lock().clone()
    }

    /// Returns whether the command still takes snapshots.
    pub(super) fn is_alive(&self) -> bool {
        self.lock().as_ref().is_some_and(|last| last.taken.elapsed() < HUNG)
    }

    /// Returns whether the command accepts senders.
    pub(super) fn is_ready(&self) -> bool {
        self.is_alive() && !self.stopping.load(Ordering::Relaxed)
    }
}

//! Logs of the applications.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use strandcast_proto::app::App;
use strandcast_proto::association::Event;
use strandcast_proto::endpoint::{AssociationId, Endpoint};
use strandcast_proto::rx::Message;
use strandcast_proto::time::Instant;

#[derive(Clone, Debug)]
pub enum Line {
    Event(Event),
    Message(Message),
}

/// A host's log, in order.
pub type Log = Vec<(AssociationId, Line)>;

/// Records every event except `Readable` and `Writable`, and reads every message.
#[derive(Default)]
pub struct Recorder {
    pub log: Arc<Mutex<Log>>,
    readable: Vec<AssociationId>,
}

impl Recorder {
    pub fn into(log: Arc<Mutex<Log>>) -> Self {
        Recorder { log, readable: Vec::new() }
    }

    fn read(&mut self, endpoint: &mut Endpoint, id: AssociationId) {
        let mut log = self.log.lock().expect("no panic under the lock");
        log.extend(std::iter::from_fn(|| endpoint.recv(id)).map(|m| (id, Line::Message(m))));
    }
}

impl App for Recorder {
    fn on_event(&mut self, _: Instant, endpoint: &mut Endpoint, id: AssociationId, event: &Event) {
        match event {
            Event::Readable => self.readable.push(id),
            Event::Writable => {}
            event => {
                // Earlier messages are read first.
                self.read(endpoint, id);
                self.log.lock().expect("no panic under the lock").push((id, Line::Event(event.clone())));
            }
        }
    }

    fn poll(&mut self, _: Instant, endpoint: &mut Endpoint) {
        for id in std::mem::take(&mut self.readable) {
            self.read(endpoint, id);
        }
    }
}

/// Splits logs into independently ordered parts: each association's beginning and end, each of its paths, each of its
/// streams. Neither paths nor streams wait for each other.
pub fn by_subject(logs: &[Log]) -> BTreeMap<String, Vec<String>> {
    let mut subjects: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (host, log) in logs.iter().enumerate() {
        for (id, line) in log {
            let (subject, what) = match line {
                Line::Event(Event::Path(path, change)) => (format!("path {}", path.0), format!("{change:?}")),
                Line::Event(event) => ("itself".to_owned(), format!("{event:?}")),
                Line::Message(m) => {
                    let head = String::from_utf8_lossy(&m.payload[..m.payload.len().min(24)]);
                    let what = format!("{head} ({} bytes, {:?}, {})", m.payload.len(), m.ppid, m.unordered);
                    (format!("stream {}", m.stream.0), what)
                }
            };
            subjects.entry(format!("host {host}, association {}, {subject}", id.0)).or_default().push(what);
        }
    }
    subjects
}

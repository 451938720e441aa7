//! Traces of runs: `simulate --trace` and `--pcap`.

use std::any::Any;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use strandcast_proto::time::Instant;
use strandcast_sim::net::{
    AgentId, DirectedLinkId, EnqueueOutcome, FlowId, Packet, PacketMeta, RadioId, RadioNote, TraceEvent,
};

use super::error::RunError;
use crate::result::output::OutputError;
use crate::simulation::{PacketSink, Packets, Recorder, Simulation, Trace};

/// Write buffer in bytes.
const BUFFER: usize = 1 << 16;

/// File for the SCTP packets of a single run. The first run takes the file.
#[derive(Debug)]
pub struct PacketFile {
    path: PathBuf,
    sink: Mutex<Option<Box<dyn PacketSink>>>,
}

impl PacketFile {
    /// Creates a packet file. `sink` writes the file, and errors name it by `path`.
    pub fn new(path: PathBuf, sink: Box<dyn PacketSink>) -> Self {
        PacketFile { path, sink: Mutex::new(Some(sink)) }
    }

    fn take(&self) -> Option<Box<dyn PacketSink>> {
        self.sink.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Destinations of the records of a single run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Traces<'a> {
    /// Events, one per line.
    pub events: Option<&'a Path>,
    /// Frames on the air. They are recorded if events are recorded and the scenario has radios.
    pub frames: Option<&'a Path>,
    /// SCTP packets.
    pub packets: Option<&'a PacketFile>,
}

impl Traces<'_> {
    /// Starts the records of a run. Returns `None` if there are no destinations. `broken` becomes true when writing
    /// fails.
    ///
    /// # Errors
    /// A file cannot be created.
    pub(super) fn start(
        self,
        simulation: &Simulation,
        broken: &Arc<AtomicBool>,
    ) -> Result<Option<Box<dyn Recorder>>, RunError> {
        let create = |path: &Path| -> Result<Box<dyn Write + Send>, RunError> {
            let file = File::create(path).map_err(|source| cannot_write(path, source))?;
            let file = MonitoredFile { file, broken: Arc::clone(broken) };
            Ok(Box::new(BufWriter::with_capacity(BUFFER, file)))
        };
        let mut events = None;
        if let Some(path) = self.events {
            let trace = Trace::new(simulation, create(path)?);
            events = Some(match self.frames {
                Some(frames) => trace.with_frames(create(frames)?),
                None => trace,
            });
        }
        let sink = self.packets.and_then(PacketFile::take);
        let packets = sink.map(|sink| Packets::new(simulation, sink, Arc::clone(broken)));
        let any = events.is_some() || packets.is_some();
        Ok(any.then(|| Box::new(Started { events, packets }) as Box<dyn Recorder>))
    }

    /// Ends the records of a run.
    ///
    /// # Errors
    /// A line or a packet could not be written.
    pub(super) fn close(self, recorder: Box<dyn Recorder>) -> Result<(), RunError> {
        let started: Box<dyn Any> = recorder;
        let started: Started = *started.downcast().expect("the recorder is the one the run was given");
        if let (Some(path), Some(events)) = (self.events, started.events) {
            events.finish().map_err(|source| cannot_write(path, source))?;
        }
        if let (Some(file), Some(packets)) = (self.packets, started.packets) {
            packets.finish().map_err(|source| cannot_write(&file.path, source))?;
        }
        Ok(())
    }
}

/// Records of a run that has started.
#[derive(Debug)]
struct Started {
    events: Option<Trace>,
    packets: Option<Packets>,
}

impl Started {
    fn each(&mut self) -> impl Iterator<Item = &mut dyn Recorder> {
        let events = self.events.as_mut().map(|events| events as &mut dyn Recorder);
        events.into_iter().chain(self.packets.as_mut().map(|packets| packets as &mut dyn Recorder))
    }
}

impl Recorder for Started {
    fn sent(&mut self, now: Instant, from: AgentId, packet: &Packet) {
        self.each().for_each(|one| one.sent(now, from, packet));
    }

    fn offered(&mut self, now: Instant, wire: DirectedLinkId, meta: &PacketMeta, outcome: EnqueueOutcome) {
        self.each().for_each(|one| one.offered(now, wire, meta, outcome));
    }

    fn decided(&mut self, now: Instant, wire: DirectedLinkId, meta: &PacketMeta, outcome: EnqueueOutcome) {
        self.each().for_each(|one| one.decided(now, wire, meta, outcome));
    }

    fn arrived(&mut self, now: Instant, wire: DirectedLinkId, meta: &PacketMeta) {
        self.each().for_each(|one| one.arrived(now, wire, meta));
    }

    fn radio(&mut self, now: Instant, radio: RadioId, note: &RadioNote<'_>) {
        self.each().for_each(|one| one.radio(now, radio, note));
    }

    fn event(&mut self, now: Instant, flow: FlowId, from: AgentId, event: &TraceEvent) {
        self.each().for_each(|one| one.event(now, flow, from, event));
    }
}

/// A file that records write errors.
#[derive(Debug)]
struct MonitoredFile {
    file: File,
    broken: Arc<AtomicBool>,
}

impl Write for MonitoredFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes);
        // The buffered writer repeats the write after an interruption.
        if written.as_ref().is_err_and(|error| error.kind() != io::ErrorKind::Interrupted) {
            self.broken.store(true, Ordering::Relaxed);
        }
        written
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

fn cannot_write(path: &Path, source: io::Error) -> RunError {
    RunError::Output(OutputError { path: path.into(), source })
}

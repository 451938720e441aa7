//! A run as lines of text, one line per event.

use core::fmt::{self, Write as _};
use std::io::{self, Write};

use strandcast_proto::association::Dropped;
use strandcast_proto::time::Instant;
use strandcast_radio::{Destination, FrameRecord, StationId};
use strandcast_routing::{DropCause, Message};
use strandcast_sim::host::{SymbolName, chunk_types, data_parts, symbol};
use strandcast_sim::net::{
    AgentId, Body, DirectedLinkId, EnqueueOutcome, FlowId, Frame, Framing, Packet, PacketMeta, RadioId,
    RadioNote, TraceEvent,
};

use super::{Names, Recorder, Simulation};

/// Chunk type (RFC 9260 §3.2).
const DATA: u8 = 0;
/// The first line.
const HEAD: &str = "time_s,event,flow,path,link,packet,length,payload,again,what";
/// Header line of the table of frames.
const FRAMES: &str = "start_s,end_s,radio,kind,from,to,bytes,outcome\n";

/// Writes every event of a run at once, as a line of CSV. `docs/cli.md` describes the columns.
pub struct Trace {
    names: Names,
    out: Box<dyn Write + Send>,
    /// Table of the frames on the air.
    frames: Option<Box<dyn Write + Send>>,
    failed: Option<io::Error>,
    /// Buffer for the present line.
    line: String,
}

impl Trace {
    /// Creates the trace of a run of `simulation`, with its header line.
    pub fn new(simulation: &Simulation, out: Box<dyn Write + Send>) -> Self {
        let mut trace = Trace {
            names: simulation.names().escaped(),
            out,
            frames: None,
            failed: None,
            line: String::new(),
        };
        trace.line.push_str(HEAD);
        trace.end();
        trace
    }

    /// Also writes frames on the air, into a separate table. `docs/results.md` describes its columns.
    pub fn with_frames(mut self, mut frames: Box<dyn Write + Send>) -> Self {
        self.failed = frames.write_all(FRAMES.as_bytes()).err().or(self.failed);
        self.frames = Some(frames);
        self
    }

    /// Ends the trace. The caller calls it after the end of the run.
    ///
    /// # Errors
    /// Returns the error of the first line that could not be written. The trace ends before this line.
    pub fn finish(mut self) -> io::Result<()> {
        match self.failed.take() {
            Some(error) => Err(error),
            None => self.frames.iter_mut().try_for_each(|frames| frames.flush()).and(self.out.flush()),
        }
    }

    /// Begins a line. Times count from the flows' time 0. Background load begins earlier.
    fn begin(&mut self, now: Instant, event: &str) {
        let (sign, time) = match now.as_nanos().checked_sub(self.names.origin.as_nanos()) {
            Some(time) => ("", time),
            None => ("-", self.names.origin.as_nanos() - now.as_nanos()),
        };
        let (seconds, nanos) = (time / 1_000_000_000, time % 1_000_000_000);
        self.put(format_args!("{sign}{seconds}.{nanos:09},{event},"));
    }

    fn put(&mut self, text: fmt::Arguments<'_>) {
        self.line.write_fmt(text).expect("memory takes any text");
    }

    fn end(&mut self) {
        self.line.push('\n');
        if self.failed.is_none() {
            self.failed = self.out.write_all(self.line.as_bytes()).err();
        }
        self.line.clear();
    }

    /// Writes the columns `flow` to `again` for a packet.
    fn packet(&mut self, meta: &PacketMeta, wire: Option<DirectedLinkId>) {
        let Trace { names, line, .. } = self;
        let (flow, path) = (names.flow(meta.flow), names.path(meta.flow, meta.path));
        let link = wire.map_or("", |wire| names.link(wire));
        let retransmission = u8::from(meta.retransmission);
        let PacketMeta { id, len, payload, .. } = meta;
        write!(line, "{flow},{path},{link},{id},{len},{payload},{retransmission},")
            .expect("memory takes any text");
    }
}

/// Lines about radios.
impl Trace {
    fn frame(&mut self, now: Instant, radio: RadioId, frame: &FrameRecord) {
        self.begin(now, "frame");
        let (start, from) = (self.seconds(frame.start), self.names.station(radio, frame.from).to_owned());
        let (end, to) = (self.seconds(frame.end), self.names.destination(radio, frame.to).to_owned());
        let name = self.names.radio(radio).to_owned();
        let (kind, bytes, outcome) = (frame.kind, frame.bytes, frame.outcome);
        let lasted = end - start;
        self.put(format_args!(",,{name},,{bytes},,,{kind} from {from} to {to} for {lasted:.9} {outcome}"));
        self.end();
        let Some(frames) = &mut self.frames else { return };
        if self.failed.is_none() {
            let to = if frame.to == Destination::All { "" } else { &to };
            self.failed =
                writeln!(frames, "{start:.9},{end:.9},{name},{kind},{from},{to},{bytes},{outcome}").err();
        }
    }

    /// Seconds from the flows' time 0.
    fn seconds(&self, at: Instant) -> f64 {
        (at.as_nanos() as f64 - self.names.origin.as_nanos() as f64) / 1e9
    }

    fn transmission(
        &mut self,
        now: Instant,
        event: &str,
        (radio, from, to): (RadioId, StationId, Destination),
        packet: &Frame,
    ) {
        let from = self.names.station(radio, from).to_owned();
        let to = self.names.destination(radio, to).to_owned();
        self.begin(now, event);
        self.over_radio(radio, meta_of(packet).as_ref(), packet.bytes());
        let what = match packet {
            Frame::Data(_) => "",
            Frame::Control(message) => message_name(message),
        };
        let blank = if what.is_empty() { "" } else { " " };
        self.put(format_args!("{what}{blank}from {from} to {to}"));
        self.end();
    }

    fn dropped(
        &mut self,
        now: Instant,
        radio: RadioId,
        (at, meta): (StationId, Option<&PacketMeta>),
        why: &str,
    ) {
        let at = self.names.station(radio, at).to_owned();
        self.begin(now, "drop");
        self.over_radio(radio, meta, meta.map_or(0, |meta| meta.len));
        self.put(format_args!("{why} at {at}"));
        self.end();
    }

    /// Writes the columns `flow` to `again` for a packet on a radio. Packets of a routing protocol belong to no flow.
    fn over_radio(&mut self, radio: RadioId, meta: Option<&PacketMeta>, bytes: u32) {
        let Trace { names, line, .. } = self;
        let name = names.radio(radio);
        let text = match meta {
            Some(PacketMeta { id, flow, path, len, payload, retransmission, .. }) => {
                let (flow, path) = (names.flow(*flow), names.path(*flow, *path));
                write!(line, "{flow},{path},{name},{id},{len},{payload},{},", u8::from(*retransmission))
            }
            None => write!(line, ",,{name},,{bytes},,,"),
        };
        text.expect("memory takes any text");
    }
}

/// Identity of a packet in the network. `None` for packets of the routing protocol.
fn meta_of(packet: &Frame) -> Option<PacketMeta> {
    match packet {
        Frame::Data(datagram) => Some(datagram.body.meta),
        Frame::Control(_) => None,
    }
}

fn reason(cause: DropCause) -> &'static str {
    match cause {
        DropCause::NoRoute => "no route",
        DropCause::SendBuffer => "send buffer",
        DropCause::LinkFailed => "link failed",
        DropCause::TtlExpired => "too many hops",
        DropCause::Returned => "back at its source",
        DropCause::SplitQueue => "split queue full",
    }
}

fn message_name(message: &Message) -> &'static str {
    match message {
        Message::Request(_) => "RREQ",
        Message::Reply(_) => "RREP",
        Message::Error(_) => "RERR",
        Message::Hello { .. } => "HELLO",
        Message::Probe => "PROBE",
    }
}

impl Trace {
    /// Writes the outcome of a packet at a link.
    fn outcome(&mut self, now: Instant, wire: DirectedLinkId, meta: &PacketMeta, outcome: EnqueueOutcome) {
        let (event, what) = match outcome {
            EnqueueOutcome::Taken { departs, lost, .. } => {
                let seconds = (departs - now).as_secs_f64();
                (if lost { "lose" } else { "enter" }, format!("{seconds:.9}"))
            }
            EnqueueOutcome::Waits => ("wait", String::new()),
            EnqueueOutcome::QueueFull => ("drop", "queue full".to_owned()),
            EnqueueOutcome::Policed => ("drop", "policed".to_owned()),
            EnqueueOutcome::Managed => ("drop", "waited too long".to_owned()),
            EnqueueOutcome::Down => ("drop", "down".to_owned()),
        };
        self.begin(now, event);
        self.packet(meta, Some(wire));
        self.put(format_args!("{what}"));
        self.end();
    }
}

impl Recorder for Trace {
    fn sent(&mut self, now: Instant, _: AgentId, packet: &Packet) {
        self.begin(now, "send");
        self.packet(&packet.meta, None);
        self.put(format_args!("{}", Contents(&packet.body, packet.meta.framing)));
        self.end();
    }

    fn offered(&mut self, now: Instant, wire: DirectedLinkId, meta: &PacketMeta, outcome: EnqueueOutcome) {
        self.outcome(now, wire, meta, outcome);
    }

    fn decided(&mut self, now: Instant, wire: DirectedLinkId, meta: &PacketMeta, outcome: EnqueueOutcome) {
        self.outcome(now, wire, meta, outcome);
    }

    fn arrived(&mut self, now: Instant, wire: DirectedLinkId, meta: &PacketMeta) {
        self.begin(now, "leave");
        self.packet(meta, Some(wire));
        self.end();
    }

    fn radio(&mut self, now: Instant, radio: RadioId, note: &RadioNote<'_>) {
        match *note {
            RadioNote::Frame(frame) => self.frame(now, radio, frame),
            RadioNote::Offered { station, to, packet } => {
                let kind = if matches!(packet, Frame::Data(_)) { "enter" } else { "route" };
                self.transmission(now, kind, (radio, station, to), packet);
            }
            RadioNote::Received { station, from, packet: packet @ Frame::Data(_) } => {
                self.transmission(now, "leave", (radio, from, Destination::Station(station)), packet);
            }
            RadioNote::Failed { station, to, packet } => {
                self.transmission(now, "fail", (radio, station, Destination::Station(to)), packet);
            }
            RadioNote::QueueDropped { station, packet, .. } => {
                let meta = meta_of(packet);
                self.dropped(now, radio, (station, meta.as_ref()), "queue full");
            }
            RadioNote::RouterDropped { station, packet, cause } => {
                self.dropped(now, radio, (station, Some(packet)), reason(cause));
            }
            RadioNote::Received { .. } | RadioNote::Delivered { .. } => {}
        }
    }

    fn event(&mut self, now: Instant, flow: FlowId, _: AgentId, event: &TraceEvent) {
        let kind = match event {
            TraceEvent::Submitted { .. } => "submit",
            TraceEvent::Arrived { .. } => "arrive",
            TraceEvent::Delivered { .. } | TraceEvent::Progress { .. } => "deliver",
            TraceEvent::Dropped(_) => "give-up",
            TraceEvent::Redrawn => "redraw",
        };
        self.begin(now, kind);
        let name = self.names.flow(flow).to_owned();
        match *event {
            TraceEvent::Submitted { message, bytes } | TraceEvent::Delivered { message, bytes, .. } => {
                self.put(format_args!("{name},,,,,{bytes},,message {message}"));
            }
            TraceEvent::Arrived { path, wire, payload, sequence, new, .. } => {
                let path = self.names.path(flow, path).to_owned();
                let news = if new { "new" } else { "known" };
                let sequence = sequence.map_or(String::new(), |sequence| format!(" {sequence}"));
                self.put(format_args!("{name},{path},,,{wire},{payload},,{news}{sequence}"));
            }
            TraceEvent::Progress { bytes } => self.put(format_args!("{name},,,,,{bytes},,")),
            TraceEvent::Dropped(dropped) => {
                let Dropped { message, cause, unsent, .. } = dropped;
                let cause = cause.name();
                self.put(format_args!("{name},,,,,{unsent},,message {message} {cause}"));
            }
            TraceEvent::Redrawn => self.put(format_args!("{name},,,,,,,")),
        }
        self.end();
    }
}

impl fmt::Debug for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Trace").field("failed", &self.failed).finish_non_exhaustive()
    }
}

/// Contents of a packet in a few words. The text has no commas.
struct Contents<'a>(&'a Body, Framing);

impl fmt::Display for Contents<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Body::Sealed { packet, .. } if packet.is_empty() => f.write_str("seal"),
            Body::Sctp(bytes) | Body::Sealed { packet: bytes, .. } => {
                let mut parts = data_parts(bytes);
                for (i, kind) in chunk_types(bytes).enumerate() {
                    let blank = if i > 0 { " " } else { "" };
                    let data = if kind == DATA { parts.next() } else { None };
                    match (chunk_name(kind), data) {
                        (name, Some(part)) => {
                            write!(f, "{blank}{name} {}", part.chunk.tsn)?;
                            if let (Some(header), _) = symbol(self.1, &part) {
                                write!(f, " ({})", SymbolName::of(&header))?;
                            }
                        }
                        ("", None) => write!(f, "{blank}chunk {kind}")?,
                        (name, None) => write!(f, "{blank}{name}")?,
                    }
                }
                Ok(())
            }
            Body::Tcp(segment) => {
                if segment.syn {
                    f.write_str("SYN ")?;
                }
                match segment.ack {
                    Some(ack) => write!(f, "ACK {ack}"),
                    None => write!(
                        f,
                        "bytes {} to {}",
                        segment.data_seq,
                        segment.data_seq + u64::from(segment.len)
                    ),
                }
            }
            Body::Udp(datagram) => write!(f, "message {}", datagram.message),
            Body::Ip(packet) => write!(f, "IP packet of {} bytes", packet.len()),
            Body::Damaged => f.write_str("damaged"),
        }
    }
}

/// Returns the name of an SCTP chunk type (RFC 9260 §3.2 and the RFCs of extensions). Returns an empty text if the type
/// is unknown.
fn chunk_name(kind: u8) -> &'static str {
    match kind {
        DATA => "DATA",
        1 => "INIT",
        2 => "INIT-ACK",
        3 => "SACK",
        4 => "HEARTBEAT",
        5 => "HEARTBEAT-ACK",
        6 => "ABORT",
        7 => "SHUTDOWN",
        8 => "SHUTDOWN-ACK",
        9 => "ERROR",
        10 => "COOKIE-ECHO",
        11 => "COOKIE-ACK",
        14 => "SHUTDOWN-COMPLETE",
        15 => "AUTH",
        64 => "I-DATA",
        128 => "ASCONF-ACK",
        130 => "RE-CONFIG",
        192 => "FORWARD-TSN",
        193 => "ASCONF",
        177 => "REPORT",
        194 => "I-FORWARD-TSN",
        _ => "",
    }
}

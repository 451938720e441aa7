//! A run as lines of text, one an event.

use core::fmt::{self, Write as _};
use std::io::{self, Write};

use strandcast_proto::time::Instant;
use strandcast_sim::host::{chunk_types, data_chunks};
use strandcast_sim::net::{
    AgentId, Body, DirectedLinkId, EnqueueOutcome, FlowId, Packet, PacketMeta, TraceEvent,
};

use super::{Names, Recorder, Simulation};

/// Chunk type (RFC 9260 §3.2).
const DATA: u8 = 0;
/// The first line.
const HEAD: &str = "time_s,event,flow,path,link,packet,length,payload,again,what";

/// Writes every event of a run as a line of CSV, as it happens: `docs/cli.md` says what the columns are.
pub struct Trace {
    names: Names,
    out: Box<dyn Write + Send>,
    failed: Option<io::Error>,
    /// The line that is being made.
    line: String,
}

impl Trace {
    /// A trace of a run of `simulation`, with its head line.
    pub fn new(simulation: &Simulation, out: Box<dyn Write + Send>) -> Self {
        let mut trace = Trace { names: simulation.names().escaped(), out, failed: None, line: String::new() };
        trace.line.push_str(HEAD);
        trace.end();
        trace
    }

    /// Ends the trace, when the run has ended.
    ///
    /// # Errors
    /// The first line that could not be written; behind it there are none.
    pub fn finish(mut self) -> io::Result<()> {
        match self.failed.take() {
            Some(error) => Err(error),
            None => self.out.flush(),
        }
    }

    /// Begins a line. Times count from the flows' time 0; background load begins before it.
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

    /// Columns `flow` to `again`, of a packet.
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

impl Recorder for Trace {
    fn sent(&mut self, now: Instant, _: AgentId, packet: &Packet) {
        self.begin(now, "send");
        self.packet(&packet.meta, None);
        self.put(format_args!("{}", Contents(&packet.body)));
        self.end();
    }

    fn offered(&mut self, now: Instant, wire: DirectedLinkId, meta: &PacketMeta, outcome: EnqueueOutcome) {
        let (event, what) = match outcome {
            EnqueueOutcome::Taken { departs, lost, .. } => {
                let seconds = (departs - now).as_secs_f64();
                (if lost { "lose" } else { "enter" }, format!("{seconds:.9}"))
            }
            EnqueueOutcome::QueueFull => ("drop", "queue full".to_owned()),
            EnqueueOutcome::Down => ("drop", "down".to_owned()),
        };
        self.begin(now, event);
        self.packet(meta, Some(wire));
        self.put(format_args!("{what}"));
        self.end();
    }

    fn arrived(&mut self, now: Instant, wire: DirectedLinkId, meta: &PacketMeta) {
        self.begin(now, "leave");
        self.packet(meta, Some(wire));
        self.end();
    }

    fn event(&mut self, now: Instant, flow: FlowId, _: AgentId, event: &TraceEvent) {
        let kind = match event {
            TraceEvent::Submitted { .. } => "submit",
            TraceEvent::Arrived { .. } => "arrive",
            TraceEvent::Delivered { .. } | TraceEvent::Progress { .. } => "deliver",
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

/// What a packet says, in a few words without commas.
struct Contents<'a>(&'a Body);

impl fmt::Display for Contents<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Body::Sctp(bytes) => {
                let mut tsns = data_chunks(bytes);
                for (i, kind) in chunk_types(bytes).enumerate() {
                    let blank = if i > 0 { " " } else { "" };
                    let data = if kind == DATA { tsns.next() } else { None };
                    match (chunk_name(kind), data) {
                        (name, Some(chunk)) => write!(f, "{blank}{name} {}", chunk.tsn)?,
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
            Body::Damaged => f.write_str("damaged"),
        }
    }
}

/// The name of an SCTP chunk type (RFC 9260 §3.2 and the extensions' RFCs); empty if it has none.
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

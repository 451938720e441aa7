//! Signals of policies, in the form for Python: one class per kind.

use pyo3::prelude::*;
use strandcast_proto::policy as proto;
use strandcast_proto::policy::{LossCause, LossTrigger, PathId};

use super::backlog::importance_word;
use super::view::{seconds, time};
use crate::error;

/// An event of the transport; its class is its kind. Sizes are bytes, times seconds by the clock of
/// `View.now`.
#[pyclass(module = "strandcast")]
pub(crate) enum Signal {
    /// A chunk left, on the path of its last transmission. Several transmissions at one time are copies.
    Sent { chunk: Chunk },
    /// The application queued data while nothing was waiting.
    Queued {},
    /// A SACK acknowledged a chunk. There is one signal for each path by which the chunk arrived,
    /// before the `Acked` of that SACK and path. Only policies whose `hears_deliveries` returns true
    /// receive these signals. If the peer names the path of a copy later, a further signal follows. The
    /// first signal of a TSN counts.
    Delivered {
        chunk: Chunk,
        /// Path whose `newly_acked` counts it. None: it was in flight on several paths, and the path of its
        /// arrival is unknown.
        path: Option<u8>,
    },
    /// New acknowledgements of one SACK, of one path.
    Acked {
        path: u8,
        /// Path on which the SACK arrived.
        return_path: u8,
        /// Bytes newly acknowledged.
        newly_acked: u64,
        /// Bytes of `newly_acked` that certainly arrived by this path: no other path carried them, or
        /// the peer named this path.
        proven: u64,
        newly_acked_chunks: u32,
        /// Number of these chunks that had been declared lost.
        newly_acked_again: u32,
        /// Bytes in flight on the path before this SACK.
        flight_before: u64,
        /// True if nothing is in flight on the path.
        all_acked: bool,
        /// Round-trip time of a chunk sent once, on one path.
        rtt: Option<f64>,
        /// Time at which the newest chunk acknowledged here was sent.
        newest_sent: Option<f64>,
        cum_tsn: u32,
        /// True if the association's cumulative TSN moved.
        cum_advanced: bool,
        /// True if the earliest outstanding TSN of this path was acknowledged.
        pseudo_cum_advanced: bool,
        /// True if the earliest outstanding TSN of retransmissions on this path was acknowledged.
        rtx_pseudo_cum_advanced: bool,
        /// The earliest TSN still outstanding on this path.
        earliest_outstanding: Option<u32>,
        /// Lowest and highest TSN newly acknowledged on this path.
        newly_acked_range: Option<(u32, u32)>,
        /// Highest TSN newly acknowledged on any path.
        highest_newly_acked: Option<u32>,
        /// Highest TSN the SACK acknowledges.
        highest_reported: u32,
        /// Number of paths with new acknowledgements by this SACK.
        paths_newly_acked: u8,
        /// Number of packets that this SACK acknowledges, if the peer reports it, otherwise 1.
        dac_count: u8,
        /// True if the path's window was full before this SACK. In that case the window limited the
        /// sender, not the application.
        window_limited: bool,
    },
    /// A transmission of a chunk was declared lost: one signal for each.
    Lost {
        chunk: Chunk,
        /// Path of the transmission. With copies it may differ from `chunk.path`, the path of the last
        /// transmission.
        path: u8,
        cause: String,
    },
    /// Losses of one window. Fast retransmit causes at most one such event per round trip, and each
    /// timeout causes one. If `trigger` is "head of line", nothing was lost: the data in flight on the
    /// path keep a faster path from sending, and the window should become smaller.
    LossEvent {
        path: u8,
        trigger: String,
        /// Highest TSN in flight on the path at that time: recovery ends when it is acknowledged.
        highest: u32,
        /// The base's verdict on the first lost chunk.
        cause: String,
    },
    /// Packets arrived that had been declared lost on a path.
    Spurious {
        path: u8,
        trigger: String,
        /// Number of packets.
        chunks: u32,
        /// Congestion window in bytes before the loss event. It is set if all losses of the event were
        /// spurious, and the window then returns to this value.
        before: Option<u64>,
    },
    /// The chunk was abandoned (partial reliability, RFC 3758).
    Abandoned { chunk: Chunk },
    /// Counters of a local interface, which only grow.
    Link {
        link: u32,
        path: Option<u8>,
        /// Frames sent, each transmission counting.
        tx_frames: u64,
        /// Frames in error that the link sent again.
        tx_retries: u64,
        /// Frames in error that the link abandoned.
        tx_failed: u64,
        rx_frames: u64,
        rx_errors: u64,
        /// Bytes waiting in the interface.
        queued_bytes: Option<u64>,
        /// Mean frame length, bytes.
        frame_bytes: Option<f64>,
        snr_db: Option<f64>,
        /// Physical rate, bit/s.
        phy_rate: Option<f64>,
        /// Time at which the link finished sending a packet of this side, and the packet's length in bytes.
        departure: Option<(f64, u64)>,
    },
    /// A packet with data, or a padded heartbeat, arrived.
    Arrived {
        path: u8,
        /// Bytes of the SCTP packet.
        bytes: u64,
        /// Lowest and highest TSN in it; None for a padded heartbeat.
        tsns: Option<(u32, u32)>,
        /// True if it contained a new TSN.
        new: bool,
        /// True if it contained a TSN that had arrived before.
        duplicate: bool,
        /// True if TSNs are missing below the highest one received.
        gap: bool,
        /// True if it closed a gap or a part of one.
        filled: bool,
        /// True if the sender requested a SACK at once.
        immediate: bool,
        /// Packets with data since the last SACK, this one included.
        packets_since_sack: u32,
    },
    /// A report of the peer's scheme arrived.
    Peer {
        kind: u16,
        /// Path that the report concerns.
        subject: Option<u8>,
        /// Path on which it arrived.
        via: Option<u8>,
        payload: Vec<u8>,
    },
    /// The peer reports arrivals by path, by its clock. Only policies whose `hears_arrivals` returns true
    /// receive it.
    PeerArrivals {
        /// Time at which the peer wrote the report, microseconds of its clock.
        written: u64,
        /// Path on which the report arrived.
        via: u8,
        /// One tuple per path: path id, highest TSN of the last packet, arrival time of that packet
        /// (microseconds of the peer's clock), its departure time (by the clock of `View.now`; None if
        /// unknown), packets so far, and bytes so far.
        paths: Vec<(u8, u32, u64, Option<f64>, u64, u64)>,
    },
    /// A heartbeat was answered, or was not within the path's RTO.
    Heartbeat {
        path: u8,
        /// Round-trip time, seconds; None: not answered.
        rtt: Option<f64>,
        /// True if the scheme requested it.
        probe: bool,
        /// Time at which it was sent.
        sent: f64,
        /// A probe was answered after its timeout, or after the answer to a later probe. Its round trip
        /// is not a sample.
        late: bool,
    },
    /// State, MTU or addresses of a path changed; it may be new.
    PathChanged { path: u8 },
    /// A timeout of the policy, or of its base, is due.
    Tick {},
}

#[pymethods]
impl Signal {
    /// Returns the signal as Python writes it: `Signal.PathChanged(path=0)`.
    fn __repr__(this: &Bound<'_, Self>) -> PyResult<String> {
        let this = this.as_any();
        let kind = this.get_type();
        let names: Vec<String> = kind.getattr("__match_args__")?.extract()?;
        let field =
            |name: &String| -> PyResult<String> { Ok(format!("{name}={}", this.getattr(name)?.repr()?)) };
        let fields = names.iter().map(field).collect::<PyResult<Vec<_>>>()?;
        Ok(format!("Signal.{}({})", kind.name()?, fields.join(", ")))
    }
}

impl Signal {
    /// Converts `signal`, which was received together with `view`.
    pub(super) fn of(view: &proto::View<'_>, signal: &proto::Signal<'_>) -> Self {
        match *signal {
            proto::Signal::Sent(chunk) => Signal::Sent { chunk: chunk.into() },
            proto::Signal::Queued => Signal::Queued {},
            proto::Signal::Delivered { chunk, path } => {
                Signal::Delivered { chunk: chunk.into(), path: number(path) }
            }
            proto::Signal::Acked(ack) => acked(view, ack),
            proto::Signal::Lost { chunk, path, cause } => {
                Signal::Lost { chunk: chunk.into(), path: path.0, cause: cause_word(cause) }
            }
            proto::Signal::LossEvent { path, trigger, highest, cause } => Signal::LossEvent {
                path: path.0,
                trigger: trigger_word(trigger),
                highest: highest.0,
                cause: cause_word(cause),
            },
            proto::Signal::Spurious { path, trigger, chunks, before } => Signal::Spurious {
                path: path.0,
                trigger: trigger_word(trigger),
                chunks,
                before: before.map(|limit| limit.cwnd),
            },
            proto::Signal::Abandoned(chunk) => Signal::Abandoned { chunk: chunk.into() },
            proto::Signal::Link(sample) => link(sample),
            proto::Signal::Arrived(rx) => arrived(rx),
            proto::Signal::Peer(report) => Signal::Peer {
                kind: report.kind,
                subject: number(report.subject),
                via: number(report.via),
                payload: report.payload.to_vec(),
            },
            proto::Signal::Heartbeat(info) => Signal::Heartbeat {
                path: info.path.0,
                rtt: seconds(info.rtt),
                probe: info.probe,
                sent: info.sent.as_secs_f64(),
                late: info.late,
            },
            proto::Signal::PeerArrivals(arrivals) => Signal::PeerArrivals {
                written: arrivals.written.0,
                via: arrivals.via.0,
                paths: arrivals
                    .paths
                    .iter()
                    .map(|p| (p.path.0, p.tsn.0, p.at.0, time(p.sent), p.packets, p.bytes))
                    .collect(),
            },
            proto::Signal::PathChanged(path) => Signal::PathChanged { path: path.0 },
            proto::Signal::Tick => Signal::Tick {},
        }
    }
}

fn acked(view: &proto::View<'_>, ack: &proto::AckInfo) -> Signal {
    Signal::Acked {
        path: ack.path.0,
        return_path: ack.return_path.0,
        newly_acked: ack.newly_acked,
        proven: ack.proven,
        newly_acked_chunks: ack.newly_acked_chunks,
        newly_acked_again: ack.newly_acked_again,
        flight_before: ack.flight_before,
        all_acked: ack.all_acked,
        rtt: seconds(ack.rtt),
        newest_sent: time(ack.newest_sent),
        cum_tsn: ack.cum_tsn.0,
        cum_advanced: ack.cum_advanced,
        pseudo_cum_advanced: ack.pseudo_cum_advanced,
        rtx_pseudo_cum_advanced: ack.rtx_pseudo_cum_advanced,
        earliest_outstanding: ack.earliest_outstanding.map(|tsn| tsn.0),
        newly_acked_range: ack.newly_acked_range.map(|(low, high)| (low.0, high.0)),
        highest_newly_acked: ack.highest_newly_acked.map(|tsn| tsn.0),
        highest_reported: ack.highest_reported.0,
        paths_newly_acked: ack.paths_newly_acked,
        dac_count: ack.dac_count,
        window_limited: ack.window_limited(&view[ack.path]),
    }
}

fn link(sample: &proto::LinkSample) -> Signal {
    Signal::Link {
        link: sample.link.0,
        path: number(sample.path),
        tx_frames: sample.tx_frames,
        tx_retries: sample.tx_retries,
        tx_failed: sample.tx_failed,
        rx_frames: sample.rx_frames,
        rx_errors: sample.rx_errors,
        queued_bytes: sample.queued_bytes,
        frame_bytes: sample.frame_bytes,
        snr_db: sample.snr_db,
        phy_rate: sample.phy_rate.map(|rate| rate.bps()),
        departure: sample.departure.map(|(at, bytes)| (at.as_secs_f64(), bytes)),
    }
}

fn arrived(rx: &proto::RxInfo) -> Signal {
    Signal::Arrived {
        path: rx.path.0,
        bytes: rx.bytes,
        tsns: rx.tsns.map(|(low, high)| (low.0, high.0)),
        new: rx.new,
        duplicate: rx.duplicate,
        gap: rx.gap,
        filled: rx.filled,
        immediate: rx.immediate,
        packets_since_sack: rx.packets_since_sack,
    }
}

fn number(path: Option<PathId>) -> Option<u8> {
    path.map(|path| path.0)
}

fn cause_word(cause: LossCause) -> String {
    let word = match cause {
        LossCause::Congestion => "congestion",
        LossCause::Wireless => "wireless",
        LossCause::PathFailure => "path failure",
    };
    word.to_owned()
}

/// Returns the cause that [`cause_word`] names.
pub(super) fn cause_of(py: Python<'_>, word: &str) -> PyResult<LossCause> {
    let causes = [LossCause::Congestion, LossCause::Wireless, LossCause::PathFailure];
    let known = causes.into_iter().find(|cause| cause_word(*cause) == word);
    known.ok_or_else(|| {
        let what = format!("{word:?} is not a cause: congestion, wireless or path failure");
        error::policy(py, &what)
    })
}

fn trigger_word(trigger: LossTrigger) -> String {
    let word = match trigger {
        LossTrigger::FastRetransmit => "fast retransmit",
        LossTrigger::Timeout => "timeout",
        LossTrigger::HeadOfLine => "head of line",
    };
    word.to_owned()
}

/// A TSN that was sent, with its properties and transmissions.
#[pyclass(frozen, get_all, from_py_object, module = "strandcast")]
#[derive(Clone)]
pub(crate) struct Chunk {
    /// Transmission sequence number.
    tsn: u32,
    /// Bytes in a window: payload + 16.
    len: u64,
    /// Stream of the chunk.
    stream: u16,
    /// Time at which its message becomes worthless, by the clock of `View.now`.
    expires: Option<f64>,
    /// Importance of its message.
    importance: &'static str,
    /// Group of its message.
    group: Option<u64>,
    /// Transmissions, oldest first; a copy is a second transmission at the same time.
    transmissions: Vec<Transmission>,
    /// Number of times that the chunk was declared lost.
    losses: u8,
    /// Symbol that it carries, if the association codes its data.
    symbol: Option<Symbol>,
}

impl From<&proto::ChunkInfo> for Chunk {
    fn from(chunk: &proto::ChunkInfo) -> Self {
        Chunk {
            tsn: chunk.tsn.0,
            len: chunk.len,
            stream: chunk.stream.0,
            expires: time(chunk.expires),
            importance: importance_word(chunk.importance),
            group: chunk.group,
            transmissions: chunk.transmissions.iter().map(Transmission::from).collect(),
            losses: chunk.losses,
            symbol: chunk.symbol.as_ref().map(Symbol::from),
        }
    }
}

#[pymethods]
impl Chunk {
    /// Path of its last transmission.
    #[getter]
    fn path(&self) -> Option<u8> {
        self.transmissions.last().map(|last| last.path)
    }

    fn __repr__(&self) -> String {
        format!("<Chunk {} of {} bytes, sent {} times>", self.tsn, self.len, self.transmissions.len())
    }
}

/// Symbol of a block or window that a chunk carries.
#[pyclass(frozen, get_all, from_py_object, module = "strandcast")]
#[derive(Clone)]
pub(crate) struct Symbol {
    /// Number of the block, or of the first source symbol that it covers.
    block: u32,
    /// Number of source symbols of the symbol's block or window. 1 if the symbol is a source symbol of
    /// a window.
    sources: u16,
    /// Position of a source symbol in its block. None for a repair symbol, which is never sent again.
    index: Option<u16>,
}

impl From<&proto::Symbol> for Symbol {
    fn from(symbol: &proto::Symbol) -> Self {
        let index = match symbol.kind {
            proto::SymbolKind::Source(index) => Some(index),
            proto::SymbolKind::Repair => None,
        };
        Symbol { block: symbol.block, sources: symbol.sources, index }
    }
}

#[pymethods]
impl Symbol {
    fn __repr__(&self) -> String {
        match self.index {
            Some(index) => format!("<Symbol: source {index} of block {}>", self.block),
            None => format!("<Symbol: repair of block {}>", self.block),
        }
    }
}

/// A transmission of a chunk.
#[pyclass(frozen, get_all, from_py_object, module = "strandcast")]
#[derive(Clone)]
pub(crate) struct Transmission {
    /// Path of the transmission.
    path: u8,
    /// Time of the transmission, by the clock of `View.now`.
    at: f64,
    /// Next new TSN at its departure.
    next_tsn: u32,
    /// True if it counts in the path's window: neither acknowledged nor declared lost.
    in_flight: bool,
    /// Miss indications so far (RFC 9260 §7.2.4).
    misses: u8,
}

impl From<&proto::Transmission> for Transmission {
    fn from(sent: &proto::Transmission) -> Self {
        Transmission {
            path: sent.path.0,
            at: sent.at.as_secs_f64(),
            next_tsn: sent.next_tsn.0,
            in_flight: sent.in_flight,
            misses: sent.misses,
        }
    }
}

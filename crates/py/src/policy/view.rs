//! The view of policies, in the form for Python: seconds, bytes and bits per second.

use std::sync::Arc;
use std::time::Duration;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use strandcast_proto::policy as proto;
use strandcast_proto::policy::{PathState, PathView};
use strandcast_proto::time::Instant;

/// A snapshot of all paths. It does not change later.
#[pyclass(frozen, module = "strandcast")]
pub(crate) struct View {
    /// Time of the call, seconds since the run or the process began.
    #[pyo3(get)]
    now: f64,
    /// Free bytes of the peer's receive window.
    #[pyo3(get)]
    rwnd: u64,
    /// Bytes in flight over all paths.
    #[pyo3(get)]
    in_flight: u64,
    /// Path on which the last new data left.
    #[pyo3(get)]
    last_path_used: Option<u8>,
    /// Path that the application requested, once it is confirmed; otherwise the path of the handshake.
    #[pyo3(get)]
    primary: u8,
    /// True if the peer is a Strandcast peer, which receives the reports of schemes.
    #[pyo3(get)]
    peer_reports: bool,
    /// Chunk that prevents new data from being sent although a usable path has room. None if there is
    /// no such chunk.
    #[pyo3(get)]
    blocked: Option<Blocked>,
    usable: proto::PathSet,
    blocks: Arc<[proto::BlockView]>,
    paths: Arc<[PathView]>,
    names: Arc<[String]>,
}

impl View {
    /// Returns the view for Python; `names` are those of its paths, by their links.
    pub(crate) fn of(view: &proto::View<'_>, names: &Arc<[String]>) -> Self {
        View {
            now: view.now.as_secs_f64(),
            rwnd: view.rwnd,
            in_flight: view.in_flight,
            last_path_used: view.last_path_used.map(|path| path.0),
            primary: view.primary.0,
            peer_reports: view.peer_reports,
            blocked: view.blocked.map(Blocked::from),
            usable: view.usable(),
            blocks: view.blocks.into(),
            paths: view.paths.into(),
            names: Arc::clone(names),
        }
    }
}

#[pymethods]
impl View {
    /// All slots, those of closed paths included: `paths[id]`.
    #[getter]
    fn paths<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, (0..self.paths.len()).map(|at| self.path(at)))
    }

    /// Paths that data may use, lowest id first. These are the active paths or, without an active path,
    /// the path with the fewest errors.
    #[getter]
    fn usable<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.usable.iter().map(|id| self.path(id.index())).collect::<Vec<_>>())
    }

    /// Blocks that the receiver has not completed, oldest first; empty unless the association codes in blocks.
    #[getter]
    fn blocks<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let block = |at| Block { blocks: Arc::clone(&self.blocks), at };
        PyTuple::new(py, (0..self.blocks.len()).map(block))
    }

    fn __repr__(&self) -> String {
        let paths: Vec<String> = (0..self.paths.len()).map(|at| self.path(at).__repr__()).collect();
        format!("<View at {:.6} s: {} bytes in flight, {}>", self.now, self.in_flight, paths.join(", "))
    }
}

impl View {
    fn path(&self, at: usize) -> Path {
        Path { paths: Arc::clone(&self.paths), names: Arc::clone(&self.names), at }
    }
}

/// A reason why new data cannot be sent although a path has room.
#[pyclass(frozen, get_all, from_py_object, module = "strandcast")]
#[derive(Clone)]
pub(crate) struct Blocked {
    /// Name of the full buffer. If it is the send buffer, everything in it was sent, and the application
    /// has more data.
    by: &'static str,
    /// Oldest chunk that is not acknowledged: its acknowledgement would make room.
    tsn: u32,
    /// Path of its last transmission.
    path: u8,
    /// Time since which this chunk blocks, seconds.
    since: f64,
}

impl From<proto::Blocked> for Blocked {
    fn from(blocked: proto::Blocked) -> Self {
        let by = match blocked.by {
            proto::BlockedBy::ReceiveWindow => "receive window",
            proto::BlockedBy::SendBuffer => "send buffer",
        };
        let proto::Blocked { tsn, path, since, .. } = blocked;
        Blocked { by, tsn: tsn.0, path: path.0, since: since.as_secs_f64() }
    }
}

#[pymethods]
impl Blocked {
    fn __repr__(&self) -> String {
        format!(
            "<Blocked by the {}: TSN {} on path {} since {:.6} s>",
            self.by, self.tsn, self.path, self.since
        )
    }
}

/// A path, with the core's measurements and the scheme's estimates. None stands for a value without an estimate.
#[pyclass(frozen, module = "strandcast")]
pub(crate) struct Path {
    paths: Arc<[PathView]>,
    names: Arc<[String]>,
    at: usize,
}

impl Path {
    fn view(&self) -> &PathView {
        &self.paths[self.at]
    }
}

#[pymethods]
impl Path {
    /// Number of the path: its index in `View.paths`. It is used again after the path was closed.
    #[getter]
    fn id(&self) -> u8 {
        self.view().id.0
    }

    /// Name of the path in the scenario; None over real links.
    #[getter]
    fn name(&self) -> Option<&str> {
        self.names.get(self.view().link.0 as usize).map(String::as_str)
    }

    /// Reachability of the path (RFC 9260 §8.2, RFC 7829 §4.2).
    #[getter]
    fn state(&self) -> &'static str {
        match self.view().state {
            PathState::Unconfirmed => "unconfirmed",
            PathState::Active => "active",
            PathState::PotentiallyFailed => "potentially failed",
            PathState::Inactive => "inactive",
            PathState::Suspended => "suspended",
            PathState::Closed => "closed",
        }
    }

    /// The largest DATA chunk that fits a packet, its header of 16 bytes included, bytes.
    #[getter]
    fn mtu(&self) -> u64 {
        self.view().mtu
    }

    /// Smoothed round-trip time, seconds; None before the first sample.
    #[getter]
    fn srtt(&self) -> Option<f64> {
        seconds(self.view().srtt)
    }

    /// Round-trip time variation, seconds.
    #[getter]
    fn rttvar(&self) -> f64 {
        self.view().rttvar.as_secs_f64()
    }

    /// Latest round-trip time sample, seconds.
    #[getter]
    fn latest_rtt(&self) -> Option<f64> {
        seconds(self.view().latest_rtt)
    }

    /// Least round-trip time sample, seconds.
    #[getter]
    fn min_rtt(&self) -> Option<f64> {
        seconds(self.view().min_rtt)
    }

    /// Retransmission timeout with back-off and bounds, seconds.
    #[getter]
    fn rto(&self) -> f64 {
        self.view().rto.as_secs_f64()
    }

    /// Consecutive errors (RFC 9260 §8.2).
    #[getter]
    fn error_count(&self) -> u32 {
        self.view().error_count
    }

    /// Bytes in flight: payload + 16 of each chunk.
    #[getter]
    fn in_flight(&self) -> u64 {
        self.view().in_flight
    }

    /// Chunks in flight.
    #[getter]
    fn in_flight_chunks(&self) -> u32 {
        self.view().in_flight_chunks
    }

    /// Time at which data last left on it, by the clock of `View.now`.
    #[getter]
    fn last_sent(&self) -> Option<f64> {
        time(self.view().last_sent)
    }

    /// Number of the link of the path.
    #[getter]
    fn link(&self) -> u32 {
        self.view().link.0
    }

    /// Cost of data on that link.
    #[getter]
    fn tariff(&self) -> Tariff {
        self.view().tariff.into()
    }

    /// True if Max.Burst or pacing forbids another packet for the moment.
    #[getter]
    fn blocked(&self) -> bool {
        self.view().blocked
    }

    /// Free window in bytes, 0 while blocked. A free byte is sufficient for a packet.
    #[getter]
    fn room(&self) -> u64 {
        self.view().room()
    }

    /// Congestion window, bytes.
    #[getter]
    fn cwnd(&self) -> u64 {
        self.view().limit.cwnd
    }

    /// Slow-start threshold, bytes.
    #[getter]
    fn ssthresh(&self) -> Option<u64> {
        self.view().limit.ssthresh
    }

    /// Pacing rate, bit/s.
    #[getter]
    fn pacing(&self) -> Option<f64> {
        self.view().limit.pacing.map(|rate| rate.bps())
    }

    /// Available bandwidth, bit/s.
    #[getter]
    fn bandwidth(&self) -> Option<f64> {
        self.view().est.bandwidth.map(|rate| rate.bps())
    }

    /// Rate at which data are acknowledged, bit/s.
    #[getter]
    fn delivery_rate(&self) -> Option<f64> {
        self.view().est.delivery_rate.map(|rate| rate.bps())
    }

    /// Probability that a packet is lost.
    #[getter]
    fn loss(&self) -> Option<f64> {
        self.view().est.loss
    }

    /// Round-trip time of the path without its queues, seconds.
    #[getter]
    fn reference_rtt(&self) -> Option<f64> {
        seconds(self.view().est.reference_rtt)
    }

    /// Probability that a frame is in error on the access link.
    #[getter]
    fn frame_error_rate(&self) -> Option<f64> {
        self.view().est.frame_error_rate
    }

    /// Effective signal-to-noise ratio, linear.
    #[getter]
    fn effective_snr(&self) -> Option<f64> {
        self.view().est.effective_snr
    }

    /// Rate that the receiver requests, bit/s.
    #[getter]
    fn peer_rate(&self) -> Option<f64> {
        self.view().est.peer_rate.map(|rate| rate.bps())
    }

    /// Further estimates of the base's estimators, by name.
    #[getter]
    fn extra<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let extra = PyDict::new(py);
        self.view().est.named().try_for_each(|(name, value)| extra.set_item(name, value))?;
        Ok(extra)
    }

    fn __repr__(&self) -> String {
        let (id, state, view) = (self.id(), self.state(), self.view());
        let name = self.name().map_or(String::new(), |name| format!(" {name}"));
        format!("<Path {id}{name}, {state}, {} of {} bytes in flight>", view.in_flight, view.limit.cwnd)
    }
}

/// Cost of data on a link, as the application has set it (`strandcast send --tariff`). Without
/// a tariff, `class_` is 0 and the other fields contain None.
#[pyclass(frozen, get_all, module = "strandcast")]
pub(crate) struct Tariff {
    /// Class of the link. Links of a higher class are used only if the links of lower classes do not
    /// suffice. Links of class 0 are used freely.
    class_: u8,
    /// Price of 10^9 bytes.
    per_gb: Option<f64>,
    /// Remaining bytes in both directions, with all headers. Each datagram reduces them, down to 0.
    left: Option<u64>,
    /// Time until which the remaining bytes have to last, by the clock of `View.now`.
    until: Option<f64>,
}

impl From<proto::Tariff> for Tariff {
    fn from(tariff: proto::Tariff) -> Self {
        let proto::Tariff { class, per_gb, left, until } = tariff;
        Tariff { class_: class, per_gb, left, until: time(until) }
    }
}

#[pymethods]
impl Tariff {
    fn __repr__(&self) -> String {
        let left = self.left.map_or(String::new(), |bytes| format!(", {bytes} bytes left"));
        format!("<Tariff of class {}{left}>", self.class_)
    }
}

/// A block of source symbols that the receiver has not completed.
#[pyclass(frozen, module = "strandcast")]
pub(crate) struct Block {
    blocks: Arc<[proto::BlockView]>,
    at: usize,
}

impl Block {
    fn view(&self) -> &proto::BlockView {
        &self.blocks[self.at]
    }
}

#[pymethods]
impl Block {
    /// Number of the block; blocks are numbered from 0 in the order of their messages, modulo 2^32.
    #[getter]
    fn number(&self) -> u32 {
        self.view().number
    }

    /// Number of its source symbols so far; once it is closed, of all of them.
    #[getter]
    fn sources(&self) -> u16 {
        self.view().sources
    }

    /// True if no further source symbol joins it. Only closed blocks have repair symbols.
    #[getter]
    fn closed(&self) -> bool {
        self.view().closed
    }

    /// Number of its independent symbols that arrived. The block is complete at `sources`.
    #[getter]
    fn rank(&self) -> u16 {
        self.view().rank
    }

    /// Number of its source symbols that were sent, in their order.
    #[getter]
    fn sources_sent(&self) -> u16 {
        self.view().sources_sent
    }

    /// Number of its repair symbols that were sent.
    #[getter]
    fn repairs_sent(&self) -> u32 {
        self.view().repairs_sent
    }

    /// Source symbols and repair symbols of it in flight on a path.
    fn in_flight(&self, path: u8) -> (u32, u32) {
        let proto::SymbolsInFlight { sources, repairs } = self.view().on(proto::PathId(path));
        (sources, repairs)
    }

    fn __repr__(&self) -> String {
        let b = self.view();
        let open = if b.closed { "" } else { ", open" };
        format!("<Block {}: rank {} of {}{open}>", b.number, b.rank, b.sources)
    }
}

/// A repair symbol that is due in addition to messages.
#[pyclass(frozen, get_all, module = "strandcast")]
pub(crate) struct RepairOffer {
    /// Size of its chunk in a window, bytes.
    len: u64,
    /// Number of the first source symbol that it covers.
    first: u32,
    /// Number of messages that it covers.
    sources: u16,
    /// Number of covered messages that each path carried and that are not acknowledged. Paths at the
    /// end of the list may be missing.
    sent_on: Vec<u32>,
    /// Times at which the first and the last covered message become worthless, by the clock of `View.now`.
    expires: Option<(f64, f64)>,
}

impl From<&proto::RepairOffer> for RepairOffer {
    fn from(offer: &proto::RepairOffer) -> Self {
        RepairOffer {
            len: offer.len,
            first: offer.first,
            sources: offer.sources,
            sent_on: offer.sent_on.to_vec(),
            expires: offer.expires.map(|(first, last)| (first.as_secs_f64(), last.as_secs_f64())),
        }
    }
}

#[pymethods]
impl RepairOffer {
    fn __repr__(&self) -> String {
        format!(
            "<RepairOffer of {} bytes over {} source symbols from {}>",
            self.len, self.sources, self.first
        )
    }
}

pub(super) fn seconds(duration: Option<Duration>) -> Option<f64> {
    duration.map(|duration| duration.as_secs_f64())
}

pub(super) fn time(at: Option<Instant>) -> Option<f64> {
    at.map(Instant::as_secs_f64)
}

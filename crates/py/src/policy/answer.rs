//! Answers of policies, checked: an invalid answer is an exception that contains the answer.

use pyo3::prelude::*;
use strandcast_proto::association::DropCause;
use strandcast_proto::policy as proto;
use strandcast_proto::policy::{GiveUp, Importance, PathId, PathState};
use strandcast_proto::time::Instant;
use strandcast_proto::units::Rate;

use super::backlog::importance_word;
use crate::error;

/// Bytes that no window needs.
const TOO_MUCH: f64 = (1_u64 << 40) as f64;

/// Chunks for one or more paths.
///
/// Args:
///     paths: Id of a path, or several ids. With several ids, each chunk is sent on every one of these paths. A path
///         without room sends its copy later, unless the chunk has arrived or was lost by then.
///     chunks: Maximum number of chunks. The core stops when the room is used up, and asks again.
///     importance: Importance of the messages to send, one of `Backlog.heads`. None: the oldest message is next.
///
/// Raises:
///     PolicyError: No path, no chunk, or no such importance.
#[pyclass(frozen, get_all, module = "strandcast")]
pub(crate) struct Assignment {
    /// Paths: each chunk is sent on every one of them, once it has room.
    paths: Vec<i64>,
    /// Maximum number of chunks.
    chunks: u32,
    /// Importance of the messages.
    importance: Option<&'static str>,
    /// Reason for abandoning the message; `None` unless made by `nowhere`.
    why: Option<&'static str>,
}

#[pymethods]
impl Assignment {
    #[new]
    #[pyo3(signature = (paths, chunks=1, importance=None))]
    fn new(
        py: Python<'_>,
        paths: &Bound<'_, PyAny>,
        chunks: i64,
        importance: Option<&str>,
    ) -> PyResult<Self> {
        let one = paths.extract().map(|path| vec![path]);
        let paths: Vec<i64> = one.or_else(|_| paths.extract())?;
        if paths.is_empty() || chunks < 1 {
            let what = format!("Assignment({paths:?}, {chunks}): at least one path and one chunk");
            return Err(error::policy(py, &what));
        }
        let importance = importance.map(|word| named(py, word)).transpose()?.map(importance_word);
        Ok(Assignment { paths, chunks: u32::try_from(chunks).unwrap_or(u32::MAX), importance, why: None })
    }

    /// Abandons the next message, which must have a lifetime (`Backlog.next_expires`).
    ///
    /// Args:
    ///     why: Reason in `explain` and in the counters of a result. "too-late": the message would be late by all
    ///         paths. "too-far": the delays of the paths without queues are already too long. "makes-way": the
    ///         message makes room for later messages.
    #[staticmethod]
    #[pyo3(signature = (why="too-late"))]
    fn nowhere(py: Python<'_>, why: &str) -> PyResult<Self> {
        let why = Some(reason_word(reason(py, why)?));
        Ok(Assignment { paths: Vec::new(), chunks: 0, importance: None, why })
    }

    fn __repr__(&self) -> String {
        match self.paths[..] {
            [] => format!("Assignment.nowhere('{}')", self.why.unwrap_or_default()),
            _ => match self.importance {
                Some(word) => format!("Assignment({:?}, {}, {word:?})", self.paths, self.chunks),
                None => format!("Assignment({:?}, {})", self.paths, self.chunks),
            },
        }
    }
}

/// The next symbol and its path: the answer of `Scheduler.next_symbol`.
///
/// Args:
///     path: Path of the symbol. The path must have room.
///     block: Number of the block, one of `View.blocks`.
///     repair: If true, the symbol is a new repair symbol; otherwise it is the block's next source symbol.
#[pyclass(frozen, get_all, module = "strandcast")]
pub(crate) struct SymbolAssignment {
    /// Path of the symbol.
    path: i64,
    /// Block of the symbol.
    block: u32,
    /// True for a new repair symbol, false for the next source symbol.
    repair: bool,
}

#[pymethods]
impl SymbolAssignment {
    #[new]
    #[pyo3(signature = (path, block, repair=false))]
    fn new(path: i64, block: u32, repair: bool) -> Self {
        SymbolAssignment { path, block, repair }
    }

    fn __repr__(&self) -> String {
        let repair = if self.repair { "True" } else { "False" };
        format!("SymbolAssignment({}, {}, repair={repair})", self.path, self.block)
    }
}

/// Amount that may be in flight on a path: the answer of `CongestionControl.limit`, which holds until the next call.
///
/// Args:
///     cwnd: Congestion window in bytes.
///     ssthresh: Slow-start threshold in bytes. None: the algorithm has no threshold.
///     pacing: Pacing rate in bit/s. None: no pacing.
///
/// Raises:
///     PolicyError: A window below one byte, or an invalid rate.
#[pyclass(frozen, get_all, module = "strandcast")]
pub(crate) struct Limit {
    /// Congestion window in bytes.
    cwnd: u64,
    /// Slow-start threshold in bytes.
    ssthresh: Option<u64>,
    /// Rate for pacing, bit/s.
    pacing: Option<f64>,
}

#[pymethods]
impl Limit {
    #[new]
    #[pyo3(signature = (cwnd, ssthresh=None, pacing=None))]
    fn new(py: Python<'_>, cwnd: f64, ssthresh: Option<f64>, pacing: Option<f64>) -> PyResult<Self> {
        if let Some(rate) = pacing.filter(|rate| !(rate.is_finite() && *rate > 0.0)) {
            return Err(error::policy(py, &format!("pacing={rate}: a rate is above 0 bit/s, or None")));
        }
        let ssthresh = ssthresh.map(|bytes| window(py, "ssthresh", bytes)).transpose()?;
        Ok(Limit { cwnd: window(py, "cwnd", cwnd)?, ssthresh, pacing })
    }

    fn __repr__(&self) -> String {
        format!("Limit(cwnd={}, ssthresh={:?}, pacing={:?})", self.cwnd, self.ssthresh, self.pacing)
    }
}

/// Returns the whole bytes of a window.
fn window(py: Python<'_>, name: &str, bytes: f64) -> PyResult<u64> {
    if (1.0..TOO_MUCH).contains(&bytes) {
        return Ok(bytes as u64);
    }
    Err(error::policy(py, &format!("{name}={bytes}: a window has 1 byte at least, and less than 2^40")))
}

/// Converts the answer of `next`.
pub(super) fn assignment(
    answer: &Bound<'_, PyAny>,
    view: &proto::View<'_>,
) -> PyResult<Option<proto::Assignment>> {
    if answer.is_none() {
        return Ok(None);
    }
    if let Ok(given) = answer.cast::<Assignment>() {
        let given = given.get();
        let paths = given.paths.iter().map(|path| open(answer.py(), view, *path)).collect::<PyResult<_>>()?;
        let importance = given.importance.map(|word| named(answer.py(), word)).transpose()?;
        let why = given.why.map(|word| reason(answer.py(), word)).transpose()?.unwrap_or_default();
        return Ok(Some(proto::Assignment { paths, chunks: given.chunks, importance, why }));
    }
    let Ok(path) = answer.extract() else {
        return Err(odd(answer, "the id of a path, an Assignment, or None"));
    };
    Ok(Some(proto::Assignment::on(open(answer.py(), view, path)?, 1)))
}

/// Returns the importance with this name.
fn named(py: Python<'_>, word: &str) -> PyResult<Importance> {
    let known = Importance::ALL.into_iter().find(|importance| importance_word(*importance) == word);
    known.ok_or_else(|| {
        let all = Importance::ALL.map(importance_word).join(", ");
        error::policy(py, &format!("{word:?} is not an importance: {all}"))
    })
}

/// Returns the name of a reason for giving a message up.
fn reason_word(why: GiveUp) -> &'static str {
    DropCause::Scheduler(why).name()
}

/// Returns the reason with this name.
fn reason(py: Python<'_>, word: &str) -> PyResult<GiveUp> {
    let known = GiveUp::ALL.into_iter().find(|why| reason_word(*why) == word);
    known.ok_or_else(|| {
        let all = GiveUp::ALL.map(reason_word).join(", ");
        error::policy(py, &format!("{word:?} is not a reason to give a message up: {all}"))
    })
}

/// Converts the answer of `advice`: the rate now, and the rate without the path that carries most, in
/// bit/s.
pub(super) fn advice(answer: &Bound<'_, PyAny>) -> PyResult<Option<proto::Advice>> {
    if answer.is_none() {
        return Ok(None);
    }
    let rate = |bps: f64| (0.0..TOO_MUCH).contains(&bps).then_some(bps as u64);
    let rates = answer.extract::<(f64, f64)>().ok();
    match rates.and_then(|(now, safe)| Some((rate(now)?, rate(safe)?))) {
        Some((rate_bps, safe_bps)) => Ok(Some(proto::Advice { rate_bps, safe_bps })),
        None => Err(odd(answer, "a tuple of two rates in bit/s, or None")),
    }
}

/// Converts the answer of `next_symbol`.
pub(super) fn symbol(
    answer: &Bound<'_, PyAny>,
    view: &proto::View<'_>,
) -> PyResult<Option<proto::SymbolAssignment>> {
    if answer.is_none() {
        return Ok(None);
    }
    let Ok(given) = answer.cast::<SymbolAssignment>() else {
        return Err(odd(answer, "a SymbolAssignment, or None"));
    };
    let SymbolAssignment { path, block, repair } = *given.get();
    let path = open(answer.py(), view, path)?;
    let wrong = |what: &str| Err(error::policy(answer.py(), &format!("block {block} {what}")));
    let Some(shown) = view.blocks.iter().find(|shown| shown.number == block) else {
        return wrong("is not in view.blocks");
    };
    if repair && !shown.closed {
        return wrong("is open: repair symbols are of closed blocks");
    }
    if !repair && shown.sources_sent >= shown.sources {
        return wrong("has no source symbol left that was not sent");
    }
    let what = if repair { proto::SymbolChoice::Repair } else { proto::SymbolChoice::Source };
    Ok(Some(proto::SymbolAssignment { path, block, what }))
}

/// Converts the answer of `penalise` or `next_repair`.
pub(super) fn path(answer: &Bound<'_, PyAny>, view: &proto::View<'_>) -> PyResult<Option<PathId>> {
    if answer.is_none() {
        return Ok(None);
    }
    let Ok(path) = answer.extract() else { return Err(odd(answer, "the id of a path, or None")) };
    open(answer.py(), view, path).map(Some)
}

/// Returns the path with this number, if the policy may name it.
fn open(py: Python<'_>, view: &proto::View<'_>, path: i64) -> PyResult<PathId> {
    let mut open = view.paths.iter().filter(|p| p.state != PathState::Closed).map(|p| p.id);
    let known = open.clone().find(|id| i64::from(id.0) == path);
    known.ok_or_else(|| {
        let first = open.next().map_or_else(
            || "none is open now: answer None".to_owned(),
            |first| {
                let all = open.fold(first.0.to_string(), |all, id| format!("{all}, {}", id.0));
                format!("open ones are {all}")
            },
        );
        error::policy(py, &format!("path {path} is closed or was never there; {first}"))
    })
}

/// Converts the answer of `limit`. `None` leaves the decision to the base.
pub(super) fn limit(answer: &Bound<'_, PyAny>) -> PyResult<Option<proto::Limit>> {
    if answer.is_none() {
        return Ok(None);
    }
    if let Ok(given) = answer.cast::<Limit>() {
        let Limit { cwnd, ssthresh, pacing } = *given.get();
        return Ok(Some(proto::Limit { cwnd, ssthresh, pacing: pacing.map(Rate::from_bps) }));
    }
    let Ok(bytes) = answer.extract() else {
        return Err(odd(answer, "a window in bytes, a Limit, or None"));
    };
    Ok(Some(proto::Limit { cwnd: window(answer.py(), "cwnd", bytes)?, ssthresh: None, pacing: None }))
}

/// Converts the answer of `aggregate`.
pub(super) fn aggregate(answer: &Bound<'_, PyAny>) -> PyResult<Option<u64>> {
    if answer.is_none() {
        return Ok(None);
    }
    let Ok(bytes) = answer.extract() else { return Err(odd(answer, "bytes, or None")) };
    window(answer.py(), "aggregate", bytes).map(Some)
}

/// Converts the answer of `timeout`. The time is never earlier than requested. A policy that compares
/// its own time with `now` therefore finds that the time has passed.
pub(super) fn timeout(answer: &Bound<'_, PyAny>) -> PyResult<Option<Instant>> {
    if answer.is_none() {
        return Ok(None);
    }
    match answer.extract::<f64>() {
        Ok(seconds) if seconds >= 0.0 && seconds.is_finite() => {
            let mut at = Instant::from_nanos((seconds * 1e9).ceil() as u64);
            if at.as_secs_f64() < seconds {
                at = Instant::from_nanos(at.as_nanos().saturating_add(1));
            }
            Ok(Some(at))
        }
        Ok(f64::INFINITY) => Ok(None),
        _ => Err(odd(answer, "a time in seconds by view.now's clock, or None")),
    }
}

fn odd(answer: &Bound<'_, PyAny>, wanted: &str) -> PyErr {
    let shown = answer.repr().map_or_else(|_| "something".to_owned(), |shown| shown.to_string());
    error::policy(answer.py(), &format!("the answer {shown} is not {wanted}"))
}

//! Spontaneous actions of a policy in Python, and its view of the data in flight.

use pyo3::prelude::*;
use strandcast_proto::policy as proto;
use strandcast_proto::policy::PathId;
use strandcast_proto::time::Instant;
use strandcast_proto::wire::Tsn;

use super::signal::{Chunk, cause_of};
use crate::error;

/// An action that a policy requests without being asked for a path (`Policy.act`).
#[pyclass(frozen, module = "strandcast")]
pub(crate) enum Act {
    /// Sends a copy of a chunk in flight on the path `to`. The copy leaves once `to` has room, before
    /// lost and new chunks.
    Copy { tsn: u32, to: u8 },
    /// Declares lost all chunks in flight on `path` that left before `sent_before`, by the clock of
    /// `View.now`. Each is a `Signal.Lost`; no `Signal.LossEvent` follows.
    Lose { path: u8, sent_before: f64, cause: String },
    /// Abandons every message of a group, waiting or sent.
    Drop { group: u64 },
}

#[pymethods]
impl Act {
    fn __repr__(&self) -> String {
        match self {
            Act::Copy { tsn, to } => format!("Act.Copy(tsn={tsn}, to={to})"),
            Act::Lose { path, sent_before, cause } => {
                format!("Act.Lose(path={path}, sent_before={sent_before}, cause={cause:?})")
            }
            Act::Drop { group } => format!("Act.Drop(group={group})"),
        }
    }
}

impl Act {
    /// Converts the answer of `act`.
    pub(super) fn answered(answer: &Bound<'_, PyAny>) -> PyResult<Option<proto::Act>> {
        if answer.is_none() {
            return Ok(None);
        }
        let Ok(act) = answer.cast::<Act>() else {
            let shown = answer.repr().map_or_else(|_| "something".to_owned(), |shown| shown.to_string());
            return Err(error::policy(
                answer.py(),
                &format!("the answer {shown} is neither an Act nor None"),
            ));
        };
        Ok(Some(match act.get() {
            Act::Copy { tsn, to } => proto::Act::Copy { tsn: Tsn(*tsn), to: PathId(*to) },
            Act::Lose { path, sent_before, cause } => proto::Act::Lose {
                path: PathId(*path),
                sent_before: Instant::from_secs_f64(*sent_before),
                cause: cause_of(answer.py(), cause)?,
            },
            Act::Drop { group } => proto::Act::Drop { group: *group },
        }))
    }
}

/// Chunks in flight.
#[pyclass(frozen, module = "strandcast")]
pub(crate) struct Flight(Vec<Vec<Chunk>>);

impl Flight {
    pub(super) fn of(view: &proto::View<'_>, flight: &proto::Flight<'_>) -> Self {
        Flight(view.paths.iter().map(|path| flight.on(path.id).map(Chunk::from).collect()).collect())
    }
}

#[pymethods]
impl Flight {
    /// Returns the chunks in flight on a path: first chunks that were sent once, in the order of
    /// sending, then retransmissions.
    fn on(&self, path: usize) -> Vec<Chunk> {
        self.0.get(path).cloned().unwrap_or_default()
    }

    fn __repr__(&self) -> String {
        let counts = self.0.iter().map(|chunks| chunks.len().to_string()).collect::<Vec<_>>();
        format!("<Flight: {} chunks by path>", counts.join(", "))
    }
}

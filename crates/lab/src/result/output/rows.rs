//! Content of the tables, row by row.

use strandcast_media::ts::FrameType;

use super::columns::{Cell, Kind};
use crate::result::summary::samples;
use crate::result::{RunResult, Subject};

/// Columns for the metrics of each run.
pub(super) const RUNS: &[(&str, Kind)] = &[
    ("scheme", Kind::Text),
    ("seed", Kind::Count),
    ("subject_kind", Kind::Text),
    ("subject", Kind::Text),
    ("part", Kind::Text),
    ("metric", Kind::Text),
    ("value", Kind::Number),
];
/// Columns for the metrics of each scheme over its runs.
pub(super) const SUMMARY: &[(&str, Kind)] = &[
    ("scheme", Kind::Text),
    ("subject_kind", Kind::Text),
    ("subject", Kind::Text),
    ("part", Kind::Text),
    ("metric", Kind::Text),
    ("n", Kind::Count),
    ("mean", Kind::Number),
    ("ci95", Kind::Number),
    ("sd", Kind::Number),
    ("median", Kind::Number),
    ("low", Kind::Number),
    ("high", Kind::Number),
    ("nonzero", Kind::Count),
    ("equal", Kind::Count),
];
/// Columns for the time series of a run.
pub(super) const SERIES: &[(&str, Kind)] = &[
    ("scheme", Kind::Text),
    ("seed", Kind::Count),
    ("time_s", Kind::Number),
    ("subject_kind", Kind::Text),
    ("subject", Kind::Text),
    ("part", Kind::Text),
    ("metric", Kind::Text),
    ("value", Kind::Number),
];

/// Columns for the outcomes of the frames of videos.
pub(super) const FRAMES: &[(&str, Kind)] = &[
    ("scheme", Kind::Text),
    ("seed", Kind::Count),
    ("flow", Kind::Text),
    ("frame", Kind::Count),
    ("type", Kind::Text),
    ("captured_s", Kind::Number),
    ("due_s", Kind::Number),
    ("whole_s", Kind::Number),
    ("late_ms", Kind::Number),
];

/// Passes on the rows of [`FRAMES`].
pub(super) fn rows_of_frames<E>(
    runs: &[RunResult],
    mut push: impl FnMut(&[Cell<'_>]) -> Result<(), E>,
) -> Result<(), E> {
    for run in runs {
        for (flow, frames) in &run.frames {
            for (number, frame) in (0..).zip(frames) {
                let kind = match frame.kind {
                    Some(FrameType::I) => "I",
                    Some(FrameType::P) => "P",
                    Some(FrameType::B) => "B",
                    None => "H",
                };
                push(&[
                    Cell::Text(&run.scheme),
                    Cell::Count(run.seed),
                    Cell::Text(flow),
                    Cell::Count(number),
                    Cell::Text(kind),
                    Cell::Number(Some(frame.captured_s)),
                    Cell::Number(Some(frame.due_s)),
                    Cell::Number(frame.whole_s),
                    Cell::Number(frame.whole_s.map(|at| (at - frame.due_s) * 1e3)),
                ])?;
            }
        }
    }
    Ok(())
}

/// Passes on the rows of [`RUNS`].
pub(super) fn rows_of_runs<E>(
    runs: &[RunResult],
    mut push: impl FnMut(&[Cell<'_>]) -> Result<(), E>,
) -> Result<(), E> {
    for run in runs {
        for metric in &run.metrics {
            let words = metric.subject.words();
            let [kind, subject, part] = words.each_ref().map(|word| Cell::Text(word));
            let value = Cell::Number(Some(metric.value).filter(|value| value.is_finite()));
            let (scheme, seed) = (Cell::Text(&run.scheme), Cell::Count(run.seed));
            push(&[scheme, seed, kind, subject, part, Cell::Text(metric.name), value])?;
        }
    }
    Ok(())
}

/// Passes on the rows of [`SUMMARY`].
pub(super) fn rows_of_summary<E>(
    runs: &[RunResult],
    mut push: impl FnMut(&[Cell<'_>]) -> Result<(), E>,
) -> Result<(), E> {
    for sample in samples(runs) {
        let words = sample.subject.words();
        let [kind, subject, part] = words.each_ref().map(|word| Cell::Text(word));
        let (stat, sd) = (sample.stat(), sample.deviation());
        push(&[
            Cell::Text(sample.scheme),
            kind,
            subject,
            part,
            Cell::Text(sample.name),
            Cell::Count(stat.n),
            Cell::Number(Some(stat.mean)),
            Cell::Number(stat.ci95),
            Cell::Number(sd),
            Cell::Number(Some(stat.median)),
            Cell::Number(Some(stat.low)),
            Cell::Number(Some(stat.high)),
            Cell::Count(stat.nonzero),
            Cell::Count(stat.equal),
        ])?;
    }
    Ok(())
}

/// A row of [`SERIES`] for the run with this scheme and seed.
pub(super) fn row_of_series<T>(
    (scheme, seed): (&str, u64),
    (time_s, subject, metric, value): (f64, &Subject, &str, f64),
    push: impl FnOnce(&[Cell<'_>]) -> T,
) -> T {
    let words = subject.words();
    let [kind, name, part] = words.each_ref().map(|word| Cell::Text(word));
    let (time, value) = (Cell::Number(Some(time_s)), Cell::Number(Some(value)));
    push(&[Cell::Text(scheme), Cell::Count(seed), time, kind, name, part, Cell::Text(metric), value])
}

//! Recorded numbers (traces).

use strandcast_proto::time::Duration;

use super::checks::{NumberError, check_points};

/// A recorded number, which is constant from each time to the next time. The first value also applies before its own
/// time.
#[derive(Clone, Debug, PartialEq)]
pub struct Trace {
    points: Vec<(Duration, f64)>,
    repeat: Option<Duration>,
}

/// An invalid line of a trace file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {problem}")]
pub struct TraceError {
    /// Number of the line, starting at 1.
    pub line: usize,
    /// The mistake, and how to correct it.
    pub problem: String,
}

impl TraceError {
    /// Creates the error for an invalid line.
    pub fn new(line: usize, problem: impl Into<String>) -> Self {
        TraceError { line, problem: problem.into() }
    }
}

impl Trace {
    /// Creates a trace of times and values. If `repeat` is given, the trace repeats after this time, which is not
    /// before the last time.
    ///
    /// # Errors
    /// Returns an error if the list is empty, a value is not finite, times do not ascend, or `repeat` is too early.
    pub fn new(points: Vec<(Duration, f64)>, repeat: Option<Duration>) -> Result<Self, NumberError> {
        check_points(&points)?;
        let last = points.last().expect("check_points found one").0;
        match repeat {
            Some(repeat) if repeat < last || repeat.is_zero() => Err(NumberError::Repeat(repeat)),
            _ => Ok(Trace { points, repeat }),
        }
    }

    /// Reads lines of `time,value`, with the time in seconds. The first time must be 0, and times must ascend. Empty
    /// lines, comments after `#`, and one line of headings at the beginning are skipped. The trace does not repeat.
    ///
    /// # Errors
    /// Returns the first invalid line, as an error.
    pub fn from_csv(text: &str) -> Result<Self, TraceError> {
        let mut points: Vec<(Duration, f64)> = Vec::new();
        let mut heading = true;
        for (line, content) in content_lines(text) {
            let point = match point(content) {
                Err(_) if core::mem::take(&mut heading) && is_heading(content) => continue,
                point => point.map_err(|problem| TraceError::new(line, problem))?,
            };
            heading = false;
            let problem = match points.last() {
                None if !point.0.is_zero() => "the first time must be 0; shift the times or add a line for 0",
                Some(last) if last.0 >= point.0 => {
                    "times must ascend; sort the lines and keep one for each time"
                }
                _ => {
                    points.push(point);
                    continue;
                }
            };
            return Err(TraceError::new(line, problem));
        }
        let empty = TraceError::new(1, "the trace is empty; write lines of time_s,value");
        Trace::new(points, None).map_err(|_| empty)
    }

    /// Returns the trace with a repetition that starts at its last time. The value at the last time then never applies.
    ///
    /// # Errors
    /// Returns an error if the only time of the trace is 0.
    pub fn repeating(self) -> Result<Self, NumberError> {
        let last = self.points.last().expect("a trace has a point").0;
        Trace::new(self.points, Some(last))
    }

    /// Returns the times and values.
    pub fn points(&self) -> &[(Duration, f64)] {
        &self.points
    }

    /// Returns the time after which the trace repeats, if it does.
    pub fn repeat(&self) -> Option<Duration> {
        self.repeat
    }

    /// Returns the long-run mean.
    pub(super) fn mean(&self) -> f64 {
        let (last, value) = *self.points.last().expect("a trace has a point");
        let Some(repeat) = self.repeat else { return value };
        let whole: f64 =
            self.points.windows(2).map(|pair| pair[0].1 * (pair[1].0 - pair[0].0).as_secs_f64()).sum();
        let before = self.points[0].0.as_secs_f64() * self.points[0].1;
        (before + whole + value * (repeat - last).as_secs_f64()) / repeat.as_secs_f64()
    }
}

/// Returns the lines that have content, each with its line number. Comments and surrounding spaces are removed.
pub fn content_lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let content = |line: &'_ str| line.find('#').unwrap_or(line.len());
    (1..)
        .zip(text.lines())
        .map(move |(n, line)| (n, line[..content(line)].trim()))
        .filter(|(_, line)| !line.is_empty())
}

/// Returns whether the line contains words, and no numbers.
fn is_heading(line: &str) -> bool {
    line.split(',').all(|word| word.trim().starts_with(|c: char| c.is_alphabetic()))
}

fn point(line: &str) -> Result<(Duration, f64), String> {
    let Some((time, value)) = line.split_once(',') else {
        return Err(format!("`{line}` has no comma; write time_s,value"));
    };
    let number = |text: &str, what: &str| match text.trim().parse::<f64>() {
        Ok(number) if number.is_finite() => Ok(number),
        _ => Err(format!("`{}` is not a {what}; write a plain number", text.trim())),
    };
    let (time, value) = (number(time, "time in seconds")?, number(value, "value")?);
    let time = Duration::try_from_secs_f64(time)
        .map_err(|_| format!("{time} s is not a valid time of a run; write seconds from 0 on"))?;
    Ok((time, value))
}

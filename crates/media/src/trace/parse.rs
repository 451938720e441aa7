//! Frame traces as text.

use core::time::Duration;

use super::{FrameTrace, TracedFrame};
use crate::ts::FrameType;

/// Longest plausible mean interval between frames. A larger interval suggests that the times are in milliseconds
/// without a declaration.
const MAX_MEAN_INTERVAL: Duration = Duration::from_secs(10);
/// Latest time of a frame in seconds (31 years).
const MAX_TIME_S: f64 = 1e9;

/// An invalid line of a frame trace.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct TraceError {
    /// The line number, counted from 1.
    pub line: usize,
    /// The mistake and its remedy.
    pub message: String,
}

impl FrameTrace {
    /// Reads one line per frame: number, type, time, bytes. Lines are in the order in which the frames are sent. Public
    /// libraries of video traces use this form (verbose traces of MPEG-4 and H.264 videos). `UdpTraceClient` of ns-3
    /// reads the same form.
    ///
    /// * Columns are separated by blanks, tabs, commas or semicolons; columns after the fourth are ignored.
    /// * Types are `I` (or `IDR`), `P`, `B`, and `H` for a header, in either case.
    /// * Times are in seconds. They are in milliseconds if a comment or heading above the first frame contains both
    ///   words `time` and `ms` (`# number type time [ms] bytes`). Times need not be ascending, because encoders send a
    ///   P frame before the B frames that are shown earlier.
    /// * Three kinds of lines are ignored: empty lines, lines that begin with `#` or `%`, and lines above the first
    ///   frame that do not begin with a digit.
    ///
    /// # Errors
    /// Returns an error for the first invalid line. Returns an error for the last line if the trace has no frame, or if
    /// the intervals show that times must be in milliseconds.
    pub fn parse(text: &str) -> Result<Self, TraceError> {
        let mut frames = Vec::new();
        let mut unit = 1.0;
        let mut last_line = 1;
        for (line, text) in (1..).zip(text.trim_start_matches('\u{feff}').lines().map(str::trim)) {
            last_line = line;
            let heading = frames.is_empty() && !text.starts_with(|c: char| c.is_ascii_digit());
            if heading && names_milliseconds(text) {
                unit = 1e-3;
            }
            if heading || text.is_empty() || text.starts_with(['#', '%']) {
                continue;
            }
            frames.push(frame(text, unit).map_err(|message| TraceError { line, message })?);
        }
        let Some(trace) = FrameTrace::new(frames) else {
            return Err(TraceError {
                line: last_line,
                message: "no frame; expected one line per frame: number type time bytes".into(),
            });
        };
        match trace.duration() {
            Some(duration) if duration / frame_count(&trace) > MAX_MEAN_INTERVAL => {
                let interval = (duration / frame_count(&trace)).as_secs_f64();
                let mend = "if times are in milliseconds, declare it above the first frame: `# time in ms`";
                Err(TraceError { line: last_line, message: format!("frames lie {interval} s apart; {mend}") })
            }
            _ => Ok(trace),
        }
    }
}

fn frame_count(trace: &FrameTrace) -> u32 {
    u32::try_from(trace.frames().len()).unwrap_or(u32::MAX)
}

fn names_milliseconds(heading: &str) -> bool {
    let has = |names: [&str; 2]| {
        let mut words = heading.split(|c: char| !c.is_ascii_alphanumeric());
        words.any(|word| names.iter().any(|name| word.eq_ignore_ascii_case(name)))
    };
    has(["time", "times"]) && has(["ms", "milliseconds"])
}

/// One frame, or a diagnostic.
fn frame(line: &str, unit: f64) -> Result<TracedFrame, String> {
    let mut columns = line.split([' ', '\t', ',', ';']).filter(|c| !c.is_empty());
    let mut column =
        |name| columns.next().ok_or(format!("{name} is missing; a frame is: number type time bytes"));
    let (number, kind, time, bytes) = (column("number")?, column("type")?, column("time")?, column("bytes")?);
    let seconds = time.parse::<f64>().ok().map(|t| t * unit).filter(|t| (0.0..=MAX_TIME_S).contains(t));
    Ok(TracedFrame {
        number: number.parse().map_err(|_| format!("`{number}` is not a frame number"))?,
        kind: match kind.to_ascii_uppercase().as_str() {
            "I" | "IDR" => Some(FrameType::I),
            "P" => Some(FrameType::P),
            "B" => Some(FrameType::B),
            "H" => None,
            _ => {
                return Err(format!(
                    "`{kind}` is not a type of frame; choose from I, P, B, and H for a header"
                ));
            }
        },
        time: Duration::from_secs_f64(seconds.ok_or(format!("`{time}` is not the time of a frame"))?),
        bytes: bytes.parse().map_err(|_| format!("`{bytes}` is not a size in whole bytes"))?,
    })
}

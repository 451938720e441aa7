//! Files to which a scenario refers. They are checked when the scenario is read, so that an error in such a file names
//! its line.

use strandcast_media::trace::FrameTrace;
use strandcast_netem::link::Opportunities;
use strandcast_netem::loss::LossList;
use strandcast_netem::number::{Trace, TraceError, content_lines};

use super::spec::Minimum;
use super::table::{Item, Read};
use super::units::Quantity;
use super::value::TraceFile;
use super::warning::{LONG_DELAY, MIN_RATE};

/// Reads a trace of numbers. Each line has a time in seconds and a value.
pub(super) fn numbers(
    item: &Item<'_>,
    file: &TraceFile,
    (quantity, minimum): (Quantity, Minimum),
    repeat: bool,
) -> Read<()> {
    let trace = Trace::from_csv(&file.text).map_err(|wrong| at_line(item, file, wrong))?;
    if let Some(i) = trace.points().iter().position(|(_, value)| !(0.0..=quantity.most()).contains(value)) {
        // A trace may have a heading. It is the only line that is not a point.
        let lines: Vec<(usize, &str)> = content_lines(&file.text).collect();
        let line = lines[lines.len() - trace.points().len() + i].0;
        let value = trace.points()[i].1;
        let message =
            format!("{value} is out of range; values are from 0 to {:e} in SI units", quantity.most());
        return Err(item.error_in(file, line, &message));
    }
    if minimum == Minimum::Positive && trace.points().iter().all(|(_, value)| *value == 0.0) {
        return Err(item.error("the trace is never above zero"));
    }
    warn_if_unlikely(item, &trace, quantity);
    if repeat && trace.repeating().is_err() {
        return Err(
            item.error("the trace has no length to loop over; leave `loop` out, or add a line with its end")
        );
    }
    Ok(())
}

/// Adds a warning if all values of a trace are improbable.
fn warn_if_unlikely(item: &Item<'_>, trace: &Trace, quantity: Quantity) {
    let values = || trace.points().iter().map(|(_, value)| *value);
    let (least, most) = (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max));
    match quantity {
        Quantity::Rate if most < MIN_RATE => {
            item.warn(format!("values of a trace are in bit/s, and its largest is {most}; multiply them if they are in Mbit/s"));
        }
        Quantity::Time if least > LONG_DELAY => {
            item.warn(format!(
                "values of a trace are in seconds, and its smallest is {least}; divide them if they are in ms"
            ));
        }
        _ => {}
    }
}

/// Reads a trace of the times at which a link may send.
pub(super) fn opportunities(item: &Item<'_>, file: &TraceFile) -> Read<()> {
    Opportunities::parse(&file.text).map(|_| ()).map_err(|wrong| at_line(item, file, wrong))
}

/// A list of lost packets.
pub(super) fn losses(item: &Item<'_>, file: &TraceFile) -> Read<()> {
    LossList::parse(&file.text).map(|_| ()).map_err(|wrong| at_line(item, file, wrong))
}

/// A trace of a video's frames.
pub(super) fn frames(item: &Item<'_>, file: &TraceFile) -> Read<()> {
    let read = FrameTrace::parse(&file.text);
    read.map(|_| ()).map_err(|wrong| item.error_in(file, wrong.line, &wrong.message))
}

fn at_line(item: &Item<'_>, file: &TraceFile, wrong: TraceError) -> super::ScenarioError {
    item.error_in(file, wrong.line, &wrong.problem)
}

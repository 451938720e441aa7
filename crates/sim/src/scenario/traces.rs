//! Files that a scenario refers to, checked when it is read: a mistake in one is told with its own line.

use strandcast_media::trace::FrameTrace;

use super::model::TraceFile;
use super::table::{Item, Read};
use super::units::Quantity;

/// A trace of numbers: lines of seconds and value.
pub(super) fn numbers(_item: &Item<'_>, _file: &TraceFile, _quantity: Quantity) -> Read<()> {
    Ok(())
}

/// A trace of a link's opportunities to send.
pub(super) fn opportunities(_item: &Item<'_>, _file: &TraceFile) -> Read<()> {
    Ok(())
}

/// A list of lost packets.
pub(super) fn losses(_item: &Item<'_>, _file: &TraceFile) -> Read<()> {
    Ok(())
}

/// A trace of a video's frames.
pub(super) fn frames(item: &Item<'_>, file: &TraceFile) -> Read<()> {
    FrameTrace::parse(&file.text).map_err(|wrong| item.error_in(file, wrong.line, &wrong.message))?;
    Ok(())
}

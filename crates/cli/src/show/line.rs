//! Events as lines of `--stats`.

use serde::Serialize;
use strandcast::live::{Role, StreamEvent};

/// An event with its peer and time; a line of `--stats`.
#[derive(Debug, Serialize)]
pub(super) struct EventLine<'a> {
    pub(super) seconds: f64,
    pub(super) role: Role,
    pub(super) peer: &'a str,
    #[serde(flatten)]
    pub(super) what: &'a StreamEvent,
    /// Events before it that were left out, since there were too many.
    #[serde(skip_serializing_if = "is_zero")]
    pub(super) left_out: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

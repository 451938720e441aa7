//! The choice with which `ecf` and `blest` begin: the default scheduler of multipath-tcp.org's kernel (`mptcp_sched.c`,
//! v0.95), which takes the subflow with the lowest smoothed round-trip time among those whose window has room, and for
//! a retransmission a subflow that has not carried the segment, if there is one.
//!
//! Two rules of the kernel are not implemented. Associations have no paths marked as backups. The kernel leaves out a
//! subflow that recovers from a timeout; here a path is left out once it is potentially failed.

use strandcast_proto::policy::{Backlog, PathView, View};
use strandcast_proto::time::Duration;

/// The usable path with the lowest round-trip time, whether it has room or not. Paths without a sample come last; of
/// equal paths the lowest id is taken.
pub(super) fn fastest<'a>(view: &View<'a>) -> Option<&'a PathView> {
    view.usable_paths().min_by_key(|p| (p.srtt.unwrap_or(Duration::MAX), p.id))
}

/// The path of the default scheduler, if some path has room.
pub(super) fn fastest_with_room<'a>(view: &View<'a>, backlog: &Backlog) -> Option<&'a PathView> {
    let with_room = view.usable_paths().filter(|p| p.has_room());
    with_room.min_by_key(|p| (backlog.tried.contains(p.id), p.srtt.unwrap_or(Duration::MAX), p.id))
}

//! Choice of the default scheduler of multipath-tcp.org's kernel (`mptcp_sched.c`, v0.95). `ecf` and `blest` begin with
//! this choice. It takes the subflow with the lowest smoothed round-trip time among the subflows whose window has room.
//! A retransmission takes a subflow that has not carried the segment, if there is one.
//!
//! Two rules of the kernel are not implemented. Associations have no paths marked as backups. The kernel does not use a
//! subflow that recovers from a timeout. Here, a path is not used once it is potentially failed.

use strandcast_proto::policy::{Backlog, PathView, View};
use strandcast_proto::time::Duration;

/// Returns the usable path with the lowest round-trip time, whether or not it has room. Paths without a sample rank
/// last. If paths are equal, the one with the lowest id is taken.
pub(super) fn fastest<'a>(view: &View<'a>) -> Option<&'a PathView> {
    view.usable_paths().min_by_key(|p| (p.srtt.unwrap_or(Duration::MAX), p.id))
}

/// Returns the path that the default scheduler takes, if any path has room.
pub(super) fn fastest_with_room<'a>(view: &View<'a>, backlog: &Backlog) -> Option<&'a PathView> {
    let with_room = view.usable_paths().filter(|p| p.has_room());
    with_room.min_by_key(|p| (backlog.tried.contains(p.id), p.srtt.unwrap_or(Duration::MAX), p.id))
}

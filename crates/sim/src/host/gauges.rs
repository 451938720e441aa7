//! Counters and gauges of an association, for measurements.

use strandcast_proto::association::{Association, DropCause, HeldBy};
use strandcast_proto::policy::{Estimate, GiveUp, PathId, PathSet, PathState};
use strandcast_proto::time::Instant;
use strandcast_proto::units::Rate;

use crate::net::{Held, Paths, Standing};

/// State of a sender without an association.
pub(super) const UNCONNECTED: Standing = Standing {
    held: Some(Held { by: HeldBy::Handshake, full: Paths::NONE, open: Paths::NONE }),
    unacknowledged: None,
    inactive: Paths::NONE,
};

/// Names of the counters of messages that were dropped before any part was sent, by cause.
const UNSENT: [(DropCause, &str); 6] = [
    (DropCause::Expired, "unsent_expired_messages"),
    (DropCause::Scheduler(GiveUp::TooLate), "unsent_too_late_messages"),
    (DropCause::Scheduler(GiveUp::TooFar), "unsent_too_far_messages"),
    (DropCause::Scheduler(GiveUp::MakesWay), "unsent_makes_way_messages"),
    (DropCause::Group, "unsent_group_messages"),
    (DropCause::Ended, "unsent_ended_messages"),
];
/// Names of the counters of messages that were dropped after a part was sent, by cause.
const ABANDONED: [(DropCause, &str); 7] = [
    (DropCause::Expired, "abandoned_expired_messages"),
    (DropCause::Scheduler(GiveUp::TooLate), "abandoned_too_late_messages"),
    (DropCause::Scheduler(GiveUp::TooFar), "abandoned_too_far_messages"),
    (DropCause::Scheduler(GiveUp::MakesWay), "abandoned_makes_way_messages"),
    (DropCause::Group, "abandoned_group_messages"),
    (DropCause::LossPolicy, "abandoned_loss_policy_messages"),
    (DropCause::Ended, "abandoned_ended_messages"),
];

/// Reports the counters of an association since its start.
pub fn counters(
    association: &Association,
    now: Instant,
    path_of: impl Fn(PathId) -> Option<u8>,
    report: &mut dyn FnMut(Option<u8>, &'static str, f64),
) {
    for view in association.paths() {
        let path @ Some(_) = path_of(view.id) else { continue };
        let Some(stats) = association.path_stats(view.id) else { continue };
        report(path, "retransmitted_fast", stats.lost_fast as f64);
        report(path, "retransmitted_timeout", stats.lost_timeout as f64);
        report(path, "timeouts", stats.timeouts as f64);
        if association.config().tail_probes {
            report(path, "tail_probes", stats.tail_probes as f64);
        }
        let relieved = association.config().head_of_line.is_some();
        if relieved {
            report(path, "opportunistic_resends", stats.opportunistic as f64);
        }
        if relieved || stats.penalties > 0 {
            report(path, "head_of_line_penalties", stats.penalties as f64);
        }
    }
    report(None, "spurious", association.stats().spurious as f64);
    report(None, "rwnd_blocked_s", association.stats().rwnd_blocked_time(now).as_secs_f64());
    let buffer = association.stats().send_buffer_blocked_time(now);
    report(None, "send_buffer_blocked_s", buffer.as_secs_f64());
    let buffers = association.buffers();
    if buffers.limit.is_some() {
        report(None, "send_buffer_most_bytes", buffers.send.most_used as f64);
        report(None, "receive_buffer_most_bytes", buffers.receive.most_used as f64);
    }
    dropped(association, report);
    symbols(association, report);
    for (name, count) in association.scheme_counters() {
        report(None, name, count as f64);
    }
}

/// Reports the numbers of dropped messages, if the association may drop any.
fn dropped(association: &Association, report: &mut dyn FnMut(Option<u8>, &'static str, f64)) {
    let stats = association.stats();
    if stats.messages_with_lifetime == 0 && stats.unsent.total() + stats.abandoned.total() == 0 {
        return;
    }
    UNSENT.iter().for_each(|(cause, name)| report(None, name, stats.unsent.of(*cause) as f64));
    ABANDONED.iter().for_each(|(cause, name)| report(None, name, stats.abandoned.of(*cause) as f64));
}

/// Reports the numbers of symbols sent and received, if either side codes.
fn symbols(association: &Association, report: &mut dyn FnMut(Option<u8>, &'static str, f64)) {
    if association.coded().out().is_none() && association.coded().incoming().is_none() {
        return;
    }
    let stats = association.stats().coding;
    for (name, total) in [
        ("sources_sent", stats.sources_sent),
        ("source_bytes", stats.source_bytes),
        ("repairs_sent", stats.repairs_sent),
        ("repair_bytes", stats.repair_bytes),
        ("sources_received", stats.sources_received),
        ("sources_late", stats.sources_late),
        ("repairs_received", stats.repairs_received),
        ("repairs_unused", stats.repairs_unused),
        ("recovered", stats.recovered),
        ("symbols_refused", stats.symbols_refused),
    ] {
        report(None, name, total as f64);
    }
}

/// Reports the scheme's estimates for a path.
fn estimates(est: &Estimate, mut report: impl FnMut(&'static str, f64)) {
    let rates = [("bandwidth_bps", est.bandwidth), ("delivery_rate_bps", est.delivery_rate)];
    let numbers = [
        ("loss_estimate", est.loss),
        ("frame_error_rate", est.frame_error_rate),
        ("effective_snr", est.effective_snr),
        ("reference_rtt_ms", est.reference_rtt.map(|t| t.as_secs_f64() * 1e3)),
    ];
    let named = rates.into_iter().map(|(name, rate)| (name, rate.map(Rate::bps))).chain(numbers);
    for (name, value) in named {
        if let Some(value) = value {
            report(name, value);
        }
    }
    for (name, value) in est.named() {
        report(name, value);
    }
}

/// Reports windows, round-trip times and the scheme's estimates of paths. Also reports the receive window, and a send
/// buffer that may grow.
pub fn gauges(
    association: &Association,
    path_of: impl Fn(PathId) -> Option<u8>,
    report: &mut dyn FnMut(Option<u8>, &'static str, f64),
) {
    let mut windows = Vec::new();
    for view in association.paths().iter().filter(|view| view.state != PathState::Closed) {
        let path @ Some(_) = path_of(view.id) else { continue };
        report(path, "cwnd_bytes", view.limit.cwnd as f64);
        if let Some(ssthresh) = view.limit.ssthresh {
            report(path, "ssthresh_bytes", ssthresh as f64);
        }
        if let Some(srtt) = view.srtt {
            report(path, "srtt_ms", srtt.as_secs_f64() * 1e3);
        }
        report(path, "in_flight_bytes", view.in_flight as f64);
        estimates(&view.est, |name, value| report(path, name, value));
        windows.clear();
        association.scheme().congestion().gauges(view.id, &mut windows);
        windows.iter().for_each(|(name, value)| report(path, name, *value));
    }
    report(None, "rwnd_bytes", association.peer_rwnd() as f64);
    let buffers = association.buffers();
    if buffers.limit.is_some() {
        report(None, "send_buffered_bytes", buffers.send.used as f64);
        report(None, "send_buffer_bytes", buffers.send.size as f64);
    }
}

/// Returns the state of a sender.
pub(super) fn standing(
    association: &Association,
    now: Instant,
    path_of: impl Fn(PathId) -> Option<u8>,
) -> Standing {
    let paths = |set: PathSet| set.iter().filter_map(&path_of).collect();
    let held = association.held_back(now);
    let inactive = |state| !matches!(state, PathState::Active | PathState::Closed);
    let inactive = association.paths().iter().filter(|view| inactive(view.state)).map(|view| view.id);
    Standing {
        held: held.map(|held| Held { by: held.by, full: paths(held.full), open: paths(held.open) }),
        unacknowledged: Some(u64::from(association.first_unacknowledged().0)),
        inactive: inactive.filter_map(&path_of).collect(),
    }
}

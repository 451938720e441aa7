//! Monitoring of the transport while it sends.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use strandcast_net::driver::{AssociationHandle, Snapshot};
use strandcast_proto::association::{Event, PathChange};
use strandcast_proto::policy::{PathId, PathState};
use strandcast_proto::time::Instant;
use tokio::time::{Interval, MissedTickBehavior, interval};

use super::connect::Plan;
use super::mute::MutePaths;
use super::pump::Pump;
use super::summary::SendSummary;
use super::tariffs::Tariffs;
use crate::live::event::{DropCause, Event as StreamNews, PathTrouble};
use crate::live::feed::Reporter;
use crate::live::stats::{MediaNow, Outages, Role, Watch};

/// Interval between two polls of the association.
const TICK: Duration = Duration::from_millis(250);
/// Minimum time between two lines with the same report.
const REPEAT: Duration = Duration::from_secs(30);

/// Polls the association periodically and reports changes.
pub(super) struct AssociationMonitor {
    reporter: Reporter,
    ticks: Interval,
    watch: Watch,
    peer: String,
    scheme: String,
    tariffs: Tariffs,
    names: BTreeMap<PathId, String>,
    /// Names of paths that do not answer.
    failing: BTreeSet<String>,
    mute: MutePaths,
    /// Number of received packets at the last activity, and its time.
    received: Option<(u64, Instant)>,
    /// Number of messages abandoned by previous associations, and by this one.
    expired: (u64, u64),
    /// Abandoned messages that were covered by repair symbols: the receiver may have recovered them.
    repairable: (u64, u64),
    /// Number of messages of frames that the scheme gave up before any of them was sent.
    given_up: (u64, u64),
    told: Option<Instant>,
    /// Number of dropped messages at the last poll.
    dropped: u64,
    /// Number of overdue messages at the last report.
    overdue: u64,
    reconnects: u64,
    /// Time of the last packet on any association.
    last_received: Instant,
    outages: Outages,
}

impl AssociationMonitor {
    /// Call it inside the runtime.
    pub(super) fn new(reporter: Reporter, plan: &Plan) -> Self {
        let mut ticks = interval(TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        AssociationMonitor {
            reporter,
            ticks,
            watch: Watch::new(Role::Send),
            peer: plan.to.label.clone(),
            scheme: plan.scheme.name().to_owned(),
            tariffs: plan.tariffs.clone(),
            names: BTreeMap::new(),
            failing: BTreeSet::new(),
            mute: MutePaths::new(&plan.uplinks),
            received: None,
            expired: (0, 0),
            repairable: (0, 0),
            given_up: (0, 0),
            told: None,
            dropped: 0,
            overdue: 0,
            reconnects: 0,
            last_received: Instant::ZERO,
            outages: Outages::default(),
        }
    }

    /// Waits for the next tick.
    pub(super) async fn tick(&mut self) {
        self.ticks.tick().await;
    }

    /// Polls the association. Returns whether there is an outage.
    pub(super) async fn poll(
        &mut self,
        now: Instant,
        association: &AssociationHandle,
        pump: &mut Pump,
    ) -> bool {
        let Some(seen) = association.snapshot().await else { return false };
        self.tariffs.note(&seen);
        self.names = seen.paths.iter().map(|p| (p.view.id, p.name.clone())).collect();
        self.report_paths(now, &seen);
        pump.observe(&seen);
        let packets: u64 = seen.paths.iter().map(|p| p.stats.packets_received).sum();
        let received = match self.received {
            Some((before, at)) if before == packets => at,
            _ => now,
        };
        self.received = Some((packets, received));
        self.last_received = received;
        if let Some(what) = self.outages.update(&self.peer, now, received) {
            let (seconds, peer) = (now.as_secs_f64(), self.peer.clone());
            self.report(StreamNews::Stream { seconds, peer, what });
        }
        self.expired.1 = seen.stats.messages_expired() + seen.stats.messages_abandoned();
        self.repairable.1 = if seen.coding_out.is_some() { seen.stats.messages_abandoned() } else { 0 };
        self.given_up.1 = seen.stats.messages_dropped();
        self.report_expiry(now, pump);
        let media = MediaNow {
            messages: pump.messages,
            bytes: pump.bytes,
            late: self.gone(pump),
            messages_dropped: self.given_up(),
            buffer_bytes: seen.send_buffered as u64,
            ..MediaNow::default()
        };
        let (stats, diagnostics) = self.watch.sample(now.as_secs_f64(), &self.peer, media, &seen);
        diagnostics.into_iter().for_each(|found| self.report(StreamNews::Diagnostic(found)));
        self.reporter.stats(stats);
        self.outages.goes_on()
    }

    /// Number of messages that were not delivered, as far as the sender can tell.
    fn gone(&self, pump: &Pump) -> u64 {
        self.expired.0 + self.expired.1 + pump.dropped
    }

    /// Number of messages of frames that were given up as a whole.
    fn given_up(&self) -> u64 {
        self.given_up.0 + self.given_up.1
    }

    /// Reports messages that were dropped since the last report. Messages that were lost but covered by repair symbols
    /// do not count as dropped.
    fn report_expiry(&mut self, now: Instant, pump: &Pump) {
        let whole = self.given_up();
        let gone = self.gone(pump) - self.repairable.0 - self.repairable.1 + whole;
        let due = self.told.is_none_or(|at| now - at >= REPEAT);
        if gone > std::mem::replace(&mut self.dropped, gone) && due {
            self.told = Some(now);
            let late = pump.overdue > std::mem::replace(&mut self.overdue, pump.overdue);
            let cause = if late { DropCause::Overslept } else { DropCause::Capacity { whole } };
            self.report(StreamNews::Dropped { messages: gone, cause });
        }
    }

    /// Reports a change of a path, and forwards advice.
    pub(super) fn event(&mut self, now: Instant, event: &Event) {
        if let Event::Advice(advice) = event {
            self.report(StreamNews::Advice { seconds: now.as_secs_f64(), advice: *advice });
        }
        let Event::Path(id, PathChange::State(state)) = event else { return };
        let name = self.names.get(id).cloned().unwrap_or_else(|| format!("path {}", id.0));
        let trouble = match state {
            PathState::Active => return self.answers(&name),
            PathState::PotentiallyFailed => PathTrouble::Silent,
            PathState::Inactive => PathTrouble::Failed,
            _ => return,
        };
        self.failing.insert(name.clone());
        self.report(StreamNews::Path { path: name, trouble });
    }

    /// Records that a path answers.
    fn answers(&mut self, name: &str) {
        if self.failing.remove(name) {
            self.report(StreamNews::Path { path: name.to_owned(), trouble: PathTrouble::Over });
        }
    }

    /// Reports paths that started or stopped answering, and paths that never answered.
    fn report_paths(&mut self, now: Instant, seen: &Snapshot) {
        for path in seen.paths.iter().filter(|p| p.view.state == PathState::Active) {
            self.answers(&path.name);
        }
        for (path, what) in self.mute.poll(now, seen) {
            self.report(StreamNews::Path { path, trouble: PathTrouble::Mute(what) });
        }
    }

    /// Restarts the stream: the receiver has received no part of it.
    pub(super) fn restart(&mut self) {
        (self.expired, self.repairable, self.given_up) = Default::default();
        self.dropped = 0;
        self.watch.restart_stream();
    }

    /// Time since the last packet.
    pub(super) fn silence(&self, now: Instant) -> Duration {
        now - self.last_received
    }

    /// Records that the association was lost. Reconnecting starts.
    pub(super) fn broke(&mut self) {
        self.outages.begin(self.last_received);
    }

    /// Records that the association is connected again. Reports it if `report`.
    pub(super) fn found(&mut self, now: Instant, report: bool) {
        let after = self.outages.end(now);
        self.last_received = now;
        if report {
            self.report(StreamNews::Connected { peer: self.peer.clone(), after });
        }
    }

    /// Records that the association has ended. Its counts are kept.
    pub(super) fn lost(&mut self) {
        self.expired = (self.expired.0 + self.expired.1, 0);
        self.repairable = (self.repairable.0 + self.repairable.1, 0);
        self.given_up = (self.given_up(), 0);
        self.received = None;
        self.failing.clear();
        self.mute.restart();
        self.watch.restart();
        self.reconnects += 1;
    }

    pub(super) fn report(&self, event: StreamNews) {
        self.reporter.report(event);
    }

    /// Reports the summary, and everything due before it.
    pub(super) fn finish(&mut self, summary: SendSummary) {
        self.watch.rest().into_iter().for_each(|found| self.report(StreamNews::Diagnostic(found)));
        self.report(StreamNews::Sent(Box::new(summary)));
    }

    /// The final summary.
    pub(super) fn summary(&self, now: Instant, pump: &Pump, input: &str) -> SendSummary {
        let seen = pump.stats();
        let last = self.watch.last();
        SendSummary {
            input: input.to_owned(),
            peer: self.peer.clone(),
            scheme: self.scheme.clone(),
            seconds: last.map_or(0.0, |l| l.seconds),
            messages: pump.messages,
            bytes: pump.bytes,
            all: pump.messages + pump.dropped,
            expired: self.gone(pump),
            messages_dropped: self.given_up(),
            reconnects: self.reconnects,
            outages: self.outages.count(),
            longest_outage_s: self.outages.longest(now).as_secs_f64(),
            input_gaps: seen.continuity.gaps,
            input_resyncs: seen.framing.sync_losses,
            buffers: last.map_or_else(Default::default, |l| l.buffers),
            wire: last.map_or_else(Default::default, |l| l.wire),
            paths: self.watch.path_totals(),
            diagnostics: last.map_or_else(Vec::new, |l| l.diagnostics.clone()),
            counters: last.map_or_else(BTreeMap::new, |l| l.counters.clone()),
            given_up: last.map_or_else(Default::default, |l| l.given_up.clone()),
            coding: last.and_then(|l| l.coding.clone()),
        }
    }
}

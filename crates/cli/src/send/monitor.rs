//! Monitoring of the transport while it sends.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use strandcast_net::driver::{AssociationHandle, Snapshot};
use strandcast_proto::association::{Event, PathChange};
use strandcast_proto::policy::{PathId, PathState};
use strandcast_proto::time::Instant;

use super::advice::AdviceOutput;
use super::connect::Plan;
use super::mute::MutePaths;
use super::pump::Pump;
use super::summary::Summary;
use super::tariffs::Tariffs;
use crate::show::{MediaNow, Monitor, Outages, count, duration};

/// Minimum time between two lines with the same report.
const REPEAT: Duration = Duration::from_secs(30);

/// Polls the association periodically and reports changes.
pub(super) struct AssociationMonitor {
    monitor: Monitor,
    peer: String,
    scheme: String,
    tariffs: Tariffs,
    advice: AdviceOutput,
    names: BTreeMap<PathId, String>,
    /// Names of paths that do not answer.
    failing: BTreeSet<String>,
    mute: MutePaths,
    /// Received packets at the last activity, and its time.
    received: Option<(u64, Instant)>,
    /// Messages abandoned by previous associations, and by this one.
    expired: (u64, u64),
    /// Those of them that were sent beside repair symbols: the receiver may have recovered them.
    repairable: (u64, u64),
    /// Messages of frames that the scheme gave up before any of them was sent.
    given_up: (u64, u64),
    told: Option<Instant>,
    /// Dropped messages at the last poll.
    dropped: u64,
    /// Overdue messages at the last report.
    overdue: u64,
    reconnects: u64,
    /// When the last packet arrived on any association.
    last_received: Instant,
    outages: Outages,
}

impl AssociationMonitor {
    pub(super) fn new(monitor: Monitor, plan: &Plan, advice: AdviceOutput) -> Self {
        AssociationMonitor {
            monitor,
            peer: plan.to.label.clone(),
            scheme: plan.transport.scheme.clone(),
            tariffs: plan.tariffs.clone(),
            advice,
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
        self.monitor.tick().await;
    }

    /// Polls the association; whether there is an outage.
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
            self.monitor.report(now.as_secs_f64(), &self.peer, &what);
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
        self.monitor.show(now.as_secs_f64(), &self.peer, media, &seen);
        self.outages.goes_on()
    }

    /// Messages that were not delivered, as far as we know.
    fn gone(&self, pump: &Pump) -> u64 {
        self.expired.0 + self.expired.1 + pump.dropped
    }

    /// Those of whole frames that were given up.
    fn given_up(&self) -> u64 {
        self.given_up.0 + self.given_up.1
    }

    /// Reports messages that were dropped since the last report. What was sent and lost beside repair symbols was not dropped.
    fn report_expiry(&mut self, now: Instant, pump: &Pump) {
        let whole = self.given_up();
        let gone = self.gone(pump) - self.repairable.0 - self.repairable.1 + whole;
        let due = self.told.is_none_or(|at| now - at >= REPEAT);
        if gone > std::mem::replace(&mut self.dropped, gone) && due {
            self.told = Some(now);
            let messages = count(gone, "message");
            let late = pump.overdue > std::mem::replace(&mut self.overdue, pump.overdue);
            self.line(&match late {
                true => format!(
                    "this machine was suspended or is too slow: {messages} dropped, too late to be sent"
                ),
                false if whole > 0 => format!(
                    "the paths carry less than the input rate: {messages} dropped, {whole} of them as whole frames"
                ),
                false => {
                    format!("the paths carry less than the input rate: {messages} dropped, the oldest first")
                }
            });
        }
    }

    /// Reports a change of a path, and passes advice on.
    pub(super) fn event(&mut self, now: Instant, event: &Event) {
        if let Event::Advice(advice) = event {
            self.advice.write(now.as_secs_f64(), *advice);
        }
        let Event::Path(id, PathChange::State(state)) = event else { return };
        let name = self.names.get(id).cloned().unwrap_or_else(|| format!("path {}", id.0));
        let text = match state {
            PathState::Active => return self.answers(&name),
            PathState::PotentiallyFailed => "does not answer",
            PathState::Inactive => "is given up until it answers",
            _ => return,
        };
        self.line(&format!("{name} {text}"));
        self.failing.insert(name);
    }

    /// A path answers.
    fn answers(&mut self, name: &str) {
        if self.failing.remove(name) {
            self.line(&format!("{name} is usable again"));
        }
    }

    /// Reports paths that answer another way than before, and those that never did.
    fn report_paths(&mut self, now: Instant, seen: &Snapshot) {
        for path in seen.paths.iter().filter(|p| p.view.state == PathState::Active) {
            self.answers(&path.name);
        }
        for line in self.mute.poll(now, seen) {
            self.line(&line);
        }
    }

    /// The stream restarts: nothing sent of it was received.
    pub(super) fn restart(&mut self) {
        (self.expired, self.repairable, self.given_up) = Default::default();
        self.dropped = 0;
        self.monitor.restart_stream();
    }

    /// Time since the last packet.
    pub(super) fn silence(&self, now: Instant) -> Duration {
        now - self.last_received
    }

    /// The association was lost; reconnecting starts.
    pub(super) fn broke(&mut self) {
        self.outages.begin(self.last_received);
    }

    /// Connected again; reported if `tell`.
    pub(super) fn found(&mut self, now: Instant, report: bool) {
        let after =
            self.outages.end(now).map_or_else(String::new, |time| format!(" after {}", duration(time)));
        self.last_received = now;
        if report {
            self.line(&format!("connected to {} again{after}", self.peer));
        }
    }

    /// The association has ended; its counts are kept.
    pub(super) fn lost(&mut self) {
        self.expired = (self.expired.0 + self.expired.1, 0);
        self.repairable = (self.repairable.0 + self.repairable.1, 0);
        self.given_up = (self.given_up(), 0);
        self.received = None;
        self.failing.clear();
        self.mute.restart();
        self.monitor.restart();
        self.reconnects += 1;
    }

    pub(super) fn line(&mut self, text: &str) {
        self.monitor.line(text);
    }

    /// Prints a line of the summary.
    pub(super) fn last_line(&mut self, text: &str) {
        self.monitor.last_line(text);
    }

    /// Removes the table.
    pub(super) fn clear(&mut self) {
        self.monitor.clear();
    }

    /// The final summary.
    pub(super) fn summary(&self, now: Instant, pump: &Pump, input: &str) -> Summary {
        let seen = pump.stats();
        let last = self.monitor.last();
        Summary {
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
            paths: self.monitor.path_totals(),
            diagnostics: last.map_or_else(Vec::new, |l| l.diagnostics.clone()),
            counters: last.map_or_else(BTreeMap::new, |l| l.counters.clone()),
            given_up: last.map_or_else(Default::default, |l| l.given_up.clone()),
            coding: last.and_then(|l| l.coding.clone()),
        }
    }
}

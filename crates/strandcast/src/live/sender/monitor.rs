//! Monitoring of the transport while it sends.

use std::collections::BTreeMap;
use std::time::Duration;

use strandcast_net::driver::{AssociationHandle, PathSnapshot, Snapshot};
use strandcast_proto::association::{Event, SendOptions};
use strandcast_proto::path::PathStats;
use strandcast_proto::policy::{LinkId, PathState};
use strandcast_proto::time::Instant;
use tokio::time::{Interval, MissedTickBehavior, interval};

use super::connect::Plan;
use super::links::Links;
use super::pump::Pump;
use super::summary::SendSummary;
use super::switches::Switches;
use super::tariffs::Tariffs;
use super::vanishing::Vanishing;
use crate::live::event::Event as StreamNews;
use crate::live::feed::Reporter;
use crate::live::links::{LinkReport, PathTrouble, Tracker, encode};
use crate::live::stats::{
    DropNews, DropWatch, Held, HeldUp, MediaNow, Moment, Outages, Role, StreamEvent, StreamState, Subject,
    Watch,
};

/// Interval between two polls of the association.
const TICK: Duration = Duration::from_millis(250);
/// Time after which round-trip times count as known.
const SETTLED: Duration = Duration::from_secs(3);
/// Time without packets after which no link counts as answering. If two round trips are longer, they replace this time.
const SILENT: Duration = Duration::from_millis(500);
/// Number of the transport's stream for messages other than media.
const ALIVE: u16 = 1;

/// Polls the association periodically and reports changes.
pub(super) struct AssociationMonitor {
    reporter: Reporter,
    ticks: Interval,
    watch: Watch,
    peer: String,
    scheme: String,
    tariffs: Tariffs,
    switches: Switches,
    links: Links,
    tracker: Tracker,
    /// Links in the last message to the receiver.
    said: Vec<LinkReport>,
    /// Number of received packets at the last activity, and time of that activity.
    received: Option<(u64, Instant)>,
    /// Number of messages abandoned by previous associations, and by this one.
    expired: (u64, u64),
    /// Number of abandoned messages that repair symbols covered. The receiver may have recovered these messages.
    repairable: (u64, u64),
    /// Number of messages of frames that the scheme gave up before any of them was sent.
    given_up: (u64, u64),
    /// Number of messages that were abandoned after a part of them was sent.
    begun: (u64, u64),
    drops: DropWatch,
    held_up: HeldUp,
    vanishing: Vanishing,
    reconnects: u64,
    /// Time of the last packet on any association.
    last_received: Instant,
    outages: Outages,
    /// True if there is no input to send.
    pub(super) no_input: bool,
    /// Sizes of IP packets by link, in bytes. Two links may have the same name.
    sizes: BTreeMap<LinkId, u64>,
    /// True if the latency was compared with the round-trip time.
    compared: bool,
}

impl AssociationMonitor {
    /// Makes a monitor. Call it inside the runtime.
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
            switches: plan.switches.clone(),
            links: Links::default(),
            tracker: Tracker::knowing(&plan.absent),
            said: Vec::new(),
            received: None,
            expired: (0, 0),
            repairable: (0, 0),
            given_up: (0, 0),
            begun: (0, 0),
            drops: DropWatch::default(),
            held_up: HeldUp::default(),
            vanishing: Vanishing::default(),
            reconnects: 0,
            last_received: Instant::ZERO,
            outages: Outages::default(),
            no_input: false,
            sizes: BTreeMap::new(),
            compared: false,
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
        self.tariffs.note(&seen).await.into_iter().for_each(|event| self.report(event));
        self.report_links(now, &seen, association);
        self.switches.apply(&seen, association).await;
        self.tariffs.apply(association).await;
        self.report_sizes(&seen);
        self.compare_latency(now, pump.latency(), &seen);
        pump.observe(&seen);
        // Answers to probes of a link that is off do not count as activity of the stream. The exception is a stream
        // whose links are all off.
        let rests = |p: &&PathSnapshot| p.view.state == PathState::Suspended;
        let all = seen.paths.iter().all(|p| rests(&p));
        let paths = seen.paths.iter().filter(|p| all || !rests(p));
        let packets: u64 = paths.map(|p| p.stats.packets_received).sum();
        let received = match self.received {
            Some((before, at)) if before == packets => at,
            _ => now,
        };
        self.received = Some((packets, received));
        self.last_received = received;
        let outage = self.outages.update(&self.peer, now, received, None);
        self.report_outage(now, outage);
        self.expired.1 = seen.stats.messages_expired() + seen.stats.messages_abandoned();
        self.repairable.1 = if seen.coding_out.is_some() { seen.stats.messages_abandoned() } else { 0 };
        self.given_up.1 = seen.stats.messages_dropped();
        self.begun.1 = seen.stats.messages_abandoned();
        self.report_drops(now, pump, Some(&seen));
        self.attribute(now, pump, Some(&seen));
        let media = MediaNow {
            messages: pump.messages,
            bytes: pump.bytes,
            late: self.gone(pump),
            messages_dropped: self.given_up(),
            drops: self.drops.totals(),
            late_by: self.held_up.messages(),
            held_s: self.held_up.seconds(),
            buffer_bytes: seen.send_buffered as u64,
            ..MediaNow::default()
        };
        let state = if self.outages.goes_on() {
            StreamState::Outage
        } else if self.no_input {
            StreamState::NoInput
        } else {
            StreamState::Streaming
        };
        let subject = Subject { peer: &self.peer, stream: Some(pump.stream()), state };
        let (stats, diagnostics) = self.watch.sample(now.as_secs_f64(), &subject, media, &seen);
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

    /// Reports dropped messages. Messages that were lost but covered by repair symbols do not count as dropped.
    fn report_drops(&mut self, now: Instant, pump: &Pump, seen: Option<&Snapshot>) {
        let vanishing = seen.is_some_and(|seen| self.vanishing.update(now, seen));
        let dropped = self.gone(pump) - self.repairable.0 - self.repairable.1 + self.given_up();
        // A suspended path does not replace other paths.
        let is = |p: &PathSnapshot, state| p.view.state == state;
        let carries = |seen: &Snapshot| {
            let suspended = seen.paths.iter().all(|p| is(p, PathState::Suspended));
            suspended || seen.paths.iter().any(|p| is(p, PathState::Active))
        };
        let spent = |p: &PathSnapshot| p.view.tariff.left == Some(0);
        let moment = Moment {
            messages: pump.messages + pump.dropped,
            bytes: pump.offered,
            dropped,
            unconnected: pump.unconnected,
            overdue: pump.overdue,
            peer_blocked_s: seen.map_or(0.0, |seen| seen.stats.rwnd_blocked_time(seen.at).as_secs_f64()),
            no_path: seen.is_some_and(|seen| self.outages.goes_on() || !carries(seen)),
            vanishing,
            spent: seen.is_some_and(|seen| seen.paths.iter().any(spent)),
            all_spent: seen.is_some_and(|seen| !seen.paths.is_empty() && seen.paths.iter().all(spent)),
        };
        let news = self.drops.update(now, moment);
        match news {
            Some(DropNews::Dropping(drops)) => self.report(StreamNews::Dropped(drops)),
            Some(DropNews::Over(messages, after)) => self.report(StreamNews::DropsOver { messages, after }),
            None => {}
        }
    }

    /// Attributes late messages to causes.
    fn attribute(&mut self, now: Instant, pump: &Pump, seen: Option<&Snapshot>) {
        let lost = |seen: &Snapshot| {
            let each = |stats: &PathStats| stats.lost_fast + stats.lost_timeout + stats.lost_by_scheme;
            seen.paths.iter().map(|path| each(&path.stats)).sum()
        };
        let trip =
            |seen: &Snapshot| seen.paths.iter().filter_map(|path| path.view.srtt).max().unwrap_or_default();
        let held = Held {
            silent: seen.is_some_and(|seen| now - self.last_received >= SILENT.max(2 * trip(seen))),
            late: self.gone(pump) + self.given_up(),
            unconnected: pump.unconnected,
            overdue: pump.overdue,
            refused: pump.dropped - pump.unconnected - pump.overdue,
            begun: self.begun.0 + self.begun.1,
            transport: seen.map(|seen| (lost(seen), seen.held)),
        };
        self.held_up.update(now, pump.latency(), held);
    }

    /// Handles a time without an association, in which due messages are dropped.
    pub(super) fn unconnected(&mut self, now: Instant, pump: &Pump) {
        self.report_drops(now, pump, None);
        self.attribute(now, pump, None);
    }

    /// Reports advice of the scheme.
    pub(super) fn event(&mut self, now: Instant, event: &Event) {
        if let Event::Advice(advice) = event {
            self.report(StreamNews::Advice { seconds: now.as_secs_f64(), advice: *advice });
        }
    }

    /// Reports changes of links.
    fn report_links(&mut self, now: Instant, seen: &Snapshot, association: &AssociationHandle) {
        let links = self.links.reports(now, seen);
        self.switches.note(&links);
        // A receiver with another SCTP stack ignores the stream of this message.
        let options = SendOptions { stream: ALIVE, ..SendOptions::default() };
        if links != self.said && association.try_send(encode(&links), options).is_ok() {
            self.said.clone_from(&links);
        }
        let changes = self.tracker.update(now, &links);
        self.switches.renamed(self.tracker.renamed());
        for (path, trouble) in changes {
            self.report(StreamNews::Path { path, trouble });
        }
    }

    /// Reports paths on which larger packets vanish.
    fn report_sizes(&mut self, seen: &Snapshot) {
        for path in seen.paths.iter().filter(|path| path.view.state == PathState::Active) {
            let now = u64::from(path.ip_mtu);
            let before = self.sizes.insert(path.tuple.link, now).unwrap_or(now);
            if now < before {
                let trouble = PathTrouble::Narrow { before, now };
                self.report(StreamNews::Path { path: path.name.clone(), trouble });
            }
        }
        self.sizes.retain(|link, _| seen.paths.iter().any(|path| path.tuple.link == *link));
    }

    /// Reports once if the latency is too short for any retransmission.
    fn compare_latency(&mut self, now: Instant, latency: Duration, seen: &Snapshot) {
        let quickest = seen.paths.iter().filter_map(|path| path.view.min_rtt).min();
        let Some(rtt) = quickest.filter(|_| !self.compared && now - Instant::ZERO >= SETTLED) else { return };
        self.compared = true;
        if rtt > latency {
            self.report(StreamNews::ShortLatency { latency, rtt });
        }
    }

    /// Records that the receiver plays the stream. The receiver then needs a message about the links.
    pub(super) fn admitted(&mut self) {
        self.said.clear();
    }

    /// Restarts the stream, because the receiver has received no part of it.
    pub(super) fn restart(&mut self) {
        (self.expired, self.repairable, self.given_up, self.begun) = Default::default();
        self.drops.restart();
        self.held_up.restart();
        self.watch.restart_stream();
    }

    /// Time since the last packet.
    pub(super) fn silence(&self, now: Instant) -> Duration {
        now - self.last_received
    }

    /// Records that the association was lost. The sender then starts to connect again.
    pub(super) fn broke(&mut self, now: Instant) {
        let begun = self.outages.begin(&self.peer, self.last_received);
        self.report_outage(now, begun);
    }

    fn report_outage(&self, now: Instant, event: Option<StreamEvent>) {
        if let Some(what) = event {
            let (seconds, peer) = (now.as_secs_f64(), self.peer.clone());
            self.report(StreamNews::Stream { seconds, peer, what });
        }
    }

    /// Records that the association is connected again. Reports this if `report` is true.
    pub(super) fn found(&mut self, now: Instant, report: bool) {
        let over = self.outages.resume(&self.peer, now);
        let after = match &over {
            Some(StreamEvent::OutageOver { outage_s, .. }) => Some(Duration::from_secs_f64(*outage_s)),
            _ => None,
        };
        self.report_outage(now, over);
        self.last_received = now;
        if report {
            self.report(StreamNews::Connected { peer: self.peer.clone(), after });
        }
    }

    /// Records that the association has ended. The counts of the association are kept.
    pub(super) fn lost(&mut self) {
        self.expired = (self.expired.0 + self.expired.1, 0);
        self.repairable = (self.repairable.0 + self.repairable.1, 0);
        self.given_up = (self.given_up(), 0);
        self.begun = (self.begun.0 + self.begun.1, 0);
        self.held_up.lost();
        self.received = None;
        self.links.restart();
        self.tracker.restart();
        self.said.clear();
        self.sizes.clear();
        self.vanishing.restart();
        self.watch.restart();
        self.reconnects += 1;
    }

    pub(super) fn report(&self, event: StreamNews) {
        self.reporter.report(event);
    }

    /// Reports the summary, after all reports that are due before it.
    pub(super) fn finish(&mut self, now: Instant, summary: SendSummary) {
        let over = self.outages.close(&self.peer, now);
        self.report_outage(now, over);
        self.watch.rest().into_iter().for_each(|found| self.report(StreamNews::Diagnostic(found)));
        self.report(StreamNews::Sent(Box::new(summary)));
    }

    /// Makes the final summary.
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
            drops: self.drops.totals(),
            late_by: self.held_up.messages(),
            held_s: self.held_up.seconds(),
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

//! The client's side of a measurement. The client runs as an application inside the endpoint's loop.

use std::time::Duration;

use strandcast_proto::app::App;
use strandcast_proto::association::{Association, CloseReason, Event, SendError};
use strandcast_proto::endpoint::{AssociationId, Endpoint};
use strandcast_proto::policy::PathState;
use strandcast_proto::time::Instant;
use tokio::sync::mpsc::UnboundedSender;

use super::bulk::{Receiving, Sending};
use super::control::{BULK, BUSY, CONTROL, Control, Totals, VERSION};
use super::result::{Interval, Outcome, Setup};
use super::usage::Cpu;
use crate::live::parts::{Diagnostics, PathCounters, REFUSED, Sampler, Sides};
use crate::live::{BuffersNow, CodingNow, Role, WireNow};
use crate::text::quoted;

/// Length of an interval.
const INTERVAL: Duration = Duration::from_secs(1);
/// Time limit for the remaining data, after the sending time has passed, and for the server to become ready.
const RESULT_TIMEOUT: Duration = Duration::from_secs(20);

/// Reports of a running client.
#[derive(Debug)]
pub(super) enum Report {
    /// The association was established.
    Connected,
    /// An interval has ended.
    Interval(Interval),
    /// A diagnostic line of the scheme.
    Diagnostic(String),
    /// The measurement has ended, with an outcome or with a line that gives the error.
    Done(Result<Box<Outcome>, String>),
}

#[derive(Debug)]
enum Phase {
    /// Waits for the association, and then for the server.
    Starting,
    Sending(Sending),
    Receiving(Receiving),
    Done,
}

/// Runs one measurement over one association.
pub(super) struct Client {
    setup: Setup,
    id: Option<AssociationId>,
    phase: Phase,
    /// Start of the measurement, and the processor time of the process at that moment.
    begun: (Instant, Cpu),
    interval: (Instant, u64),
    deadline: Option<Instant>,
    sampler: Sampler,
    diagnostics: Diagnostics,
    intervals: Vec<Interval>,
    progress: UnboundedSender<Report>,
    readable: bool,
}

impl Client {
    /// Makes a client. The client starts to measure when the association is established.
    pub(super) fn new(setup: Setup, progress: UnboundedSender<Report>) -> Self {
        let role = if setup.reverse { Role::Receive } else { Role::Send };
        Client {
            setup,
            id: None,
            phase: Phase::Starting,
            begun: (Instant::ZERO, Cpu::default()),
            interval: (Instant::ZERO, 0),
            deadline: None,
            sampler: Sampler::new(role),
            diagnostics: Diagnostics::default(),
            intervals: Vec::new(),
            progress,
            readable: false,
        }
    }

    /// Sends a report. If the receiver of reports was dropped, nothing happens.
    fn report(&self, what: Report) {
        let _ = self.progress.send(what);
    }

    fn start(&mut self, now: Instant, endpoint: &mut Endpoint, id: AssociationId) {
        if self.setup.message == 0 {
            self.setup.message = endpoint.association(id).map_or(1200, |a| a.max_unfragmented());
        }
        self.deadline = Some(now + RESULT_TIMEOUT);
        self.report(Report::Connected);
        let start = Control::Start {
            version: VERSION,
            reverse: self.setup.reverse,
            time_ms: self.setup.time.as_millis() as u64,
            message: self.setup.message as u32,
        };
        self.send_control(now, endpoint, id, &start);
    }

    /// Sends a control message to the server. A closed association is reported by its `Closed` event.
    fn send_control(&mut self, now: Instant, endpoint: &mut Endpoint, id: AssociationId, control: &Control) {
        match endpoint.send(now, id, control.to_bytes(), Control::options()) {
            Ok(_) | Err(SendError::Closed) => {}
            Err(e) => self.finish(now, endpoint, Err(e.to_string())),
        }
    }

    fn on_control(&mut self, now: Instant, endpoint: &mut Endpoint, control: Control) {
        match (control, &mut self.phase) {
            (Control::Ready, Phase::Starting) => {
                self.begun = (now, Cpu::now());
                self.interval = (now, self.bytes(endpoint));
                if let Some(association) = self.id.and_then(|id| endpoint.association(id)) {
                    // Rates start here.
                    self.sampler.sample(now, paths(association));
                }
                self.deadline = Some(now + self.setup.time + RESULT_TIMEOUT);
                self.phase = if self.setup.reverse {
                    Phase::Receiving(Receiving::default())
                } else {
                    Phase::Sending(Sending::new(now, self.setup.message, self.setup.time))
                };
            }
            (Control::End(totals), Phase::Receiving(receiving)) => receiving.on_end(totals),
            (Control::Result { totals, cpu }, _) => self.result(now, endpoint, totals, cpu),
            _ => self.finish(now, endpoint, Err("the server sent an unexpected answer".into())),
        }
    }

    /// Sends this side's result to the server once all data have arrived.
    fn maybe_answer(&mut self, now: Instant, endpoint: &mut Endpoint, id: AssociationId, before: bool) {
        let Phase::Receiving(receiving) = &self.phase else { return };
        if receiving.complete() && !before {
            let result = Control::Result { totals: receiving.totals(), cpu: Cpu::now() - self.begun.1 };
            self.send_control(now, endpoint, id, &result);
        }
    }

    fn result(&mut self, now: Instant, endpoint: &mut Endpoint, theirs: Totals, remote: Cpu) {
        self.close_interval(now, endpoint);
        let (sent, received) = match &self.phase {
            Phase::Sending(sending) => (sending.totals(), theirs),
            Phase::Receiving(receiving) => (theirs, receiving.totals()),
            Phase::Starting | Phase::Done => (Totals::default(), Totals::default()),
        };
        let gap = match &self.phase {
            Phase::Receiving(receiving) => Some(receiving.gap()),
            _ => None,
        };
        let association = self.id.and_then(|id| endpoint.association(id));
        let retransmissions = association.map_or(0, |a| {
            let paths = a.paths().iter().filter_map(|p| a.path_stats(p.id));
            paths.map(|s| s.retransmissions).sum()
        });
        let outcome = Outcome {
            setup: self.setup.clone(),
            // The client does not know about encryption. The caller adds the cipher.
            cipher: None,
            intervals: std::mem::take(&mut self.intervals),
            sent,
            received,
            gap,
            elapsed_s: (now - self.begun.0).as_secs_f64(),
            local: Cpu::now() - self.begun.1,
            remote,
            retransmissions,
            buffers: association
                .map_or_else(Default::default, |a| BuffersNow::of(&a.buffers(), a.stats(), now)),
            wire: association.map_or_else(Default::default, |a| WireNow::of(a.stats())),
            diagnostics: association.map_or_else(Vec::new, |a| a.diagnostics(now)),
            counters: association.map_or_else(Vec::new, Association::scheme_counters),
            coding: association.and_then(coding),
        };
        self.diagnostics.rest().iter().for_each(|found| self.report(Report::Diagnostic(found.to_string())));
        self.finish(now, endpoint, Ok(Box::new(outcome)));
    }

    fn finish(&mut self, now: Instant, endpoint: &mut Endpoint, outcome: Result<Box<Outcome>, String>) {
        if matches!(self.phase, Phase::Done) {
            return;
        }
        self.phase = Phase::Done;
        self.deadline = None;
        if let Some(id) = self.id {
            match outcome {
                Ok(_) => endpoint.shutdown(now, id),
                Err(_) => endpoint.abort(id, "the measurement failed"),
            }
        }
        self.report(Report::Done(outcome));
    }

    /// Returns the number of bytes of payload that were acknowledged or received.
    fn bytes(&self, endpoint: &Endpoint) -> u64 {
        match &self.phase {
            Phase::Receiving(receiving) => receiving.totals().bytes,
            _ => {
                let association = self.id.and_then(|id| endpoint.association(id));
                association.map_or(0, |a| a.stats().bytes_sent.saturating_sub(a.send_buffered() as u64))
            }
        }
    }

    fn close_interval(&mut self, now: Instant, endpoint: &Endpoint) {
        let Some(association) = self.id.and_then(|id| endpoint.association(id)) else { return };
        let total = self.bytes(endpoint);
        let (since, before) = std::mem::replace(&mut self.interval, (now, total));
        let interval = Interval {
            from_s: (since - self.begun.0).as_secs_f64(),
            to_s: (now - self.begun.0).as_secs_f64(),
            bytes: total.saturating_sub(before),
            paths: self.sampler.sample(now, paths(association)),
        };
        let lines = self.diagnostics.update(now, association.scheme().name(), &association.diagnostics(now));
        lines.iter().for_each(|found| self.report(Report::Diagnostic(found.to_string())));
        // If the last interval is much shorter than a second, it is not shown.
        if now - since >= INTERVAL / 10 {
            self.intervals.push(interval.clone());
            self.report(Report::Interval(interval));
        }
    }

    fn measuring(&self) -> bool {
        match &self.phase {
            Phase::Sending(sending) => !sending.ended,
            Phase::Receiving(receiving) => !receiving.complete(),
            Phase::Starting | Phase::Done => false,
        }
    }

    fn read(&mut self, now: Instant, endpoint: &mut Endpoint, id: AssociationId) {
        let was_complete = matches!(&self.phase, Phase::Receiving(r) if r.complete());
        while let Some(message) = endpoint.recv(id) {
            match (message.stream.0, &mut self.phase) {
                (BULK, Phase::Receiving(receiving)) => receiving.on_message(now, message.payload.len()),
                (CONTROL, _) => match Control::parse(&message.payload) {
                    Some(control) => self.on_control(now, endpoint, control),
                    None => {
                        self.finish(now, endpoint, Err("the peer is not a server of measurements".into()))
                    }
                },
                _ => {}
            }
        }
        self.maybe_answer(now, endpoint, id, was_complete);
    }
}

impl App for Client {
    fn on_event(&mut self, now: Instant, endpoint: &mut Endpoint, id: AssociationId, event: &Event) {
        match event {
            Event::Connected { .. } if matches!(self.phase, Phase::Starting) && self.id.is_none() => {
                self.id = Some(id);
                self.start(now, endpoint, id);
            }
            _ if self.id.is_some_and(|own| own != id) => {}
            Event::Readable => self.readable = true,
            Event::Writable => {
                if let Phase::Sending(sending) = &mut self.phase {
                    sending.on_writable();
                }
            }
            Event::Closed(reason) => {
                self.read(now, endpoint, id);
                self.finish(now, endpoint, Err(closed(reason)));
                endpoint.release(id);
            }
            _ => {}
        }
    }

    fn poll(&mut self, now: Instant, endpoint: &mut Endpoint) {
        let Some(id) = self.id else { return };
        if std::mem::take(&mut self.readable) {
            self.read(now, endpoint, id);
        }
        if let Phase::Sending(sending) = &mut self.phase {
            sending.poll(now, endpoint, id);
        }
        if self.measuring() && now >= self.interval.0 + INTERVAL {
            self.close_interval(now, endpoint);
        }
        if self.deadline.is_some_and(|d| now >= d) {
            let late = format!("the server is {} s late", RESULT_TIMEOUT.as_secs());
            self.finish(now, endpoint, Err(late));
        }
    }

    fn poll_timeout(&self) -> Option<Instant> {
        let interval = self.measuring().then(|| self.interval.0 + INTERVAL);
        let end = match &self.phase {
            Phase::Sending(sending) => sending.poll_timeout(),
            _ => None,
        };
        interval.into_iter().chain(self.deadline).chain(end).min()
    }
}

/// Returns the counters of symbols in the association.
pub(super) fn coding(association: &Association) -> Option<CodingNow> {
    let sides = Sides { sends: association.coded().out().copied(), receives: association.coded().incoming() };
    CodingNow::of(&association.stats().coding, sides)
}

/// Returns the open paths of the association, named by their local addresses.
fn paths(association: &Association) -> impl Iterator<Item = PathCounters<'_>> {
    association.paths().iter().filter(|view| view.state != PathState::Closed).filter_map(|view| {
        let name = association.tuple(view.id)?.local.ip().to_string();
        Some(PathCounters { name, view, stats: association.path_stats(view.id)?, link: None })
    })
}

/// Returns the reason why an association ended, in words that end a sentence.
pub(super) fn closed(reason: &CloseReason) -> String {
    match reason {
        CloseReason::Shutdown => "the server closed before the result".into(),
        CloseReason::Aborted => "aborted".into(),
        CloseReason::PeerAborted(words) if words == BUSY => {
            "the server is busy with another client: try again later".into()
        }
        CloseReason::PeerAborted(words) => {
            let words = words.strip_prefix(REFUSED).unwrap_or(words);
            format!("the server refuses: {}", quoted(words))
        }
        CloseReason::NoAnswer => "the server does not answer".into(),
        CloseReason::Unreachable => "the server can no longer be reached".into(),
        CloseReason::Protocol(words) => {
            format!("the server sent a message that is not valid: {}", quoted(words))
        }
        CloseReason::SealLost(words) => words.clone(),
        _ => "the association ended".into(),
    }
}

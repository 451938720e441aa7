//! The sending and the receiving half of rounds, combined in one policy.

use strandcast_proto::policy::{Feedback, PathState, Policy, Probe, Report, ReportTrigger, Signal, View};
use strandcast_proto::time::Instant;

use super::config::RoundsConfig;
use super::notice::{LABEL_LEN, Notice};
use super::receiver::Receiver;
use super::sender::Sender;
use super::timeout::earlier;
use crate::part::{FeedbackPart, Others, Paths};

impl FeedbackPart for RoundsConfig {
    fn build(&self) -> Box<dyn Feedback> {
        Box::new(Rounds::new(*self))
    }

    fn rounds(&self) -> bool {
        true
    }

    fn refuses(&self, others: &Others) -> Option<&'static str> {
        let refusal =
            "feedback=rounds needs scheduler=receiver or scheduler=primary: rounds follow one path at a time";
        (others.paths == Paths::All).then_some(refusal)
    }
}

/// Rounds, the receiver's rates and its choice of path. Acknowledgement follows RFC 9260.
#[derive(Debug)]
pub struct Rounds {
    sender: Sender,
    receiver: Receiver,
}

impl Rounds {
    /// Makes both halves for one association.
    pub fn new(config: RoundsConfig) -> Self {
        Rounds { sender: Sender::new(config.train), receiver: Receiver::new(config) }
    }

    fn hear(&mut self, view: &View<'_>, report: &Report) {
        match (Notice::read(report), report.subject, report.via) {
            (Some(Notice::Label { round, number }), _, Some(via)) => {
                self.receiver.label(view, via, round, number);
            }
            (Some(Notice::Rate { round, .. }), Some(path), _) => self.sender.granted(view, path, round),
            (Some(Notice::Quiet), Some(path), _) => self.receiver.quiet(view.now, path),
            _ => {}
        }
    }

    #[cfg(test)]
    pub(super) fn receiver(&self) -> &Receiver {
        &self.receiver
    }
}

impl Policy for Rounds {
    fn on_signal(&mut self, view: &View<'_>, signal: &Signal<'_>) {
        match signal {
            Signal::Sent(chunk) => self.sender.sent(view, chunk.path()),
            Signal::Peer(report) => self.hear(view, report),
            Signal::Arrived(rx) => self.receiver.arrived(view, rx),
            Signal::PathChanged(path) => {
                self.sender.changed(view, *path);
                if view.paths.get(path.index()).is_some_and(|p| p.state == PathState::Closed) {
                    self.receiver.forget(*path);
                }
            }
            Signal::Tick => {
                self.receiver.tick(view);
                self.sender.tick(view);
            }
            _ => {}
        }
    }

    fn diagnostics(&self, view: &View<'_>, out: &mut Vec<&'static str>) {
        if !view.peer_reports {
            out.push("the peer does not speak REPORT: no rates and no choice of path by the receiver, as plain SCTP");
        } else if self.sender.is_ignored() {
            out.push("the peer gives no rates: as plain SCTP until it receives with the same scheme");
        }
    }

    fn counters(&self, out: &mut Vec<(&'static str, u64)>) {
        self.sender.counters(out);
        self.receiver.counters(out);
    }

    fn poll_timeout(&self) -> Option<Instant> {
        earlier(self.sender.poll_timeout(), self.receiver.poll_timeout())
    }
}

impl Feedback for Rounds {
    fn reports(&mut self, view: &View<'_>, trigger: ReportTrigger, out: &mut Vec<Report>) {
        match trigger {
            ReportTrigger::Data(path) | ReportTrigger::Heartbeat(path) => out.push(self.sender.label(path)),
            ReportTrigger::Sack(_) | ReportTrigger::HeartbeatAck(_) => {
                let path = if let ReportTrigger::HeartbeatAck(path) = trigger { Some(path) } else { None };
                if let Some(report) = self.receiver.rate(view, path) {
                    out.push(report);
                }
            }
            ReportTrigger::Tick => {
                self.receiver.take_reports(out);
                self.sender.take_reports(out);
            }
        }
    }

    fn overhead(&self) -> usize {
        LABEL_LEN
    }

    fn probe(&mut self, view: &View<'_>) -> Option<Probe> {
        self.sender.probe(view)
    }
}

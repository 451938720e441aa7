//! Paths that join, leave, move and are suspended during an association. Two Strandcast peers report these changes by
//! REPORT chunks under AUTH.

use super::PathManager;
use crate::association::control_queue::Control;
use crate::association::lifecycle::State;
use crate::association::reports::ReliableReport;
use crate::path::FourTuple;
use crate::policy::{PathId, PathState, Report, Signal};
use crate::time::Instant;
use crate::wire::chunk::report::{
    KIND_ARRIVALS, KIND_ARRIVED, KIND_ARRIVED_REQUEST, KIND_COPIES, KIND_FIRST_SCHEME, KIND_JOIN, KIND_LEAVE,
    KIND_MOVED, KIND_RESUME, KIND_SUSPEND,
};
use crate::wire::chunk::{Report as ReportChunk, ReportItem, ReportItemFlavour};

impl PathManager<'_> {
    /// Gives up paths whose JOIN the peer did not answer.
    pub fn give_up_reports(&mut self, now: Instant) {
        for report in self.cx.reports.take_spent() {
            if self.cx.state != State::Closed {
                self.report_given_up(now, &report);
            }
        }
    }

    /// Handles a report that is given up after its last attempt.
    fn report_given_up(&mut self, now: Instant, report: &ReliableReport) {
        let Some(path) = report.item.path.and_then(|id| self.cx.path_by_wire_id(id)) else { return };
        if report.item.kind == KIND_JOIN && self.cx.paths.view(path.index()).state == PathState::Unconfirmed {
            self.close_path(now, path);
        }
    }

    /// Handles a REPORT chunk that arrived on `on`. `None` stands for a 4-tuple without a path.
    pub fn on_report(&mut self, now: Instant, chunk: ReportChunk, from: PacketOrigin, authenticated: bool) {
        if !self.cx.paths.seen().peer_reports() {
            self.cx.stats.bad_chunks += 1;
            return;
        }
        for item in chunk.items {
            if item.kind == KIND_ARRIVALS {
                // It is authenticated no more than the SACK to which it belongs.
                let path = item.path.and_then(|id| self.cx.path_by_wire_id(id));
                if let (Some(path), Some(_)) = (path, from.path) {
                    self.tx.on_arrivals(self.cx, now, path, &item.payload);
                }
                continue;
            }
            if item.kind == KIND_ARRIVED {
                if let Some(on) = from.path {
                    self.tx.on_arrived(self.cx, now, on, &item.payload);
                }
                continue;
            }
            if item.kind < KIND_FIRST_SCHEME && !authenticated
                || item.kind == KIND_MOVED && self.cx.config.sealed()
            {
                self.cx.stats.bad_auth += 1;
                continue;
            }
            self.on_item(now, item, from);
        }
    }

    fn on_item(&mut self, now: Instant, item: ReportItem, from: PacketOrigin) {
        let serial = match item.reliability {
            ReportItemFlavour::Echo(serial) => {
                self.cx.reports.on_echo(serial);
                return;
            }
            ReportItemFlavour::Reliable(serial) => Some(serial),
            ReportItemFlavour::Plain => None,
        };
        let seen = serial.is_some_and(|s| self.cx.reports.was_received(s));
        let on = if seen {
            from.path
        } else if item.kind < KIND_FIRST_SCHEME {
            self.on_path_report(now, &item, from)
        } else if let Some(on) = from.path {
            let subject = item.path.and_then(|id| self.cx.path_by_wire_id(id));
            let kind = item.kind;
            let payload = item.payload.clone();
            let report = Report { kind, subject, via: Some(on), reliable: serial.is_some(), payload };
            self.cx.signal(now, &Signal::Peer(&report));
            Some(on)
        } else {
            None
        };
        // A report that cannot be applied is not echoed and not recorded: it may be applicable when it arrives again.
        if let (Some(serial), Some(_), false) = (serial, on, seen) {
            self.cx.reports.note_received(serial);
        }
        if let (Some(echo), Some(path)) = (item.echo(), on.filter(|p| self.cx.is_open(*p))) {
            let auth = item.kind < KIND_FIRST_SCHEME;
            let chunk = ReportChunk { items: smallvec::smallvec![echo] };
            self.cx.queue_control(Control { auth, ..Control::on(path, chunk) });
        }
    }

    /// Handles a new, authenticated report about a path. Returns the path on which to send its echo; `None` if the
    /// report cannot be applied.
    fn on_path_report(&mut self, now: Instant, item: &ReportItem, from: PacketOrigin) -> Option<PathId> {
        if let (KIND_ARRIVED_REQUEST, ReportItemFlavour::Reliable(serial)) = (item.kind, item.reliability) {
            let sane = self.rx.report_arrived(serial, &item.payload);
            self.cx.stats.bad_chunks += u64::from(!sane);
            return from.path.filter(|_| sane);
        }
        let wire_id = item.path?;
        let known = self.cx.path_by_wire_id(wire_id);
        if item.kind == KIND_COPIES {
            self.rx.name_arrivals();
            return from.path;
        }
        if let (Some(path), ReportItemFlavour::Reliable(serial)) = (known, item.reliability) {
            let (place, suspension) = &mut self.cx.paths[path.index()].news;
            let news = if matches!(item.kind, KIND_SUSPEND | KIND_RESUME) { suspension } else { place };
            if news.is_some_and(|n| serial.wrapping_sub(n) > 1 << 31) {
                return from.path;
            }
            // The address of a path only counts after the peer has proven to be there.
            if from.path.is_some() || !matches!(item.kind, KIND_JOIN | KIND_MOVED) {
                *news = Some(serial);
            }
        }
        match (item.kind, known) {
            // A path that moved and is unknown here: its JOIN was refused or lost, or the path was given up.
            (KIND_JOIN | KIND_MOVED, None) if from.path.is_none() => self.joined(now, wire_id, from.tuple),
            (KIND_JOIN | KIND_MOVED, Some(path)) => {
                if let (None, ReportItemFlavour::Reliable(serial)) = (from.path, item.reliability) {
                    self.cx.propose(now, path, from.tuple, Some(serial));
                }
                from.path
            }
            (KIND_LEAVE, Some(path)) => {
                let last =
                    !self.cx.paths.views().iter().any(|v| v.id != path && v.state != PathState::Closed);
                if !last {
                    self.close_path(now, path);
                }
                Some(self.cx.paths.seen().control_path())
            }
            (KIND_SUSPEND | KIND_RESUME, Some(path)) => {
                let aside = item.kind == KIND_SUSPEND;
                if core::mem::replace(&mut self.cx.paths[path.index()].suspended.1, aside) != aside {
                    self.cx.apply_suspension(now, path);
                }
                from.path
            }
            // The path has left already.
            (KIND_LEAVE, None) => from.path,
            _ => None,
        }
    }

    /// Handles a path that the peer opened. This side sends data on the path once its own nonce has returned.
    fn joined(&mut self, now: Instant, wire_id: u16, tuple: FourTuple) -> Option<PathId> {
        self.cx.room_for_a_path().ok()?;
        let path = self.open_slot(now, tuple, None);
        self.cx.paths[path.index()].wire_id = Some(wire_id);
        // The packet that named the path earns the bytes that may be sent there.
        self.cx.paths[path.index()].credit = Some(0);
        self.cx.paths[path.index()].heartbeats.want();
        Some(path)
    }
}

/// Source of a packet.
#[derive(Copy, Clone, Debug)]
pub(in crate::association) struct PacketOrigin {
    /// Path of the source; `None` if no path has this address.
    pub path: Option<PathId>,
    pub tuple: FourTuple,
}

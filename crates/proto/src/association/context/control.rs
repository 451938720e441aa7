//! Output other than data: control chunks, reports of schemes, and reports about paths.

use bytes::Bytes;

use super::Context;
use crate::association::control_queue::Control;
use crate::association::lifecycle::Role;
use crate::policy::{PathId, Report, ReportTrigger};
use crate::time::Instant;
use crate::wire::chunk::report::{KIND_FIRST_SCHEME, KIND_JOIN, KIND_MOVED};
use crate::wire::chunk::{
    ErrorChunk, Init, Report as ReportChunk, ReportItem, ReportItemFlavour, UnknownChunk,
};
use crate::wire::{Cause, Chunk, Param};

/// Number of attempts to send a report on its own path before it is sent over a confirmed path.
const OWN_TRIES: u32 = 3;

impl Context {
    pub fn push_control(&mut self, path: PathId, chunk: impl Into<Chunk>) {
        self.queue_control(Control::on(path, chunk));
    }

    /// Queues a control chunk, unless too many control chunks already wait.
    pub fn queue_control(&mut self, control: Control) {
        if !self.control.push(control) {
            self.stats.answers_withheld += 1;
        }
    }

    /// Queues a control chunk for any path; the best path carries it.
    pub fn push_control_anywhere(&mut self, chunk: impl Into<Chunk>) {
        self.push_control(self.paths.seen().control_path(), chunk);
    }

    /// Converts the reports that a scheme makes at `trigger` to items of REPORT. Reliable reports are kept so that they
    /// can be sent again.
    pub fn collect_reports(&mut self, now: Instant, trigger: ReportTrigger) -> Option<ReportChunk> {
        if !self.paths.seen().peer_reports() {
            return None;
        }
        let mut reports = core::mem::take(&mut self.report_scratch);
        self.ask(now, |scheme, view| scheme.feedback().reports(view, trigger, &mut reports));
        let mut chunk = ReportChunk { items: Default::default() };
        for r in reports.drain(..) {
            let via = r.via;
            match self.report_item(now, r) {
                Some(item) if trigger == ReportTrigger::Tick => {
                    let path =
                        via.filter(|p| self.is_open(*p)).unwrap_or_else(|| self.paths.seen().control_path());
                    self.push_control(path, ReportChunk { items: smallvec::smallvec![item] });
                }
                Some(item) => chunk.items.push(item),
                None => {}
            }
        }
        self.report_scratch = reports;
        (!chunk.items.is_empty()).then_some(chunk)
    }

    fn report_item(&mut self, now: Instant, r: Report) -> Option<ReportItem> {
        let path = match r.subject {
            Some(p) => Some(self.paths.get(p.index())?.wire_id?),
            None => None,
        };
        if r.kind < KIND_FIRST_SCHEME {
            self.stats.refused_assignments += 1;
            return None;
        }
        let item =
            ReportItem { kind: r.kind, path, reliability: ReportItemFlavour::Plain, payload: r.payload };
        if !r.reliable {
            return Some(item);
        }
        let path = r.via.unwrap_or_else(|| self.paths.seen().control_path());
        let kept = self.reports.keep(item, r.via, now + self.paths.view(path.index()).rto);
        self.stats.refused_assignments += u64::from(kept.is_none());
        kept
    }

    /// Sends the report `kind` on `path` under AUTH, and repeats it until the peer echoes it.
    pub fn say(&mut self, now: Instant, kind: u16, path: PathId, via: Option<PathId>, heartbeat: bool) {
        self.reports.say(now, kind, self.paths[path.index()].wire_id, via, heartbeat);
        self.resend_reports(now);
    }

    /// Resends reports whose echo is overdue.
    pub fn resend_reports(&mut self, now: Instant) {
        let (paths, control, withheld) =
            (&mut self.paths, &mut self.control, &mut self.stats.answers_withheld);
        let initial = self.config.rto_initial;
        self.reports.resend(now, |r| {
            // A report without an answer on its own path is repeated with the same serial over a confirmed path.
            let own = r.via.filter(|p| paths.is_open(*p) && r.tries < OWN_TRIES);
            let path = own.unwrap_or_else(|| paths.seen().control_path_in_turn(r.tries));
            let rto = paths.views().get(path.index())?.rto;
            let back_off = initial * (1 << r.tries.min(5));
            let items = smallvec::smallvec![r.item.clone()];
            let queued = control.push(Control { auth: r.auth, ..Control::on(path, ReportChunk { items }) });
            *withheld += u64::from(!queued);
            if r.heartbeat && own.is_some() {
                paths[path.index()].heartbeats.want();
            }
            Some(if r.patient() { rto.max(back_off) } else { rto.min(back_off) })
        });
    }

    /// Assigns a wire id to a path, and announces the path on its own 4-tuple.
    pub fn join(&mut self, now: Instant, path: PathId) {
        self.paths[path.index()].wire_id = Some(self.next_wire_id);
        self.next_wire_id = self.next_wire_id.wrapping_add(1);
        self.say(now, KIND_JOIN, path, Some(path), true);
    }

    /// Returns the announcement of a path that a heartbeat carries while the path has errors.
    pub fn path_announcement(&mut self, path: PathId) -> Option<ReportItem> {
        let errors = self.paths.view(path.index()).error_count > 0 && !self.unproven(path);
        if errors { self.moved_item(path) } else { None }
    }

    /// Kind of the report that names the path of a packet. Without a seal it is MOVED. With a seal, reports do not move
    /// paths, and the kind is JOIN. JOIN opens a path that the peer does not have, or that the peer has under another
    /// name.
    pub fn naming(&self) -> u16 {
        if self.config.sealed() { KIND_JOIN } else { KIND_MOVED }
    }

    /// Returns the REPORT item that names this path to the peer. The peer needs the item if a NAT gave a silent path a
    /// new address, or if the peer gave up the path.
    fn moved_item(&mut self, path: PathId) -> Option<ReportItem> {
        let wire_id = self.paths[path.index()].wire_id?;
        if self.role != Role::Opener || !self.paths.seen().peer_reports() {
            return None;
        }
        let reliability = ReportItemFlavour::Reliable(self.reports.new_serial());
        Some(ReportItem {
            kind: self.naming(),
            path: Some(wire_id),
            reliability,
            payload: Default::default(),
        })
    }

    /// Sends [`Self::moved_item`] in a packet of its own.
    pub fn push_moved(&mut self, path: PathId) {
        if let Some(item) = self.moved_item(path) {
            let chunk = ReportChunk { items: smallvec::smallvec![item] };
            self.queue_control(Control { auth: true, ..Control::on(path, chunk) });
        }
    }

    /// Returns whether this path is usable without REPORT, as for a peer that is not a Strandcast peer. Such a path is
    /// usable if it was the path of the handshake, or if the peer announced its address.
    pub fn reachable_without_reports(&self, path: PathId) -> bool {
        let first = &self.paths[self.paths.seen().primary().index()].tuple;
        let tuple = &self.paths[path.index()].tuple;
        self.config.announce
            && (tuple.local.ip() != first.local.ip() || tuple.remote.ip() != first.remote.ip())
    }

    /// Reports unsupported parameters of the peer's INIT ACK to the peer, if these parameters request such a report.
    pub fn report_unrecognized(&mut self, init: &Init) {
        for p in &init.params {
            if let Param::Unknown(u) = p {
                if u.action().reports() {
                    let cause = Cause::UnrecognizedParameters(p.to_bytes());
                    self.push_control_anywhere(ErrorChunk { causes: vec![cause] });
                }
                if u.action().stops() {
                    break;
                }
            }
        }
    }

    /// Reports to the peer that its chunk is not supported. The chunk's type must request this report (RFC 9260 §3.2).
    pub fn report_unknown(&mut self, chunk: &UnknownChunk, bytes: Bytes, on: PathId) {
        if chunk.action().reports() {
            self.push_control(on, ErrorChunk { causes: vec![Cause::UnrecognizedChunkType(bytes)] });
        }
    }
}

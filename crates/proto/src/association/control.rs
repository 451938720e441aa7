//! Control chunks waiting for a packet, and reports that are resent until echoed.

use bytes::Bytes;

use super::Association;
use crate::path::FourTuple;
use crate::policy::{Occasion, PathId, PathState, Report};
use crate::time::Instant;
use crate::wire::Chunk;
use crate::wire::chunk::report::{
    KIND_FIRST_SCHEME, KIND_JOIN, KIND_LEAVE, KIND_MOVED, KIND_RESUME, KIND_SUSPEND,
};
use crate::wire::chunk::{Report as ReportChunk, ReportItem, ReportItemFlavour};

/// Tries of a report on the path it is meant for, before it goes over a confirmed one.
const OWN_TRIES: u32 = 3;
/// A resent report is given up after so many tries.
const MAX_TRIES: u32 = 5;
/// Reliable reports of a scheme under way at once.
const MAX_RELIABLE: usize = 64;

/// Control chunks that wait at once: what would come on top of them is not said. Peers ask again.
pub(super) const MAX_CONTROL: usize = 256;

/// Chunks that leave in one packet.
#[derive(Debug)]
pub(super) struct Control {
    /// On this path…
    pub path: PathId,
    /// …or to this 4-tuple, which is no path (yet).
    pub tuple: Option<FourTuple>,
    pub chunk: Chunk,
    /// Put an AUTH chunk in front of it.
    pub auth: bool,
    /// In a packet of its own.
    pub alone: bool,
    /// Not our peer's tag: INIT goes with 0, reflected ones with their own.
    pub tag: Option<u32>,
}

/// A report that is resent until its serial is echoed.
#[derive(Debug)]
pub(super) struct ReliableReport {
    pub serial: u32,
    pub item: ReportItem,
    /// Where it goes; `None`: any usable path.
    pub via: Option<PathId>,
    /// AUTH and a HEARTBEAT go with it (JOIN, MOVED), or AUTH alone.
    pub auth: bool,
    pub heartbeat: bool,
    pub next: Instant,
    pub tries: u32,
}

impl Association {
    pub(super) fn push_control(&mut self, path: PathId, chunk: impl Into<Chunk>) {
        let chunk = chunk.into();
        self.queue_control(Control { path, tuple: None, chunk, auth: false, alone: false, tag: None });
    }

    /// Queues a chunk, unless so many wait that a peer must have asked for them.
    pub(super) fn queue_control(&mut self, control: Control) {
        if self.control.len() < MAX_CONTROL {
            self.control.push_back(control);
        } else {
            self.stats.answers_withheld += 1;
        }
    }

    /// Control chunks for the best path.
    pub(super) fn push_control_anywhere(&mut self, chunk: impl Into<Chunk>) {
        self.push_control(self.paths.seen().control_path(), chunk);
    }

    /// Turns a scheme's reports for `occasion` into items; reliable ones are kept for resending.
    pub(super) fn collect_reports(&mut self, now: Instant, occasion: Occasion) -> Option<ReportChunk> {
        if !self.paths.seen().peer_reports() {
            return None;
        }
        let mut reports = core::mem::take(&mut self.report_scratch);
        self.driver.ask(self.paths.seen(), now, |scheme, view| scheme.reports(view, occasion, &mut reports));
        let mut chunk = ReportChunk { items: Default::default() };
        for r in reports.drain(..) {
            let via = r.via;
            match self.report_item(now, r) {
                Some(item) if occasion == Occasion::Tick => {
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
        let mut item =
            ReportItem { kind: r.kind, path, reliability: ReportItemFlavour::Plain, payload: r.payload };
        if r.reliable {
            if self.reliable.len() >= MAX_RELIABLE {
                self.stats.refused_assignments += 1;
                return None;
            }
            let serial = self.new_serial();
            item.reliability = ReportItemFlavour::Reliable(serial);
            let path = r.via.unwrap_or_else(|| self.paths.seen().control_path());
            let next = now + self.paths.view(path.index()).rto;
            let (item, via) = (item.clone(), r.via);
            self.reliable.push(ReliableReport {
                serial,
                item,
                via,
                auth: false,
                heartbeat: false,
                next,
                tries: 1,
            });
        }
        Some(item)
    }

    pub(super) fn new_serial(&mut self) -> u32 {
        self.next_serial = self.next_serial.wrapping_add(1);
        self.next_serial
    }

    /// Says `kind` about `path` under AUTH until it is echoed.
    pub(super) fn say(
        &mut self,
        now: Instant,
        kind: u16,
        path: PathId,
        via: Option<PathId>,
        heartbeat: bool,
    ) {
        let serial = self.new_serial();
        let reliability = ReportItemFlavour::Reliable(serial);
        let wire_id = self.paths[path.index()].wire_id;
        let item = ReportItem { kind, path: wire_id, reliability, payload: Bytes::new() };
        self.reliable.retain(|r| r.item.path != wire_id || !outdates(kind, r.item.kind));
        if self.reliable.len() >= MAX_RELIABLE
            && let Some(oldest) = self.reliable.iter().position(|r| r.item.kind == KIND_LEAVE)
        {
            self.reliable.remove(oldest);
        }
        self.reliable.push(ReliableReport { serial, item, via, auth: true, heartbeat, next: now, tries: 0 });
        self.resend_reports(now);
    }

    /// Sends what is due again.
    pub(super) fn resend_reports(&mut self, now: Instant) {
        for i in 0..self.reliable.len() {
            if self.reliable[i].next > now {
                continue;
            }
            // A report that got no answer on its own path is repeated with the same serial over a confirmed one.
            let own = self.reliable[i].via.filter(|p| self.is_open(*p) && self.reliable[i].tries < OWN_TRIES);
            let via = own.unwrap_or_else(|| self.paths.seen().control_path_in_turn(self.reliable[i].tries));
            let Some(view) = self.paths.views().get(via.index()) else { continue };
            let back_off = self.config.rto_initial * (1 << self.reliable[i].tries.min(5));
            let patient = self.reliable[i].tries >= MAX_TRIES;
            let wait = if patient { view.rto.max(back_off) } else { view.rto.min(back_off) };
            let r = &mut self.reliable[i];
            r.tries += 1;
            r.next = now + wait;
            let (auth, heartbeat) = (r.auth, r.heartbeat && own.is_some());
            let chunk = ReportChunk { items: smallvec::smallvec![r.item.clone()] }.into();
            self.queue_control(Control { path: via, tuple: None, chunk, auth, alone: false, tag: None });
            if heartbeat {
                self.paths[via.index()].heartbeats.want();
            }
        }
        let spent = |r: &mut ReliableReport| r.tries > MAX_TRIES && !must_arrive(r.item.kind);
        let spent: Vec<ReliableReport> = self.reliable.extract_if(.., spent).collect();
        for r in spent {
            self.report_given_up(now, &r);
        }
    }

    pub(super) fn reports_timeout(&self) -> Option<Instant> {
        self.reliable.iter().map(|r| r.next).min()
    }

    pub(super) fn is_open(&self, path: PathId) -> bool {
        self.paths.views().get(path.index()).is_some_and(|v| v.state != PathState::Closed)
    }
}

/// Whether news of `kind` about a path make older news of kind `old` about it worthless.
fn outdates(kind: u16, old: u16) -> bool {
    let same = |kinds: [u16; 2]| kinds.contains(&kind) && kinds.contains(&old);
    match kind {
        KIND_LEAVE => old < KIND_FIRST_SCHEME,
        // A path moves again, or is put aside and taken up again: only the last counts.
        _ => kind == old || same([KIND_SUSPEND, KIND_RESUME]) || same([KIND_JOIN, KIND_MOVED]),
    }
}

/// News that no later packet would tell: resent as long as the association lives.
fn must_arrive(kind: u16) -> bool {
    matches!(kind, KIND_LEAVE | KIND_SUSPEND | KIND_RESUME)
}

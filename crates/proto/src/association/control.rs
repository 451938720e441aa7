//! What the association has to say besides data: control chunks, and reports of schemes and of paths.

use super::Association;
use super::control_queue::Control;
use crate::policy::{Occasion, PathId, Report};
use crate::time::Instant;
use crate::wire::Chunk;
use crate::wire::chunk::report::KIND_FIRST_SCHEME;
use crate::wire::chunk::{Report as ReportChunk, ReportItem, ReportItemFlavour};

/// Tries of a report on the path it is meant for, before it goes over a confirmed one.
const OWN_TRIES: u32 = 3;

impl Association {
    pub(super) fn push_control(&mut self, path: PathId, chunk: impl Into<Chunk>) {
        self.queue_control(Control::on(path, chunk));
    }

    /// Queues a chunk, unless too many wait.
    pub(super) fn queue_control(&mut self, control: Control) {
        if !self.control.push(control) {
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

    /// Says `kind` about `path` under AUTH until it is echoed.
    pub(super) fn say(
        &mut self,
        now: Instant,
        kind: u16,
        path: PathId,
        via: Option<PathId>,
        heartbeat: bool,
    ) {
        self.reports.say(now, kind, self.paths[path.index()].wire_id, via, heartbeat);
        self.resend_reports(now);
    }

    /// Sends what is due again.
    pub(super) fn resend_reports(&mut self, now: Instant) {
        let (paths, control, withheld) =
            (&mut self.paths, &mut self.control, &mut self.stats.answers_withheld);
        let initial = self.config.rto_initial;
        self.reports.resend(now, |r| {
            // A report that got no answer on its own path is repeated with the same serial over a confirmed one.
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
        for r in self.reports.take_spent() {
            self.report_given_up(now, &r);
        }
    }

    pub(super) fn is_open(&self, path: PathId) -> bool {
        self.paths.is_open(path)
    }
}

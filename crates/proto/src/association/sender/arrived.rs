//! The peer's reports of arrivals, by the peer's clock: their request, and their delivery to the scheme (REPORT items
//! ARRIVED REQUEST and ARRIVED).

use super::Sender;
use crate::association::context::Context;
use crate::policy::{PathId, Signal};
use crate::time::Instant;
use crate::tx::ReceivedReport;
use crate::wire::chunk::report::{ArrivedItem, KIND_ARRIVED_REQUEST, encode_return_paths};

impl Sender {
    /// Requests reports of arrivals from the peer, if the scheme needs these reports. The reports are to return by the
    /// paths that the scheme now prefers.
    pub fn want_arrived(&mut self, cx: &mut Context, now: Instant) {
        if !cx.driver.hears_arrivals() || !cx.may_report() || !cx.driver.take_return_paths_due() {
            return;
        }
        let return_paths = cx.ask(now, |scheme, view| scheme.feedback().return_paths(view));
        if self.arrived.ask(now, return_paths) {
            let names =
                return_paths.iter().filter(|p| cx.is_open(*p)).filter_map(|p| cx.paths[p.index()].wire_id);
            let payload = encode_return_paths(names);
            cx.reports.say_more(now, (KIND_ARRIVED_REQUEST, None, payload), None, false);
            cx.resend_reports(now);
        } else if self.arrived.asks_otherwise(return_paths) {
            cx.driver.put_off_return_paths();
        }
    }

    /// Handles the peer's report of arrivals, which arrived by `on`.
    pub fn on_arrived(&mut self, cx: &mut Context, now: Instant, on: PathId, payload: &[u8]) {
        let arrived = ArrivedItem::read(payload).filter(|_| self.arrived.asked());
        let Some(arrived) = arrived else {
            cx.stats.bad_chunks += 1;
            return;
        };
        let (rq, context) = (&self.rq, &*cx);
        let (path, left) = (|name| context.path_by_wire_id(name), |tsn, path| rq.left_once(tsn, path));
        match self.arrived.hear(now, on, arrived, path, left) {
            ReceivedReport::News(report) => cx.signal(now, &Signal::PeerArrivals(report)),
            ReceivedReport::Old(report) => {
                cx.stats.old_arrived += 1;
                cx.signal(now, &Signal::PeerArrivals(report));
            }
            ReceivedReport::Nonsense => cx.stats.bad_chunks += 1,
        }
    }
}

//! Reports to a peer that requests them. ARRIVALS names the path of each copy's arrival, and ARRIVED lists the arrivals
//! by each path (docs/wire-format.md).

use smallvec::SmallVec;

use super::Receiver;
use crate::association::context::Context;
use crate::policy::{PathId, PathState};
use crate::rx::{ArrivedHere, micros};
use crate::time::Instant;
use crate::wire::Tsn;
use crate::wire::chunk::report::{Arrived, ArrivedBy, KIND_ARRIVALS, TsnRange};
use crate::wire::chunk::{Report as ReportChunk, ReportItem, ReportItemFlavour};

impl Receiver {
    /// Records that `tsn` arrived by `path`.
    pub fn note_arrival(&mut self, cx: &mut Context, tsn: Tsn, path: PathId) {
        if self.names_arrivals {
            cx.paths[path.index()].arrivals.add(tsn, cx.stats.sacks_sent);
        }
    }

    /// Records the arrival of a packet of `bytes` bytes by `path`. `tsn` is the highest TSN in the packet.
    pub fn note_arrived(&self, cx: &mut Context, now: Instant, tsn: Tsn, path: PathId, bytes: u64) {
        if self.arrived.asked() {
            let here = &mut cx.paths[path.index()].arrived;
            *here = Some(ArrivedHere::count(*here, now, tsn, bytes));
        }
    }

    /// Returns the ARRIVED report for a packet with a SACK, if the peer requests reports of arrivals by path.
    pub fn arrived_report<'a>(
        &self,
        cx: &'a Context,
        now: Instant,
    ) -> Option<Arrived<impl Iterator<Item = ArrivedBy> + Clone + use<'a>>> {
        if !self.arrived.asked() {
            return None;
        }
        let open = cx.paths.rows().filter(|(_, view)| view.state != PathState::Closed);
        let paths = open.filter_map(move |(path, _)| Some(path.arrived?.say(path.wire_id?, now)));
        Some(Arrived { clock: micros(now) as u32, paths }).filter(|arrived| !arrived.is_empty())
    }

    /// Returns the ARRIVALS items for a packet with a SACK, if the peer requests the path of each copy's arrival.
    pub fn arrival_report(&mut self, cx: &Context) -> Option<ReportChunk> {
        if !self.names_arrivals {
            return None;
        }
        let block = &mut self.arrivals_block;
        let item = |p: &crate::path::Path| {
            let ranges = p.arrivals.recent(cx.stats.sacks_sent);
            let (path, reliability) = (Some(p.wire_id?), ReportItemFlavour::Plain);
            let payload = TsnRange::encode(&ranges, block);
            (!ranges.is_empty()).then_some(ReportItem { kind: KIND_ARRIVALS, path, reliability, payload })
        };
        let items: SmallVec<_> = cx.paths.iter().filter_map(item).collect();
        (!items.is_empty()).then_some(ReportChunk { items })
    }
}

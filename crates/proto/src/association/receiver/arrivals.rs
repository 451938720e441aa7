//! Names the path by which each copy arrived, to a peer that wants to know (REPORT item ARRIVALS, docs/wire-format.md).

use smallvec::SmallVec;

use super::Receiver;
use crate::association::context::Context;
use crate::policy::PathId;
use crate::wire::Tsn;
use crate::wire::chunk::report::{KIND_ARRIVALS, TsnRange};
use crate::wire::chunk::{Report as ReportChunk, ReportItem, ReportItemFlavour};

impl Receiver {
    /// `tsn` came by `path`.
    pub fn note_arrival(&mut self, cx: &mut Context, tsn: Tsn, path: PathId) {
        if self.names_arrivals {
            cx.paths[path.index()].arrivals.add(tsn, cx.stats.sacks_sent);
        }
    }

    /// The items beside a SACK, if the peer wants them.
    pub fn arrival_report(&self, cx: &Context) -> Option<ReportChunk> {
        if !self.names_arrivals {
            return None;
        }
        let item = |p: &crate::path::Path| {
            let ranges = p.arrivals.recent(cx.stats.sacks_sent);
            let (path, reliability) = (Some(p.wire_id?), ReportItemFlavour::Plain);
            let payload = TsnRange::encode(&ranges);
            (!ranges.is_empty()).then_some(ReportItem { kind: KIND_ARRIVALS, path, reliability, payload })
        };
        let items: SmallVec<_> = cx.paths.iter().filter_map(item).collect();
        (!items.is_empty()).then_some(ReportChunk { items })
    }
}

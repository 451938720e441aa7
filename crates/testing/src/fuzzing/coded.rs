//! Coding configurations for fuzzers.

use strandcast_proto::association::Association;
use strandcast_proto::coding::{BlockCoding, Code, Coding, RepairCode, RepairCoding, RepairWhen, most_work};
use strandcast_proto::policy::{
    Assignment, Backlog, Parts, PathView, Policy, Scheduler, Scheme, SymbolAssignment, SymbolChoice, View,
};
use strandcast_proto::rfc;
use strandcast_proto::time::Duration;

/// Returns the coding that the lower four bits of a byte select. Five of twelve values select repair.
pub(super) fn coding(kind: u8) -> Option<Coding> {
    let blocks =
        |code, sources| Coding::Blocks(BlockCoding { code, sources, flush: Duration::from_millis(10) });
    let repair = |code, window| {
        let when = if window % 2 > 0 { RepairWhen::Late } else { RepairWhen::Always };
        Coding::Repair(RepairCoding { code, redundancy: 0.5, when, window })
    };
    match kind % 16 {
        0 => Some(blocks(Code::Rlc, 0)),
        1 => Some(blocks(Code::Rlc, 3)),
        2 => Some(blocks(Code::Fountain, 0)),
        3 => Some(blocks(Code::Fountain, 40)),
        4 | 5 => Some(repair(RepairCode::Rlc, u16::from(kind % 16) * 8 + 1)),
        6 | 7 => Some(repair(RepairCode::Rlc, u16::from(kind % 16) * 2)),
        8 => Some(repair(RepairCode::RaptorQ, 8)),
        9 => Some(repair(RepairCode::RaptorQ, 33)),
        10 => Some(repair(RepairCode::ReedSolomon, 8)),
        11 => Some(repair(RepairCode::ReedSolomon, 33)),
        _ => None,
    }
}

/// Scheduler that uses one path. The scheduler sends repair symbols until each block has the needed number and one more
/// in flight.
#[derive(Debug)]
struct Symbols;

impl Policy for Symbols {}

impl Scheduler for Symbols {
    fn next(&mut self, view: &View<'_>, backlog: &Backlog) -> Option<Assignment> {
        rfc::PrimaryPath.next(view, backlog)
    }

    fn next_symbol(&mut self, view: &View<'_>, _: &Backlog) -> Option<SymbolAssignment> {
        let path = rfc::PrimaryPath::choose(view).filter(|p| view[*p].has_room())?;
        let chosen = view.blocks.iter().find_map(|b| {
            if b.sources_sent < b.sources {
                return Some((b.number, SymbolChoice::Source));
            }
            let flying: u32 = b.in_flight.iter().map(|f| f.sources + f.repairs).sum();
            let wanted = b.closed && u32::from(b.rank) + flying <= u32::from(b.sources);
            wanted.then_some((b.number, SymbolChoice::Repair))
        });
        chosen.map(|(block, what)| SymbolAssignment { path, block, what })
    }
}

/// Checks that the received bytes and the time since the beginning permit the decoding work of an association.
pub(super) fn assert_work(association: &Association, time: Duration) {
    let came = |p: &PathView| association.path_stats(p.id).map_or(0, |stats| stats.payload_received);
    let (bytes, work) = (association.paths().iter().map(came).sum(), association.stats().coding.work);
    let most = most_work(bytes, time);
    assert!(work <= most, "{work} work of {most} for {bytes} bytes in {time:?}");
}

/// Returns RFC 9260's scheme with a scheduler of symbols.
pub(super) fn scheme() -> Box<dyn Scheme> {
    Box::new(Parts { scheduler: Box::new(Symbols), ..rfc::scheme() })
}

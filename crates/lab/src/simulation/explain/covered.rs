//! Messages that repair symbols cover.

use std::collections::BTreeMap;

use strandcast_proto::coding::Header;

/// Identity of a source symbol. The identity is the number of the symbol and 0, or the block and the position of the
/// symbol in it.
type SourceKey = (u32, u16);

/// Followed messages that are source symbols. Also the repair symbols that cover them.
#[derive(Debug, Default)]
pub(super) struct Covered {
    sources: BTreeMap<SourceKey, u64>,
    /// Messages that each repair symbol covers, by TSN.
    repairs: BTreeMap<u64, Vec<u64>>,
}

impl Covered {
    /// Records a message that was sent as a source symbol, according to its header.
    pub fn source(&mut self, header: &Header, number: u64) {
        let key = match *header {
            Header::Source { block, index, .. } => (block, index),
            Header::WindowSource { number } => (number, 0),
            Header::Repair { .. } | Header::WindowRepair { .. } | Header::Plain => return,
        };
        self.sources.insert(key, number);
    }

    /// Records that a repair symbol was sent.
    pub fn repair(&mut self, tsn: u64, header: &Header) {
        let (from, to) = match *header {
            Header::Repair { block, .. } => ((block, 0), (block, u16::MAX)),
            Header::WindowRepair { first, sources, .. } => {
                ((first, 0), (first.saturating_add(u32::from(sources).saturating_sub(1)), 0))
            }
            Header::Source { .. } | Header::WindowSource { .. } | Header::Plain => return,
        };
        let covered: Vec<u64> = self.sources.range(from..=to).map(|(_, number)| *number).collect();
        if !covered.is_empty() {
            self.repairs.insert(tsn, covered);
        }
    }

    /// Returns the messages that the repair symbol with this TSN covers. Returns `None` if no repair symbol has the
    /// TSN, or if the symbol covers no message.
    pub fn by(&self, tsn: u64) -> Option<&[u64]> {
        self.repairs.get(&tsn).map(Vec::as_slice)
    }

    /// Returns whether repair symbols are used. If so, a message that was delivered before all of its data arrived was
    /// recovered by repair symbols.
    pub fn repairs(&self) -> bool {
        !self.sources.is_empty()
    }

    /// Removes a message.
    pub fn forget(&mut self, number: u64) {
        self.sources.retain(|_, owner| *owner != number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repair_symbol_covers_those_in_its_window_or_block() {
        let mut covered = Covered::default();
        (10..14).for_each(|number| covered.source(&Header::WindowSource { number }, u64::from(number) + 100));
        covered.source(&Header::Plain, 1);
        covered.repair(7, &Header::WindowRepair { first: 11, sources: 2, seed: 0 });
        covered.repair(8, &Header::WindowRepair { first: 14, sources: 9, seed: 0 });
        assert_eq!((covered.by(7), covered.by(8), covered.by(9)), (Some(&[111, 112][..]), None, None));
        covered.forget(112);
        covered.repair(9, &Header::WindowRepair { first: 10, sources: 4, seed: 0 });
        assert_eq!(covered.by(9), Some(&[110, 111, 113][..]));
        let mut blocks = Covered::default();
        assert!(!blocks.repairs());
        for (block, index) in [(1, 0), (2, 0), (2, 1), (3, 0)] {
            blocks.source(
                &Header::Source { block, index, last: false },
                u64::from(block) * 10 + u64::from(index),
            );
        }
        blocks.repair(5, &Header::Repair { block: 2, sources: 2, seed: 0 });
        assert_eq!(blocks.by(5), Some(&[20, 21][..]));
    }
}

//! Cost of processing input.

use strandcast_proto::association::Association;
use strandcast_proto::work::done;

/// Work that each byte of a packet may cause. A byte is read and hashed several times.
const PER_BYTE: u64 = 8;
/// Work that each chunk in flight and each block of TSNs may cause. This work counts for each chunk of a packet that
/// contains TSNs.
const PER_ENTRY: u64 = 4;
/// Work that any packet may cause, regardless of its length.
const ALWAYS: u64 = 4096;

/// Calls the function `act`, which processes a packet of `len` bytes. Panics if this causes more work than the packet's
/// bytes permit. Each of its chunks may also cause `entries` list entries to be read.
pub(super) fn bounded<T>(len: usize, entries: usize, act: impl FnOnce() -> T) -> T {
    let before = done();
    let result = act();
    let (len, entries, work) = (len as u64, entries as u64, done() - before);
    // A chunk that contains TSNs has at least 16 bytes.
    let most = PER_BYTE * len + PER_ENTRY * entries * (len / 16) + ALWAYS;
    assert!(work <= most, "{work} work of {most} for {len} bytes and {entries} entries");
    result
}

/// Returns the number of list entries: unacknowledged chunks that a SACK may cover, and blocks of TSNs that arrived.
pub(super) fn entries(association: Option<&Association>) -> usize {
    association.map_or(0, strandcast_proto::association::entries)
}

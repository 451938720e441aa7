//! Cost of input.

use strandcast_proto::association::Association;
use strandcast_proto::work::done;

/// Work that a byte of a packet may cause: it is read and hashed several times.
const PER_BYTE: u64 = 8;
/// Work that each chunk in flight and each block of TSNs may cause, for each chunk of a packet that contains TSNs.
const PER_ENTRY: u64 = 4;
/// Work whatever the length.
const ALWAYS: u64 = 4096;

/// Executes the requests of a packet of `len` bytes. Panics if that is more work than its bytes pay for, and the
/// `entries` that each of its chunks may cause to be read.
pub(super) fn bounded<T>(len: usize, entries: usize, act: impl FnOnce() -> T) -> T {
    let before = done();
    let result = act();
    let (len, entries, work) = (len as u64, entries as u64, done() - before);
    // A chunk that contains TSNs has at least 16 bytes.
    let most = PER_BYTE * len + PER_ENTRY * entries * (len / 16) + ALWAYS;
    assert!(work <= most, "{work} work of {most} for {len} bytes and {entries} entries");
    result
}

/// Chunks that are not acknowledged, which a SACK may overtake, and blocks of TSNs that arrived.
pub(super) fn entries(association: Option<&Association>) -> usize {
    association.map_or(0, strandcast_proto::association::entries)
}

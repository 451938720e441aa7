//! What fuzzers run, and tests over the corpus they left: each function reads its input as a script, whatever the bytes are,
//! and panics where something does not hold.

mod envelope;
mod handshake;
mod sessions;

pub use envelope::envelope;
pub use handshake::handshake;
pub use sessions::seal_sessions;

/// Work that a byte of a datagram may cause.
const PER_BYTE: u64 = 8;

/// Does what a datagram of `len` bytes asks for, and panics if that is more work than its bytes pay for, and `always`.
fn bounded<T>(len: usize, always: u64, act: impl FnOnce() -> T) -> T {
    let before = strandcast_proto::work::done();
    let result = act();
    let (most, work) = (PER_BYTE * len as u64 + always, strandcast_proto::work::done() - before);
    assert!(work <= most, "{work} work of {most} for {len} bytes");
    result
}

//! Entry points for fuzzers, and for tests that run the fuzzers' saved inputs. Each function accepts any input, and
//! reads it as a script of actions. Each function panics if a required property does not hold.

mod envelope;
mod handshake;
mod sessions;

pub use envelope::envelope;
pub use handshake::handshake;
pub use sessions::seal_sessions;

/// Work that each byte of a datagram may cause.
const PER_BYTE: u64 = 8;

/// Calls the function `act`, which processes a datagram of `len` bytes. Panics if this causes more work than `always`
/// plus [`PER_BYTE`] for each byte.
fn bounded<T>(len: usize, always: u64, act: impl FnOnce() -> T) -> T {
    let before = strandcast_proto::work::done();
    let result = act();
    let (most, work) = (PER_BYTE * len as u64 + always, strandcast_proto::work::done() - before);
    assert!(work <= most, "{work} work of {most} for {len} bytes");
    result
}

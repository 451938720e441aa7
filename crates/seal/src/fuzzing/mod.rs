//! Targets of the fuzzers and of the tests over their corpus. Each function reads any input as a script, and
//! panics if a property does not hold.

mod envelope;
mod handshake;
mod sessions;

pub use envelope::envelope;
pub use handshake::handshake;
pub use sessions::seal_sessions;

/// Work that a byte of a datagram may cause.
const PER_BYTE: u64 = 8;

/// Runs `act` for a datagram of `len` bytes. Panics if its work exceeds `always` plus the allowance for these
/// bytes.
fn bounded<T>(len: usize, always: u64, act: impl FnOnce() -> T) -> T {
    let before = strandcast_proto::work::done();
    let result = act();
    let (most, work) = (PER_BYTE * len as u64 + always, strandcast_proto::work::done() - before);
    assert!(work <= most, "{work} work of {most} for {len} bytes");
    result
}

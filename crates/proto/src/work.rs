//! Counter of the work that input causes. Tests and fuzzers compare the work with a limit that depends on the received
//! bytes. The work includes bytes that are read or hashed, and list entries that are read or moved. Without the feature
//! `testing`, no work is counted. Decoders of coded messages count their own work
//! ([`CodingStats::work`](crate::coding::CodingStats::work)).

#[cfg(any(test, feature = "testing"))]
std::thread_local! {
    static DONE: core::cell::Cell<u64> = const { core::cell::Cell::new(0) };
}

/// Counts `amount` units of work.
#[inline(always)]
pub fn count(amount: usize) {
    #[cfg(any(test, feature = "testing"))]
    DONE.set(DONE.get() + amount as u64);
    #[cfg(not(any(test, feature = "testing")))]
    let _ = amount;
}

/// Returns the work that this thread has counted so far.
#[cfg(any(test, feature = "testing"))]
pub fn done() -> u64 {
    DONE.get()
}

//! Regression tests over the fuzzing corpus.

use strandcast_seal::fuzzing;
use strandcast_testing::corpus::replay;

/// Two ends with all paths, each with every key that datagrams may request, and the test's own records.
#[test]
fn envelope() {
    fn bounded(data: &[u8]) {
        let heap = allocation_counter::measure(|| fuzzing::envelope(data)).bytes_max;
        assert!(heap < 1 << 20, "{heap} bytes");
    }
    replay("envelope", bounded);
}

/// Handshakes of two senders; a table as full as the inputs make it, and its memory of earlier messages.
#[test]
fn handshakes() {
    fn bounded(data: &[u8]) {
        let heap = allocation_counter::measure(|| fuzzing::handshake(data)).bytes_max;
        assert!(heap < 1 << 20, "{heap} bytes");
    }
    replay("handshake", bounded);
}

/// Three endpoints with a session each, datagrams under way between them, and a recording.
#[test]
fn worlds() {
    fn bounded(data: &[u8]) {
        let heap = allocation_counter::measure(|| fuzzing::seal_sessions(data)).bytes_max;
        assert!(heap < 8 << 20, "{heap} bytes");
    }
    replay("seal_sessions", bounded);
}

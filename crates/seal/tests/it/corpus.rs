//! What fuzzing found stays found: its corpus through the same functions.

use strandcast_seal::fuzzing;
use strandcast_testing::corpus::replay;

/// Two ends with all paths, each with every key that datagrams may ask for, and what the test itself records.
#[test]
fn envelope() {
    fn bounded(data: &[u8]) {
        let heap = allocation_counter::measure(|| fuzzing::envelope(data)).bytes_max;
        assert!(heap < 1 << 20, "{heap} bytes");
    }
    replay("envelope", bounded);
}

/// Handshakes of two senders; a table that is as full as the inputs make it, and what is remembered of them.
#[test]
fn handshakes() {
    fn bounded(data: &[u8]) {
        let heap = allocation_counter::measure(|| fuzzing::handshake(data)).bytes_max;
        assert!(heap < 1 << 20, "{heap} bytes");
    }
    replay("handshake", bounded);
}

/// Three endpoints with a session each, what is under way between them and what was recorded.
#[test]
fn worlds() {
    fn bounded(data: &[u8]) {
        let heap = allocation_counter::measure(|| fuzzing::seal_sessions(data)).bytes_max;
        assert!(heap < 8 << 20, "{heap} bytes");
    }
    replay("seal_sessions", bounded);
}

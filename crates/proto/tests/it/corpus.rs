//! Replay of the fuzzing corpus through the fuzz targets.

use strandcast_testing::corpus::replay;
use strandcast_testing::fuzzing;

#[test]
fn packets() {
    replay("packet", fuzzing::packet);
}

#[test]
fn associations() {
    replay("association", fuzzing::association);
}

#[test]
fn coded_associations() {
    replay("coded_association", fuzzing::coded_association);
}

/// A peer occupies no more memory than it was granted, whatever it sends: four associations with a receive buffer of 64
/// KiB and a send buffer of 1 MiB each.
#[test]
fn unknown_sources() {
    fn bounded(data: &[u8]) {
        let heap = allocation_counter::measure(|| fuzzing::unknown_sources(data)).bytes_max;
        assert!(heap < 8 << 20, "{heap} bytes");
    }
    replay("unknown_sources", bounded);
}

#[test]
fn pairs() {
    replay("pair", fuzzing::pair);
}

#[test]
fn coded_pairs() {
    replay("coded_pair", fuzzing::coded_pair);
}

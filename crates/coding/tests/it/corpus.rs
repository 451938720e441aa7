//! Regression tests over the fuzzing corpus.

use strandcast_coding::fuzzing;
use strandcast_testing::corpus::replay;

/// Two receivers at a time, of blocks and of a window, stay within their stated memory.
#[test]
fn symbols() {
    fn bounded(data: &[u8]) {
        let heap = allocation_counter::measure(|| fuzzing::symbols(data)).bytes_max;
        assert!(heap < 1 << 20, "{heap} bytes");
    }
    // Builds tables that crates share between codecs.
    fuzzing::codecs(&[4]);
    replay("symbols", bounded);
}

#[test]
fn codecs() {
    replay("codecs", fuzzing::codecs);
}

//! Regression tests over the fuzzing corpus.

use std::fs;
use std::path::Path;

use strandcast_srt::fuzzing;

/// Both ends with full buffers of 64 packets, datagrams under way between them, and a record of what was sent.
#[test]
fn endpoints() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/srt");
    let mut inputs: Vec<_> =
        fs::read_dir(&folder).expect("the corpus").map(|f| f.expect("a file").path()).collect();
    inputs.sort();
    assert!(!inputs.is_empty(), "{} is empty", folder.display());
    for input in inputs {
        let data = fs::read(&input).expect("readable");
        let heap = allocation_counter::measure(|| fuzzing::endpoints(&data)).bytes_max;
        assert!(heap < 2 << 20, "{}: {heap} bytes", input.display());
    }
}

//! What fuzzing found stays found: its corpus through the same functions.

use std::fs;
use std::panic;
use std::path::Path;

use strandcast_proto::fuzzing;

fn replay(target: &str, run: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    let mut inputs: Vec<_> =
        fs::read_dir(&folder).expect("the corpus").map(|f| f.expect("a file").path()).collect();
    inputs.sort();
    assert!(!inputs.is_empty(), "{} is empty", folder.display());
    for input in inputs {
        let data = fs::read(&input).expect("readable");
        if let Err(why) = panic::catch_unwind(|| run(&data)) {
            eprintln!("replay: {}", input.display());
            panic::resume_unwind(why);
        }
    }
}

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

/// A peer's memory is what it was granted, whatever it says: four associations with a receive buffer of 64 KiB and a send
/// buffer of 1 MiB each.
#[test]
fn strangers() {
    fn bounded(data: &[u8]) {
        let heap = allocation_counter::measure(|| fuzzing::strangers(data)).bytes_max;
        assert!(heap < 8 << 20, "{heap} bytes");
    }
    replay("strangers", bounded);
}

#[test]
fn pairs() {
    replay("pair", fuzzing::pair);
}

#[test]
fn coded_pairs() {
    replay("coded_pair", fuzzing::coded_pair);
}

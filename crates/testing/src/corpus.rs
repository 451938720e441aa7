//! Corpus of a fuzz target, for the tests of the crates that the target runs.

use std::fs;
use std::panic;
use std::path::Path;

/// Passes each input in the corpus of `target` to the function `run`. If an input causes a panic, the input is named.
pub fn replay(target: &str, run: fn(&[u8])) {
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

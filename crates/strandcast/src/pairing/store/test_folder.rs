//! A folder for a test, removed at its end.

use std::path::{Path, PathBuf};

pub(in crate::pairing) struct TestFolder(PathBuf);

impl TestFolder {
    pub(in crate::pairing) fn new(name: &str) -> TestFolder {
        let path = std::env::temp_dir().join(format!("strandcast-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        TestFolder(path)
    }

    pub(in crate::pairing) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for TestFolder {
    fn drop(&mut self) {
        // If a test's folder remains in the system's temporary folder, it does no harm.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

//! Small scenarios in separate files.

use std::path::PathBuf;

use super::common::file;

/// One flow over two paths, of which the faster one loses packets.
pub const TWO_PATHS: &str = r#"title = "two paths"
[run]
time = "5 s"
[nodes.a]
[nodes.b]
[links.x]
from = "a"
to = "b"
rate = "2 Mbit/s"
delay = "10 ms"
queue = { limit = "20 packets" }
[links.x.loss.uniform]
rate = 0.01
[links.y]
from = "a"
to = "b"
rate = "1 Mbit/s"
delay = "30 ms"
queue = { limit = "20 packets" }
[flows.data]
from = "a"
to = "b"
compare = true
[flows.data.paths.x]
via = ["x"]
[flows.data.paths.y]
via = ["y"]
"#;

/// Writes a scenario and returns its file.
pub fn scenario(name: &str, text: &str) -> PathBuf {
    let path = file(name);
    std::fs::write(&path, text).expect("the scenario is written");
    path
}

/// A folder of this test that does not exist yet.
pub fn folder(name: &str) -> PathBuf {
    let path = file(&format!("{name}-out"));
    // It exists if an earlier process had the same id.
    let _ = std::fs::remove_dir_all(&path);
    path
}

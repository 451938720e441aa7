//! If the sources are a clone, records the commit from which the command is built.

use std::process::Command;

/// Folder of this crate in the repository, as git prints it.
const HERE: &str = "crates/cli/";

fn main() {
    // Results depend on the source code of the crates only. After a change of any crate, Cargo builds this crate anew
    // in any case.
    println!("cargo::rerun-if-changed=..");
    if git(&["rev-parse", "--show-prefix"]).as_deref() != Some(HERE) {
        return;
    }
    for file in ["HEAD", "logs/HEAD"] {
        if let Some(path) = git(&["rev-parse", "--git-path", file]) {
            println!("cargo::rerun-if-changed={path}");
        }
    }
    let changed = git(&["status", "--porcelain", "--", "..", "../../Cargo.lock"]);
    if let (Some(commit), Some(changed)) = (git(&["rev-parse", "HEAD"]), changed) {
        let mark = if changed.is_empty() { "" } else { "+" };
        println!("cargo::rustc-env=STRANDCAST_COMMIT={commit}{mark}");
    }
}

/// Returns the standard output of a git command, or `None` if the command fails.
fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim_end().to_owned())
}

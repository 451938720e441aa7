//! Records the commit that the command is built from, where the sources are a clone.

use std::process::Command;

/// Folder of this crate in the repository, as git prints it.
const HERE: &str = "crates/cli/";

fn main() {
    // Results depend on the crates alone; a change of one builds this one anew anyway.
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

/// Standard output of a git command; `None` if it fails.
fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim_end().to_owned())
}

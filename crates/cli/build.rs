//! If the sources are a clone, records the commit from which the command is built. Embeds the page of the API in any
//! case.

use std::path::Path;
use std::process::Command;
use std::{env, fs, io};

/// Folder of this crate in the repository, as git prints it.
const HERE: &str = "crates/cli/";

/// Folder of the bundle that holds the page. `make web` writes this folder.
const WEB: &str = "../../target/web";
const BUNDLE: [&str; 4] = ["index.html.gz", "page.js.gz", "page.css.gz", "mpegts.js.gz"];

fn main() {
    println!("cargo::rustc-check-cfg=cfg(page)");
    // If a path that Cargo watches is missing, Cargo runs this script for ever.
    if fs::create_dir_all(WEB).is_ok() {
        println!("cargo::rerun-if-changed={WEB}");
    }
    if take_page().is_ok() {
        println!("cargo::rustc-cfg=page");
    }
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

/// Copies the bundle of the page to the folder from which the sources include the bundle.
///
/// # Errors
/// The page was not built.
fn take_page() -> io::Result<()> {
    let out = env::var_os("OUT_DIR").ok_or(io::ErrorKind::NotFound)?;
    for file in BUNDLE {
        fs::copy(Path::new(WEB).join(file), Path::new(&out).join(file))?;
    }
    Ok(())
}

/// Returns the standard output of a git command, or `None` if the command fails.
fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim_end().to_owned())
}

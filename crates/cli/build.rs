//! If the sources are a clone, records the commit from which the command is built. Also embeds the page of the API.

use std::path::Path;
use std::process::Command;
use std::{env, fs, io};

/// Folder of this crate in the repository, as git prints it.
const HERE: &str = "crates/cli/";

/// Folder of the page's bundle, which `make web` writes.
const WEB: &str = "../../target/web";
const BUNDLE: [&str; 4] = ["index.html.gz", "page.js.gz", "page.css.gz", "mpegts.js.gz"];

fn main() {
    println!("cargo::rustc-check-cfg=cfg(page)");
    // Cargo repeats this for ever if a path that it watches is missing.
    if fs::create_dir_all(WEB).is_ok() {
        println!("cargo::rerun-if-changed={WEB}");
    }
    if take_page().is_ok() {
        println!("cargo::rustc-cfg=page");
    }
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

/// Copies the page's bundle to where the sources include it.
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

/// Standard output of a git command; `None` if it fails.
fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim_end().to_owned())
}

//! Embeds the page of the API, if the sources are a clone in which the page was built.

use std::path::Path;
use std::{env, fs, io};

/// Script that makes the page. Sources without it, such as an unpacked package, never have the page.
const MAKES: &str = "../../tools/web";
/// Folder of the bundle that holds the page. `make web` writes this folder.
const WEB: &str = "../../target/web";
const BUNDLE: [&str; 4] = ["index.html.gz", "page.js.gz", "page.css.gz", "mpegts.js.gz"];

fn main() {
    println!("cargo::rustc-check-cfg=cfg(page)");
    println!("cargo::rerun-if-changed=build.rs");
    if env::var_os("CARGO_FEATURE_API").is_none() || !Path::new(MAKES).exists() {
        return;
    }
    // If a path that Cargo watches is missing, Cargo runs this script for ever.
    if fs::create_dir_all(WEB).is_ok() {
        println!("cargo::rerun-if-changed={WEB}");
    }
    if take_page().is_ok() {
        println!("cargo::rustc-cfg=page");
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

//! The generated table of combinations, and the check that a page about the scheme can be found.

use std::fs;
use std::path::{Path, PathBuf};

use strandcast_schemes::combinations::page;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))
}

/// Generates `docs/schemes/combinations.md` again. If `check` is true, only compares it. Looks for a page in
/// docs/schemes that names the scheme and has a line in mkdocs.yml.
pub fn check(name: &str, check: bool) -> Result<String, String> {
    let table = root().join("docs/schemes/combinations.md");
    let text = read(&table)?;
    let wanted = page(&text);
    let was = match (text == wanted, check) {
        (true, _) => "combinations.md is up to date",
        (false, true) => {
            return Err(
                "docs/schemes/combinations.md is out of date; tools/scheme without --check writes it".into(),
            );
        }
        (false, false) => {
            fs::write(&table, &wanted).map_err(|e| format!("{}: {e}", table.display()))?;
            "combinations.md was written anew"
        }
    };
    let nav = read(&root().join("mkdocs.yml"))?;
    let mut pages: Vec<String> = Vec::new();
    for entry in fs::read_dir(root().join("docs/schemes")).map_err(|e| e.to_string())? {
        let path = entry.map_err(|e| e.to_string())?.path();
        let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let text = read(&path)?;
        let title = text.lines().find(|line| line.starts_with("# ")).unwrap_or_default();
        let titled = title.split(|c: char| !(c.is_alphanumeric() || c == '-')).any(|word| word == name);
        if titled || (file != "combinations.md" && text.contains(&format!("`{name}`"))) {
            let known = nav.contains(&format!("schemes/{file}"));
            pages.push(if known {
                file
            } else {
                return Err(format!("docs/schemes/{file} has no line in mkdocs.yml"));
            });
        }
    }
    pages.sort();
    match pages.as_slice() {
        [] => Err(format!("{was}; no page in docs/schemes names `{name}`")),
        pages => Ok(format!("{was}; mentioned in {}", pages.join(", "))),
    }
}

//! Files that `explain` needs in a folder of results, in addition to the tables.

use std::path::{Component, Path};

use strandcast::files::replace;
use strandcast_lab::scenario::Scenario;

use crate::error::CliError;

/// Name of the scenario's copy in a folder of results.
pub(crate) const COPY: &str = "scenario.toml";

/// Copies the scenario's file into the folder. Copies the traces of the scenario if they are in the folder of the
/// scenario or below.
///
/// # Errors
/// [`CliError::Media`].
pub(crate) fn keep(scenario: &Scenario, file: &Path, folder: &Path) -> Result<(), CliError> {
    let text =
        std::fs::read(file).map_err(|e| CliError::Media(format!("cannot read {}: {e}", file.display())))?;
    write(&folder.join(COPY), &text)?;
    let home = file.parent().unwrap_or(Path::new(""));
    for trace in scenario.files() {
        let inside = trace.path.strip_prefix(home).ok().filter(|path| {
            path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
        });
        if let Some(path) = inside {
            write(&folder.join(path), trace.text.as_bytes())?;
        }
    }
    Ok(())
}

/// Writes a file atomically.
fn write(path: &Path, bytes: &[u8]) -> Result<(), CliError> {
    let wrong = |e: std::io::Error| CliError::Media(format!("cannot write {}: {e}", path.display()));
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(wrong)?;
    }
    replace(path, bytes).map_err(wrong)
}

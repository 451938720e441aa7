//! `strandcast report`.

use std::io::{BufRead as _, BufReader};
use std::path::Path;

use serde_json::Value;
use strandcast::files::{replace, same_file, spare_keys};
use strandcast::live::report::{ReportError, StreamReport};

use crate::args::ReportArgs;
use crate::error::{CliError, why};
use crate::print;

/// Maximum length of a line that is read, in bytes.
const LONGEST: usize = 1 << 20;

/// Makes a page about a stream from the statistics of its sender and its receiver.
///
/// # Errors
/// Returns [`CliError::Media`] if a file cannot be read or written. Returns [`CliError::Usage`] if there is no such
/// stream, or the page would replace a file with other content. Returns [`CliError::Store`] if the page would replace a
/// file of keys.
pub(crate) fn run(args: &ReportArgs) -> Result<(), CliError> {
    let name = args.out.display().to_string();
    let mut lines = Vec::new();
    for path in &args.files {
        if same_file(path, &args.out) {
            let path = path.display();
            return Err(CliError::Usage(format!(
                "--out {name}: the page would replace it, and {path} is read"
            )));
        }
        lines.extend(read(path)?);
    }
    spare_keys(&args.out)?;
    let report = StreamReport::of(&lines, args.stream.as_deref()).map_err(refused)?;
    let has_content = std::fs::metadata(&args.out).is_ok_and(|seen| seen.len() > 0);
    if has_content && !args.overwrite {
        return Err(CliError::Usage(format!("{name} has content: name another file, or --overwrite it")));
    }
    let written = replace(&args.out, report.html().as_bytes());
    written.map_err(|e| CliError::Media(format!("cannot write {name}: {}", why(&e))))?;
    let known = report.known();
    if known.len() > 1 && args.stream.is_none() {
        let (all, names) = (known.len(), known.join(", "));
        print::line(&format!("the last of {all} streams: --stream chooses another one: {names}"));
    }
    print::line(&format!("report: {name}"));
    Ok(())
}

/// Returns the error for files without the stream.
fn refused(error: ReportError) -> CliError {
    CliError::Usage(match error {
        ReportError::NoFigures => format!("{error}: these are not files of --stats"),
        error => error.to_string(),
    })
}

/// Returns the lines of a file that are JSON objects. A last line that is incomplete, because a program was killed, is
/// left out.
fn read(path: &Path) -> Result<Vec<Value>, CliError> {
    let cannot = |e| CliError::Media(format!("cannot read {}: {}", path.display(), why(&e)));
    let file = std::fs::File::open(path).map_err(cannot)?;
    let mut lines = Vec::new();
    for line in BufReader::new(file).split(b'\n') {
        let line = line.map_err(cannot)?;
        let value = if line.len() <= LONGEST { serde_json::from_slice(&line).ok() } else { None };
        lines.extend(value.filter(Value::is_object));
    }
    Ok(lines)
}

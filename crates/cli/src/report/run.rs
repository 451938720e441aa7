//! `strandcast report`.

use std::fs::OpenOptions;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;

use serde_json::Value;

use super::stream::StreamReport;
use super::stream_page::html;
use crate::args::ReportArgs;
use crate::error::{CliError, why};
use crate::print;

/// Longest line that is read, in bytes.
const LONGEST: usize = 1 << 20;

/// Makes a page of a stream from the statistics of its ends.
///
/// # Errors
/// [`CliError::Media`]: a file cannot be read or written; [`CliError::Usage`]: there is no such stream.
pub(crate) fn run(args: &ReportArgs) -> Result<(), CliError> {
    let mut lines = Vec::new();
    for path in &args.files {
        lines.extend(read(path)?);
    }
    let report = StreamReport::of(&lines, args.stream.as_deref()).map_err(CliError::Usage)?;
    let name = args.out.display().to_string();
    let cannot = |e| CliError::Media(format!("cannot write {name}: {}", why(&e)));
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    let known = std::fs::metadata(&args.out).is_ok_and(|seen| seen.len() > 0);
    if known && !args.overwrite {
        return Err(CliError::Usage(format!("{name} has content: name another file, or --overwrite it")));
    }
    let mut out = options.open(&args.out).map_err(cannot)?;
    out.write_all(html(&report).as_bytes()).map_err(cannot)?;
    for note in &report.notes {
        print::line(note);
    }
    print::line(&format!("report: {name}"));
    Ok(())
}

/// The lines of a file that are objects. A line that was cut by the end of a program is left out.
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

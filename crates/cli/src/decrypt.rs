//! `strandcast decrypt`.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, BufWriter};
use std::path::Path;

use strandcast::capture::{DecryptError, Keys, PcapError, PcapReader, PcapWriter, decrypt};
use strandcast::files::{Replacement, same_file, spare_content, spare_keys};
use strandcast::text::count;

use crate::args::DecryptArgs;
use crate::error::{CliError, why};
use crate::print;

/// Decrypts a capture.
///
/// # Errors
/// Returns [`CliError::Usage`] if the output is one of the inputs, or has content. Returns [`CliError::Media`] if a
/// file cannot be read or written. Returns [`CliError::Unmet`] if the log has no keys for any datagram of the capture.
pub(crate) fn run(args: &DecryptArgs) -> Result<(), CliError> {
    for input in [&args.capture, &args.keylog] {
        if same_file(input, &args.out) {
            let why = format!("{} would be overwritten: name another file for OUT", input.display());
            return Err(CliError::Usage(why));
        }
    }
    spare_keys(&args.out)?;
    std::fs::metadata(&args.out).map_or(Ok(()), |seen| spare_content(&args.out, &seen))?;
    let unwritable =
        |e: io::Error| CliError::Media(format!("cannot write {}: {}", args.out.display(), why(&e)));
    let mut keys = read_log(&args.keylog)?;
    let file = File::open(&args.capture).map_err(|e| unreadable(&args.capture, &why(&e)))?;
    let damaged = |error: PcapError| match error {
        PcapError::Read(error) => unreadable(&args.capture, &why(&error)),
        error => unreadable(&args.capture, &error.to_string()),
    };
    let mut capture = PcapReader::open(BufReader::new(file)).map_err(damaged)?;
    let (replacement, out) = Replacement::create(&args.out).map_err(unwritable)?;
    let mut out = PcapWriter::new(BufWriter::new(out)).map_err(unwritable)?;
    let done = decrypt(&mut capture, &mut keys, &mut out).map_err(|error| match error {
        DecryptError::Read(error) => damaged(error),
        DecryptError::Write(error) => unwritable(error),
        other => CliError::Media(other.to_string()),
    })?;
    print::line(&format!(
        "{} of SCTP; in addition {} of the seal, {} without keys, {} without a UDP datagram",
        count(done.packets, "packet"),
        count(done.control, "message"),
        count(done.closed, "datagram"),
        count(done.others, "packet"),
    ));
    if done.packets == 0 {
        let (keylog, out) = (args.keylog.display(), args.out.display());
        return Err(CliError::Unmet(format!("{keylog} has no keys for any datagram: {out} is not written")));
    }
    replacement.keep().map_err(unwritable)
}

fn unreadable(path: &Path, words: &str) -> CliError {
    CliError::Media(format!("cannot read {}: {words}", path.display()))
}

/// Reads the keys of a key log.
fn read_log(path: &Path) -> Result<Keys, CliError> {
    let unreadable = |e: io::Error| unreadable(path, &why(&e));
    let mut keys = Keys::default();
    for line in BufReader::new(File::open(path).map_err(unreadable)?).lines() {
        keys.add(&line.map_err(unreadable)?);
    }
    Ok(keys)
}

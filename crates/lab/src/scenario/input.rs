//! Reading of input files.

use std::fs::{File, metadata};
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

/// Size of the largest scenario file in bytes. Such a file can have some hundred thousand links.
pub const LARGEST_SCENARIO: u64 = 64 << 20;
/// Size in bytes of the largest file to which a scenario can refer. It suffices for a mahimahi trace of 100 Mbit/s for
/// two hours.
pub const LARGEST_TRACE: u64 = 512 << 20;

/// Returns the text of a regular file of at most `most` bytes. Devices and pipes are not opened, because they may have
/// no end.
///
/// # Errors
/// Reason why the file was not read, and how to correct it.
pub(super) fn text(path: &Path, most: u64) -> Result<Arc<str>, String> {
    let unread = |why: io::Error| format!("can't be read: {why}");
    let kind = metadata(path).map_err(unread)?;
    if kind.is_dir() {
        return Err("is a directory; name a file in it".into());
    }
    if !kind.is_file() {
        return Err(
            "is a pipe or a device, not a regular file; save what it gives to a file and name that".into()
        );
    }
    let mut bytes = Vec::new();
    // The size of the file may be wrong (/proc), or may grow.
    File::open(path).and_then(|file| file.take(most + 1).read_to_end(&mut bytes)).map_err(unread)?;
    if bytes.len() as u64 > most {
        return Err(format!("is larger than {} MiB, the most that is read; shorten it", most >> 20));
    }
    let text = String::from_utf8(bytes).map_err(|_| "is not text in UTF-8".to_owned())?;
    Ok(without_mark(&text).into())
}

/// Returns the text without the byte order mark that some editors write at the beginning of a file.
pub(super) fn without_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_regular_file_is_not_opened() {
        let said = |path: &str| text(Path::new(path), 1 << 20).expect_err(path);
        assert!(said("/dev/zero").contains("not a regular file"));
        assert!(said("/").contains("is a directory"));
        assert!(said("/nonexistent").contains("o such file"));
    }

    #[test]
    fn too_much_is_not_read() {
        let path = std::env::temp_dir().join(format!("strandcast-input-{}", std::process::id()));
        std::fs::write(&path, vec![b'#'; 3 << 20]).expect("it is written");
        let (fits, not) = (text(&path, 3 << 20), text(&path, 2 << 20));
        // A hole of a terabyte needs no space on the disk.
        File::create(&path).and_then(|file| file.set_len(1 << 40)).expect("holes take no room");
        let hole = text(&path, 1 << 20);
        std::fs::remove_file(&path).expect("it is there");
        assert_eq!(fits.expect("it fits").len(), 3 << 20);
        for error in [not, hole] {
            assert!(error.expect_err("too large").contains("is larger than"));
        }
    }
}

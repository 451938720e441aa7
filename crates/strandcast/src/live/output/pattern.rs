//! Names of recordings that contain the time. Each stream is recorded in a separate file, and no file replaces another
//! one.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::error::Error;
use crate::text::civil;

/// Letters of the fields of a time.
const FIELDS: &str = "YmdHMS";
/// Maximum number of streams that may begin within the smallest field of the pattern, for example within one second.
const MOST: u32 = 10_000;

/// Name of a file with fields for the time.
#[derive(Clone, Debug)]
pub(super) struct Pattern(String);

impl Pattern {
    /// Returns the pattern of a path. Returns `None` if the path has no fields for the time.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] if the path has fields that are not fields of a time. Returns [`Error::Media`] if the
    /// folder of the path does not exist.
    pub(super) fn of(path: &Path) -> Result<Option<Pattern>, Error> {
        let text = path.to_string_lossy();
        let mut rest = text.chars();
        let fields = std::iter::from_fn(|| {
            rest.find(|&c| c == '%')?;
            Some(rest.next().unwrap_or('%'))
        });
        let fields: Vec<char> = fields.collect();
        if !fields.iter().any(|&field| FIELDS.contains(field)) {
            return Ok(None);
        }
        if let Some(other) = fields.iter().find(|&&field| !FIELDS.contains(field) && field != '%') {
            let why =
                format!("{text}: %{other} is not a field: a name may have %Y, %m, %d, %H, %M and %S, in UTC");
            return Err(Error::Usage(why));
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        if folder.is_some_and(|folder| !folder.to_string_lossy().contains('%') && !folder.is_dir()) {
            return Err(Error::Media(format!("cannot write {text}: there is no such folder")));
        }
        Ok(Some(Pattern(text.into_owned())))
    }

    /// Creates the file of a stream that begins at `at`. If the name is taken, a number is added.
    ///
    /// # Errors
    /// The errors of the system, with the file's name.
    pub(super) fn create(&self, at: SystemTime) -> Result<(File, PathBuf), (PathBuf, io::Error)> {
        let name = PathBuf::from(self.name(at));
        let mut path = name.clone();
        for n in 2..MOST {
            match OpenOptions::new().write(true).create_new(true).open(&path) {
                Ok(file) => return Ok((file, path)),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => path = numbered(&name, n),
                Err(error) => return Err((path, error)),
            }
        }
        Err((name, ErrorKind::AlreadyExists.into()))
    }

    /// Returns the file name of a stream that begins at `at`, without a number.
    pub(super) fn name(&self, at: SystemTime) -> String {
        let seconds = at.duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
        let ((year, month, day), of_day) = (civil(seconds / 86_400), seconds % 86_400);
        let (mut name, mut rest) = (String::new(), self.0.chars());
        while let Some(c) = rest.next() {
            let field = if c == '%' { rest.next() } else { None };
            match field {
                Some('Y') => name += &format!("{year:04}"),
                Some('m') => name += &format!("{month:02}"),
                Some('d') => name += &format!("{day:02}"),
                Some('H') => name += &format!("{:02}", of_day / 3600),
                Some('M') => name += &format!("{:02}", of_day / 60 % 60),
                Some('S') => name += &format!("{:02}", of_day % 60),
                Some(_) | None => name.push(c),
            }
        }
        name
    }
}

/// Returns `a.ts` as `a-2.ts`.
fn numbered(name: &Path, n: u32) -> PathBuf {
    let mut numbered = name.file_stem().unwrap_or_default().to_owned();
    numbered.push(format!("-{n}"));
    if let Some(extension) = name.extension() {
        numbered.push(".");
        numbered.push(extension);
    }
    name.with_file_name(numbered)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn fields_are_those_of_a_time() {
        let of = |text: &str| Pattern::of(Path::new(text)).map(|found| found.is_some());
        for plain in ["out.ts", "100%.ts", "a%", "%x.ts", "%%.ts"] {
            assert_eq!(of(plain).ok(), Some(false), "{plain}");
        }
        let at = UNIX_EPOCH + Duration::from_secs(1_234_567_890);
        let pattern = Pattern::of(Path::new("a%%-%Y%m%d-%H%M%S.ts")).unwrap().unwrap();
        assert_eq!(pattern.name(at), "a%-20090213-233130.ts");
        assert!(of("%Y-%q.ts").is_err_and(|error| error.to_string().contains("%q")));
        assert!(of("no-such-folder/%Y.ts").is_err_and(|error| error.to_string().contains("folder")));
    }

    #[test]
    fn a_name_that_is_taken_gets_a_number() {
        let folder = std::env::temp_dir().join(format!("strandcast-pattern-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let pattern = Pattern::of(&folder.join("%Y.ts")).unwrap().unwrap();
        let names: Vec<String> = (0..3)
            .map(|_| {
                pattern.create(UNIX_EPOCH).unwrap().1.file_name().unwrap().to_string_lossy().into_owned()
            })
            .collect();
        assert_eq!(names, ["1970.ts", "1970-2.ts", "1970-3.ts"]);
        std::fs::remove_dir_all(&folder).unwrap();
    }
}

//! Slates of outputs.

use std::fmt;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use strandcast_media::slate::{self, Clip, ClipError, MAX_CLIP};

use crate::error::{Error, why};
use crate::text::duration;

/// Name of the slate of null packets.
const NULL: &str = "null";

/// Packets that the outputs of a receiver get while no sender plays. They are null packets, or a clip that is repeated.
/// An output that records receives no slate ([`Output::takes_slate`](super::output::Output::takes_slate)).
///
/// The stream of an output with a slate continues without a break. The continuity counters of the stream have no gap at
/// a cut, and its PCR announces each new time base. The media of a sender begin with a key frame.
#[derive(Clone, Debug)]
pub struct Slate {
    kind: Kind,
    /// Time without media after which the slate plays.
    pub after: Duration,
}

#[derive(Clone, Debug)]
enum Kind {
    Null,
    Clip(PathBuf, Arc<Clip>),
}

impl Slate {
    /// Default time without media after which a slate plays.
    pub const AFTER: Duration = Duration::from_secs(1);

    /// Makes a slate of null packets, with the tables and the clock of the last sender.
    pub fn null() -> Slate {
        Slate { kind: Kind::Null, after: Slate::AFTER }
    }

    /// Reads the clip of a file of at most 16 MiB. All clones share the memory of the clip.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] if the file cannot be a slate.
    pub fn read(path: &Path) -> Result<Slate, Error> {
        let wrong = |why: String| Error::Usage(format!("{} cannot be a slate: {why}", path.display()));
        let read = |path| {
            let file = std::fs::File::open(path)?;
            let found = file.metadata()?;
            if !found.is_file() {
                return Err(std::io::Error::other("it is not a file"));
            }
            let mut bytes = Vec::new();
            // One more byte shows that the file is too long.
            file.take(MAX_CLIP as u64 + 1).read_to_end(&mut bytes)?;
            Ok((bytes, found.len()))
        };
        let (bytes, length) = read(path).map_err(|error| wrong(why(&error)))?;
        let clip = match length > MAX_CLIP as u64 {
            true => Err(ClipError::TooLong { bytes: length }),
            false => Clip::read(&bytes),
        };
        let clip = Arc::new(clip.map_err(|error| wrong(error.to_string()))?);
        Ok(Slate { kind: Kind::Clip(path.to_owned(), clip), after: Slate::AFTER })
    }

    /// Returns the slate with this name: `null`, or the path of a clip.
    ///
    /// # Errors
    /// The errors of [`Slate::read`].
    pub fn named(name: &Path) -> Result<Slate, Error> {
        if name == Path::new(NULL) { Ok(Slate::null()) } else { Slate::read(name) }
    }

    /// Number of bytes of memory that the slate needs, for any number of outputs.
    pub fn bytes(&self) -> u64 {
        match &self.kind {
            Kind::Null => 0,
            Kind::Clip(_, clip) => clip.bytes(),
        }
    }

    pub(in crate::live) fn media(&self) -> slate::Slate {
        match &self.kind {
            Kind::Null => slate::Slate::Null,
            Kind::Clip(_, clip) => slate::Slate::Clip(Arc::clone(clip)),
        }
    }
}

/// Compares two slates. They are equal if their outputs get the same packets. A clip whose file was replaced is
/// different.
impl PartialEq for Slate {
    fn eq(&self, other: &Slate) -> bool {
        let same = match (&self.kind, &other.kind) {
            (Kind::Null, Kind::Null) => true,
            (Kind::Clip(path, clip), Kind::Clip(other, of_other)) => {
                (path, clip.bytes(), clip.checksum()) == (other, of_other.bytes(), of_other.checksum())
            }
            _ => false,
        };
        same && self.after == other.after
    }
}

impl Eq for Slate {}

impl fmt::Display for Slate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            Kind::Null => f.write_str("null packets"),
            Kind::Clip(path, clip) => {
                write!(f, "{} ({})", path.display(), duration(clip.duration()))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_cannot_be_a_slate_is_one_line() {
        let folder = std::env::temp_dir().join(format!("strandcast-slate-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("the folder of tests");
        let picture = folder.join("slate.png");
        std::fs::write(&picture, [0x89, b'P', b'N', 0, 0, 0].repeat(9000)).expect("it can be written");
        let long = folder.join("long.ts");
        let file = std::fs::File::create(&long).expect("it can be written");
        file.set_len(MAX_CLIP as u64 + 1).expect("it has holes");
        for (path, words) in [
            (picture.as_path(), "slate.png cannot be a slate: not an MPEG transport stream"),
            (
                long.as_path(),
                "long.ts cannot be a slate: it has 16777217 bytes, and a slate has 16777216 at most",
            ),
            (folder.as_path(), "cannot be a slate: it is not a file"),
            (Path::new("/no/such/clip.ts"), "/no/such/clip.ts cannot be a slate: no such file or directory"),
        ] {
            let line = Slate::named(path).expect_err("it cannot be one").to_string();
            assert!(line.contains(words) && !line.contains('\n'), "{line}");
        }
        std::fs::remove_dir_all(&folder).expect("it was made");
    }

    #[test]
    fn a_clip_that_was_replaced_is_another_slate() {
        let clip = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../media/clip.ts");
        let slate = Slate::read(&clip).expect("it is a clip");
        assert_eq!(slate, Slate::read(&clip).expect("it is a clip"));
        assert_ne!(slate, Slate::null());
        assert_ne!(slate, Slate { after: Duration::from_secs(9), ..slate.clone() });
        let copy = std::env::temp_dir().join(format!("strandcast-slate-{}.ts", std::process::id()));
        let bytes = std::fs::read(&clip).expect("it can be read");
        let read = |length: usize| {
            std::fs::write(&copy, &bytes[..length]).expect("it can be written");
            Slate::read(&copy).expect("it is a clip")
        };
        assert_ne!(read(bytes.len()), read(bytes.len() / 2), "the same path");
        std::fs::remove_file(&copy).expect("it was made");
        assert!(slate.to_string().contains("clip.ts (2"), "{slate}");
    }
}

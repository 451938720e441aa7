//! Places of a configuration: outputs of a stream.

use std::fmt;
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};

use crate::error::Error;
#[cfg(feature = "srt")]
use crate::live::output::Srt;
use crate::live::output::{AnyOutput, File, Recordings, Udp};
use crate::live::place::PLACES;
#[cfg(feature = "srt")]
use crate::live::srt::{SrtMode, SrtUrl};
use crate::live::url::UdpUrl;
use crate::pairing::Name;

/// Fields of a time that replace `{time}`.
const TIME: &str = "%Y%m%d-%H%M%S";

/// An output of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Place {
    /// Datagrams with or without a header of RTP.
    Udp(UdpUrl),
    /// SRT, as caller or as listener.
    #[cfg(feature = "srt")]
    Srt(SrtUrl),
    /// A device or a named pipe.
    Device(PathBuf),
    /// A separate file for each arrival of a sender. The path of the file contains fields of the time.
    Recordings(PathBuf),
}

impl Place {
    /// Returns the place of an output that a configuration names for `stream`. Relative paths begin at `folder`.
    ///
    /// # Errors
    /// One line with the fault and its remedy.
    pub(super) fn of(text: &str, stream: &Name, folder: &Path) -> Result<Place, String> {
        let text = text.replace("{stream}", stream.as_str()).replace("{time}", TIME);
        if let Some(at) = text.find(['{', '}']) {
            return Err(format!("{}: {{stream}} and {{time}} are the fields of an output", &text[at..]));
        }
        match text.split_once("://") {
            Some((kind, _)) if text.contains(TIME) => {
                Err(format!("{kind}:// has no {{time}}: the path of a recording may have it"))
            }
            Some(("udp" | "rtp", _)) => text.parse().map(Place::Udp),
            #[cfg(feature = "srt")]
            Some(("srt", _)) => text.parse().map(Place::Srt),
            Some((kind, _)) => Err(format!("{kind}:// is not supported: expected {PLACES}")),
            None if text.is_empty() => Err(format!("an output needs {PLACES}")),
            None if text == "-" => {
                Err("standard output is not an output of a server: name a pipe".to_owned())
            }
            None => Place::at(folder.join(text)),
        }
    }

    /// Returns the place of a path.
    fn at(path: PathBuf) -> Result<Place, String> {
        let name = path.display();
        if let Ok(found) = std::fs::metadata(&path) {
            let kind = found.file_type();
            if kind.is_fifo() || kind.is_char_device() {
                return Ok(Place::Device(path));
            }
            if kind.is_dir() {
                return Err(format!("{name} is a folder: add the name of a file, as in {name}/{{time}}.ts"));
            }
        }
        match Recordings::of(&path) {
            Ok(Some(_)) => Ok(Place::Recordings(path)),
            Ok(None) => Err(untimed(&path)),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Name of the resource that only one output of a machine can have.
    pub(super) fn claim(&self) -> String {
        match self {
            #[cfg(feature = "srt")]
            Place::Srt(url) if url.mode == SrtMode::Listener => format!("srt port {}", url.port),
            Place::Udp(url) => url.to_string(),
            #[cfg(feature = "srt")]
            Place::Srt(url) => url.to_string(),
            Place::Device(path) | Place::Recordings(path) => path.display().to_string(),
        }
    }

    /// Opens the output. Call it inside a tokio runtime.
    ///
    /// # Errors
    /// The errors of the outputs.
    pub(super) async fn open(&self) -> Result<AnyOutput, Error> {
        Ok(match self {
            Place::Udp(url) => AnyOutput::Udp(Udp::open(url).await?),
            #[cfg(feature = "srt")]
            Place::Srt(url) => AnyOutput::Srt(Srt::open(url).await?),
            Place::Device(path) => AnyOutput::File(File::open(path, false)?),
            Place::Recordings(path) => {
                AnyOutput::Recordings(Recordings::of(path)?.ok_or_else(|| Error::Media(untimed(path)))?)
            }
        })
    }

    /// Returns whether the output continues while the stream has no sender.
    pub(super) fn is_lasting(&self) -> bool {
        !matches!(self, Place::Recordings(_))
    }
}

fn untimed(path: &Path) -> String {
    format!("{}: each arrival of a sender needs a file of its own: add {{time}} to the name", path.display())
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Udp(url) => url.fmt(f),
            #[cfg(feature = "srt")]
            Place::Srt(url) => url.fmt(f),
            Place::Device(path) | Place::Recordings(path) => path.display().fmt(f),
        }
    }
}

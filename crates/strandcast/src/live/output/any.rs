//! An output of any kind of this library.

use std::io;
use std::path::Path;

use super::file::File;
use super::recordings::Recordings;
use super::sink::{Batch, Output};
#[cfg(feature = "srt")]
use super::srt::Srt;
use super::udp::Udp;
use crate::error::Error;
use crate::live::place::MediaPlace;

/// An output of any kind of this library, for a list of outputs of different kinds.
#[derive(Debug)]
#[non_exhaustive]
pub enum AnyOutput {
    /// A file, a device, a named pipe or standard output.
    File(File),
    /// A file for each stream.
    Recordings(Recordings),
    /// Datagrams.
    Udp(Udp),
    /// SRT, as caller or as listener.
    #[cfg(feature = "srt")]
    Srt(Srt),
}

impl AnyOutput {
    /// Opens the output that a text names: a path, `udp://[GROUP@]HOST:PORT`, or `rtp://` in place of `udp://`. With
    /// the feature `srt` it may also be `srt://[HOST]:PORT`. A path with `%Y`, `%m`, `%d`, `%H`, `%M` and `%S` names a
    /// separate file for each stream. The fields contain the start of the stream in UTC. Without `overwrite`, a file
    /// with content is refused. The caller must be inside a tokio runtime.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] if the URL is of another kind, or the file has content. Other errors are
    /// [`Error::Media`] and [`Error::Network`] of the output.
    pub async fn open(place: impl AsRef<Path>, overwrite: bool) -> Result<AnyOutput, Error> {
        Ok(match MediaPlace::of(place.as_ref())? {
            MediaPlace::Udp(url) => AnyOutput::Udp(Udp::open(&url).await?),
            #[cfg(feature = "srt")]
            MediaPlace::Srt(url) => AnyOutput::Srt(Srt::open(&url).await?),
            MediaPlace::Path(path) => match Recordings::of(&path)? {
                Some(recordings) => AnyOutput::Recordings(recordings),
                None => AnyOutput::File(File::open(&path, overwrite)?),
            },
        })
    }
}

impl Output for AnyOutput {
    fn name(&self) -> String {
        match self {
            AnyOutput::File(output) => output.name(),
            AnyOutput::Recordings(output) => output.name(),
            AnyOutput::Udp(output) => output.name(),
            #[cfg(feature = "srt")]
            AnyOutput::Srt(output) => output.name(),
        }
    }

    fn takes_slate(&self) -> bool {
        match self {
            AnyOutput::File(output) => output.takes_slate(),
            AnyOutput::Recordings(output) => output.takes_slate(),
            AnyOutput::Udp(output) => output.takes_slate(),
            #[cfg(feature = "srt")]
            AnyOutput::Srt(output) => output.takes_slate(),
        }
    }

    fn troubles(&mut self) -> Vec<(String, u64)> {
        match self {
            AnyOutput::File(output) => output.troubles(),
            AnyOutput::Recordings(output) => output.troubles(),
            AnyOutput::Udp(output) => output.troubles(),
            #[cfg(feature = "srt")]
            AnyOutput::Srt(output) => output.troubles(),
        }
    }

    async fn begin(&mut self) -> io::Result<()> {
        match self {
            AnyOutput::File(output) => output.begin().await,
            AnyOutput::Recordings(output) => output.begin().await,
            AnyOutput::Udp(output) => output.begin().await,
            #[cfg(feature = "srt")]
            AnyOutput::Srt(output) => output.begin().await,
        }
    }

    async fn write(&mut self, batch: &Batch) -> io::Result<()> {
        match self {
            AnyOutput::File(output) => output.write(batch).await,
            AnyOutput::Recordings(output) => output.write(batch).await,
            AnyOutput::Udp(output) => output.write(batch).await,
            #[cfg(feature = "srt")]
            AnyOutput::Srt(output) => output.write(batch).await,
        }
    }

    async fn end(&mut self) -> io::Result<()> {
        match self {
            AnyOutput::File(output) => output.end().await,
            AnyOutput::Recordings(output) => output.end().await,
            AnyOutput::Udp(output) => output.end().await,
            #[cfg(feature = "srt")]
            AnyOutput::Srt(output) => output.end().await,
        }
    }
}

//! An input of any kind of this library.

use std::io;
use std::path::Path;

use super::file::File;
use super::pipe::Pipe;
use super::source::Input;
#[cfg(feature = "srt")]
use super::srt::Srt;
use super::stdin::Stdin;
use super::udp::Udp;
use crate::error::Error;
use crate::live::place::MediaPlace;

/// An input of any kind of this library.
#[derive(Debug)]
#[non_exhaustive]
pub enum AnyInput {
    /// A file, which is sent at the rate of its clock.
    File(File),
    /// A named pipe or a device.
    Pipe(Pipe),
    /// Standard input.
    Stdin(Stdin),
    /// Datagrams.
    Udp(Udp),
    /// SRT, as caller or as listener.
    #[cfg(feature = "srt")]
    Srt(Srt),
}

impl AnyInput {
    /// Opens the input that a text names: a path, `udp://[GROUP@]HOST:PORT`, or `rtp://` in place of `udp://`. With the
    /// feature `srt` it may also be `srt://[HOST]:PORT`. The caller must be inside a tokio runtime.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] if the URL is of another kind. Other errors are
    /// [`Error::Media`] and [`Error::Network`] of the input.
    pub async fn open(place: impl AsRef<Path>) -> Result<AnyInput, Error> {
        Ok(match MediaPlace::of(place.as_ref())? {
            MediaPlace::Udp(url) => AnyInput::Udp(Udp::listen(&url).await?),
            #[cfg(feature = "srt")]
            MediaPlace::Srt(url) => AnyInput::Srt(Srt::open(&url).await?),
            MediaPlace::Path(path) if Pipe::is_at(&path) => AnyInput::Pipe(Pipe::open(path).await?),
            MediaPlace::Path(path) => AnyInput::File(File::open(path).await?),
        })
    }
}

impl Input for AnyInput {
    fn name(&self) -> String {
        match self {
            AnyInput::File(input) => input.name(),
            AnyInput::Pipe(input) => input.name(),
            AnyInput::Stdin(input) => input.name(),
            AnyInput::Udp(input) => input.name(),
            #[cfg(feature = "srt")]
            AnyInput::Srt(input) => input.name(),
        }
    }

    fn is_live(&self) -> bool {
        match self {
            AnyInput::File(input) => input.is_live(),
            AnyInput::Pipe(input) => input.is_live(),
            AnyInput::Stdin(input) => input.is_live(),
            AnyInput::Udp(input) => input.is_live(),
            #[cfg(feature = "srt")]
            AnyInput::Srt(input) => input.is_live(),
        }
    }

    fn waits(&self) -> bool {
        match self {
            AnyInput::File(input) => input.waits(),
            AnyInput::Pipe(input) => input.waits(),
            AnyInput::Stdin(input) => input.waits(),
            AnyInput::Udp(input) => input.waits(),
            #[cfg(feature = "srt")]
            AnyInput::Srt(input) => input.waits(),
        }
    }

    fn may_begin_late(&self) -> bool {
        match self {
            AnyInput::File(input) => input.may_begin_late(),
            AnyInput::Pipe(input) => input.may_begin_late(),
            AnyInput::Stdin(input) => input.may_begin_late(),
            AnyInput::Udp(input) => input.may_begin_late(),
            #[cfg(feature = "srt")]
            AnyInput::Srt(input) => input.may_begin_late(),
        }
    }

    fn troubles(&mut self) -> Vec<String> {
        match self {
            AnyInput::File(input) => input.troubles(),
            AnyInput::Pipe(input) => input.troubles(),
            AnyInput::Stdin(input) => input.troubles(),
            AnyInput::Udp(input) => input.troubles(),
            #[cfg(feature = "srt")]
            AnyInput::Srt(input) => input.troubles(),
        }
    }

    async fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            AnyInput::File(input) => input.read(buffer).await,
            AnyInput::Pipe(input) => input.read(buffer).await,
            AnyInput::Stdin(input) => input.read(buffer).await,
            AnyInput::Udp(input) => input.read(buffer).await,
            #[cfg(feature = "srt")]
            AnyInput::Srt(input) => input.read(buffer).await,
        }
    }

    async fn rewind(&mut self) -> io::Result<()> {
        match self {
            AnyInput::File(input) => input.rewind().await,
            AnyInput::Pipe(input) => input.rewind().await,
            AnyInput::Stdin(input) => input.rewind().await,
            AnyInput::Udp(input) => input.rewind().await,
            #[cfg(feature = "srt")]
            AnyInput::Srt(input) => input.rewind().await,
        }
    }
}

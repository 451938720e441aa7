//! An output of any kind of this library.

use std::io;

use super::file::File;
use super::recordings::Recordings;
use super::sink::{Batch, Output};
use super::srt::Srt;
use super::udp::Udp;

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
    Srt(Srt),
}

impl Output for AnyOutput {
    fn name(&self) -> String {
        match self {
            AnyOutput::File(output) => output.name(),
            AnyOutput::Recordings(output) => output.name(),
            AnyOutput::Udp(output) => output.name(),
            AnyOutput::Srt(output) => output.name(),
        }
    }

    fn takes_slate(&self) -> bool {
        match self {
            AnyOutput::File(output) => output.takes_slate(),
            AnyOutput::Recordings(output) => output.takes_slate(),
            AnyOutput::Udp(output) => output.takes_slate(),
            AnyOutput::Srt(output) => output.takes_slate(),
        }
    }

    fn troubles(&mut self) -> Vec<(String, u64)> {
        match self {
            AnyOutput::File(output) => output.troubles(),
            AnyOutput::Recordings(output) => output.troubles(),
            AnyOutput::Udp(output) => output.troubles(),
            AnyOutput::Srt(output) => output.troubles(),
        }
    }

    async fn begin(&mut self) -> io::Result<()> {
        match self {
            AnyOutput::File(output) => output.begin().await,
            AnyOutput::Recordings(output) => output.begin().await,
            AnyOutput::Udp(output) => output.begin().await,
            AnyOutput::Srt(output) => output.begin().await,
        }
    }

    async fn write(&mut self, batch: &Batch) -> io::Result<()> {
        match self {
            AnyOutput::File(output) => output.write(batch).await,
            AnyOutput::Recordings(output) => output.write(batch).await,
            AnyOutput::Udp(output) => output.write(batch).await,
            AnyOutput::Srt(output) => output.write(batch).await,
        }
    }

    async fn end(&mut self) -> io::Result<()> {
        match self {
            AnyOutput::File(output) => output.end().await,
            AnyOutput::Recordings(output) => output.end().await,
            AnyOutput::Udp(output) => output.end().await,
            AnyOutput::Srt(output) => output.end().await,
        }
    }
}

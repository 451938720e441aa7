//! Outputs of the command line.

use std::io;

use strandcast::Error;
use strandcast::live::output::{Batch, File, Output, Recordings, Srt, Udp};

use crate::error::CliError;
use crate::media_url::MediaUrl;

/// An output that the command line names.
pub(crate) enum MediaOutput {
    File(File),
    Recordings(Recordings),
    Udp(Udp),
    Srt(Srt),
}

impl MediaOutput {
    /// Opens an output. Call it inside a tokio runtime.
    ///
    /// # Errors
    /// [`CliError`].
    pub(crate) async fn open(place: &MediaUrl, overwrite: bool) -> Result<MediaOutput, CliError> {
        Ok(match place {
            MediaUrl::Pipe => MediaOutput::File(File::stdout()?),
            MediaUrl::Udp(url) => MediaOutput::Udp(Udp::open(url).await?),
            MediaUrl::Srt(url) => MediaOutput::Srt(Srt::open(url).await?),
            MediaUrl::File(path) => match Recordings::of(path)? {
                Some(recordings) => MediaOutput::Recordings(recordings),
                None => MediaOutput::File(File::open(path, overwrite).map_err(|error| match error {
                    Error::Usage(line) => CliError::Usage(format!("{line} with --overwrite")),
                    other => other.into(),
                })?),
            },
        })
    }
}

impl Output for MediaOutput {
    fn name(&self) -> String {
        match self {
            MediaOutput::File(output) => output.name(),
            MediaOutput::Recordings(output) => output.name(),
            MediaOutput::Udp(output) => output.name(),
            MediaOutput::Srt(output) => output.name(),
        }
    }

    fn troubles(&mut self) -> Vec<(String, u64)> {
        match self {
            MediaOutput::File(output) => output.troubles(),
            MediaOutput::Recordings(output) => output.troubles(),
            MediaOutput::Udp(output) => output.troubles(),
            MediaOutput::Srt(output) => output.troubles(),
        }
    }

    async fn begin(&mut self) -> io::Result<()> {
        match self {
            MediaOutput::File(output) => output.begin().await,
            MediaOutput::Recordings(output) => output.begin().await,
            MediaOutput::Udp(output) => output.begin().await,
            MediaOutput::Srt(output) => output.begin().await,
        }
    }

    async fn write(&mut self, batch: &Batch) -> io::Result<()> {
        match self {
            MediaOutput::File(output) => output.write(batch).await,
            MediaOutput::Recordings(output) => output.write(batch).await,
            MediaOutput::Udp(output) => output.write(batch).await,
            MediaOutput::Srt(output) => output.write(batch).await,
        }
    }

    async fn end(&mut self) -> io::Result<()> {
        match self {
            MediaOutput::File(output) => output.end().await,
            MediaOutput::Recordings(output) => output.end().await,
            MediaOutput::Udp(output) => output.end().await,
            MediaOutput::Srt(output) => output.end().await,
        }
    }
}

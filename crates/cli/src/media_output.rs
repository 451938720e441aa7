//! Opens the outputs that a command line names.

use strandcast::Error;
use strandcast::live::output::{AnyOutput, File, Recordings, Srt, Udp};

use crate::error::CliError;
use crate::media_url::MediaUrl;

/// Opens an output. Must be called inside a tokio runtime.
///
/// # Errors
/// [`CliError`].
pub(crate) async fn open(place: &MediaUrl, overwrite: bool) -> Result<AnyOutput, CliError> {
    Ok(match place {
        MediaUrl::Pipe => AnyOutput::File(File::stdout()?),
        MediaUrl::Udp(url) => AnyOutput::Udp(Udp::open(url).await?),
        MediaUrl::Srt(url) => AnyOutput::Srt(Srt::open(url).await?),
        MediaUrl::File(path) => match Recordings::of(path)? {
            Some(recordings) => AnyOutput::Recordings(recordings),
            None => AnyOutput::File(File::open(path, overwrite).map_err(|error| match error {
                Error::Usage(line) => CliError::Usage(format!("{line} with --overwrite")),
                other => other.into(),
            })?),
        },
    })
}

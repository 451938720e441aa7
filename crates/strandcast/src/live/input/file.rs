//! A file or a named pipe.

use std::io;
use std::path::{Path, PathBuf};

use strandcast_media::MediaTime;
use strandcast_media::ingest::Ingest;
use strandcast_media::pace::PaceConfig;
use strandcast_media::pack::PackConfig;
use tokio::io::AsyncReadExt as _;

use super::source::Input;
use crate::error::Error;
use crate::text::why;

/// Bytes of one read.
const CHUNK: usize = 64 << 10;

/// A file, which is sent at the pace of its clock.
#[derive(Debug)]
pub struct File {
    path: PathBuf,
    file: tokio::fs::File,
}

impl File {
    /// Opens a file and inspects its beginning. A file that is not a transport stream is refused.
    ///
    /// # Errors
    /// [`Error::Media`].
    pub async fn open(path: impl Into<PathBuf>) -> Result<File, Error> {
        let path = path.into();
        let look = path.clone();
        // Opening a named pipe waits for a writer.
        let file = tokio::task::spawn_blocking(move || {
            let cannot = |e| unreadable(&look, &e);
            look_into(&look, std::fs::File::open(&look).map_err(cannot)?)?;
            std::fs::File::open(&look).map_err(cannot)
        });
        let file = tokio::fs::File::from_std(file.await.map_err(|_| Error::Aborted)??);
        Ok(File { path, file })
    }
}

impl Input for File {
    fn name(&self) -> String {
        self.path.display().to_string()
    }

    fn is_live(&self) -> bool {
        false
    }

    async fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.file.read(buffer).await
    }

    async fn rewind(&mut self) -> io::Result<()> {
        self.file = tokio::fs::File::open(&self.path).await?;
        Ok(())
    }
}

fn unreadable(path: &Path, error: &io::Error) -> Error {
    Error::Media(format!("cannot read {}: {}", path.display(), why(error)))
}

/// Reads enough of the file to recognise a transport stream with a clock.
fn look_into(path: &Path, mut file: std::fs::File) -> Result<(), Error> {
    use std::io::Read;
    let refuse = |why: String| Error::Media(format!("cannot send {}: {why}", path.display()));
    let mut ingest = Ingest::paced(MediaTime::ZERO, PaceConfig::default(), PackConfig::new(0));
    let mut chunk = vec![0; CHUNK];
    loop {
        let n = file.read(&mut chunk).map_err(|e| unreadable(path, &e))?;
        let taken = match n {
            0 => ingest.finish(MediaTime::ZERO),
            n => ingest.push(MediaTime::ZERO, &chunk[..n]),
        };
        taken.map_err(|e| refuse(e.to_string()))?;
        if n == 0 || ingest.poll(MediaTime::MAX).is_some() {
            return Ok(());
        }
    }
}

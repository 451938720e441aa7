//! One file per stream.

use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use tokio::io::AsyncWriteExt as _;

use super::file::pieces;
use super::pattern::Pattern;
use super::sink::{Batch, Output};
use crate::error::Error;

/// Output that records each stream into a separate file. The name of the file contains the time.
#[derive(Debug)]
pub struct Recordings {
    pattern: Pattern,
    name: String,
    current: Option<Fresh>,
}

/// A new file for a stream. If no data can be written to the file, it is removed. Empty files would otherwise collect,
/// one for each attempt on a full disk.
#[derive(Debug)]
struct Fresh {
    file: tokio::fs::File,
    /// Name of the file until a batch is written.
    empty: Option<PathBuf>,
}

impl Recordings {
    /// Recordings whose path contains `%Y`, `%m`, `%d`, `%H`, `%M` and `%S`, in UTC. `None` if the path has none of
    /// these fields. If a name is taken, a number is added.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] if the path has other fields. Returns [`Error::Media`] if the folder of the path does
    /// not exist.
    pub fn of(path: &Path) -> Result<Option<Recordings>, Error> {
        let name = path.display().to_string();
        Ok(Pattern::of(path)?.map(|pattern| Recordings { pattern, name, current: None }))
    }
}

impl Output for Recordings {
    fn name(&self) -> String {
        self.name.clone()
    }

    async fn begin(&mut self) -> io::Result<()> {
        let (at, pattern) = (SystemTime::now(), self.pattern.clone());
        self.current = None;
        self.name = pattern.name(at);
        // A slow disk may block this call.
        let created = tokio::task::spawn_blocking(move || pattern.create(at));
        let (file, path) = created.await.map_err(io::Error::other)?.map_err(|(path, error)| {
            self.name = path.display().to_string();
            error
        })?;
        self.name = path.display().to_string();
        self.current = Some(Fresh { file: pieces(file), empty: Some(path) });
        Ok(())
    }

    async fn write(&mut self, batch: &Batch) -> io::Result<()> {
        let Some(fresh) = &mut self.current else { return Ok(()) };
        let written = async {
            fresh.file.write_all(batch.bytes()).await?;
            fresh.file.flush().await
        };
        let written = written.await;
        let begun = fresh.empty.take();
        if let (Err(_), Some(name)) = (&written, begun)
            && fresh.file.metadata().await.is_ok_and(|found| found.len() == 0)
        {
            // If a file cannot be removed, it remains.
            let _ = tokio::fs::remove_file(name).await;
        }
        written
    }
}

//! A file for each stream.

use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use tokio::io::AsyncWriteExt as _;

use super::file::pieces;
use super::pattern::Pattern;
use super::sink::{Batch, Output};
use crate::error::Error;

/// Records each stream into a file of its own, whose name has the time in it.
#[derive(Debug)]
pub struct Recordings {
    pattern: Pattern,
    name: String,
    current: Option<Fresh>,
}

/// A new file for a stream, which is removed if nothing can be written to it: each try at a full disk would leave one.
#[derive(Debug)]
struct Fresh {
    file: tokio::fs::File,
    /// Its name, until a batch is written.
    empty: Option<PathBuf>,
}

impl Recordings {
    /// Recordings named by a path with `%Y`, `%m`, `%d`, `%H`, `%M` and `%S`, in UTC; `None`: it has none of them. A name that is
    /// taken gets a number.
    ///
    /// # Errors
    /// [`Error::Usage`]: it has others; [`Error::Media`]: its folder is not there.
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
        // A disk may hang here.
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
            // What cannot be removed either is left.
            let _ = tokio::fs::remove_file(name).await;
        }
        written
    }
}

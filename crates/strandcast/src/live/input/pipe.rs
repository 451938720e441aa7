//! A named pipe or a device as an input.

use std::io;
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};

use tokio::io::AsyncReadExt as _;
use tokio::net::unix::pipe;

use super::source::Input;
use crate::error::Error;
use crate::text::why;

/// A named pipe, including one of a shell's `<(…)`, or a character device. A named pipe is a live input, and ends when
/// its last writer closes it.
#[derive(Debug)]
pub struct Pipe {
    from: Source,
    path: PathBuf,
}

#[derive(Debug)]
enum Source {
    Pipe(pipe::Receiver),
    Device(tokio::fs::File),
}

impl Pipe {
    /// Returns whether a path is a named pipe or a device, and not a file.
    pub fn is_at(path: &Path) -> bool {
        std::fs::metadata(path)
            .is_ok_and(|seen| seen.file_type().is_fifo() || seen.file_type().is_char_device())
    }

    /// Opens a device or a pipe. A pipe need not have a writer yet. Call it inside a tokio runtime.
    ///
    /// # Errors
    /// Returns [`Error::Media`] if the pipe cannot be read.
    pub async fn open(path: impl Into<PathBuf>) -> Result<Pipe, Error> {
        let path = path.into();
        let fifo = std::fs::metadata(&path).is_ok_and(|seen| seen.file_type().is_fifo());
        let from = match fifo {
            true => pipe::OpenOptions::new().open_receiver(&path).map(Source::Pipe),
            false => tokio::fs::File::open(&path).await.map(Source::Device),
        };
        let cannot = |e| Error::Media(format!("cannot read {}: {}", path.display(), why(&e)));
        Ok(Pipe { from: from.map_err(cannot)?, path: path.clone() })
    }
}

impl Input for Pipe {
    fn name(&self) -> String {
        self.path.display().to_string()
    }

    fn waits(&self) -> bool {
        true
    }

    async fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match &mut self.from {
            Source::Pipe(pipe) => pipe.read(buffer).await,
            Source::Device(device) => device.read(buffer).await,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::process::Command;
    use std::time::Duration;

    use super::*;

    #[tokio::test]
    async fn a_pipe_has_every_byte_of_a_writer_that_comes_later() {
        let path = std::env::temp_dir().join(format!("strandcast-pipe-input-{}", std::process::id()));
        assert!(Command::new("mkfifo").arg(&path).status().is_ok_and(|made| made.success()));
        assert!(Pipe::is_at(&path) && !Pipe::is_at(&std::env::temp_dir()));
        let mut input = Pipe::open(&path).await.expect("it is there");
        let mut buffer = vec![0; 64 << 10];
        let early = tokio::time::timeout(Duration::from_millis(50), input.read(&mut buffer)).await;
        assert!(early.is_err(), "it waits for a writer");
        let to = path.clone();
        let writer = std::thread::spawn(move || {
            let mut pipe = std::fs::OpenOptions::new().write(true).open(to)?;
            pipe.write_all(&[7; 300_000])
        });
        let mut all = 0;
        loop {
            match input.read(&mut buffer).await.expect("it can be read") {
                0 => break,
                len => all += len,
            }
        }
        assert_eq!(all, 300_000);
        assert!(writer.join().expect("it ends").is_ok());
        std::fs::remove_file(path).expect("it was made");
    }
}

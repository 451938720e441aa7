//! Media outputs: a thread for each file or pipe, so that one that is not read holds up no stream, and no signal.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use tokio::sync::Notify;

use crate::error::CliError;
use crate::error::why;
use crate::input::first;
use crate::media_url::MediaUrl;
use crate::pattern::Pattern;
use crate::private::{Opened, open_output};
use crate::writer::{Plain, Trouble, Writer};

/// Earlier recordings that may still be written when the next one begins: a disk that hangs must not collect them.
const MOST_EARLIER: usize = 2;
/// How often to look whether everything is written.
const POLL: Duration = Duration::from_millis(5);

/// An open output.
#[derive(Debug)]
enum Destination {
    /// A file, a pipe or a device.
    Written(Writer),
    Udp(UdpSocket, SocketAddr),
    /// A file for each stream, the current one if there was one.
    Files(Pattern, Option<Writer>),
}

/// An open output and its name.
#[derive(Debug)]
pub(crate) struct Output {
    to: Destination,
    /// Earlier recordings that are still being written.
    earlier: Vec<Writer>,
    name: String,
    /// Maximum queue for the output in bytes.
    most: usize,
    /// Messages that did not fit since the last report, and since the stream began.
    dropped: (u64, u64),
    /// Recordings that were begun.
    recordings: u64,
    reports: Arc<Reports>,
}

/// What writers report: why nothing more can be written, and the outcome of recordings.
#[derive(Debug, Default)]
struct Reports {
    why: Mutex<Option<String>>,
    came: Notify,
    recordings: Mutex<Vec<Recording>>,
}

/// The outcome of opening a recording.
#[derive(Debug)]
enum Recording {
    /// Its file's name.
    Opened(String),
    /// Its number, and the name which is taken with all its numbers.
    Refused(u64, String),
}

impl Reports {
    fn opened(&self, recording: Recording) {
        hold(&self.recordings).push(recording);
    }
}

fn hold<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A new file for a stream, which is removed if nothing can be written to it: each try at a full disk would leave one.
struct Fresh {
    file: File,
    /// Its name, until something is written.
    empty: Option<PathBuf>,
}

impl io::Write for Fresh {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes);
        match (&written, self.empty.take()) {
            (Ok(_), _) | (Err(_), None) => {}
            (Err(error), Some(name)) if error.kind() == ErrorKind::Interrupted => self.empty = Some(name),
            // What cannot be removed either is left.
            (Err(_), Some(name)) => drop(std::fs::remove_file(name)),
        }
        written
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// A recording, which loses everything if there is no name for it.
struct Nameable(Option<Fresh>);

impl io::Write for Nameable {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.as_mut().map_or(Ok(bytes.len()), |file| file.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.as_mut().map_or(Ok(()), Fresh::flush)
    }
}

impl Output {
    /// Opens `place`, which keeps up to `most` bytes waiting. A file with content is only taken with `overwrite`, and loses it
    /// with the first message.
    ///
    /// # Errors
    /// [`CliError::Usage`]: a file has content; [`CliError::Media`], [`CliError::Network`].
    pub(crate) async fn open(place: &MediaUrl, overwrite: bool, most: usize) -> Result<Output, CliError> {
        let reports = Arc::<Reports>::default();
        let (to, name) = match place {
            MediaUrl::Pipe => {
                let out = io::stdout().as_fd().try_clone_to_owned().map(File::from);
                let name = "standard output".to_owned();
                (Destination::Written(writer(&name, most, &reports, move || out)?), name)
            }
            MediaUrl::File(path) => (open(path, overwrite, most, &reports)?, place.to_string()),
            MediaUrl::Udp(udp) => {
                let address = first(udp.group.as_deref().unwrap_or(&udp.host), udp.port).await?;
                let any: SocketAddr =
                    if address.is_ipv4() { ([0; 4], 0).into() } else { ([0u16; 8], 0).into() };
                let socket = UdpSocket::bind(any).and_then(|s| s.set_nonblocking(true).map(|()| s));
                let refuse = |e| CliError::Network(format!("cannot send to {place}: {}", why(&e)));
                (Destination::Udp(socket.map_err(refuse)?, address), place.to_string())
            }
        };
        let (dropped, recordings) = ((0, 0), 0);
        Ok(Output { to, earlier: Vec::new(), name, most, dropped, recordings, reports })
    }

    /// A stream begins: the next file, where there is one for each. [`Output::opened`] has the outcome.
    ///
    /// # Errors
    /// [`CliError::Media`]: earlier ones are not written yet.
    pub(crate) fn begin(&mut self) -> Result<(), CliError> {
        self.dropped = (0, 0);
        let Destination::Files(pattern, current) = &mut self.to else { return Ok(()) };
        self.earlier.extend(current.take());
        self.earlier.retain(|writer| !writer.is_idle());
        if self.earlier.len() > MOST_EARLIER {
            return Err(CliError::Media(format!(
                "{} is not written yet, nor are those before it",
                self.name
            )));
        }
        let at = SystemTime::now();
        self.name = pattern.name(at);
        self.recordings += 1;
        let (pattern, number, reports) = (pattern.clone(), self.recordings, Arc::clone(&self.reports));
        // A disk may hang here.
        let open = move || match pattern.create(at) {
            Ok((file, path)) => {
                reports.opened(Recording::Opened(path.display().to_string()));
                Ok(Nameable(Some(Fresh { file, empty: Some(path) })))
            }
            Err((path, error)) if error.kind() == ErrorKind::AlreadyExists => {
                reports.opened(Recording::Refused(number, path.display().to_string()));
                Ok(Nameable(None))
            }
            Err((_, error)) => Err(error),
        };
        *current = Some(writer(&self.name, self.most, &self.reports, open)?);
        Ok(())
    }

    /// The outcome of recordings: lines, and whether the current one has no file.
    pub(crate) fn opened(&mut self) -> (Vec<String>, bool) {
        let (mut lines, mut refused) = (Vec::new(), false);
        for recording in std::mem::take(&mut *hold(&self.reports.recordings)) {
            match recording {
                Recording::Opened(name) => {
                    lines.push(format!("recording into {name}"));
                    self.name = name;
                }
                Recording::Refused(number, name) => {
                    lines.push(format!(
                        "not recorded: {name} and all numbers of it are taken; move recordings away, or name them by \
                         the second (%S)"
                    ));
                    refused |= number == self.recordings;
                }
            }
        }
        (lines, refused)
    }

    /// Queues a message's transport packets. With `rushed` there is room for as many bytes more: those of a buffer that is
    /// played at once. A line if this is the first message for long that finds no room.
    ///
    /// # Errors
    /// [`CliError::Media`]: the disk is full, or the pipe has no reader.
    pub(crate) fn write(&mut self, bytes: &[u8], rushed: usize) -> Result<Option<String>, CliError> {
        self.check()?;
        let fits = match &self.to {
            Destination::Written(writer) | Destination::Files(_, Some(writer)) => {
                writer.put_beyond(bytes, rushed)
            }
            Destination::Files(_, None) => true,
            Destination::Udp(socket, to) => {
                // A missing listener is not an error, and a full buffer of the system loses a datagram as a network does.
                let _ = socket.send_to(bytes, *to);
                true
            }
        };
        if fits {
            return Ok(None);
        }
        self.dropped.0 += 1;
        self.dropped.1 += 1;
        Ok((self.dropped.0 == 1)
            .then(|| format!("{} is not read: what is to be played is dropped", self.name)))
    }

    /// A line on messages that were dropped, once the output takes more.
    pub(crate) fn recovered(&mut self) -> Option<String> {
        if self.dropped.0 == 0 || !self.is_idle() {
            return None;
        }
        let messages = match std::mem::take(&mut self.dropped.0) {
            1 => "1 message was".to_owned(),
            n => format!("{n} messages were"),
        };
        Some(format!("{} is read again: {messages} dropped", self.name))
    }

    /// Messages of the stream that were dropped because the output was not read.
    pub(crate) fn dropped(&self) -> u64 {
        self.dropped.1
    }

    /// Waits until nothing more can be written.
    pub(crate) async fn failed(&self) -> CliError {
        loop {
            let came = self.reports.came.notified();
            if let Err(error) = self.check() {
                return error;
            }
            came.await;
        }
    }

    /// What is said if it is not read until the end.
    pub(crate) fn unread(&self) -> CliError {
        CliError::Media(format!("{} is not read: the rest of the stream is lost", self.name))
    }

    /// Waits until everything is written.
    ///
    /// # Errors
    /// As [`Output::write`].
    pub(crate) async fn flush(&self) -> Result<(), CliError> {
        while !self.is_idle() {
            tokio::time::sleep(POLL).await;
        }
        self.check()
    }

    fn is_idle(&self) -> bool {
        self.writers().all(Writer::is_idle)
    }

    /// Whether nothing of a stream waits or was dropped, though its file may not be open yet.
    pub(crate) fn is_clean(&self) -> bool {
        self.dropped.1 == 0 && self.writers().all(Writer::is_empty)
    }

    /// The current file or pipe, and recordings that are still being written.
    fn writers(&self) -> impl Iterator<Item = &Writer> {
        let current = match &self.to {
            Destination::Written(writer) | Destination::Files(_, Some(writer)) => Some(writer),
            Destination::Files(_, None) | Destination::Udp(..) => None,
        };
        self.earlier.iter().chain(current)
    }

    fn check(&self) -> Result<(), CliError> {
        let failed = hold(&self.reports.why).clone();
        failed.map_or(Ok(()), |why| Err(CliError::Media(why)))
    }
}

/// Opens a file, a named pipe, or a pattern of files.
fn open(path: &Path, overwrite: bool, most: usize, reports: &Arc<Reports>) -> Result<Destination, CliError> {
    if let Some(pattern) = Pattern::of(path)? {
        return Ok(Destination::Files(pattern, None));
    }
    let name = path.display().to_string();
    let file = match open_output(path, false)? {
        Opened::File(file) => file,
        Opened::Pipe(opening) => return Ok(Destination::Written(writer(&name, most, reports, opening)?)),
    };
    let cannot = |e: io::Error| CliError::Media(format!("cannot write {name}: {}", why(&e)));
    let seen = file.metadata().map_err(cannot)?;
    if seen.is_file() && seen.len() > 0 && !overwrite {
        return Err(CliError::Usage(format!(
            "{name} has content: name another file, or one for each stream as in %Y%m%d-%H%M%S.ts, or overwrite it with \
             --overwrite"
        )));
    }
    let replaced = Replaced { file, truncate: seen.is_file() };
    Ok(Destination::Written(writer(&name, most, reports, move || Ok(replaced))?))
}

/// A file that loses its old content with the first byte.
struct Replaced {
    file: File,
    truncate: bool,
}

impl io::Write for Replaced {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if std::mem::take(&mut self.truncate) {
            self.file.set_len(0)?;
        }
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// A writer to what `open` opens on its thread.
fn writer<W: io::Write + Send + 'static>(
    name: &str,
    most: usize,
    reports: &Arc<Reports>,
    open: impl FnOnce() -> io::Result<W> + Send + 'static,
) -> Result<Writer, CliError> {
    let (reports, label) = (Arc::clone(reports), name.to_owned());
    let tell = Box::new(move |trouble: Trouble<'_>| {
        if let Trouble::Failed(error) = trouble {
            let why = format!("cannot write {label}: {}", why(error));
            *hold(&reports.why) = Some(why);
            reports.came.notify_one();
        }
    });
    let started = Writer::start("output", most, move || Plain::new(open(), tell));
    started.map_err(|e| CliError::Media(format!("cannot write {name}: {}", why(&e))))
}

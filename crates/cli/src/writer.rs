//! Writers in separate threads. Each sink has one thread and one queue, and no caller waits for the queue. A stopped
//! terminal, an unread pipe or a slow disk only costs the data that cannot be written there.

use std::io::{self, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Destination of a writer's bytes. All its functions run on the writer's thread, and may block.
pub(crate) trait Sink: Send + 'static {
    /// Writes bytes. On a terminal, also draws the table below them if there is a new table.
    ///
    /// # Errors
    /// The first error ends the writer.
    fn write(&mut self, bytes: &[u8], table: Option<Vec<String>>) -> io::Result<()>;

    /// Reports that `pieces` pieces did not fit into the queue. They came before the bytes that were just written.
    fn dropped(&mut self, pieces: u64);

    /// Reports the error that ended the output.
    fn failed(&mut self, error: &io::Error);
}

/// The handle of a sink. When the last clone of the handle is dropped, the thread writes the remaining data and ends.
#[derive(Clone, Debug)]
pub(crate) struct Writer(Arc<Handle>);

#[derive(Debug)]
struct Handle(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    /// Signals that there are data to write, or that the last handle was dropped.
    work: Condvar,
    /// Signals that everything was written.
    done: Condvar,
    /// Maximum number of bytes in the queue.
    most: usize,
}

#[derive(Debug, Default)]
struct State {
    queue: Vec<u8>,
    /// The next table to draw. A newer table replaces a table that was not drawn yet.
    table: Option<Vec<String>>,
    dropped: u64,
    /// Number of bytes that the thread is writing at present.
    writing: usize,
    busy: bool,
    /// True after an error, or after the last handle was dropped.
    over: bool,
}

/// All writers of the process. The end of the process waits for them.
static ALL: Mutex<Vec<Arc<Shared>>> = Mutex::new(Vec::new());

impl Writer {
    /// Starts a thread called `name`. The thread calls `open` to open the sink. The queue holds at most `most` bytes.
    ///
    /// # Errors
    /// Returns an error if the system cannot start a thread.
    pub(crate) fn start<S: Sink>(
        name: &str,
        most: usize,
        open: impl FnOnce() -> S + Send + 'static,
    ) -> io::Result<Writer> {
        let state = Mutex::new(State { busy: true, ..State::default() });
        let shared = Arc::new(Shared { state, work: Condvar::new(), done: Condvar::new(), most });
        let own = Arc::clone(&shared);
        let thread = thread::Builder::new().name(name.to_owned());
        thread.spawn(move || {
            // `Ended` is dropped even if the sink panics, so that no caller waits for ever.
            let ended = Ended(own);
            ended.0.run(open());
        })?;
        let mut all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
        // A command that runs for a long time may have started many writers, for example one for each stream.
        all.retain(|shared| !shared.lock().is_over());
        all.push(Arc::clone(&shared));
        Ok(Writer(Arc::new(Handle(shared))))
    }

    /// Queues a whole piece, or nothing if there is no space. Returns whether the piece was queued.
    pub(crate) fn put(&self, piece: &[u8]) -> bool {
        let mut state = self.0.0.lock();
        if state.over {
            return true;
        }
        if state.queue.len() + state.writing + piece.len() > self.0.0.most {
            state.dropped += 1;
            return false;
        }
        state.queue.extend_from_slice(piece);
        self.0.0.work.notify_one();
        true
    }

    /// Sets the rows of the table below all lines.
    pub(crate) fn table(&self, rows: Vec<String>) {
        let mut state = self.0.0.lock();
        if !state.over {
            state.table = Some(rows);
            self.0.0.work.notify_one();
        }
    }

    /// Returns whether everything was written, or whether nothing more can be written.
    #[cfg(test)]
    fn is_idle(&self) -> bool {
        self.0.0.lock().is_idle()
    }

    /// Waits until everything is written, but not longer than `time`. Returns whether everything was written.
    pub(crate) fn flush(&self, time: Duration) -> bool {
        self.0.0.flush(Instant::now() + time)
    }
}

/// Waits until all writers of the process have written everything, but not longer than `time`.
pub(crate) fn flush_all(time: Duration) {
    let until = Instant::now() + time;
    let all: Vec<_> = ALL.lock().unwrap_or_else(PoisonError::into_inner).clone();
    for shared in all {
        shared.flush(until);
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.0.lock().over = true;
        self.0.work.notify_one();
    }
}

/// Marks a writer as ended when its thread ends.
struct Ended(Arc<Shared>);

impl Drop for Ended {
    fn drop(&mut self) {
        self.0.end();
    }
}

impl State {
    fn is_idle(&self) -> bool {
        !self.busy && self.queue.is_empty() && self.table.is_none() && self.dropped == 0
    }

    fn is_over(&self) -> bool {
        self.over && self.is_idle()
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn flush(&self, until: Instant) -> bool {
        let mut state = self.lock();
        loop {
            let left = until.saturating_duration_since(Instant::now());
            if state.is_idle() || left.is_zero() {
                return state.is_idle();
            }
            state = self.done.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Writes the queued data until no handle is left.
    fn run(&self, mut sink: impl Sink) {
        let mut bytes = Vec::new();
        loop {
            let mut state = self.lock();
            (state.busy, state.writing) = (false, 0);
            while state.is_idle() {
                self.done.notify_all();
                if state.over {
                    return;
                }
                state = self.work.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            bytes.clear();
            std::mem::swap(&mut bytes, &mut state.queue);
            (state.busy, state.writing) = (true, bytes.len());
            let table = state.table.take();
            drop(state);
            let written = sink.write(&bytes, table);
            // The writer has no room for other pieces while these bytes are written. Such pieces were dropped.
            let dropped = std::mem::take(&mut self.lock().dropped);
            match written {
                Ok(()) if dropped > 0 => sink.dropped(dropped),
                Ok(()) => {}
                Err(error) => {
                    return sink.failed(&error);
                }
            }
        }
    }

    /// Marks the output as ended, because nothing more can be written.
    fn end(&self) {
        *self.lock() = State { over: true, ..State::default() };
        self.done.notify_all();
    }
}

/// Function that is called with the number of dropped pieces, or with the error of the file.
pub(crate) type Tell = Box<dyn FnMut(Trouble<'_>) + Send>;

/// Trouble of a writer.
#[derive(Debug)]
pub(crate) enum Trouble<'a> {
    /// Number of pieces that were dropped.
    Dropped(u64),
    /// The end.
    Failed(&'a io::Error),
}

/// A file or a pipe.
pub(crate) struct Plain<W> {
    to: io::Result<W>,
    tell: Tell,
}

impl<W> Plain<W> {
    /// Makes a sink that passes its troubles to `tell`.
    pub(crate) fn new(to: io::Result<W>, tell: Tell) -> Plain<W> {
        Plain { to, tell }
    }
}

impl<W: Write + Send + 'static> Sink for Plain<W> {
    fn write(&mut self, bytes: &[u8], _: Option<Vec<String>>) -> io::Result<()> {
        match &mut self.to {
            Ok(to) => to.write_all(bytes).and_then(|()| to.flush()),
            Err(error) => Err(std::mem::replace(error, io::ErrorKind::Other.into())),
        }
    }

    fn dropped(&mut self, pieces: u64) {
        (self.tell)(Trouble::Dropped(pieces));
    }

    fn failed(&mut self, error: &io::Error) {
        (self.tell)(Trouble::Failed(error));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::{Receiver, Sender, channel};

    /// A sink that writes only when the test permits it.
    struct Slow {
        go: Receiver<io::Result<()>>,
        told: Sender<String>,
    }

    impl Sink for Slow {
        fn write(&mut self, bytes: &[u8], table: Option<Vec<String>>) -> io::Result<()> {
            let text = String::from_utf8_lossy(bytes).into_owned();
            self.told.send(text + &table.unwrap_or_default().concat()).unwrap();
            self.go.recv().unwrap_or(Ok(()))
        }

        fn dropped(&mut self, pieces: u64) {
            self.told.send(format!("{pieces} dropped")).unwrap();
        }

        fn failed(&mut self, error: &io::Error) {
            self.told.send(error.to_string()).unwrap();
        }
    }

    fn slow() -> (Writer, Sender<io::Result<()>>, Receiver<String>) {
        let ((go, gone), (told, tells)) = (channel(), channel());
        let open = move || Slow { go: gone, told };
        (Writer::start("slow", 10, open).unwrap(), go, tells)
    }

    #[test]
    fn what_does_not_fit_is_dropped_and_counted_once_it_moves_again() {
        let (writer, go, tells) = slow();
        assert!(writer.put(b"one"));
        assert_eq!(tells.recv().unwrap(), "one");
        // The three bytes that the thread is writing count towards the maximum.
        assert!(writer.put(b"fives") && !writer.put(b"six") && !writer.put(b"seven"));
        writer.table(vec!["old".into()]);
        writer.table(vec!["new".into()]);
        assert!(!writer.flush(Duration::from_millis(20)), "nothing waits for ever");
        go.send(Ok(())).unwrap();
        assert_eq!(tells.recv().unwrap(), "2 dropped");
        assert_eq!(tells.recv().unwrap(), "fivesnew");
        go.send(Ok(())).unwrap();
        assert!(writer.flush(Duration::from_secs(10)));
        assert!(writer.put(b"ten bytes!") && tells.recv().unwrap() == "ten bytes!");
    }

    #[test]
    fn an_error_ends_it_and_the_last_handle_after_everything_is_written() {
        let (writer, go, tells) = slow();
        writer.put(b"a");
        go.send(Err(io::Error::other("full"))).unwrap();
        assert!(writer.flush(Duration::from_secs(10)));
        assert_eq!((tells.recv().unwrap(), tells.recv().unwrap()), ("a".into(), "full".into()));
        assert!(writer.put(b"b") && writer.is_idle(), "no caller has to know");
        let (writer, go, tells) = slow();
        writer.put(b"a");
        assert_eq!(tells.recv().unwrap(), "a");
        writer.put(b"b");
        drop(writer);
        drop(go);
        assert_eq!((tells.recv().unwrap(), tells.recv().is_err()), ("b".into(), true));
    }

    #[test]
    fn a_sink_that_panics_keeps_nobody_waiting() {
        let (writer, go, tells) = slow();
        // The sink panics, because the test no longer receives its reports.
        drop(tells);
        writer.put(b"a");
        assert!(writer.flush(Duration::from_secs(10)));
        assert!(writer.put(b"b") && writer.is_idle(), "no caller has to know");
        drop(go);
        let opened = Writer::start("none", 10, || -> Slow { panic!("as it was opened") }).unwrap();
        assert!(opened.flush(Duration::from_secs(10)));
    }

    #[test]
    fn a_sink_that_cannot_be_opened_says_why() {
        let (told, tells) = channel();
        let tell = Box::new(move |trouble: Trouble<'_>| told.send(format!("{trouble:?}")).unwrap());
        let open = move || Plain::<Vec<u8>>::new(Err(io::Error::other("no such place")), tell);
        let writer = Writer::start("none", 10, open).unwrap();
        writer.put(b"a");
        assert!(tells.recv().unwrap().contains("no such place"));
    }
}

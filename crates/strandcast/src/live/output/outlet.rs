//! The queue of an output. The stream continues even if no program reads the output.

mod known;

use std::collections::{BTreeMap, VecDeque};
use std::io::ErrorKind;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use self::known::Known;
use super::sink::{Batch, Output};
use crate::error::Error;
use crate::text::why;

/// Maximum number of different reasons for lost messages that are counted.
const MOST_REASONS: usize = 16;
/// Maximum size of a batch in bytes. A batch is small, so that progress of a slow output is detected after each batch.
const SEGMENT: usize = 32 << 10;
/// Time without progress after which an output counts as not read.
const STALLED: Duration = Duration::from_secs(2);
/// Maximum capacity of a batch in bytes. Only up to this capacity is the memory of a batch kept for later batches.
const KEPT: usize = 64 << 10;

/// An output, and the data that wait for it.
#[derive(Debug)]
pub(in crate::live) struct Outlet {
    shared: Arc<Shared>,
    task: JoinHandle<()>,
    name: String,
    /// Maximum number of bytes that may wait.
    most: usize,
    /// Number of messages that were dropped because there was no room, since the last report and since the stream
    /// began.
    dropped: (u64, u64),
    /// Number of streams that have begun.
    streams: u64,
    /// Number of written pieces at the last progress, and its time.
    progress: (u64, Instant),
    /// True if it was reported that the output is not read.
    told: bool,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    /// Notifies the writer of new data.
    work: Notify,
    /// Notifies waiters that no more data can be written. All outlets of a receiver share this.
    ended: Arc<Notify>,
}

#[derive(Debug, Default)]
struct State {
    queue: VecDeque<Segment>,
    /// Bytes in the queue.
    queued: usize,
    /// Number of bytes and of messages that are being written.
    writing: (usize, u64),
    /// Number of the stream whose data were last taken from the queue.
    stream: u64,
    /// Number of segments that were written.
    written: u64,
    busy: bool,
    /// True if no more data are queued. The output ends once all queued data are written.
    ending: bool,
    over: bool,
    /// Reason why no more data can be written.
    why: Option<String>,
    recordings: Vec<Recording>,
    /// Reasons for lost messages that were not reported yet.
    troubles: Vec<String>,
    /// Number of the stream's messages that were lost, by reason.
    lost: BTreeMap<String, u64>,
    /// An empty batch. The memory of the batch is used again.
    spare: Batch,
}

/// Messages of one stream.
#[derive(Debug, Default)]
struct Segment {
    /// Number of the stream that begins with these messages.
    begins: Option<u64>,
    batch: Batch,
    /// True if the messages are messages of a slate. They are not counted.
    slate: bool,
}

impl Segment {
    /// Number of messages of a sender.
    fn counted(&self) -> u64 {
        if self.slate { 0 } else { self.batch.count() }
    }
}

/// A message for an output.
#[derive(Clone, Copy, Debug)]
pub(in crate::live) struct Message<'a> {
    pub(in crate::live) bytes: &'a [u8],
    /// True for a message of a sender, which counts if it is lost. Messages of a slate do not count.
    pub(in crate::live) of_sender: bool,
}

/// Outcome of the beginning of a stream.
#[derive(Debug)]
pub(in crate::live) enum Recording {
    /// The output has this name from now on.
    Opened(String),
    /// Another stream's file has this name. The value contains the number of the refused stream, and the name.
    Refused(u64, String),
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn fail(&self, why: String) {
        self.lock().why.get_or_insert(why);
        self.ended.notify_one();
    }
}

impl Outlet {
    /// Starts a task that writes the waiting data to `output`. At most `most` bytes may wait. Call it inside a tokio
    /// runtime.
    pub(in crate::live) fn start(output: impl Output, most: usize, ended: Arc<Notify>) -> Outlet {
        let (shared, name) = (Arc::new(Shared { ended, ..Shared::default() }), output.name());
        let task = tokio::spawn(run(Ended(Arc::clone(&shared)), output));
        let progress = (0, Instant::now());
        Outlet { shared, task, name, most, dropped: (0, 0), streams: 0, progress, told: false }
    }

    /// Begins the counts of another stream.
    pub(in crate::live) fn restart(&mut self) {
        (self.dropped, self.told) = ((0, 0), false);
        self.streams += 1;
        self.shared.lock().lost.clear();
    }

    /// Begins a stream. [`Outlet::opened`] returns the outcome.
    pub(in crate::live) fn begin(&mut self) {
        self.restart();
        let begins = Some(self.streams);
        let mut state = self.shared.lock();
        match state.queue.back_mut() {
            // The previous stream has no data left to write.
            Some(last) if last.begins.is_some() && last.batch.is_empty() => last.begins = begins,
            _ => state.queue.push_back(Segment { begins, ..Segment::default() }),
        }
        drop(state);
        self.shared.work.notify_one();
    }

    /// Returns the outcomes of streams that have begun, and whether the output refuses the current stream.
    pub(in crate::live) fn opened(&mut self) -> (Vec<Recording>, bool) {
        let found = std::mem::take(&mut self.shared.lock().recordings);
        let mut refused = false;
        for recording in &found {
            match recording {
                Recording::Opened(name) => self.name.clone_from(name),
                Recording::Refused(number, _) => refused |= *number == self.streams,
            }
        }
        (found, refused)
    }

    /// Queues a message's transport packets. `rushed` is additional room in bytes, for a buffer that is played at once.
    /// Returns the output's name if this message does not fit, and if this is the first such message in a while.
    ///
    /// # Errors
    /// Returns [`Error::Media`] if the disk is full, or the pipe has no reader.
    pub(in crate::live) fn write(
        &mut self,
        message: Message<'_>,
        rushed: usize,
    ) -> Result<Option<String>, Error> {
        self.check()?;
        let Message { bytes: message, of_sender } = message;
        let mut state = self.shared.lock();
        if state.queued + state.writing.0 + message.len() > self.most + rushed {
            if !of_sender {
                return Ok(None);
            }
            self.dropped.0 += 1;
            self.dropped.1 += 1;
            return Ok((!std::mem::replace(&mut self.told, true)).then(|| self.name.clone()));
        }
        state.queued += message.len();
        let is_full = |last: &Segment| {
            let other = !last.batch.is_empty() && last.slate == of_sender;
            other || last.batch.bytes().len() + message.len() > SEGMENT
        };
        if state.queue.back().is_none_or(is_full) {
            let batch = std::mem::take(&mut state.spare);
            state.queue.push_back(Segment { begins: None, batch, slate: !of_sender });
        }
        let last = state.queue.back_mut().expect("it was put there");
        last.slate = !of_sender;
        last.batch.push(message);
        drop(state);
        self.shared.work.notify_one();
        Ok(None)
    }

    /// Returns the output's name if data wait, and if the output has taken no data for a while. Returns the name only
    /// once until the output takes data again.
    pub(in crate::live) fn stalls(&mut self) -> Option<String> {
        let state = self.shared.lock();
        let (written, waits) = (state.written, state.busy && !state.over);
        drop(state);
        if !waits || written != self.progress.0 {
            self.progress = (written, Instant::now());
        }
        let fresh = self.progress.1.elapsed() >= STALLED && !self.told;
        self.told |= fresh;
        fresh.then(|| self.name.clone())
    }

    /// Returns the output's name and the number of dropped messages, once the output takes data again.
    pub(in crate::live) fn recovered(&mut self) -> Option<(String, u64)> {
        if !self.told || !self.is_idle() {
            return None;
        }
        self.told = false;
        Some((self.name.clone(), std::mem::take(&mut self.dropped.0)))
    }

    /// Number of messages of the stream that were dropped because the output was not read.
    pub(in crate::live) fn dropped(&self) -> u64 {
        self.dropped.1
    }

    /// Ends the output once all data are written. [`Outlet::is_idle`] returns true once it has ended.
    pub(in crate::live) fn end(&self) {
        self.shared.lock().ending = true;
        self.shared.work.notify_one();
    }

    /// Name of the output.
    pub(in crate::live) fn name(&self) -> &str {
        &self.name
    }

    /// Returns the reasons for lost messages that were not reported yet. A reason is reported again if it occurs again
    /// after a time without it.
    pub(in crate::live) fn troubles(&self) -> Vec<String> {
        std::mem::take(&mut self.shared.lock().troubles)
    }

    /// Number of the stream's messages that were lost, by reason.
    pub(in crate::live) fn lost(&self) -> BTreeMap<String, u64> {
        self.shared.lock().lost.clone()
    }

    /// Number of pieces that the output has written. While this number grows, a program is reading the output.
    pub(in crate::live) fn written(&self) -> u64 {
        self.shared.lock().written
    }

    /// Counts the waiting messages of the stream as dropped. No caller waits for them to be written.
    pub(in crate::live) fn give_up(&mut self) {
        let state = self.shared.lock();
        if state.over {
            return;
        }
        let begins = state.queue.iter().rposition(|segment| segment.begins == Some(self.streams));
        let mut waiting: u64 =
            state.queue.iter().skip(begins.unwrap_or_default()).map(Segment::counted).sum();
        if state.stream == self.streams {
            waiting += state.writing.1;
        }
        drop(state);
        self.dropped = (self.dropped.0 + waiting, self.dropped.1 + waiting);
    }

    /// Returns true if all data are written, or if no more data will be written.
    pub(in crate::live) fn is_idle(&self) -> bool {
        let state = self.shared.lock();
        state.over || !state.busy && !state.ending && state.queue.is_empty()
    }

    /// Returns whether all data are written and the output is ending.
    pub(in crate::live) fn is_ending(&self) -> bool {
        let state = self.shared.lock();
        state.ending && !state.over && !state.busy && state.queue.is_empty()
    }

    /// Returns true if the current stream has no dropped messages and is written completely.
    pub(in crate::live) fn is_clean(&self) -> bool {
        let state = self.shared.lock();
        self.dropped.1 == 0 && state.queued == 0 && state.writing.0 == 0
    }

    /// # Errors
    /// The error of [`Outlet::write`].
    pub(in crate::live) fn check(&self) -> Result<(), Error> {
        let failed = self.shared.lock().why.clone();
        failed.map_or(Ok(()), |why| Err(Error::Media(why)))
    }
}

impl Outlet {
    /// Writes the waiting data for at most this time, and then closes the output. Call it inside a tokio runtime.
    pub(in crate::live) fn leave(mut self, patience: Duration) {
        self.end();
        tokio::spawn(async move {
            // When this call ends, the task has ended, or is stopped with the outlet.
            let _: Result<_, _> = tokio::time::timeout(patience, &mut self.task).await;
        });
    }
}

impl Drop for Outlet {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Ends an outlet when its task ends, even if the output panics. Without this, a caller might wait for ever.
struct Ended(Arc<Shared>);

impl Drop for Ended {
    fn drop(&mut self) {
        if std::mem::replace(&mut self.0.lock().over, true) {
            return;
        }
        self.0.fail("the output stopped".to_owned());
    }
}

/// Writes the queued data until an error occurs or the output must end.
async fn run(ended: Ended, mut output: impl Output) {
    let shared = &ended.0;
    // The data of a refused stream are not written.
    let (mut refused, mut spent) = (false, Batch::default());
    let mut known = Known::default();
    loop {
        let Some(segment) = next(shared, std::mem::take(&mut spent)).await else { break };
        let written = match segment.begins {
            Some(number) => match begin(shared, &mut output, number).await {
                Ok(taken) => {
                    refused = taken;
                    write(&mut output, &segment.batch, refused).await
                }
                Err(error) => Err(error),
            },
            None => write(&mut output, &segment.batch, refused).await,
        };
        let mut troubles = output.troubles();
        if segment.slate {
            troubles.iter_mut().for_each(|(_, lost)| *lost = 0);
        }
        if !troubles.is_empty() || !segment.batch.is_empty() {
            note(shared, troubles, &mut known);
        }
        if let Err(error) = written {
            return shared.fail(format!("cannot write {}: {}", output.name(), why(&error)));
        }
        spent = segment.batch;
    }
    let ended = output.end().await;
    note(shared, output.troubles(), &mut known);
    match ended {
        Ok(()) => shared.lock().over = true,
        Err(error) => shared.fail(format!("cannot write {}: {}", output.name(), why(&error))),
    }
}

/// Counts the messages that the output lost, and records the reasons to report.
fn note(shared: &Shared, troubles: Vec<(String, u64)>, known: &mut Known) {
    let fresh = known.note(&troubles, Instant::now());
    if troubles.is_empty() {
        return;
    }
    let mut state = shared.lock();
    state.troubles.extend(fresh);
    for (why, lost) in troubles {
        if lost > 0 && (state.lost.len() < MOST_REASONS || state.lost.contains_key(&why)) {
            *state.lost.entry(why).or_default() += lost;
        }
    }
}

/// Waits for data to write. Returns `None` once the output must end. `spent` is a batch that has been written.
async fn next(shared: &Shared, mut spent: Batch) -> Option<Segment> {
    spent.clear();
    if spent.capacity() > KEPT {
        spent = Batch::default();
    }
    shared.lock().spare = spent;
    loop {
        let work = shared.work.notified();
        {
            let mut state = shared.lock();
            state.written += u64::from(state.busy);
            (state.busy, state.writing) = (false, (0, 0));
            if let Some(segment) = state.queue.pop_front() {
                let bytes = segment.batch.bytes().len();
                (state.busy, state.writing) = (true, (bytes, segment.counted()));
                state.stream = segment.begins.unwrap_or(state.stream);
                state.queued -= bytes;
                return Some(segment);
            }
            if state.ending {
                return None;
            }
        }
        work.await;
    }
}

/// Begins a stream. Returns whether it is refused.
async fn begin(shared: &Shared, output: &mut impl Output, number: u64) -> std::io::Result<bool> {
    let before = output.name();
    let begun = output.begin().await;
    let name = output.name();
    let recording = match begun {
        Ok(()) if name == before => return Ok(false),
        Ok(()) => Recording::Opened(name),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Recording::Refused(number, name),
        Err(error) => return Err(error),
    };
    let refused = matches!(recording, Recording::Refused(..));
    shared.lock().recordings.push(recording);
    Ok(refused)
}

async fn write(output: &mut impl Output, batch: &Batch, refused: bool) -> std::io::Result<()> {
    if refused || batch.is_empty() { Ok(()) } else { output.write(batch).await }
}

#[cfg(test)]
mod tests;

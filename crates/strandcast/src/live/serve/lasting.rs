//! An output that is opened again after it has failed. The stream and its other outputs continue in the meantime.

use std::io::{self, ErrorKind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::task::JoinHandle;

use super::place::Place;
use crate::live::output::{AnyOutput, Batch, Output};
use crate::text::why;

/// Time after a failure until an output is opened again.
const AGAIN: Duration = Duration::from_secs(2);
/// Time after a failure until a recording begins again. The time is longer because each attempt on a full disk may
/// leave a short file.
const RECORD_AGAIN: Duration = Duration::from_secs(30);
/// Time for which the first attempt may delay a stream.
const FIRST: Duration = Duration::from_secs(2);

/// An output of a stream that is opened again after failures.
#[derive(Debug)]
pub(super) struct Lasting {
    place: Place,
    name: String,
    state: State,
    /// Reason why the output is not open, if it is known.
    reason: Arc<Mutex<Option<String>>>,
    /// True if a sender has arrived and the output has not begun the sender's stream.
    begins: bool,
    troubles: Vec<(String, u64)>,
}

#[derive(Debug)]
enum State {
    Open(AnyOutput),
    Opening(Opening),
}

/// A task that opens the output. Dropping this ends the task.
#[derive(Debug)]
struct Opening(JoinHandle<AnyOutput>);

impl Drop for Opening {
    fn drop(&mut self) {
        self.0.abort();
    }
}

fn hold(reason: &Mutex<Option<String>>) -> MutexGuard<'_, Option<String>> {
    reason.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Opening {
    /// Tries until the output is open. Call it inside a tokio runtime.
    fn start(place: &Place, pause: Option<Duration>, reason: &Arc<Mutex<Option<String>>>) -> Opening {
        let (place, reason) = (place.clone(), Arc::clone(reason));
        let again = if place.is_lasting() { AGAIN } else { RECORD_AGAIN };
        Opening(tokio::spawn(async move {
            tokio::time::sleep(pause.unwrap_or_default()).await;
            loop {
                match place.open().await {
                    Ok(output) => return output,
                    Err(error) => *hold(&reason) = Some(error.to_string()),
                }
                tokio::time::sleep(again).await;
            }
        }))
    }
}

impl Lasting {
    /// Opens an output, or begins to try. Returns the reason if opening failed.
    pub(super) async fn open(place: &Place) -> (Lasting, Option<String>) {
        let reason = Arc::default();
        let (state, failed) = match tokio::time::timeout(FIRST, place.open()).await {
            Ok(Ok(output)) => (State::Open(output), None),
            Ok(Err(error)) => {
                let why = error.to_string();
                *hold(&reason) = Some(why.clone());
                (State::Opening(Opening::start(place, Some(AGAIN), &reason)), Some(why))
            }
            Err(_) => (State::Opening(Opening::start(place, None, &reason)), None),
        };
        let troubles = Vec::new();
        (
            Lasting { place: place.clone(), name: place.to_string(), state, reason, begins: false, troubles },
            failed,
        )
    }

    /// Closes an output that has failed, and opens it later.
    fn fail(&mut self, error: &io::Error, messages: u64) {
        let why = why(error);
        self.troubles.push((why.clone(), messages));
        *hold(&self.reason) = Some(why);
        let pause = if self.place.is_lasting() { AGAIN } else { RECORD_AGAIN };
        self.state = State::Opening(Opening::start(&self.place, Some(pause), &self.reason));
        self.begins = true;
    }

    /// Takes an output that was opened in the meantime.
    async fn take_opened(&mut self) {
        let State::Opening(opening) = &mut self.state else { return };
        if !opening.0.is_finished() {
            return;
        }
        match (&mut opening.0).await {
            Ok(output) => self.state = State::Open(output),
            // Opening panicked.
            Err(error) => self.fail(&io::Error::other(error), 0),
        }
    }

    /// Begins the stream at an open output.
    ///
    /// # Errors
    /// Returns [`ErrorKind::AlreadyExists`] if all names of a recording are taken.
    async fn begin_if_open(&mut self) -> io::Result<()> {
        let State::Open(output) = &mut self.state else { return Ok(()) };
        let begun = output.begin().await;
        self.name = output.name();
        match begun {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => return Err(error),
            Err(error) => self.fail(&error, 0),
            Ok(()) => self.begins = false,
        }
        Ok(())
    }
}

impl Output for Lasting {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn takes_slate(&self) -> bool {
        self.place.is_lasting()
    }

    fn troubles(&mut self) -> Vec<(String, u64)> {
        std::mem::take(&mut self.troubles)
    }

    async fn begin(&mut self) -> io::Result<()> {
        self.begins = true;
        self.take_opened().await;
        self.begin_if_open().await
    }

    async fn write(&mut self, batch: &Batch) -> io::Result<()> {
        self.take_opened().await;
        if self.begins && self.begin_if_open().await.is_err() {
            // The stream began under another name.
            self.fail(&io::Error::other("all names are taken"), 0);
        }
        let messages = batch.messages().count() as u64;
        match &mut self.state {
            State::Open(output) => {
                let written = output.write(batch).await;
                self.troubles.append(&mut output.troubles());
                if let Err(error) = written {
                    self.fail(&error, messages);
                }
            }
            State::Opening(_) => {
                let why = hold(&self.reason).clone().unwrap_or_else(|| "it is not open yet".to_owned());
                self.troubles.push((why, messages));
            }
        }
        Ok(())
    }

    async fn end(&mut self) -> io::Result<()> {
        if let State::Open(output) = &mut self.state {
            let ended = output.end().await;
            self.troubles.append(&mut output.troubles());
            self.troubles.extend(ended.err().map(|error| (why(&error), 0)));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batch(words: &[u8]) -> Batch {
        let mut batch = Batch::default();
        batch.push(words);
        batch
    }

    #[tokio::test]
    async fn a_full_device_loses_messages_and_ends_nothing() {
        let (mut output, failed) = Lasting::open(&Place::Device("/dev/full".into())).await;
        assert_eq!(failed, None);
        output.begin().await.expect("a device has no names");
        for _ in 0..3 {
            output.write(&batch(b"media")).await.expect("it lasts");
        }
        let troubles = output.troubles();
        assert_eq!(troubles.iter().map(|(_, lost)| lost).sum::<u64>(), 3, "{troubles:?}");
        assert!(troubles.iter().all(|(why, _)| why.contains("no space left")), "{troubles:?}");
    }

    #[tokio::test]
    async fn a_recording_whose_folder_returns_continues_in_another_file() {
        let folder = std::env::temp_dir().join(format!("strandcast-lasting-{}", std::process::id()));
        let (mut output, _) = Lasting::open(&Place::Recordings(folder.join("%Y.ts"))).await;
        output.begin().await.expect("the failure is not the stream's");
        output.write(&batch(b"lost")).await.expect("it lasts");
        assert_eq!(output.troubles().iter().map(|(_, lost)| lost).sum::<u64>(), 1);
        std::fs::create_dir_all(&folder).expect("the folder of tests");
        // The pause is over.
        output.state = State::Opening(Opening::start(&output.place, None, &output.reason));
        while matches!(&output.state, State::Opening(opening) if !opening.0.is_finished()) {
            tokio::task::yield_now().await;
        }
        output.write(&batch(b"kept")).await.expect("it lasts");
        assert!(output.troubles().is_empty());
        assert_eq!(std::fs::read(output.name()).expect("it was made"), b"kept");
        std::fs::remove_dir_all(folder).expect("it was made");
    }
}

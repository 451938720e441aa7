//! The outputs of a receiver, each with a separate queue.

use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use tokio::sync::Notify;
use tokio::time::Instant;

use super::outlet::{Message, Outlet, Recording};
use super::sink::Output;
use crate::error::Error;

/// Interval between two checks whether all data are written.
const POLL: Duration = Duration::from_millis(5);

/// Time for which a stopped output may still write its waiting data after it was started again.
const PATIENCE: Duration = Duration::from_secs(10);

/// Messages of a stream that an output did not take.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct OutputNow {
    /// Name of the output.
    pub name: String,
    /// Number of messages that were dropped because the output was not read.
    pub unread: u64,
    /// Number of messages that the output could not write, by reason.
    pub unsent: std::collections::BTreeMap<String, u64>,
    /// Reason why the output has ended, if it has ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
    /// True if the output was stopped by request.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub stopped: bool,
}

/// The end of outputs.
#[derive(Debug)]
pub(in crate::live) enum Failure {
    /// One output has ended, and others continue.
    One { output: String, why: String },
    /// No output is left.
    All(Error),
}

/// Outputs that get a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::live) enum To {
    All,
    /// Only outputs that receive a slate while no sender plays.
    WithSlate,
    WithoutSlate,
}

/// An outlet and its state.
#[derive(Debug)]
struct Place {
    outlet: Outlet,
    takes_slate: bool,
    /// Reason why the output has ended, after it was reported.
    failed: Option<Error>,
    /// True if the output refuses the current stream.
    refuses: bool,
    /// True if the output was stopped by request.
    stopped: bool,
}

/// Function that starts an outlet with a queue of this size in bytes. The outlet notifies when it ends.
pub(in crate::live) type Start = Box<dyn FnOnce(usize, Arc<Notify>) -> Outlet + Send>;

/// A request to stop or start the output with this number.
pub(in crate::live) struct Switch {
    pub(in crate::live) number: usize,
    pub(in crate::live) start: Option<Start>,
}

/// All outputs. A slow or failed output does not delay the others.
#[derive(Debug)]
pub(in crate::live) struct Outlets {
    places: Vec<Place>,
    ended: Arc<Notify>,
    /// Size in bytes of the queue of each output.
    share: usize,
    viewers: super::Viewers,
    /// True if viewers may join.
    watched: bool,
}

impl Outlets {
    /// Starts a task for each output. At most `most` bytes may wait for all outputs together. All outputs have equal
    /// shares. Call it inside a tokio runtime.
    pub(in crate::live) fn start(outputs: Vec<impl Output>, most: usize) -> Outlets {
        let ended = Arc::<Notify>::default();
        let share = most / outputs.len().max(1);
        let place = |output: _| {
            let takes_slate = Output::takes_slate(&output);
            let outlet = Outlet::start(output, share, Arc::clone(&ended));
            Place { outlet, takes_slate, failed: None, refuses: false, stopped: false }
        };
        Outlets {
            places: outputs.into_iter().map(place).collect(),
            ended,
            share,
            viewers: super::Viewers::default(),
            watched: false,
        }
    }

    /// Also passes the played media to these viewers, for which `kept` bytes may be kept; `None` if none may join.
    pub(in crate::live) fn with(self, viewers: super::Viewers, kept: Option<usize>) -> Outlets {
        kept.into_iter().for_each(|most| viewers.keep(most));
        Outlets { viewers, watched: kept.is_some(), ..self }
    }

    fn open(&mut self) -> impl Iterator<Item = &mut Place> {
        self.places.iter_mut().filter(|place| place.failed.is_none() && !place.stopped)
    }

    /// Begins a stream. [`Outlets::opened`] returns the outcome.
    pub(in crate::live) fn begin(&mut self) {
        self.viewers.begin();
        for place in &mut self.places {
            place.refuses = false;
            match place.failed.is_none() && !place.stopped {
                true => place.outlet.begin(),
                false => place.outlet.restart(),
            }
        }
    }

    /// Starts an output, or stops it once its waiting data are written. `on_air` is true if a stream is played.
    pub(in crate::live) fn switch(&mut self, switch: Switch, on_air: bool) {
        let Some(place) = self.places.get_mut(switch.number) else { return };
        let Some(start) = switch.start else {
            place.outlet.end();
            place.stopped = true;
            return;
        };
        let outlet = start(self.share, Arc::clone(&self.ended));
        let takes_slate = place.takes_slate;
        let fresh = Place { outlet, takes_slate, failed: None, refuses: false, stopped: false };
        std::mem::replace(place, fresh).outlet.leave(PATIENCE);
        if on_air {
            place.outlet.begin();
        }
    }

    /// Returns the outcomes of streams that have begun, and whether every output refuses the current stream.
    pub(in crate::live) fn opened(&mut self) -> (Vec<Recording>, bool) {
        let mut all = Vec::new();
        let mut fresh = false;
        for place in self.open() {
            let (recordings, refused) = place.outlet.opened();
            place.refuses |= refused;
            fresh |= refused;
            all.extend(recordings);
        }
        let refused = fresh && self.open().all(|place| place.refuses);
        (all, refused)
    }

    /// Returns whether any output receives a slate, or whether viewers may join.
    pub(in crate::live) fn any_takes_slate(&self) -> bool {
        self.watched || self.places.iter().any(|place| place.takes_slate)
    }

    /// Queues a message's transport packets at outputs. `rushed` is additional room in bytes for all of these outputs.
    /// Returns the names of outputs for which the message does not fit, if this is their first such message in a while.
    pub(in crate::live) fn write(&mut self, message: Message<'_>, rushed: usize, to: To) -> Vec<String> {
        if to != To::WithoutSlate {
            self.viewers.write(message.bytes);
        }
        let rushed = rushed / self.places.len().max(1);
        let gets = |place: &&mut Place| to == To::All || place.takes_slate == (to == To::WithSlate);
        // `failed` reports an output that has failed.
        let written = self.open().filter(gets).map(|place| place.outlet.write(message, rushed));
        written.filter_map(|written| written.ok().flatten()).collect()
    }

    /// Returns the names of outputs that have stopped taking data.
    pub(in crate::live) fn stalled(&mut self) -> Vec<String> {
        self.open().filter_map(|place| place.outlet.stalls()).collect()
    }

    /// Returns the names of outputs that take data again. Each name has the number of messages that the output dropped.
    pub(in crate::live) fn recovered(&mut self) -> Vec<(String, u64)> {
        self.open().filter_map(|place| place.outlet.recovered()).collect()
    }

    /// Returns the names of outputs that lost messages for a new reason, with the reason.
    pub(in crate::live) fn troubles(&self) -> Vec<(String, String)> {
        let of = |place: &Place| {
            let name = place.outlet.name().to_owned();
            place.outlet.troubles().into_iter().map(move |why| (name.clone(), why)).collect::<Vec<_>>()
        };
        self.places.iter().flat_map(of).collect()
    }

    /// Returns the messages of the stream that each output did not take.
    pub(in crate::live) fn now(&self) -> Vec<OutputNow> {
        let of = |place: &Place| OutputNow {
            name: place.outlet.name().to_owned(),
            unread: place.outlet.dropped(),
            unsent: place.outlet.lost(),
            failed: place.outlet.check().err().map(|error| error.to_string()),
            stopped: place.stopped,
        };
        self.places.iter().map(of).collect()
    }

    /// Number of messages of the stream that any output did not take.
    pub(in crate::live) fn missed(&self) -> u64 {
        let lost = |place: &Place| place.outlet.dropped() + place.outlet.lost().values().sum::<u64>();
        self.places.iter().map(lost).sum()
    }

    /// Waits until another output has ended. Cancel safe.
    pub(in crate::live) async fn failed(&mut self) -> Failure {
        loop {
            let ended = Arc::clone(&self.ended);
            let ended = ended.notified();
            let found = self.open().find_map(|place| {
                let error = place.outlet.check().err()?;
                place.failed = Some(error.clone());
                Some((place.outlet.name().to_owned(), error))
            });
            if let Some((output, error)) = found {
                // The writer of an output that was stopped may have used the same notification.
                self.ended.notify_one();
                return match self.open().next() {
                    Some(_) => Failure::One { output, why: error.to_string() },
                    None => Failure::All(error),
                };
            }
            ended.await;
        }
    }

    /// Returns the error for outputs that no program reads until the end.
    pub(in crate::live) fn unread(&self) -> Error {
        let names: Vec<&str> =
            self.places.iter().filter(|place| !place.outlet.is_clean()).map(|p| p.outlet.name()).collect();
        let is = if names.len() > 1 { "are" } else { "is" };
        Error::Media(format!("{} {is} not read: the rest of the stream is lost", names.join(" and ")))
    }

    /// Returns whether everything is written.
    pub(in crate::live) fn is_idle(&self) -> bool {
        self.places.iter().all(|place| place.outlet.is_idle())
    }

    /// Ends the outputs, and waits as [`Outlets::flush`] does. Each output limits the time until its end.
    ///
    /// # Errors
    /// Returns [`Error::Media`] if an output has failed, is not read, or its media went nowhere.
    pub(in crate::live) async fn end(&self, patience: Duration) -> Result<(), Error> {
        self.places.iter().for_each(|place| place.outlet.end());
        self.flush(patience).await
    }

    /// Waits until all data are written. Outputs that have taken no data for `patience` are not awaited.
    ///
    /// # Errors
    /// Returns [`Error::Media`] if an output has failed, or is not read.
    pub(in crate::live) async fn flush(&self, patience: Duration) -> Result<(), Error> {
        let mut seen = vec![(0, Instant::now()); self.places.len()];
        loop {
            let now = Instant::now();
            let mut waits = false;
            for (place, (before, since)) in self.places.iter().zip(&mut seen) {
                let written = place.outlet.written();
                if std::mem::replace(before, written) != written {
                    *since = now;
                }
                waits |= place.outlet.is_ending() || !place.outlet.is_idle() && now - *since < patience;
            }
            if !waits {
                break;
            }
            tokio::time::sleep(POLL).await;
        }
        self.places.iter().try_for_each(|place| place.outlet.check())?;
        if self.is_idle() { Ok(()) } else { Err(self.unread()) }
    }

    /// Counts all waiting data as unread. No caller waits for them to be written.
    pub(in crate::live) fn give_up(&mut self) {
        self.places.iter_mut().for_each(|place| place.outlet.give_up());
    }

    /// Returns true if the current stream has no dropped messages and is written completely.
    pub(in crate::live) fn is_clean(&self) -> bool {
        self.places.iter().all(|place| place.failed.is_none() && place.outlet.is_clean())
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::Mutex;

    use tokio::sync::Semaphore;

    use super::super::sink::Batch;
    use super::*;

    /// Output for tests that writes when permitted, until its disk is full.
    struct Disk {
        name: &'static str,
        may: Arc<Semaphore>,
        room: usize,
        has: Arc<Mutex<Vec<u8>>>,
    }

    impl Output for Disk {
        fn name(&self) -> String {
            self.name.to_owned()
        }

        async fn write(&mut self, batch: &Batch) -> io::Result<()> {
            self.may.acquire().await.expect("it is never closed").forget();
            let mut has = self.has.lock().expect("no holder panics");
            if has.len() + batch.bytes().len() > self.room {
                return Err(io::Error::other("full"));
            }
            has.extend_from_slice(batch.bytes());
            Ok(())
        }
    }

    fn disk(name: &'static str, permits: usize, room: usize) -> (Disk, Arc<Mutex<Vec<u8>>>) {
        let has = Arc::<Mutex<Vec<u8>>>::default();
        (Disk { name, may: Arc::new(Semaphore::new(permits)), room, has: Arc::clone(&has) }, has)
    }

    async fn turns() {
        for _ in 0..10 {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn an_output_that_stalls_or_fails_holds_up_no_other() {
        let ((stalled, _), (full, _), (good, has)) =
            (disk("stalled", 0, 9), disk("full", 99, 1), disk("good", 99, 99));
        let mut outlets = Outlets::start(vec![stalled, full, good], 9);
        outlets.begin();
        let mut told = Vec::new();
        for message in [b"ab", b"cd", b"ef"] {
            told.extend(outlets.write(Message { bytes: message, of_sender: true }, 0, To::All));
            turns().await;
        }
        assert_eq!(*has.lock().unwrap(), b"abcdef");
        assert_eq!(told, ["stalled"]);
        let failed = outlets.failed().await;
        assert!(
            matches!(&failed, Failure::One { output, why } if output == "full" && why.contains("cannot write full"))
        );
        let now = outlets.now();
        assert_eq!((now[0].unread, now[2].unread, now[2].failed.is_none()), (2, 0, true));
        assert!(now[1].failed.is_some() && outlets.missed() == 2 && !outlets.is_clean());
        assert!(outlets.unread().to_string().contains("stalled"));
    }

    #[tokio::test]
    async fn the_last_output_that_fails_ends_them_and_each_is_reported_once() {
        let (first, second) = (disk("first", 99, 0).0, disk("second", 99, 0).0);
        let mut outlets = Outlets::start(vec![first, second], 99);
        assert!(outlets.write(Message { bytes: b"a", of_sender: true }, 0, To::All).is_empty());
        let one = outlets.failed().await;
        assert!(matches!(one, Failure::One { .. }), "{one:?}");
        let all = outlets.failed().await;
        assert!(matches!(all, Failure::All(Error::Media(_))), "{all:?}");
        assert!(outlets.flush(LONG).await.is_err());
    }

    const LONG: Duration = Duration::from_secs(60);

    #[tokio::test]
    async fn a_failed_output_has_counts_of_the_current_stream_only() {
        let ((full, _), (good, _)) = (disk("full", 1, 3), disk("good", 99, 99));
        let may = Arc::clone(&full.may);
        let mut outlets = Outlets::start(vec![full, good], 10);
        outlets.begin();
        for message in [b"ab", b"cd", b"ef", b"gh"] {
            outlets.write(Message { bytes: message, of_sender: true }, 0, To::All);
            turns().await;
        }
        may.add_permits(1);
        assert!(matches!(outlets.failed().await, Failure::One { .. }));
        assert_eq!((outlets.now()[0].unread, outlets.missed()), (1, 1));
        outlets.begin();
        outlets.write(Message { bytes: b"ij", of_sender: true }, 0, To::All);
        let now = outlets.now();
        assert_eq!((now[0].unread, outlets.missed()), (0, 0));
        assert!(now[0].failed.is_some(), "it has nothing of this stream");
    }

    #[tokio::test(start_paused = true)]
    async fn an_output_that_takes_nothing_for_two_seconds_is_reported_once_until_it_is_read() {
        let (stuck, _) = disk("stuck", 0, 99);
        let may = Arc::clone(&stuck.may);
        let mut outlets = Outlets::start(vec![stuck], 9);
        outlets.begin();
        let mut told = Vec::new();
        for quarter in 0..20 {
            if quarter == 4 {
                assert!(outlets.write(Message { bytes: b"ab", of_sender: true }, 0, To::All).is_empty());
            }
            turns().await;
            told.extend(outlets.stalled().into_iter().map(|name| (quarter, name)));
            tokio::time::sleep(Duration::from_millis(250)).await;
        }
        assert!(matches!(&told[..], [(11..=13, name)] if name == "stuck"), "{told:?}");
        assert!(outlets.recovered().is_empty());
        may.add_permits(1);
        turns().await;
        assert_eq!(outlets.recovered(), [("stuck".to_owned(), 0)]);
    }

    /// This is the end of a stream that plays to a pipe without a reader.
    #[tokio::test(start_paused = true)]
    async fn an_output_that_takes_nothing_is_not_waited_for_and_its_rest_is_unread() {
        let ((stuck, _), (slow, has)) = (disk("stuck", 0, 99), disk("slow", 0, 1 << 20));
        let may = Arc::clone(&slow.may);
        let mut outlets = Outlets::start(vec![stuck, slow], 1 << 20);
        outlets.begin();
        let message = [0; 20_000];
        (0..10).for_each(|_| {
            assert!(outlets.write(Message { bytes: &message, of_sender: true }, 0, To::All).is_empty())
        });
        // A reader takes a piece every 4 s, ten times. The end waits for this reader.
        let reads = tokio::spawn(async move {
            for _ in 0..10 {
                tokio::time::sleep(Duration::from_secs(4)).await;
                may.add_permits(1);
            }
        });
        let begun = Instant::now();
        let error = outlets.flush(Duration::from_secs(5)).await.expect_err("one is stuck").to_string();
        assert_eq!(error, "stuck is not read: the rest of the stream is lost");
        assert!((40..46).contains(&begun.elapsed().as_secs()), "{:?}", begun.elapsed());
        reads.await.expect("it ends");
        assert_eq!(has.lock().expect("no holder panics").len(), 200_000);
        outlets.give_up();
        let now = outlets.now();
        assert_eq!((now[0].unread, now[1].unread, outlets.missed()), (10, 0, 10));
    }

    /// Output for tests. Its peers need one minute to play the rest, and it has no peer at the end.
    struct Distant(&'static str);

    impl Output for Distant {
        fn name(&self) -> String {
            self.0.to_owned()
        }

        async fn write(&mut self, _: &Batch) -> io::Result<()> {
            Ok(())
        }

        async fn end(&mut self) -> io::Result<()> {
            tokio::time::sleep(Duration::from_secs(60)).await;
            if self.0 == "bad" { Err(io::Error::other("no peer has connected")) } else { Ok(()) }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn an_end_is_waited_for_and_may_fail() {
        for (name, ends) in [
            ("good", Ok(())),
            ("bad", Err(Error::Media("cannot write bad: no peer has connected".to_owned()))),
        ] {
            let mut outlets = Outlets::start(vec![Distant("one"), Distant(name)], 99);
            outlets.begin();
            assert!(outlets.write(Message { bytes: b"ab", of_sender: true }, 0, To::All).is_empty());
            let begun = Instant::now();
            assert_eq!(outlets.end(Duration::from_secs(5)).await, ends);
            assert_eq!(begun.elapsed().as_secs(), 60);
            let failed: Vec<bool> = outlets.now().iter().map(|output| output.failed.is_some()).collect();
            assert_eq!(failed, [false, ends.is_err()]);
        }
    }

    #[tokio::test]
    async fn all_outputs_together_hold_no_more_than_their_share_of_the_memory() {
        for number in 1..=8 {
            let names = ["1", "2", "3", "4", "5", "6", "7", "8"];
            let stalled: Vec<Disk> = names[..number].iter().map(|name| disk(name, 0, 0).0).collect();
            let mut outlets = Outlets::start(stalled, 80_000);
            outlets.begin();
            for _ in 0..200 {
                outlets.write(Message { bytes: &[0; 1000], of_sender: true }, 40_000, To::All);
            }
            let held = 200 * number as u64 - outlets.missed();
            assert!((110..=120).contains(&held), "{held} kB of {number} outputs");
        }
    }
}

//! Queues of outputs that are slow, lose messages or fail.

use std::io;
use std::sync::mpsc::{Receiver, Sender, channel};

use tokio::sync::Semaphore;

use super::*;

/// An output that writes only when permitted.
struct Slow {
    may: Arc<Semaphore>,
    told: Sender<String>,
}

impl Output for Slow {
    fn name(&self) -> String {
        "slow".to_owned()
    }

    async fn write(&mut self, batch: &Batch) -> io::Result<()> {
        self.told.send(String::from_utf8_lossy(batch.bytes()).into_owned()).expect("the test waits");
        self.may.acquire().await.expect("it is never closed").forget();
        if batch.bytes() == b"bad" { Err(io::Error::other("full")) } else { Ok(()) }
    }

    async fn end(&mut self) -> io::Result<()> {
        self.told.send("end".to_owned()).expect("the test waits");
        self.may.acquire().await.expect("it is never closed").forget();
        Ok(())
    }
}

fn slow() -> (Outlet, Arc<Semaphore>, Receiver<String>) {
    let (may, (told, tells)) = (Arc::new(Semaphore::new(0)), channel());
    (Outlet::start(Slow { may: Arc::clone(&may), told }, 10, Arc::default()), may, tells)
}

/// A message of a sender.
fn media(bytes: &[u8]) -> Message<'_> {
    Message { bytes, of_sender: true }
}

async fn turns() {
    for _ in 0..10 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn what_does_not_fit_is_dropped_and_counted_once_it_moves_again() {
    let (mut outlet, may, tells) = slow();
    outlet.begin();
    assert_eq!(outlet.write(media(b"one"), 0), Ok(None));
    turns().await;
    assert_eq!(tells.try_recv().as_deref(), Ok("one"));
    // The three bytes that are being written count as queued.
    assert_eq!(outlet.write(media(b"fives"), 0), Ok(None));
    assert_eq!(outlet.write(media(b"six"), 0), Ok(Some("slow".to_owned())));
    assert_eq!(outlet.write(media(b"seven"), 0), Ok(None), "told once");
    assert_eq!(outlet.write(media(b"eight"), 5), Ok(None), "rushed");
    assert!(outlet.recovered().is_none() && !outlet.is_clean());
    may.add_permits(2);
    turns().await;
    assert_eq!(tells.try_recv().as_deref(), Ok("fiveseight"));
    assert_eq!(outlet.recovered(), Some(("slow".to_owned(), 2)));
    assert_eq!((outlet.dropped(), outlet.recovered()), (2, None));
    assert_eq!(outlet.check(), Ok(()));
}

#[tokio::test]
async fn it_ends_once_everything_is_written() {
    let (mut outlet, may, tells) = slow();
    outlet.begin();
    assert_eq!((outlet.write(media(b"one"), 0), outlet.write(media(b"two"), 0)), (Ok(None), Ok(None)));
    outlet.end();
    turns().await;
    assert_eq!(tells.try_recv().as_deref(), Ok("onetwo"));
    assert!(!outlet.is_idle() && !outlet.is_ending(), "it writes");
    may.add_permits(1);
    turns().await;
    assert_eq!(tells.try_recv().as_deref(), Ok("end"));
    assert!(!outlet.is_idle() && outlet.is_ending());
    may.add_permits(1);
    turns().await;
    assert!(outlet.is_idle() && !outlet.is_ending());
    assert_eq!(outlet.check(), Ok(()));
    outlet.give_up();
    assert_eq!(outlet.dropped(), 0);
}

/// Each of many senders may begin a stream and send nothing.
#[tokio::test]
async fn streams_without_media_take_no_memory() {
    let (mut outlet, _may, _tells) = slow();
    outlet.begin();
    assert_eq!(outlet.write(media(b"a"), 0), Ok(None));
    (0..10_000).for_each(|_| outlet.begin());
    assert_eq!(outlet.shared.lock().queue.len(), 2);
}

#[tokio::test]
async fn what_nobody_waits_for_counts_as_dropped_for_its_stream() {
    let (mut outlet, may, _tells) = slow();
    outlet.begin();
    assert_eq!(outlet.write(media(b"one"), 0), Ok(None));
    turns().await;
    assert_eq!((outlet.write(media(b"two"), 0), outlet.write(media(b"six"), 0)), (Ok(None), Ok(None)));
    outlet.give_up();
    assert_eq!(outlet.dropped(), 3);
    // Those of the first stream are no messages of the second one.
    outlet.begin();
    assert_eq!(outlet.write(media(b"3"), 0), Ok(None));
    outlet.give_up();
    assert_eq!(outlet.dropped(), 1);
    outlet.begin();
    let before = outlet.written();
    may.add_permits(3);
    turns().await;
    assert!(outlet.is_idle() && outlet.written() > before);
    outlet.give_up();
    assert_eq!(outlet.dropped(), 0);
}

/// A slow reader takes them one by one.
#[tokio::test]
async fn much_data_is_written_in_pieces() {
    let (may, (told, tells)) = (Arc::new(Semaphore::new(0)), channel());
    let mut outlet = Outlet::start(Slow { may: Arc::clone(&may), told }, 1 << 20, Arc::default());
    outlet.begin();
    let message = "a".repeat(1316);
    (0..100).for_each(|_| assert_eq!(outlet.write(media(message.as_bytes()), 0), Ok(None)));
    let mut written = Vec::new();
    for _ in 0..100_u32.div_ceil((SEGMENT / 1316) as u32) {
        written.push(outlet.written());
        may.add_permits(1);
        turns().await;
    }
    assert!(outlet.is_idle() && written.is_sorted_by(|a, b| a < b), "{written:?}");
    let pieces: Vec<String> = tells.try_iter().collect();
    assert!(pieces.iter().all(|piece| piece.len() <= SEGMENT));
    assert_eq!(pieces.concat().len(), 131_600);
}

async fn failure(outlet: &Outlet) -> Error {
    for _ in 0..100 {
        if let Err(error) = outlet.check() {
            return error;
        }
        turns().await;
    }
    panic!("it does not end");
}

#[tokio::test]
async fn an_error_ends_it() {
    let (mut outlet, may, _tells) = slow();
    may.add_permits(1);
    assert_eq!(outlet.write(media(b"bad"), 0), Ok(None));
    let error = failure(&outlet).await;
    assert_eq!(error, Error::Media("cannot write slow: full".to_owned()));
    assert_eq!(outlet.write(media(b"a"), 0), Err(error));
    assert!(outlet.is_idle());
}

#[tokio::test]
async fn an_output_that_panics_keeps_no_caller_waiting() {
    let (mut outlet, _may, tells) = slow();
    // It no longer reports what it writes.
    drop(tells);
    assert_eq!(outlet.write(media(b"a"), 0), Ok(None));
    assert!(matches!(failure(&outlet).await, Error::Media(_)));
    assert!(outlet.is_idle());
}

/// An output that loses every message.
struct Leaky(u64);

impl Output for Leaky {
    fn name(&self) -> String {
        "leaky".to_owned()
    }

    fn troubles(&mut self) -> Vec<(String, u64)> {
        vec![("a leak".to_owned(), std::mem::take(&mut self.0)), ("a smell".to_owned(), 0)]
    }

    async fn write(&mut self, batch: &Batch) -> io::Result<()> {
        self.0 += batch.messages().count() as u64;
        Ok(())
    }

    async fn end(&mut self) -> io::Result<()> {
        self.0 += 1;
        Err(io::Error::other("it was open at both ends"))
    }
}

#[tokio::test]
async fn messages_that_an_output_loses_are_counted_and_each_reason_is_told_once() {
    let mut outlet = Outlet::start(Leaky(0), 10, Arc::default());
    for _ in 0..3 {
        assert_eq!(outlet.write(media(b"a"), 0), Ok(None));
        turns().await;
    }
    assert_eq!(outlet.troubles(), ["a leak", "a smell"]);
    assert_eq!(outlet.lost(), BTreeMap::from([("a leak".to_owned(), 3)]));
    outlet.begin();
    turns().await;
    assert!(outlet.lost().is_empty() && outlet.troubles().is_empty());
    // The end counts as well, and its error is that of the output.
    outlet.end();
    let error = failure(&outlet).await;
    assert_eq!(error, Error::Media("cannot write leaky: it was open at both ends".to_owned()));
    assert_eq!((outlet.lost(), outlet.is_idle()), (BTreeMap::from([("a leak".to_owned(), 1)]), true));
}

#[tokio::test]
async fn messages_of_a_slate_are_not_counted() {
    let (mut outlet, may, tells) = slow();
    let slate = |bytes| Message { bytes, of_sender: false };
    assert_eq!(outlet.write(slate(b"12345678"), 0), Ok(None));
    assert_eq!(outlet.write(slate(b"more"), 0), Ok(None), "it does not fit");
    assert_eq!((outlet.write(media(b"ab"), 0), outlet.dropped()), (Ok(None), 0));
    turns().await;
    outlet.give_up();
    assert_eq!(outlet.dropped(), 1, "the sender's waits, and the slate's is being written");
    may.add_permits(2);
    turns().await;
    let written: Vec<String> = tells.try_iter().collect();
    assert_eq!(written, ["12345678", "ab"], "each in a batch of its own");
}

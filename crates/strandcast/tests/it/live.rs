//! Senders and receivers in one process, over loopback, in a runtime of one thread.

use std::io;
use std::time::Duration;

use strandcast::Error;
use strandcast::live::input::{AnyInput, Input};
use strandcast::live::output::{AnyOutput, Batch, Output};
use strandcast::live::{Event, Receiver, Retry, Sender, SenderConfig, Stats};
use strandcast::pairing::{Destination, Gate, Pairing, Store};

use crate::common::{Collect, Folder, Memory, clip, receiver, scheme, until};

const LATENCY: Duration = Duration::from_millis(300);
/// A sender without a seal.
async fn plain(to: std::net::SocketAddr, input: impl Input, retry: Option<Retry>) -> Sender {
    let to = Destination::plain(to.to_string().parse().expect("it is a host"));
    let mut config = SenderConfig::new(to, scheme());
    (config.latency, config.retry) = (LATENCY, retry);
    Sender::start(config, input).await.expect("loopback is there")
}

async fn ends(sender: &Sender) -> Result<(), Error> {
    tokio::time::timeout(Duration::from_secs(60), sender.wait()).await.expect("within a minute")
}

/// Summary of the received stream, once it is over.
async fn received(receiver: &Receiver) -> Box<strandcast::live::ReceiveSummary> {
    let summary = |event: &Event| match event {
        Event::Received(summary) => Some(summary.clone()),
        _ => None,
    };
    until(60, async || receiver.event().await, summary).await
}

#[tokio::test]
async fn every_byte_of_a_file_arrives() {
    let (played, media) = (Collect::default(), clip(2));
    let (receiver, address) = receiver(None, |config| config.once = true, played.clone());
    let sender = plain(address, Memory::new(media.clone()), None).await;
    assert_eq!(ends(&sender).await, Ok(()));
    let summary = received(&receiver).await;
    assert_eq!((summary.identical, summary.complete, summary.bytes), (Some(true), true, media.len() as u64));
    assert_eq!(receiver.wait().await, Ok(()));
    assert!(played.bytes() == media, "{} of {} bytes", played.bytes().len(), media.len());

    let mut texts = Vec::new();
    let mut last = None;
    while let Some(event) = sender.event().await {
        match event {
            Event::Stats(stats) => last = Some(stats),
            Event::Sent(summary) => assert_eq!((summary.bytes, summary.reconnects), (media.len() as u64, 0)),
            other => texts.push(other.to_string()),
        }
    }
    assert_eq!(texts[0], format!("sending memory to {address} over loopback (127.0.0.1)"));
    assert_eq!(texts[1], "warning: the stream is neither encrypted nor authenticated");
    let last = last.expect("there were figures");
    assert_eq!(sender.stats().map(|stats| stats.seconds), Some(last.seconds));
    names_of_json(&last);
}

#[tokio::test]
async fn inputs_and_outputs_are_opened_by_their_names() {
    let (folder, media) = (Folder::new(), clip(2));
    let (from, to) = (folder.join("in.ts"), folder.join("out.ts"));
    std::fs::write(&from, &media).expect("a temporary file");
    let output = AnyOutput::open(&to, false).await.expect("it is a new file");
    let (receiver, address) = receiver(None, |config| config.once = true, output);
    let input = AnyInput::open(&from).await.expect("it is there");
    assert!(!input.is_live(), "a file is paced by its clock");
    let sender = plain(address, input, None).await;
    assert_eq!(ends(&sender).await, Ok(()));
    assert_eq!(received(&receiver).await.identical, Some(true));
    assert_eq!(receiver.wait().await, Ok(()));
    assert!(std::fs::read(&to).expect("it was written") == media);

    let full = AnyOutput::open(&to, false).await.expect_err("the file has content").to_string();
    assert!(full.contains("has content"), "{full}");
    for wrong in ["rtmp://127.0.0.1/live", "udp://127.0.0.1"] {
        assert!(matches!(AnyInput::open(wrong).await, Err(Error::Usage(_))), "{wrong}");
        assert!(matches!(AnyOutput::open(wrong, true).await, Err(Error::Usage(_))), "{wrong}");
    }
}

/// The names of `--stats`.
fn names_of_json(stats: &Stats) {
    let json = serde_json::to_value(stats).expect("numbers and names always serialise");
    let names = ["seconds", "role", "peer", "scheme", "media", "buffers", "wire", "paths", "diagnostics"];
    assert!(names.iter().all(|name| json.get(name).is_some()), "{json}");
    let path =
        ["name", "state", "rate_bps", "rtt_ms", "loss", "window_bytes", "in_flight_bytes", "bytes", "down_s"];
    assert!(path.iter().all(|name| json["paths"][0].get(name).is_some()), "{json}");
    assert_eq!((&json["role"], &json["paths"][0]["name"]), (&"send".into(), &"loopback".into()));
}

#[tokio::test]
async fn two_sealed_streams_at_once_keep_apart() {
    let folder = Folder::new();
    let mut running = Vec::new();
    for n in 0..2 {
        let store = Store::at(folder.join(format!("studio{n}/identity")));
        let gate = Gate::open(&store, None).expect("a new identity");
        let played = Collect::default();
        let (receiver, address) = receiver(None, |config| config.gate = Some(gate), played.clone());
        let pairing =
            store.pair(&[address.to_string().parse().expect("a host")], true, None).expect("a string");
        let van = Store::at(folder.join(format!("van{n}/identity")));
        let pairing = Pairing::decode(&pairing).expect("it is whole");
        let to = Destination::paired(&van, pairing).expect("a new identity");
        let mut config = SenderConfig::new(to, scheme());
        config.latency = LATENCY;
        let media = clip(1 + n);
        let sender = Sender::start(config, Memory::new(media.clone())).await.expect("loopback is there");
        running.push((receiver, sender, played, media));
    }
    for (receiver, sender, played, media) in running {
        assert_eq!(ends(&sender).await, Ok(()));
        let encrypted = |event: &Event| matches!(event, Event::Encrypted(_)).then_some(());
        until(1, async || sender.event().await, encrypted).await;
        let enrolled = |event: &Event| matches!(event, Event::Gate(_)).then(|| event.to_string());
        let line = until(1, async || receiver.event().await, enrolled).await;
        assert!(line.starts_with("new sender "), "{line}");
        assert_eq!(received(&receiver).await.identical, Some(true));
        assert!(played.bytes() == media, "{} of {} bytes", played.bytes().len(), media.len());
    }
}

#[tokio::test]
async fn a_sender_that_is_dropped_ends_its_stream() {
    let played = Collect::default();
    let (receiver, address) = receiver(None, |_| (), played.clone());
    let sender = plain(address, Memory::live(clip(20)), None).await;
    let sends =
        |event: &Event| matches!(event, Event::Stats(stats) if stats.media.messages > 20).then_some(());
    until(20, async || sender.event().await, sends).await;
    let begun = std::time::Instant::now();
    drop(sender);
    let summary = received(&receiver).await;
    assert!(begun.elapsed() < Duration::from_secs(8), "it said so: {:?}", begun.elapsed());
    assert!(!summary.complete && summary.played > 0);
    let lost = |event: &Event| match event {
        Event::SenderLost { why } => Some(why.clone()),
        _ => None,
    };
    let why = until(5, async || receiver.event().await, lost).await;
    assert!(why.contains("the sender has ended"), "{why}");
    // The next one is played.
    let next = plain(address, Memory::new(clip(1)), None).await;
    assert_eq!(ends(&next).await, Ok(()));
    assert_eq!(received(&receiver).await.identical, Some(true));
}

/// The receiver is dropped before its task has run.
#[tokio::test]
async fn a_receiver_that_is_dropped_at_once_frees_its_port() {
    let (dropped, address) = receiver(None, |_| (), Collect::default());
    drop(dropped);
    tokio::time::sleep(Duration::from_millis(200)).await;
    let (_again, at) = receiver(Some(address), |_| (), Collect::default());
    assert_eq!(at, address);
}

#[tokio::test]
async fn a_sender_finds_a_receiver_that_returns() {
    let (receiver1, address) = receiver(None, |_| (), Collect::default());
    let sender = plain(address, Memory::live(clip(24)), None).await;
    let plays =
        |event: &Event| matches!(event, Event::Stats(stats) if stats.media.messages > 20).then_some(());
    until(20, async || receiver1.event().await, plays).await;
    drop(receiver1);
    let lost = |event: &Event| match event {
        Event::Lost { why } => Some(why.clone()),
        _ => None,
    };
    let why = until(20, async || sender.event().await, lost).await;
    assert!(why.contains("the receiver has ended"), "{why}");
    // Its port is free.
    let played = Collect::default();
    let (receiver2, _) = receiver(Some(address), |_| (), played.clone());
    let again = |event: &Event| matches!(event, Event::Connected { after: Some(_), .. }).then_some(());
    until(20, async || sender.event().await, again).await;
    until(20, async || receiver2.event().await, plays).await;
    assert!(!played.bytes().is_empty());
    sender.stop();
    assert_eq!(ends(&sender).await, Ok(()));
    let sent = |event: &Event| match event {
        Event::Sent(summary) => Some(summary.reconnects),
        _ => None,
    };
    assert_eq!(until(1, async || sender.event().await, sent).await, 1);
}

#[tokio::test]
async fn a_second_sender_is_refused() {
    let (receiver, address) = receiver(None, |_| (), Collect::default());
    let first = plain(address, Memory::live(clip(24)), None).await;
    let plays = |event: &Event| matches!(event, Event::Receiving { .. }).then_some(());
    until(20, async || receiver.event().await, plays).await;
    let second = plain(address, Memory::live(clip(24)), None).await;
    let refusal = ends(&second).await.expect_err("another one is received");
    assert_eq!(refusal, Error::Peer(format!("{address} refuses: already receiving from another sender")));
    let busy = |event: &Event| matches!(event, Event::Busy { .. }).then_some(());
    until(5, async || receiver.event().await, busy).await;
    first.stop();
    assert_eq!(ends(&first).await, Ok(()));
}

/// An input that can be read once.
struct Once(Memory);

impl Input for Once {
    fn name(&self) -> String {
        "a pipe".to_owned()
    }

    fn is_live(&self) -> bool {
        false
    }

    async fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer).await
    }
}

#[tokio::test]
async fn an_input_that_cannot_be_sent_again_ends_with_the_refusal() {
    let (receiver, address) = receiver(None, |_| (), Collect::default());
    let _first = plain(address, Memory::live(clip(24)), None).await;
    let plays = |event: &Event| matches!(event, Event::Receiving { .. }).then_some(());
    until(20, async || receiver.event().await, plays).await;
    let second = plain(address, Once(Memory::new(clip(24))), Some(Retry::Forever)).await;
    let refusal = ends(&second).await.expect_err("another one is received");
    let why = "already receiving from another sender; a pipe cannot be sent again from its beginning";
    assert_eq!(refusal, Error::Peer(format!("{address} refuses: {why}")));
    let again = |event: &Event| matches!(event, Event::Refused { .. } | Event::Connected { .. });
    while let Some(event) = second.event().await {
        assert!(!again(&event), "it does not try again: {event}");
    }
}

#[tokio::test]
async fn a_receiver_that_is_not_there_is_named() {
    let free = std::net::UdpSocket::bind("127.0.0.1:0").and_then(|socket| socket.local_addr());
    let address = free.expect("a free port");
    let retry = Some(Retry::For(Duration::from_secs(1)));
    let sender = plain(address, Memory::new(clip(1)), retry).await;
    let error = ends(&sender).await.expect_err("nothing listens there");
    assert!(matches!(&error, Error::Peer(line) if line.contains(&address.to_string())), "{error}");
}

/// An output that takes nothing.
struct Stuck;

impl Output for Stuck {
    fn name(&self) -> String {
        "a pipe without a reader".to_owned()
    }

    async fn write(&mut self, _: &Batch) -> io::Result<()> {
        std::future::pending().await
    }
}

#[tokio::test]
async fn an_output_that_takes_nothing_holds_up_no_stream_and_no_end() {
    let (receiver, address) = receiver(None, |_| (), Stuck);
    let sender = plain(address, Memory::new(clip(1)), None).await;
    assert_eq!(ends(&sender).await, Ok(()));
    assert!(received(&receiver).await.complete, "it was played, though not written");
    receiver.stop();
    let error =
        tokio::time::timeout(Duration::from_secs(5), receiver.wait()).await.expect("it does not wait");
    let unread = "a pipe without a reader is not read: the rest of the stream is lost";
    assert_eq!(error, Err(Error::Media(unread.to_owned())));
}

/// An output that fails.
struct Full;

impl Output for Full {
    fn name(&self) -> String {
        "a full disk".to_owned()
    }

    async fn write(&mut self, _: &Batch) -> io::Result<()> {
        Err(io::ErrorKind::StorageFull.into())
    }
}

#[tokio::test]
async fn an_output_that_fails_ends_the_receiver_and_the_sender_learns_why() {
    let (receiver, address) = receiver(None, |_| (), Full);
    let sender = plain(address, Memory::live(clip(24)), None).await;
    let error = tokio::time::timeout(Duration::from_secs(20), receiver.wait()).await.expect("it ends");
    assert_eq!(error, Err(Error::Media("cannot write a full disk: no storage space".to_owned())));
    let refused = |event: &Event| match event {
        Event::Refused { why } => Some(why.clone()),
        _ => None,
    };
    // The input is live: the sender tries again for as long as it lasts.
    let why = until(20, async || sender.event().await, refused).await;
    assert_eq!(why, format!("{address} refuses: the receiver cannot write what it plays"));
}

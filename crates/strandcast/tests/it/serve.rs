//! A server of many streams and its senders, over loopback.

use std::net::UdpSocket;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use strandcast::Error;
use strandcast::live::input::Input;
use strandcast::live::serve::{Config, Event, Server};
use strandcast::live::{self, Retry, Sender, SenderConfig};
use strandcast::pairing::{Destination, Gate, Pairing, Store, key_text};

use crate::common::{Folder, Memory, clip, scheme};

/// Long enough for a machine that runs many tests at once.
const LATENCY: Duration = Duration::from_secs(4);
/// Time after which a test has failed.
const PATIENCE: Duration = Duration::from_secs(120);

/// A server, its store, and senders that are paired with it.
struct Studio {
    server: Server,
    store: Store,
    folder: Folder,
    seen: Vec<Event>,
}

/// The store of a sender.
fn van(folder: &Folder, name: &str) -> Store {
    let store = Store::at(folder.join(format!("{name}/identity")));
    store.identity_or_new().expect("a new identity");
    store
}

/// `{van1}` in a configuration is the key of the sender `van1`, and `{here}` the folder of the test.
fn written(folder: &Folder, text: &str) -> String {
    let mut text = text.replace("{here}", &folder.join("").display().to_string());
    for name in ["van1", "van2", "van3"] {
        let key = van(folder, name).identity().expect("it can be read").expect("it is there").public();
        text = text.replace(&format!("{{{name}}}"), &key_text(&key));
    }
    text
}

fn config(folder: &Folder, text: &str) -> Config {
    let text = format!("listen = [\"127.0.0.1:0\"]\n{}", written(folder, text));
    Config::parse(&text, "serve.toml", Path::new("/")).expect("it is right")
}

impl Studio {
    fn new(text: &str) -> Studio {
        let folder = Folder::new();
        let config = config(&folder, text);
        let store = Store::at(folder.join("studio/identity"));
        let gate = Gate::open(&store, None).expect("a new identity");
        let server = Server::start(config, scheme(), gate).expect("the port is free");
        Studio { server, store, folder, seen: Vec::new() }
    }

    /// Starts to send as `name`, for the stream that `asks` names.
    async fn send(&self, name: &str, asks: Option<&str>, input: impl Input) -> Sender {
        let host = self.server.addresses()[0].to_string().parse().expect("a host");
        let text = self.store.pair(&[host], true, None).expect("a string");
        let pairing = Pairing::decode(&text).expect("it is whole");
        let to = Destination::paired(&van(&self.folder, name), pairing).expect("an identity");
        let mut config = SenderConfig::new(to, scheme());
        config.latency = LATENCY;
        config.stream = asks.map(|name| name.parse().expect("a name"));
        Sender::start(config, input).await.expect("loopback is there")
    }

    async fn reload(&self, text: &str) -> Result<String, Error> {
        let changes = self.server.reload(config(&self.folder, text)).await;
        changes.map(|changes| changes.to_string())
    }

    /// Reads events until one of them has this text.
    async fn until(&mut self, words: &str) -> String {
        let found = async {
            loop {
                let event = self.server.event().await.expect("the server runs");
                let text = event.to_string();
                if !matches!(&event, Event::Stream { event: live::Event::Stats(_), .. }) {
                    self.seen.push(event);
                }
                if text.contains(words) {
                    return text;
                }
            }
        };
        match tokio::time::timeout(PATIENCE, found).await {
            Ok(text) => text,
            Err(_) => panic!("no {words:?}: {}", self.texts()),
        }
    }

    /// Reads events until each of these streams has begun, in any order.
    async fn until_all_receive(&mut self, streams: &[&str]) {
        for stream in streams {
            let words = format!("{stream}: receiving from ");
            if !self.seen.iter().any(|event| event.to_string().starts_with(&words)) {
                self.until(&words).await;
            }
        }
    }

    fn texts(&self) -> String {
        self.seen.iter().map(|event| format!("{event}\n")).collect()
    }

    /// Waits until the recordings of a stream are these.
    async fn has(&self, stream: &str, expected: &[Vec<u8>]) {
        let begun = Instant::now();
        while self.recordings(stream) != expected {
            let lengths: Vec<usize> = self.recordings(stream).iter().map(Vec::len).collect();
            let wanted: Vec<usize> = expected.iter().map(Vec::len).collect();
            assert!(begun.elapsed() < PATIENCE, "{stream}: {lengths:?} bytes in place of {wanted:?}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// Recordings of a stream in the order of their names.
    fn recordings(&self, stream: &str) -> Vec<Vec<u8>> {
        let files = std::fs::read_dir(self.folder.join("")).expect("the folder of the test");
        let named = |path: &PathBuf| {
            path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&format!("{stream}-2")))
        };
        let mut files: Vec<PathBuf> =
            files.filter_map(|file| Some(file.ok()?.path())).filter(named).collect();
        // A number that is added to a name comes later.
        files.sort_by_key(|file| file.with_extension(""));
        files.iter().map(|file| std::fs::read(file).expect("it can be read")).collect()
    }
}

async fn ends(sender: &Sender) -> Result<(), Error> {
    tokio::time::timeout(PATIENCE, sender.wait()).await.expect("it ends")
}

fn why(outcome: Result<(), Error>) -> String {
    outcome.expect_err("it is refused").to_string()
}

const TWO: &str = r#"
[defaults]
outputs = ["{here}{stream}-{time}.ts"]

[streams.a]
senders = ["{van1}"]

[streams.b]
senders = ["{van2}", "{van1}"]
"#;

#[tokio::test]
async fn a_sender_sends_only_what_its_key_may_send() {
    let mut studio = Studio::new(&TWO.replace(", \"{van1}\"", ""));
    let media = clip(2);
    let first = studio.send("van1", None, Memory::new(media.clone())).await;
    let second = studio.send("van2", Some("b"), Memory::new(clip(1))).await;
    assert_eq!((ends(&first).await, ends(&second).await), (Ok(()), Ok(())));

    // Another stream than its own, one that does not exist, and a paired sender without a right.
    let other = studio.send("van1", Some("b"), Memory::new(clip(1))).await;
    assert!(why(ends(&other).await).ends_with("refuses: it may not send b, but a"));
    studio.until("refused: it may not send b, but a").await;
    let other = studio.send("van3", Some("c"), Memory::new(clip(1))).await;
    assert!(why(ends(&other).await).ends_with("refuses: it may not send c"));
    let other = studio.send("van3", None, Memory::new(clip(1))).await;
    assert!(why(ends(&other).await).ends_with("refuses: no stream here is for this sender"));

    studio.has("a", &[media]).await;
    studio.has("b", &[clip(1)]).await;
}

#[tokio::test]
async fn a_sender_that_may_send_several_streams_chooses_one() {
    let mut studio = Studio::new(TWO);
    let unclear = studio.send("van1", None, Memory::new(clip(1))).await;
    assert!(why(ends(&unclear).await).ends_with("refuses: it may send a or b: choose one with --stream"));
    studio.until("refused: it may send a or b").await;
    let chosen = studio.send("van1", Some("b"), Memory::new(clip(2))).await;
    assert_eq!(ends(&chosen).await, Ok(()));
    studio.has("b", &[clip(2)]).await;
    assert!(studio.recordings("a").is_empty());
}

#[tokio::test]
async fn the_newest_sender_of_a_key_takes_the_stream_over() {
    let mut studio = Studio::new(TWO);
    let first = studio.send("van1", Some("a"), Memory::live(clip(20))).await;
    studio.until("a: receiving from ").await;
    let second = studio.send("van1", Some("a"), Memory::new(clip(1))).await;
    studio.until("the newest wins").await;
    assert!(why(ends(&first).await).contains("another sender with the same key has taken over"));
    assert_eq!(ends(&second).await, Ok(()));
    let begun = Instant::now();
    while studio.recordings("a").last() != Some(&clip(1)) {
        assert!(begun.elapsed() < PATIENCE, "the second recording is not whole: {}", studio.texts());
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test]
async fn an_output_that_fails_touches_neither_its_stream_nor_another_one() {
    let closed = {
        let socket = UdpSocket::bind("127.0.0.1:0").expect("a free port");
        socket.local_addr().expect("it is bound")
    };
    let text = format!(
        "[streams.a]\nsenders = [\"{{van2}}\"]\noutputs = [\"{{here}}{{stream}}-{{time}}.ts\"]\n\
         [streams.b]\nsenders = [\"{{van1}}\"]\noutputs = [\"/dev/full\", \"udp://{closed}\"]\n"
    );
    let mut studio = Studio::new(&text);
    let (good, bad) = (clip(2), clip(2));
    let untouched = studio.send("van2", None, Memory::new(good.clone())).await;
    let failing = studio.send("van1", None, Memory::new(bad)).await;
    assert_eq!((ends(&untouched).await, ends(&failing).await), (Ok(()), Ok(())));
    studio.until("/dev/full: no space left on device").await;
    assert!(!studio.texts().contains("a: /dev"), "{}", studio.texts());
    studio.has("a", &[good]).await;
    // The stream of the failed outputs takes another sender.
    let again = studio.send("van1", None, Memory::new(clip(1))).await;
    assert_eq!(ends(&again).await, Ok(()));
}

#[tokio::test]
async fn an_output_stays_open_between_two_senders() {
    let player = tokio::net::UdpSocket::bind("127.0.0.1:0").await.expect("a free port");
    let at = player.local_addr().expect("it is bound");
    let text = TWO.replace("{here}{stream}-{time}.ts", &format!("udp://{at}?ttl=1"));
    let text = text.split("[streams.b]").next().expect("the first part").to_owned();
    let mut studio = Studio::new(&text);
    let mut from = Vec::new();
    for _ in 0..2 {
        let sender = studio.send("van1", None, Memory::new(clip(1))).await;
        assert_eq!(ends(&sender).await, Ok(()));
        studio.until("a: played ").await;
        let mut datagram = [0; 2048];
        let received = tokio::time::timeout(PATIENCE, player.recv_from(&mut datagram)).await;
        from.push(received.expect("in time").expect("media").1);
        while player.try_recv_from(&mut datagram).is_ok() {}
    }
    assert_eq!(from[0], from[1], "one socket for both");
}

#[tokio::test]
async fn a_reload_under_load_touches_only_what_has_changed() {
    let three = format!("{}\n[streams.c]\nsenders = [\"{{van3}}\"]\n", TWO.replace(", \"{van1}\"", ""));
    let mut studio = Studio::new(&three);
    let media = clip(6);
    let untouched = studio.send("van1", None, Memory::live(media.clone())).await;
    let changed = studio.send("van2", None, Memory::live(clip(20))).await;
    let removed = studio.send("van3", None, Memory::live(clip(20))).await;
    studio.until_all_receive(&["a", "b", "c"]).await;
    let after = TWO.replace(", \"{van1}\"", "").replace("[streams.b]\n", "[streams.b]\nlatency_ms = 4500\n");
    let after = format!("{after}\n[streams.d]\nsenders = [\"{{van3}}\"]\n");
    let line = studio.reload(&after).await.expect("it is right");
    assert_eq!(line, "configuration read again: added d; changed b; removed c");
    // The sender of b connects again; that of c may send d now.
    let line = studio.until("b: receiving from ").await;
    assert!(line.ends_with("latency 4500 ms"), "{line}");
    studio.until_all_receive(&["d"]).await;
    assert_eq!(ends(&untouched).await, Ok(()));
    // Nothing was lost.
    studio.has("a", &[media]).await;
    assert!(studio.recordings("b").len() >= 2 && studio.recordings("d").len() == 1);
    let of_a: Vec<String> =
        studio.seen.iter().map(ToString::to_string).filter(|text| text.starts_with("a: ")).collect();
    assert!(!of_a.iter().any(|text| text.contains("again") || text.contains("silent")), "{of_a:#?}");
    drop((changed, removed));
}

#[tokio::test]
async fn a_stream_continues_while_more_senders_may_send_it() {
    let mut studio = Studio::new(TWO);
    let media = clip(4);
    let sender = studio.send("van2", None, Memory::live(media.clone())).await;
    studio.until("b: receiving from ").await;
    let more = TWO.replace("{van1}\"]\n\n[streams.b]", "{van1}\", \"{van3}\"]\n\n[streams.b]");
    let more = more.replace("[\"{van2}\", ", "[\"{van3}\", \"{van2}\", ");
    let line = studio.reload(&more).await.expect("it is right");
    assert_eq!(line, "configuration read again: more senders for a, b");
    let new = studio.send("van3", Some("a"), Memory::new(clip(1))).await;
    assert_eq!((ends(&new).await, ends(&sender).await), (Ok(()), Ok(())));
    studio.has("a", &[clip(1)]).await;
    studio.has("b", &[media]).await;
    // One that may no longer send is cut off.
    let gone = studio.send("van3", Some("b"), Memory::live(clip(20))).await;
    studio.until("b: receiving from ").await;
    let line = studio.reload(TWO).await.expect("it is right");
    assert_eq!(line, "configuration read again: changed a, b");
    studio.until("refused: it may not send b").await;
    drop(gone);
}

#[tokio::test]
async fn a_reload_that_is_refused_leaves_everything_as_it_was() {
    let studio = Studio::new(TWO);
    let media = clip(4);
    let sender = studio.send("van1", Some("a"), Memory::live(media.clone())).await;
    let other = TWO.replace("[streams.b]", "[streams.z]");
    let line =
        studio.reload(&format!("max_streams = 5\n{other}")).await.expect_err("it is fixed").to_string();
    assert!(line.starts_with("max_streams cannot change while the server runs"), "{line}");
    assert_eq!(studio.reload(TWO).await.as_deref(), Ok("configuration read again: nothing has changed"));
    let second = studio.send("van2", None, Memory::new(clip(1))).await;
    assert_eq!((ends(&sender).await, ends(&second).await), (Ok(()), Ok(())));
    studio.has("a", &[media]).await;
    studio.has("b", &[clip(1)]).await;
}

#[tokio::test]
async fn the_end_of_a_server_plays_what_has_arrived_and_frees_its_port() {
    let mut studio = Studio::new(TWO);
    let mut sender = studio.send("van1", Some("a"), Memory::live(clip(20))).await;
    studio.until("a: receiving from ").await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    let begun = Instant::now();
    studio.server.stop();
    studio.until("a: played ").await;
    assert_eq!(studio.server.wait().await, Ok(()));
    assert!(why(ends(&sender).await).contains("ended the stream"));
    assert!(!studio.recordings("a")[0].is_empty());
    let address = studio.server.addresses()[0];
    while UdpSocket::bind(address).is_err() {
        assert!(begun.elapsed() < PATIENCE, "the port is not free");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    // A sender that retries finds no one, and says so.
    sender = {
        let host = address.to_string().parse().expect("a host");
        let text = studio.store.pair(&[host], true, None).expect("a string");
        let to =
            Destination::paired(&van(&studio.folder, "van1"), Pairing::decode(&text).expect("it is whole"));
        let mut config = SenderConfig::new(to.expect("an identity"), scheme());
        config.retry = Some(Retry::For(Duration::from_secs(1)));
        Sender::start(config, Memory::new(clip(1))).await.expect("loopback is there")
    };
    assert!(ends(&sender).await.is_err());
}

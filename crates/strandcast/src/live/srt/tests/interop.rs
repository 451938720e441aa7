//! Exchange with libsrt: `srt-live-transmit` of Debian's srt-tools.

use std::io::{Read as _, Write as _};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use strandcast_srt::{Config, Direction, KeySize};
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::relay::Relay;
use super::*;

/// Returns true if the part is not tested here, and says so.
fn skipped() -> bool {
    let parts = std::env::var("STRANDCAST_PARTS").unwrap_or_default();
    let skipped = !parts.split_whitespace().any(|part| part == "srt");
    if skipped {
        println!("not run: srt is not in STRANDCAST_PARTS");
    }
    skipped
}

/// A running `srt-live-transmit`, which ends when this is dropped.
struct Transmit(Child);

impl Transmit {
    /// Starts it between two URLs.
    fn start(from: &str, to: &str) -> Transmit {
        let mut command = Command::new("srt-live-transmit");
        command.args(["-q", "-a:no", "-chunk:1316", from, to]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        Transmit(command.spawn().expect("srt-live-transmit of srt-tools"))
    }

    /// Writes marks to its input until `open` is set, then payloads, ten each 20 ms. It drops what it reads before it is
    /// connected.
    fn feed(&mut self, open: Arc<AtomicBool>) {
        let mut input = self.0.stdin.take().expect("a pipe");
        std::thread::spawn(move || {
            let marks = std::iter::repeat_with(mark).take_while(|_| !open.load(Ordering::Relaxed));
            for (n, payload) in marks.chain((0..COUNT + PADDING).map(payload)).enumerate() {
                // The test fails if it has ended.
                let _ = input.write_all(&payload);
                if n % 10 == 9 {
                    std::thread::sleep(Duration::from_millis(20));
                }
            }
            // At the end of its input it drops the packets that it has not sent.
            std::thread::sleep(Duration::from_secs(2));
        });
    }

    /// Pieces of its output.
    fn output(&mut self) -> mpsc::UnboundedReceiver<Vec<u8>> {
        let mut output = self.0.stdout.take().expect("a pipe");
        let (read, taken) = mpsc::unbounded_channel();
        std::thread::spawn(move || {
            let mut buffer = vec![0; 1 << 16];
            while let Ok(len @ 1..) = output.read(&mut buffer) {
                if read.send(buffer[..len].to_vec()).is_err() {
                    return;
                }
            }
        });
        taken
    }
}

impl Drop for Transmit {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Variant of a connection: keys of both URLs, of libsrt's alone, and what differs in our configuration.
struct Variant {
    keys: &'static str,
    theirs: &'static str,
    ours: fn(Config) -> Config,
}

const VARIANTS: [Variant; 5] = [
    Variant { keys: "", theirs: "", ours: |c| c },
    Variant { keys: "&passphrase=correct-horse", theirs: "&pbkeylen=16", ours: |c| c },
    Variant { keys: "&passphrase=correct-horse&pbkeylen=32", theirs: "", ours: |c| c },
    // Keys change every 300 packets, announced 100 packets before.
    Variant {
        keys: "&passphrase=correct-horse",
        theirs: "&kmrefreshrate=300&kmpreannounce=100",
        ours: |c| Config { refresh_packets: 300, announce_packets: 100, ..c },
    },
    // Each side has another key size.
    Variant {
        keys: "&passphrase=correct-horse",
        theirs: "&pbkeylen=32",
        ours: |c| Config { key_size: Some(KeySize::Aes192), ..c },
    },
];

const COUNT: usize = 1000;
/// Payloads after those that count: the program holds the last ones back in its buffers.
const PADDING: usize = 100;
/// Latency of a clean network and of one with loss.
const CLEAN: &str = "latency=200";
const LOSSY: &str = "latency=500";

/// A payload before those that count.
fn mark() -> Vec<u8> {
    vec![0x47; PAYLOAD]
}

/// Length of the marks at the beginning.
fn begin(got: &[u8]) -> usize {
    got.chunks(PAYLOAD).take_while(|chunk| *chunk == mark()).count() * PAYLOAD
}

/// Ports of the listener and for the caller, and the relay between them.
async fn ports(seed: Option<u64>) -> (u16, u16, Option<Relay>) {
    let port = free_port();
    match seed {
        Some(seed) => {
            let relay = Relay::start(port, seed).await;
            (port, relay.port, Some(relay))
        }
        None => (port, port, None),
    }
}

/// The URLs of both sides.
fn urls(variant: &Variant, we_call: bool, (listen, call): (u16, u16), latency: &str) -> (SrtUrl, String) {
    let Variant { keys, theirs, .. } = variant;
    let listener = format!("srt://127.0.0.1:{listen}?mode=listener&{latency}{keys}");
    let caller = format!("srt://127.0.0.1:{call}?mode=caller&{latency}{keys}");
    let (own, other) = if we_call { (caller, listener) } else { (listener, caller) };
    (url(&own), format!("{other}{theirs}"))
}

/// libsrt sends, we receive; with a seed over a network with loss.
async fn from_libsrt(variant: &Variant, we_call: bool, seed: Option<u64>) {
    let (listen, call, _relay) = ports(seed).await;
    let latency = if seed.is_some() { LOSSY } else { CLEAN };
    let (own, other) = urls(variant, we_call, (listen, call), latency);
    let (_driver, mut received) = receiver(&own, (variant.ours)(config(&own, Direction::Receive))).await;
    let mut child = Transmit::start("file://con", &other);
    let open = Arc::new(AtomicBool::new(false));
    child.feed(Arc::clone(&open));
    let mut got = Vec::new();
    let done = timeout(PATIENCE, async {
        while got.len() < begin(&got) + COUNT * PAYLOAD {
            got.extend_from_slice(&received.recv().await.expect("the driver runs"));
            open.store(true, Ordering::Relaxed);
        }
    });
    let complete = done.await.is_ok();
    // The writer of the marks ends with the test.
    open.store(true, Ordering::Relaxed);
    let media = &got[begin(&got)..];
    assert!(complete && media == payloads(COUNT), "{own} from {other}: {} bytes", media.len());
}

/// We send, libsrt receives; with a seed over a network with loss.
async fn to_libsrt(variant: &Variant, we_call: bool, seed: Option<u64>) {
    let (listen, call, _relay) = ports(seed).await;
    let latency = if seed.is_some() { LOSSY } else { CLEAN };
    let (own, other) = urls(variant, we_call, (listen, call), latency);
    let (_driver, sent) = sender(&own, (variant.ours)(config(&own, Direction::Send))).await;
    let mut child = Transmit::start(&other, "file://con");
    let mut output = child.output();
    let mut got = Vec::new();
    // Marks until the first one arrives: then the connection is open.
    let opened = timeout(PATIENCE, async {
        while got.is_empty() {
            sent.send(mark()).await.expect("the driver runs");
            if let Ok(read) = timeout(Duration::from_millis(50), output.recv()).await {
                got.extend_from_slice(&read.expect("it writes"));
            }
        }
    });
    opened.await.expect("a connection");
    send(&sent, COUNT + PADDING).await;
    let expected = payloads(COUNT);
    let done = timeout(PATIENCE, async {
        while got.len() < begin(&got) + expected.len() {
            got.extend_from_slice(&output.recv().await.expect("it writes"));
        }
    });
    let complete = done.await.is_ok();
    let media = &got[begin(&got)..];
    assert!(complete && media.starts_with(&expected), "{own} to {other}: {} bytes", media.len());
}

#[tokio::test]
async fn libsrt_sends_to_us_in_both_roles() {
    if !skipped() {
        from_libsrt(&VARIANTS[0], false, None).await;
        from_libsrt(&VARIANTS[2], true, None).await;
    }
}

#[tokio::test]
async fn libsrt_receives_from_us_in_both_roles() {
    if !skipped() {
        to_libsrt(&VARIANTS[0], true, None).await;
        to_libsrt(&VARIANTS[2], false, None).await;
    }
}

mod thorough {
    use super::*;

    #[tokio::test]
    async fn four_roles_with_and_without_encryption_key_changes_and_other_sizes() {
        if skipped() {
            return;
        }
        for variant in &VARIANTS {
            for we_call in [false, true] {
                from_libsrt(variant, we_call, None).await;
                to_libsrt(variant, we_call, None).await;
            }
        }
    }
    /// 5 % loss in both directions, 40 ms, latency 500: nothing is lost.
    #[tokio::test]
    async fn losses_are_recovered_with_libsrt_at_either_end() {
        if skipped() {
            return;
        }
        for (seed, variant) in (1..).zip(&VARIANTS[..3]) {
            for we_call in [false, true] {
                from_libsrt(variant, we_call, Some(seed)).await;
                to_libsrt(variant, we_call, Some(seed)).await;
            }
        }
    }
}

//! Exchange with libsrt: `srt-live-transmit` of Debian's srt-tools, ffmpeg and GStreamer.

use std::collections::HashSet;
use std::io::{Read as _, Write as _};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use strandcast_srt::Direction;
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::relay::Relay;
use super::*;

/// Programs with libsrt.
#[derive(Clone, Copy, Debug)]
enum Program {
    /// `srt-live-transmit`, which comes with libsrt.
    Transmit,
    Ffmpeg,
    GStreamer,
}

impl Program {
    /// Returns true if the part of the tests that has this program does not run here, and says so.
    fn skipped(self) -> bool {
        let part = match self {
            Program::Transmit => "srt",
            Program::Ffmpeg => "ffmpeg",
            Program::GStreamer => "gstreamer",
        };
        !super::part(part)
    }

    /// A key of a URL, which ffmpeg takes in microseconds.
    fn latency(self, ms: u32) -> String {
        format!("latency={}", if matches!(self, Program::Ffmpeg) { 1000 * ms } else { ms })
    }

    /// Copies standard input to a URL.
    fn to(self, url: &str) -> Child {
        match self {
            Program::Transmit => run("srt-live-transmit", &["-q", "-a:no", "-chunk:1316", "file://con", url]),
            Program::Ffmpeg => {
                let (input, output) =
                    (["-f", "data", "-i", "pipe:0"], ["-map", "0", "-c", "copy", "-f", "data"]);
                run("ffmpeg", &[&FFMPEG[..], &input, &output, &["-flush_packets", "1", url]].concat())
            }
            Program::GStreamer => {
                let uri = format!("uri={url}");
                let sink = ["!", "srtsink", &uri, "sync=false"];
                run("gst-launch-1.0", &[&["-q", "fdsrc", "fd=0", "blocksize=1316"][..], &sink].concat())
            }
        }
    }

    /// Copies a URL to standard output.
    fn from(self, url: &str) -> Child {
        match self {
            Program::Transmit => run("srt-live-transmit", &["-q", "-a:no", "-chunk:1316", url, "file://con"]),
            Program::Ffmpeg => {
                let (input, output) = (["-f", "data", "-i", url], ["-map", "0", "-c", "copy", "-f", "data"]);
                run("ffmpeg", &[&FFMPEG[..], &input, &output, &["-flush_packets", "1", "pipe:1"]].concat())
            }
            Program::GStreamer => {
                let uri = format!("uri={url}");
                run("gst-launch-1.0", &["-q", "srtsrc", &uri, "!", "fdsink", "fd=1", "sync=false"])
            }
        }
    }
}

const FFMPEG: [&str; 2] = ["-v", "quiet"];

fn run(program: &str, args: &[&str]) -> Child {
    let mut command = Command::new(program);
    command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    command.spawn().expect(program)
}

/// A running program, which ends when this is dropped.
struct Running(Child);

impl Running {
    /// Writes marks to its input until `open` is set, then payloads, ten every 20 ms. `srt-live-transmit` drops what it
    /// reads before it is connected.
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

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Variant of a connection: keys of both URLs, of libsrt's alone and of ours.
struct Variant {
    keys: &'static str,
    theirs: &'static str,
    ours: &'static str,
}

impl Variant {
    /// Returns true if the sender's keys change.
    fn changes(&self) -> bool {
        self.keys.contains("kmrefreshrate")
    }
}

const VARIANTS: [Variant; 5] = [
    Variant { keys: "", theirs: "", ours: "" },
    Variant { keys: "&passphrase=correct-horse", theirs: "&pbkeylen=16", ours: "" },
    Variant { keys: "&passphrase=correct-horse&pbkeylen=32", theirs: "", ours: "" },
    // Keys change every 300 packets, announced 100 packets before.
    Variant { keys: "&passphrase=correct-horse&kmrefreshrate=300&kmpreannounce=100", theirs: "", ours: "" },
    // Each side has another key size.
    Variant { keys: "&passphrase=correct-horse", theirs: "&pbkeylen=32", ours: "&pbkeylen=24" },
];

const COUNT: usize = 1000;
/// Payloads after those that count: the program holds the last ones back in its buffers.
const PADDING: usize = 100;
/// Latency of a clean network, long enough for a machine that has much to do, and of one with loss.
const CLEAN: u32 = 1000;
const LOSSY: u32 = 500;

/// A payload before those that count.
fn mark() -> Vec<u8> {
    vec![0x47; PAYLOAD]
}

/// Length of the marks at the beginning, of which `known` bytes are known.
fn begin(got: &[u8], known: usize) -> usize {
    // No payload begins with a mark's bytes.
    known + got[known..].iter().take_while(|byte| **byte == 0x47).count()
}

/// Port of the listener, and the relay that the caller calls.
async fn network(seed: Option<u64>) -> (u16, Relay) {
    let port = free_port();
    (port, Relay::start(port, seed).await)
}

/// Fails unless keys changed exactly where they had to.
fn check_changes(variant: &Variant, relay: &Relay, what: &str) {
    let (changes, expected) = (relay.key_changes(), COUNT as u64 / 300);
    assert!(
        if variant.changes() { changes >= expected } else { changes == 0 },
        "{what}: {changes} changes of keys"
    );
}

/// The URLs of both sides.
fn urls(
    program: Program,
    variant: &Variant,
    we_call: bool,
    (listen, call): (u16, u16),
    latency_ms: u32,
) -> (SrtUrl, String) {
    let Variant { keys, theirs, ours } = variant;
    let listener = format!("srt://127.0.0.1:{listen}?mode=listener");
    let caller = format!("srt://127.0.0.1:{call}?mode=caller");
    let (own, other) = if we_call { (caller, listener) } else { (listener, caller) };
    let own = url(&format!("{own}&latency={latency_ms}{keys}{ours}"));
    (own, format!("{other}&{}{keys}{theirs}", program.latency(latency_ms)))
}

/// The program sends, we receive; with a seed over a network with loss. Returns the packets that were lost and sent
/// again.
async fn from_libsrt(program: Program, variant: &Variant, we_call: bool, seed: Option<u64>) -> (u64, u64) {
    let (listen, relay) = network(seed).await;
    let latency = if seed.is_some() { LOSSY } else { CLEAN };
    let (own, other) = urls(program, variant, we_call, (listen, relay.port), latency);
    let (_driver, mut received) = receiver(&own, config(&own, Direction::Receive)).await;
    let mut child = Running(program.to(&other));
    let open = Arc::new(AtomicBool::new(false));
    child.feed(Arc::clone(&open));
    let (mut got, mut marks) = (Vec::new(), 0);
    let done = timeout(PATIENCE, async {
        while got.len() < marks + COUNT * PAYLOAD {
            got.extend_from_slice(&received.recv().await.expect("the driver runs"));
            marks = begin(&got, marks);
            open.store(true, Ordering::Relaxed);
        }
    });
    let complete = done.await.is_ok();
    // The writer of the marks ends with the test.
    open.store(true, Ordering::Relaxed);
    let media = &got[marks..];
    assert!(
        complete && media.starts_with(&payloads(COUNT)),
        "{own} from {program:?}, {other}: {} bytes",
        media.len()
    );
    check_changes(variant, &relay, &format!("{own} from {program:?}, {other}"));
    relay.counts()
}

/// We send, the program receives; with a seed over a network with loss. Returns the packets that were lost and sent
/// again.
async fn to_libsrt(program: Program, variant: &Variant, we_call: bool, seed: Option<u64>) -> (u64, u64) {
    let (listen, relay) = network(seed).await;
    let latency = if seed.is_some() { LOSSY } else { CLEAN };
    let (own, other) = urls(program, variant, we_call, (listen, relay.port), latency);
    let (_driver, sent) = sender(&own, config(&own, Direction::Send)).await;
    let mut child = Running(program.from(&other));
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
    let mut marks = begin(&got, 0);
    let done = timeout(PATIENCE, async {
        while got.len() < marks + expected.len() {
            got.extend_from_slice(&output.recv().await.expect("it writes"));
            marks = begin(&got, marks);
        }
    });
    let complete = done.await.is_ok();
    let media = &got[marks..];
    assert!(complete && media.starts_with(&expected), "{own} to {program:?}, {other}: {} bytes", media.len());
    check_changes(variant, &relay, &format!("{own} to {program:?}, {other}"));
    relay.counts()
}

/// libsrt at both ends of a network with loss. Returns the payloads that did not arrive, and the packets that were lost
/// and sent again.
async fn libsrt_alone(variant: &Variant, seed: u64) -> (u64, (u64, u64)) {
    let (listen, relay) = network(Some(seed)).await;
    let url = |port: u16, mode: &str| {
        let Variant { keys, theirs, .. } = variant;
        format!("srt://127.0.0.1:{port}?mode={mode}&{}{keys}{theirs}", Program::Transmit.latency(LOSSY))
    };
    let mut receiver = Running(Program::Transmit.from(&url(listen, "listener")));
    let mut output = receiver.output();
    sleep(Duration::from_secs(1)).await;
    let mut sender = Running(Program::Transmit.to(&url(relay.port, "caller")));
    let open = Arc::new(AtomicBool::new(false));
    sender.feed(Arc::clone(&open));
    let mut got = Vec::new();
    let mut patience = PATIENCE;
    while let Ok(Some(read)) = timeout(patience, output.recv()).await {
        open.store(true, Ordering::Relaxed);
        patience = Duration::from_secs(3);
        got.extend_from_slice(&read);
    }
    open.store(true, Ordering::Relaxed);
    let arrived: HashSet<&[u8]> = got.chunks(PAYLOAD).collect();
    let missing = (0..COUNT).filter(|n| !arrived.contains(&payload(*n)[..])).count() as u64;
    assert!(missing < COUNT as u64, "no connection");
    (missing, relay.counts())
}

#[tokio::test]
async fn libsrt_sends_to_us_in_both_roles() {
    if !Program::Transmit.skipped() {
        from_libsrt(Program::Transmit, &VARIANTS[0], false, None).await;
        from_libsrt(Program::Transmit, &VARIANTS[2], true, None).await;
    }
}

#[tokio::test]
async fn libsrt_receives_from_us_in_both_roles() {
    if !Program::Transmit.skipped() {
        to_libsrt(Program::Transmit, &VARIANTS[0], true, None).await;
        to_libsrt(Program::Transmit, &VARIANTS[2], false, None).await;
    }
}

mod thorough {
    use super::*;

    async fn four_roles(program: Program, variants: &[Variant]) {
        if program.skipped() {
            return;
        }
        for variant in variants {
            for we_call in [false, true] {
                from_libsrt(program, variant, we_call, None).await;
                to_libsrt(program, variant, we_call, None).await;
            }
        }
    }

    #[tokio::test]
    async fn four_roles_with_and_without_encryption_key_changes_and_other_sizes() {
        four_roles(Program::Transmit, &VARIANTS).await;
    }

    #[tokio::test]
    async fn four_roles_with_ffmpeg() {
        four_roles(Program::Ffmpeg, &VARIANTS).await;
    }

    #[tokio::test]
    async fn four_roles_with_gstreamer() {
        four_roles(Program::GStreamer, &VARIANTS).await;
    }

    /// 5 % loss and 40 ms in each direction, latency 500: nothing is lost with this crate at either end, and as a
    /// sender it repeats at most one and a half packets for each that was lost. libsrt at both ends is printed for
    /// comparison.
    #[tokio::test]
    async fn losses_are_recovered_with_libsrt_at_either_end() {
        if Program::Transmit.skipped() {
            return;
        }
        let (mut theirs, mut ours) = ((0, 0), (0, 0));
        let add = |sum: &mut (u64, u64), (lost, resent)| *sum = (sum.0 + lost, sum.1 + resent);
        for (seed, variant) in (1..).zip(&VARIANTS[..3]) {
            for we_call in [false, true] {
                add(&mut theirs, from_libsrt(Program::Transmit, variant, we_call, Some(seed)).await);
                add(&mut ours, to_libsrt(Program::Transmit, variant, we_call, Some(seed)).await);
            }
        }
        let (mut missing, mut alone) = (0, (0, 0));
        for (seed, variant) in (1..).zip(&VARIANTS[..3]) {
            let (gone, counts) = libsrt_alone(variant, seed).await;
            missing += gone;
            add(&mut alone, counts);
        }
        println!(
            "packets lost on the network and sent again: this crate to libsrt {ours:?}, all payloads arrived;"
        );
        println!("libsrt to this crate {theirs:?}, all payloads arrived;");
        println!("libsrt to libsrt {alone:?}, {missing} of {} payloads did not arrive", 3 * COUNT);
        assert!(2 * ours.1 <= 3 * ours.0, "{ours:?}");
    }
}

//! Runs the built command and watches it, with timeouts everywhere.

pub mod captured;
pub mod home;
pub mod link;
pub mod pairing;
pub mod peer;
pub mod relay;
pub mod scene;
pub mod terminal;
pub mod wire;

use std::io::Read;
use std::net::UdpSocket;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// Time limit of any step on a busy machine.
pub const LONG: Duration = Duration::from_secs(40);

/// A running command and its output so far.
pub struct Running {
    child: Child,
    pub out: Arc<Mutex<Vec<u8>>>,
    err: Arc<Mutex<Vec<u8>>>,
    readers: Vec<std::thread::JoinHandle<()>>,
}

/// Result of a command.
#[derive(Debug)]
pub struct Ended {
    pub code: Option<i32>,
    pub out: Vec<u8>,
    pub err: String,
    pub took: Duration,
}

/// Starts `strandcast` with arguments separated by blanks, without encryption: most tests are about the transport, and
/// their peers have no keys. With keys: [`home::Home`].
pub fn start(args: &str) -> Running {
    start_with(args, Stdio::null())
}

/// Starts `strandcast` with an input to read from.
pub fn start_with(args: &str, input: Stdio) -> Running {
    let mut command = command(args);
    if ["send ", "receive ", "perf "].iter().any(|verb| args.starts_with(verb)) {
        command.arg("--plain");
    }
    spawn(command.stdin(input))
}

/// The command with arguments separated by blanks.
fn command(args: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_strandcast"));
    command.args(args.split_whitespace());
    command
}

/// Starts a command as it is.
pub fn spawn(command: &mut Command) -> Running {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let (out, err) = (Arc::default(), Arc::default());
    let readers = vec![
        collect(child.stdout.take().unwrap(), Arc::clone(&out)),
        collect(child.stderr.take().unwrap(), Arc::clone(&err)),
    ];
    Running { child, out, err, readers }
}

fn collect(mut from: impl Read + Send + 'static, into: Arc<Mutex<Vec<u8>>>) -> std::thread::JoinHandle<()> {
    std::thread::spawn(move || {
        let mut buffer = [0; 4096];
        while let Ok(n @ 1..) = from.read(&mut buffer) {
            into.lock().unwrap().extend_from_slice(&buffer[..n]);
        }
    })
}

/// Runs `strandcast` to completion.
pub fn run(args: &str) -> Ended {
    start(args).end()
}

impl Running {
    /// Its output on standard error.
    pub fn said(&self) -> String {
        String::from_utf8_lossy(&self.err.lock().unwrap()).into_owned()
    }

    /// Waits until it prints `text`.
    #[track_caller]
    pub fn says(&self, text: &str) {
        self.until(text, || self.said().contains(text));
    }

    /// Waits until `done`.
    #[track_caller]
    pub fn until(&self, what: &str, done: impl Fn() -> bool) {
        let start = Instant::now();
        while !done() {
            assert!(start.elapsed() < LONG, "no {what:?} in {:?}", self.said());
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    pub fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(self.child.id() as i32), signal).unwrap();
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Maximum resident memory in bytes; 0 once it has ended.
    pub fn peak(&self) -> u64 {
        self.memory("VmHWM:")
    }

    /// Memory that it has allocated and used, bytes; 0 once it has ended. Pages of its program file, which a longer run touches
    /// more of, do not count.
    pub fn resident(&self) -> u64 {
        self.memory("RssAnon:")
    }

    fn memory(&self, of: &str) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.id())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix(of));
        line.map_or(0, |line| line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024)
    }

    pub fn is_over(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    /// Waits for its end.
    #[track_caller]
    pub fn end(mut self) -> Ended {
        let start = Instant::now();
        while !self.is_over() {
            assert!(start.elapsed() < LONG, "it hangs: {:?}", self.said());
            std::thread::sleep(Duration::from_millis(5));
        }
        let took = start.elapsed();
        let code = self.child.wait().unwrap().code();
        for reader in self.readers.drain(..) {
            reader.join().unwrap();
        }
        let out = std::mem::take(&mut *self.out.lock().unwrap());
        Ended { code, out, err: self.said(), took }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It has ended, or the test has failed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Ended {
    /// Asserts that it failed with this code and that its last line, the only diagnostic, contains these words.
    #[track_caller]
    pub fn fails(&self, code: i32, words: &[&str]) {
        assert_eq!(self.code, Some(code), "{self:?}");
        let complaints: Vec<&str> = self.err.lines().filter(|l| l.starts_with("strandcast: ")).collect();
        assert_eq!(complaints.len(), 1, "{self:?}");
        assert_eq!(self.err.lines().last(), Some(complaints[0]), "{self:?}");
        assert!(words.iter().all(|w| complaints[0].contains(w)), "{words:?}: {}", complaints[0]);
        assert!(!self.err.contains("panicked"), "{self:?}");
    }

    /// Asserts success.
    #[track_caller]
    pub fn succeeds(&self) {
        assert_eq!(self.code, Some(0), "{self:?}");
    }

    /// Its standard output as JSON.
    #[track_caller]
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.out).unwrap_or_else(|e| panic!("{e}: {self:?}"))
    }
}

/// A UDP port that is free, and that no other socket of a test takes by chance: those get ports from 32768 on.
pub fn port() -> u16 {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    loop {
        let next = NEXT.fetch_add(1, Ordering::Relaxed);
        let port = 20_000 + (std::process::id() * 61 + next) % 12_000;
        if UdpSocket::bind(("127.0.0.1", port as u16)).is_ok() {
            return port as u16;
        }
    }
}

/// A path for a file of this test: others have none of the same name, except those of threads that a test starts.
pub fn file(name: &str) -> PathBuf {
    let thread = std::thread::current();
    let test = thread.name().unwrap_or_default().replace("::", "-");
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{}-{test}-{name}", std::process::id()))
}

/// The clip.
pub fn clip() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../media/clip.ts"))
}

/// The first seconds of the clip, 125 000 bytes each but for cut packets.
pub fn seconds(seconds: usize, name: &str) -> (PathBuf, Vec<u8>) {
    let mut bytes = std::fs::read(clip()).unwrap();
    bytes.truncate(seconds * 125_000 / 188 * 188);
    let path = file(name);
    std::fs::write(&path, &bytes).unwrap();
    (path, bytes)
}

//! Inputs, outputs and stores of tests.

use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use strandcast::Scheme;
use strandcast::live::input::Input;
use strandcast::live::output::{Batch, Output};
use strandcast::live::{Event, Listening, Receiver, ReceiverConfig};

/// Bytes of the test clip, 24 s of 1 Mbit/s.
const CLIP: &[u8] = include_bytes!("../../../../media/clip.ts");
/// Pause between two pieces of a live input.
const PIECE: Duration = Duration::from_millis(10);
/// Bytes of a transport packet.
const PACKET: usize = 188;

/// About `seconds` seconds of the clip.
pub fn clip(seconds: usize) -> Vec<u8> {
    CLIP[..CLIP.len() * seconds / 24 / PACKET * PACKET].to_vec()
}

/// An input in memory.
#[derive(Clone)]
pub struct Memory {
    all: Vec<u8>,
    at: usize,
    /// If set, the input is live: it delivers 1316 bytes at a time with this pause. Otherwise it delivers as fast as it
    /// is read.
    live: Option<Duration>,
}

impl Memory {
    pub fn new(all: Vec<u8>) -> Memory {
        Memory { all, at: 0, live: None }
    }

    /// About 1 Mbit/s, live.
    pub fn live(all: Vec<u8>) -> Memory {
        Memory { live: Some(PIECE), ..Memory::new(all) }
    }
}

impl Input for Memory {
    fn name(&self) -> String {
        "memory".to_owned()
    }

    fn is_live(&self) -> bool {
        self.live.is_some()
    }

    async fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut len = buffer.len().min(self.all.len() - self.at);
        if let Some(pause) = self.live {
            tokio::time::sleep(pause).await;
            len = len.min(7 * PACKET);
        }
        buffer[..len].copy_from_slice(&self.all[self.at..self.at + len]);
        self.at += len;
        Ok(len)
    }

    async fn rewind(&mut self) -> io::Result<()> {
        self.at = 0;
        Ok(())
    }
}

/// An output in memory.
#[derive(Clone, Default)]
pub struct Collect(Arc<Mutex<Vec<u8>>>);

impl Collect {
    pub fn bytes(&self) -> Vec<u8> {
        self.0.lock().expect("no holder panics").clone()
    }
}

impl Output for Collect {
    fn name(&self) -> String {
        "memory".to_owned()
    }

    async fn write(&mut self, batch: &Batch) -> io::Result<()> {
        self.0.lock().expect("no holder panics").extend_from_slice(batch.bytes());
        Ok(())
    }
}

/// Receiver on a free port of loopback, or on this one.
pub fn receiver(
    at: Option<SocketAddr>,
    change: impl FnOnce(&mut ReceiverConfig),
    output: impl Output,
) -> (Receiver, SocketAddr) {
    let mut config = ReceiverConfig::new(scheme());
    config.listen = vec![at.unwrap_or_else(|| "127.0.0.1:0".parse().expect("it is an address"))];
    change(&mut config);
    let listening = Listening::start(config).expect("the port is free");
    let address = listening.addresses()[0];
    (listening.play(output), address)
}

pub fn scheme() -> Scheme {
    Scheme::new("strand").expect("it is a preset")
}

/// Takes events until `wanted` returns a value, for at most `seconds`.
pub async fn until<T>(
    seconds: u64,
    mut next: impl AsyncFnMut() -> Option<Event>,
    mut wanted: impl FnMut(&Event) -> Option<T>,
) -> T {
    let mut seen: VecDeque<String> = VecDeque::new();
    let found = async {
        while let Some(event) = next().await {
            if let Some(found) = wanted(&event) {
                return found;
            }
            seen.push_back(event.to_string());
        }
        panic!("it ended: {seen:#?}")
    };
    match tokio::time::timeout(Duration::from_secs(seconds), found).await {
        Ok(found) => found,
        Err(_) => panic!("not within {seconds} s"),
    }
}

/// A folder that is removed at the end.
pub struct Folder(PathBuf);

impl Folder {
    pub fn new() -> Folder {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("strandcast-it-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a temporary folder");
        Folder(path)
    }

    pub fn join(&self, name: impl AsRef<Path>) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A folder that stays in the system's temporary folder does no harm.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

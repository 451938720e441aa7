//! Drivers over sockets of this machine.

mod floods;
mod interop;
mod loopback;
mod relay;

use std::time::Duration;

use strandcast_srt::{Config, Direction};
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};

use super::{Driver, Media, SrtUrl};

/// Longest time that a test waits for anything.
const PATIENCE: Duration = Duration::from_secs(30);
/// Bytes of a payload.
const PAYLOAD: usize = 1316;

/// Returns true if a part of the tests runs here, and says so otherwise.
fn part(name: &str) -> bool {
    let parts = std::env::var("STRANDCAST_PARTS").unwrap_or_default();
    let runs = parts.split_whitespace().any(|named| named == name);
    if !runs {
        println!("not run: {name} is not in STRANDCAST_PARTS");
    }
    runs
}

/// A UDP port that was free a moment ago.
fn free_port() -> u16 {
    let socket = std::net::UdpSocket::bind("127.0.0.1:0").expect("a socket");
    socket.local_addr().expect("an address").port()
}

fn url(text: &str) -> SrtUrl {
    text.parse().expect("a URL")
}

/// Payload number `n`, with bytes that differ from those of others.
fn payload(n: usize) -> Vec<u8> {
    let mut state = n as u32 ^ 0x9e37_79b9;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state as u8
    };
    (0..PAYLOAD).map(|_| next()).collect()
}

fn payloads(count: usize) -> Vec<u8> {
    (0..count).flat_map(payload).collect()
}

async fn receiver(url: &SrtUrl, config: Config) -> (Driver, mpsc::Receiver<Vec<u8>>) {
    match Driver::start(url, config).await.expect("a socket") {
        (driver, Media::Receive(port)) => (driver, port),
        _ => panic!("a receiver receives"),
    }
}

async fn sender(url: &SrtUrl, config: Config) -> (Driver, mpsc::Sender<Vec<u8>>) {
    match Driver::start(url, config).await.expect("a socket") {
        (driver, Media::Send(port)) => (driver, port),
        _ => panic!("a sender sends"),
    }
}

/// Sends `count` payloads, ten every 20 ms.
async fn send(port: &mpsc::Sender<Vec<u8>>, count: usize) {
    for n in 0..count {
        port.send(payload(n)).await.expect("the driver runs");
        if n % 10 == 9 {
            sleep(Duration::from_millis(20)).await;
        }
    }
}

/// Receives `len` bytes, or fewer within the patience.
async fn collect(port: &mut mpsc::Receiver<Vec<u8>>, len: usize) -> Vec<u8> {
    let mut all = Vec::new();
    let read = async {
        while all.len() < len {
            let Some(payload) = port.recv().await else { break };
            all.extend_from_slice(&payload);
        }
    };
    let _ = timeout(PATIENCE, read).await;
    all
}

fn config(url: &SrtUrl, direction: Direction) -> Config {
    url.config(direction)
}

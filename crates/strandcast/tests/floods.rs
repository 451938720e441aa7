//! Floods of handshakes against a real `receive` with keys: senders are received as if there were none.
#![cfg(target_os = "linux")]

mod common;

use common::home::Home;
use common::wire::{Way, Wire};
use common::{Running, file, port, seconds};
use std::net::UdpSocket;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// First messages per second.
const RATE: u32 = 20_000;
/// Addresses that they come from.
const SOURCES: u8 = 64;
/// What a receiver's memory may grow by, bytes: the arenas of received datagrams (8 MiB, docs/architecture.md), which any
/// 32 datagrams of the largest size fill, and a stream's buffers. Tables of handshakes have a fixed size.
const GROWTH: u64 = 12 << 20;

/// A flood that runs until it is ended.
struct Flood {
    over: Arc<AtomicBool>,
    sent: Arc<AtomicU64>,
    heard: Arc<AtomicU64>,
    thread: JoinHandle<()>,
}

impl Flood {
    /// Sends these datagrams in turn to a port, each from the next address.
    fn start(port: u16, datagrams: Vec<Vec<u8>>) -> Flood {
        let sockets: Vec<UdpSocket> = (1..=SOURCES)
            .map(|n| {
                let socket = UdpSocket::bind((format!("127.0.9.{n}"), 0)).unwrap();
                socket.connect(("127.0.0.1", port)).unwrap();
                socket.set_nonblocking(true).unwrap();
                socket
            })
            .collect();
        let (over, sent, heard) = (Arc::<AtomicBool>::default(), Arc::<AtomicU64>::default(), Arc::default());
        let (ends, counts, hears) = (Arc::clone(&over), Arc::clone(&sent), Arc::<AtomicU64>::clone(&heard));
        let thread = std::thread::spawn(move || {
            let begun = Instant::now();
            let mut rest = datagrams.iter().cycle().zip(sockets.iter().cycle());
            for n in 0u64.. {
                if ends.load(Ordering::Relaxed) {
                    return;
                }
                let (datagram, socket) = rest.next().expect("a cycle has no end");
                if socket.send(datagram).is_ok() {
                    counts.fetch_add(datagram.len() as u64, Ordering::Relaxed);
                }
                while let Ok(len) = socket.recv(&mut [0; 2048]) {
                    hears.fetch_add(len as u64, Ordering::Relaxed);
                }
                let due = Duration::from_secs(n) / RATE;
                std::thread::sleep(due.saturating_sub(begun.elapsed()));
            }
        });
        Flood { over, sent, heard, thread }
    }

    /// Ends it; bytes that it sent, and that it was answered with.
    fn end(self) -> (u64, u64) {
        self.over.store(true, Ordering::Relaxed);
        self.thread.join().unwrap();
        (self.sent.load(Ordering::Relaxed), self.heard.load(Ordering::Relaxed))
    }
}

/// Resident memory of a process, bytes.
fn memory(of: &Running) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", of.id())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
}

/// What a flood of these does to a receiver, given a first message that was recorded.
fn withstands(name: &str, flood: impl Fn(Vec<u8>) -> Vec<Vec<u8>>) {
    let (studio, van) = (Home::new(&format!("{name}-studio")), Home::new(&format!("{name}-van")));
    let (port, out) = (port(), file(&format!("{name}.ts")));
    let (short, long) = (seconds(1, &format!("{name}-short.ts")), seconds(4, &format!("{name}-long.ts")));
    let receiver = studio.start(&format!("receive 127.0.0.1:{port} {}", out.display()));
    receiver.says("listening");
    let wire = Wire::honest(port);
    let host = format!("127.0.0.1:{}", wire.port());
    van.reads("key add recorded", &studio.pairing(&host, "")).succeeds();
    van.reads("key add studio", &studio.pairing(&format!("127.0.0.1:{port}"), "")).succeeds();
    van.run(&format!("send {} @recorded --latency 200", short.0.display())).succeeds();
    let recorded = wire.recorded();
    let first = recorded.iter().find(|r| r.way == Way::ToReceiver).unwrap().bytes.clone();
    assert_eq!((first[0], first.len()), (2, 1200), "message 1 (ADR 17)");
    let before = memory(&receiver);
    let flood = Flood::start(port, flood(first));
    std::thread::sleep(Duration::from_secs(1));
    let begun = Instant::now();
    let sender = van.start(&format!("send {} @studio --latency 500 --json", long.0.display()));
    receiver.until("the sender", || receiver.said().matches("receiving from").count() == 2);
    let took = begun.elapsed();
    let sender = sender.end();
    sender.succeeds();
    receiver.until("its end", || receiver.said().matches("every byte as it was sent").count() == 2);
    let (sent, heard) = flood.end();
    let grown = memory(&receiver).saturating_sub(before);
    println!("{name}: {sent} bytes sent, {heard} heard, {grown} grown, received after {took:?}");
    assert!(took < Duration::from_secs(3), "it took {took:?}: {}", receiver.said());
    assert!(heard <= 3 * sent, "{heard} bytes for {sent}");
    assert!(grown < GROWTH, "{grown} bytes");
    assert_eq!(sender.json()["reconnects"], 0);
    assert_eq!(std::fs::read(&out).unwrap(), [short.1, long.1].concat());
}

#[test]
fn first_messages_without_a_known_token() {
    // The MAC is over another token id.
    withstands("unknown", |first| {
        (0..=255)
            .map(|n| {
                let mut other = first.clone();
                other[12] ^= n;
                other[13] ^= 1;
                other
            })
            .collect()
    });
}

#[test]
fn first_messages_with_a_wrong_mac() {
    withstands("forged", |first| {
        (1..=255)
            .map(|n| {
                let mut other = first.clone();
                *other.last_mut().unwrap() ^= n;
                other
            })
            .collect()
    });
}

#[test]
fn a_first_message_that_was_recorded() {
    withstands("recorded", |first| vec![first]);
}

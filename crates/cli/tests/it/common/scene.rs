//! A stream with keys, attacked while it is under way: nothing of it is lost, doubled or forged.

use std::cell::Cell;
use std::net::{SocketAddr, UdpSocket};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::home::Home;
use super::wire::{Direction, Wire};
use super::{LONG, Running, file, port, seconds};

/// Maximum memory of either side in bytes: the process, a stream's buffers, and the arenas of received datagrams (8
/// MiB, docs/architecture.md), which any 32 datagrams of the largest size fill.
const MOST_MEMORY: u64 = 32 << 20;
/// Latency of streams, ms: on a busy machine a process may not run for half a second, which must not count as an
/// attack.
pub const LATENCY: u32 = 1500;
/// Bytes of IP and UDP header of each datagram.
const HEADERS: u64 = 28;

/// A receiver behind a wire, its sender, and an attacker.
pub struct Scene {
    pub studio: Home,
    pub van: Home,
    pub receiver: Running,
    pub wire: Wire,
    pub port: u16,
    pub attacker: Attacker,
    out: PathBuf,
    name: String,
}

impl Scene {
    /// A receiver that ends after one stream. `attack` says what the wire makes of each datagram.
    pub fn set(name: &str, attack: impl FnMut(Direction, &[u8]) -> Vec<Vec<u8>> + Send + 'static) -> Scene {
        Scene::listening(name, "--once", attack)
    }

    /// A receiver with these options of `receive`.
    pub fn listening(
        name: &str,
        options: &str,
        attack: impl FnMut(Direction, &[u8]) -> Vec<Vec<u8>> + Send + 'static,
    ) -> Scene {
        let (studio, van) = (Home::new(&format!("{name}-studio")), Home::new(&format!("{name}-van")));
        let (port, out) = (port(), file(&format!("{name}.ts")));
        let wire = Wire::start(port, attack);
        let text = studio.pairing(&format!("127.0.0.1:{}", wire.port()), "");
        van.reads("key add studio", &text).succeeds();
        let receiver = studio.start(&format!("receive 127.0.0.1:{port} {} --json {options}", out.display()));
        receiver.says("listening");
        let (attacker, name) = (Attacker::new(), name.to_owned());
        Scene { studio, van, receiver, wire, port, attacker, out, name }
    }

    /// Bytes played so far.
    pub fn played(&self) -> usize {
        std::fs::metadata(&self.out).map_or(0, |m| m.len() as usize)
    }

    /// The file that is played to.
    pub fn out(&self) -> &Path {
        &self.out
    }

    /// Address on which the receiver listens.
    pub fn receiver_at(&self) -> SocketAddr {
        SocketAddr::from(([127, 0, 0, 1], self.port))
    }

    /// Waits until more of the stream is played.
    pub fn goes_on(&self) {
        let before = self.played();
        self.receiver.until("more of the stream", || self.played() > before);
    }

    /// Sends a datagram to one side in the name of the other, and from the attacker's own address.
    pub fn strike(&self, direction: Direction, bytes: &[u8]) {
        self.wire.forge(direction, bytes);
        let to = match direction {
            Direction::ToReceiver => self.receiver_at(),
            Direction::ToSender => self.wire.sender(),
        };
        self.attacker.sends(to, bytes);
    }

    /// Sends `length` seconds of the clip. `during` is called when a part of it is played, and returns before the rest
    /// of it is sent. Neither side notices, and the attacker receives at most three bytes for each of its own.
    pub fn plays_on(self, length: usize, options: &str, during: impl FnOnce(&Scene)) -> Wire {
        let (input, bytes) = seconds(length, &format!("{}-in.ts", self.name));
        let send = format!("send {} @studio --latency {LATENCY} --json {options}", input.display());
        let mut sender = self.van.start(&send);
        self.receiver.until("data", || self.played() > 20_000);
        during(&self);
        assert!(
            self.played() + 20_000 < bytes.len(),
            "{}: the stream is over, and was not attacked",
            self.name
        );
        let Scene { mut receiver, wire, attacker, out, studio, name, .. } = self;
        let (begun, mut peak) = (Instant::now(), 0);
        while !(receiver.is_over() && sender.is_over()) && begun.elapsed() < LONG {
            peak = peak.max(receiver.peak()).max(sender.peak());
            attacker.listens();
            std::thread::sleep(Duration::from_millis(10));
        }
        let (sender, receiver) = (sender.end(), receiver.end());
        sender.succeeds();
        receiver.succeeds();
        assert!(std::fs::read(&out).unwrap() == bytes, "{name}: {}", receiver.err);
        let (sent, got) = (sender.json(), receiver.json());
        assert_eq!((&got["identical"], &got["reconnects"]), (&true.into(), &0.into()), "{name}: {got}");
        assert_eq!(sent["reconnects"], 0, "{name}: {sent}");
        let began = receiver.err.lines().filter(|line| line.starts_with("receiving from")).count();
        assert_eq!(began, 1, "{name}: {}", receiver.err);
        assert!(peak < MOST_MEMORY, "{name}: {peak} bytes of memory");
        let (struck, answered) = (attacker.sent.get(), attacker.answered.get());
        println!("{name}: {struck} bytes of attacks, {answered} of answers, at most {peak} of memory");
        assert!(answered <= 3 * struck, "{name}: {answered} bytes for {struck}");
        drop(studio);
        wire
    }
}

/// An attacker with its own address. It counts the bytes that it sends and receives, including IP and UDP headers.
pub struct Attacker {
    socket: UdpSocket,
    pub sent: Cell<u64>,
    pub answered: Cell<u64>,
}

impl Attacker {
    fn new() -> Attacker {
        let socket = UdpSocket::bind("127.0.6.6:0").unwrap();
        socket.set_nonblocking(true).unwrap();
        Attacker { socket, sent: Cell::default(), answered: Cell::default() }
    }

    /// Sends a datagram.
    pub fn sends(&self, to: SocketAddr, bytes: &[u8]) {
        if self.socket.send_to(bytes, to).is_ok() {
            self.sent.set(self.sent.get() + bytes.len() as u64 + HEADERS);
        }
        self.listens();
    }

    /// Takes what came.
    pub fn listens(&self) {
        while let Ok(len) = self.socket.recv(&mut [0; 2048]) {
            self.answered.set(self.answered.get() + len as u64 + HEADERS);
        }
    }
}

/// Passes a datagram on unchanged.
pub fn as_it_is(_: Direction, bytes: &[u8]) -> Vec<Vec<u8>> {
    vec![bytes.to_vec()]
}

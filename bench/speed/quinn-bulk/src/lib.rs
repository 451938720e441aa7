//! Bulk transfers to compare with, one receiver and one sender process each. The receiver prints one line of JSON:
//! `bytes` and `seconds` of the measured part, which begins one second after the first byte, and `total_bytes`.

use socket2::{Domain, Socket, Type};
use std::net::{SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

/// Any error: these programs only end with it.
pub type Failure = Box<dyn std::error::Error>;

/// Task of a process.
pub enum Role {
    /// Listen there for one transfer.
    Receive(SocketAddr),
    /// Send for this time, messages of this number of bytes.
    Send(SocketAddr, Duration, usize),
}

/// `receive ADDR` or `send ADDR SECONDS BYTES`.
pub fn role() -> Result<Role, Failure> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["receive", addr] => Ok(Role::Receive(addr.parse()?)),
        ["send", addr, seconds, bytes] => {
            Ok(Role::Send(addr.parse()?, Duration::from_secs_f64(seconds.parse()?), bytes.parse()?))
        }
        _ => Err("usage: receive ADDR:PORT | send ADDR:PORT SECONDS BYTES".into()),
    }
}

/// A socket with 4 MiB of kernel buffer, if the kernel gives them.
pub fn socket(addr: SocketAddr) -> Result<UdpSocket, Failure> {
    let socket = Socket::new(Domain::for_address(addr), Type::DGRAM, None)?;
    socket.set_recv_buffer_size(4 << 20)?;
    socket.set_send_buffer_size(4 << 20)?;
    socket.bind(&addr.into())?;
    Ok(socket.into())
}

/// Counts what arrives; the first second is warm-up.
#[derive(Default)]
pub struct Meter {
    begun: Option<Instant>,
    warm: u64,
    total: u64,
    last: Option<Instant>,
}

impl Meter {
    /// Records `bytes` that have arrived now.
    pub fn add(&mut self, bytes: usize) {
        let now = Instant::now();
        self.total += bytes as u64;
        if now - *self.begun.get_or_insert(now) < Duration::from_secs(1) {
            self.warm = self.total;
        }
        self.last = Some(now);
    }

    /// The line.
    pub fn print(&self) {
        let seconds = match (self.begun, self.last) {
            (Some(begun), Some(last)) => (last - begun).as_secs_f64() - 1.0,
            _ => 0.0,
        };
        let (bytes, total) = (self.total - self.warm, self.total);
        println!("{{\"bytes\": {bytes}, \"seconds\": {seconds:.6}, \"total_bytes\": {total}}}");
    }
}

//! Datagrams without any protocol, in batches as large as the kernel takes (GSO, GRO): the floor of what the kernel
//! costs. Nothing holds the sender back, so some datagrams are dropped; only what arrives counts.

use quinn_bulk::{Failure, Meter, Role, role, socket};
use quinn_udp::{RecvMeta, Transmit, UdpSocketState};
use std::io::{ErrorKind, IoSliceMut};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

/// Longest batch in bytes.
const BATCH: usize = 65_507;
/// The sender's farewell is this short.
const END: usize = 1;

fn main() -> Result<(), Failure> {
    match role()? {
        Role::Receive(addr) => receive(addr),
        Role::Send(addr, time, bytes) => send(addr, time, bytes),
    }
}

fn receive(addr: SocketAddr) -> Result<(), Failure> {
    let socket = socket(addr)?;
    let state = UdpSocketState::new((&socket).into())?;
    socket.set_nonblocking(false)?;
    socket.set_read_timeout(Some(Duration::from_secs(20)))?;
    let mut buffer = vec![0; 1 << 16];
    let mut meter = Meter::default();
    loop {
        let mut meta = [RecvMeta::default()];
        state.recv((&socket).into(), &mut [IoSliceMut::new(&mut buffer)], &mut meta)?;
        if meta[0].len <= END {
            break;
        }
        meter.add(meta[0].len);
    }
    meter.print();
    Ok(())
}

fn send(addr: SocketAddr, time: Duration, bytes: usize) -> Result<(), Failure> {
    let socket = socket((addr.ip(), 0).into())?;
    let state = UdpSocketState::new((&socket).into())?;
    socket.set_nonblocking(false)?;
    let segments = (BATCH / bytes).min(state.max_gso_segments()).max(1);
    let contents = vec![7; segments * bytes];
    let end = Instant::now() + time;
    while Instant::now() < end {
        let segment_size = (segments > 1).then_some(bytes);
        push(
            &socket,
            &state,
            &Transmit { destination: addr, ecn: None, contents: &contents, segment_size, src_ip: None },
        )?;
    }
    // The receiver's buffer may be full: the first of these may be lost, not the last.
    for _ in 0..20 {
        let contents = &contents[..END];
        push(
            &socket,
            &state,
            &Transmit { destination: addr, ecn: None, contents, segment_size: None, src_ip: None },
        )?;
        std::thread::sleep(Duration::from_millis(10));
    }
    Ok(())
}

fn push(
    socket: &std::net::UdpSocket,
    state: &UdpSocketState,
    transmit: &Transmit<'_>,
) -> Result<(), Failure> {
    match state.try_send(socket.into(), transmit) {
        Err(e) if e.kind() != ErrorKind::WouldBlock && e.kind() != ErrorKind::ConnectionRefused => {
            Err(e.into())
        }
        _ => Ok(()),
    }
}

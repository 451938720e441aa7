//! Small datagrams to a receiver. The answers to these datagrams show whether the receiver can be reached, and which
//! sizes of packets arrive.
//!
//! The datagram is an INIT in the clear (RFC 9260), padded to a size (RFC 4820). A receiver that encrypts answers with
//! an ABORT that names the remedy. It sends at most ten such answers per second. A receiver without encryption answers
//! with an INIT ACK. Neither kind of receiver stores state for this datagram.

use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use socket2::{Domain, Protocol, Socket, Type};
use strandcast_net::interface::route_mtu;
use strandcast_net::pool::RecvPool;
use strandcast_net::socket::{BindSpec, Bound, PathSocket, SendOutcome, Transmit};
use strandcast_proto::wire::chunk::Init;
use strandcast_proto::wire::{Cause, Chunk, Header, Packet, PacketWriter, Param, Tsn, VerificationTag};
use tokio::net::UdpSocket;
use tokio::time::{Instant, timeout_at};

use super::report::Probed;

/// Waiting times for an answer, one for each datagram.
const WAITS: [Duration; 3] =
    [Duration::from_millis(400), Duration::from_millis(800), Duration::from_millis(1600)];
/// Interval between two probes of sizes. A receiver answers at most ten probes per second.
const PACE: Duration = Duration::from_millis(150);
/// Length of the IP and UDP headers in bytes.
const HEADERS_V4: u16 = 28;
const HEADERS_V6: u16 = 48;
/// Length in bytes of a packet with an INIT, and of the header of a padding parameter.
const SHORTEST: usize = 32;
const PARAMETER: usize = 4;
/// Size of the largest IP packet that is tried. The transport does not use larger packets.
const LARGEST: u16 = 1500;
/// Sizes of IP packets that are tried if the largest one does not arrive.
const SIZES: [u16; 14] = [1492, 1480, 1460, 1440, 1420, 1400, 1380, 1340, 1280, 1228, 1100, 900, 700, 576];
/// Initiate tag of all probes. The receiver does not store this tag.
const TAG: VerificationTag = VerificationTag(0x5EED_0001);

/// Beginning of the reason that a receiver with encryption gives.
const SEALED: &[u8] = b"refused: this receiver is sealed";

/// Answer to a datagram without a size.
pub(super) struct Answer {
    pub(super) outcome: Probed,
    /// Round-trip time.
    pub(super) took: Duration,
}

/// Makes a probe of `bytes` bytes. If the shortest possible probe is longer, makes the shortest one.
fn probe(port: u16, bytes: usize) -> Vec<u8> {
    let padding = bytes.checked_sub(SHORTEST + PARAMETER).map(|bytes| vec![0; bytes & !3]);
    let params = padding.map(|padding| Param::Padding(padding.into())).into_iter().collect();
    let init = Init {
        initiate_tag: TAG,
        a_rwnd: 1 << 16,
        outbound_streams: 1,
        inbound_streams: 1,
        initial_tsn: Tsn(1),
        params,
    };
    let header = Header { source_port: port, destination_port: port, verification_tag: VerificationTag(0) };
    let mut out = Vec::new();
    let mut writer = PacketWriter::new(&mut out, header);
    writer.chunk(&init);
    writer.finish();
    out
}

/// Reads an answer to a probe. Returns `None` if the datagram is not such an answer.
fn answer(datagram: &[u8]) -> Option<Probed> {
    let packet = Packet::parse(Bytes::copy_from_slice(datagram)).ok()?;
    if packet.header.verification_tag != TAG {
        return None;
    }
    match packet.chunks().next()?.ok()?.1 {
        Chunk::Abort(abort) => {
            let sealed = |cause: &Cause| matches!(cause, Cause::UserInitiatedAbort(words) if words.starts_with(SEALED));
            Some(if abort.causes.iter().any(sealed) { Probed::Sealed } else { Probed::Plain })
        }
        Chunk::InitAck(_) => Some(Probed::Plain),
        _ => None,
    }
}

/// Sends a small datagram up to three times, and waits for an answer. Call it inside a tokio runtime.
pub(super) async fn ask(bind: &BindSpec, remote: SocketAddr, port: u16) -> Answer {
    let begun = Instant::now();
    let outcome = match connected(bind, remote) {
        Ok(socket) => asked(&socket, port).await,
        Err(error) => of_error(&error).unwrap_or(Probed::Unreachable),
    };
    Answer { outcome, took: begun.elapsed() }
}

/// Opens a socket that only reports errors of its own datagrams.
fn connected(bind: &BindSpec, remote: SocketAddr) -> io::Result<UdpSocket> {
    let socket = Socket::new(Domain::for_address(remote), Type::DGRAM, Some(Protocol::UDP))?;
    if let Some(interface) = &bind.interface {
        // Without permission to bind to the interface, the routing table decides, as it does for the path's socket.
        let _ = socket.bind_device(Some(interface.as_bytes()));
    }
    if let Some(ip) = bind.address {
        let mut local = SocketAddr::new(ip, 0);
        if let SocketAddr::V6(v6) = &mut local {
            v6.set_scope_id(bind.scope);
        }
        socket.bind(&local.into())?;
    }
    socket.connect(&remote.into())?;
    socket.set_nonblocking(true)?;
    UdpSocket::from_std(socket.into())
}

async fn asked(socket: &UdpSocket, port: u16) -> Probed {
    let datagram = probe(port, SHORTEST);
    let mut found = Probed::Silent;
    let mut buffer = [0; 2048];
    for wait in WAITS {
        let until = Instant::now() + wait;
        if let Err(error) = socket.send(&datagram).await {
            found = of_error(&error).unwrap_or(found);
        }
        loop {
            match timeout_at(until, socket.recv(&mut buffer)).await {
                Err(_) => break,
                Ok(Ok(length)) => {
                    if let Some(found) = answer(&buffer[..length]) {
                        return found;
                    }
                }
                // The probe waits for an answer despite this error, because a receiver may be about to start.
                Ok(Err(error)) => found = of_error(&error).unwrap_or(found),
            }
        }
        if matches!(found, Probed::NoProgram) {
            return found;
        }
    }
    found
}

/// Converts an error of a socket. Returns `None` if the error does not concern the path.
fn of_error(error: &io::Error) -> Option<Probed> {
    match error.kind() {
        ErrorKind::ConnectionRefused => Some(Probed::NoProgram),
        ErrorKind::PermissionDenied => Some(Probed::Forbidden),
        ErrorKind::HostUnreachable | ErrorKind::NetworkUnreachable => Some(Probed::Unreachable),
        _ => None,
    }
}

/// Sizes of packets on a path.
#[derive(Debug, Default)]
pub(super) struct Sizes {
    /// IP-level MTU that the system expects.
    pub(super) expected: Option<u16>,
    /// Largest IP packet that was answered.
    pub(super) arrived: Option<u16>,
    /// True if the user may not bind to the interface.
    pub(super) unbound: bool,
}

/// Determines the largest packet that arrives, among the sizes in the list. `trip` is the time until an answer arrived.
pub(super) async fn sizes(bind: &BindSpec, remote: SocketAddr, port: u16, trip: Duration) -> Sizes {
    let expected = || route_mtu(bind, remote).map(|mtu| mtu.min(LARGEST));
    let Ok(socket) = PathSocket::bind(bind) else {
        return Sizes { expected: expected(), ..Sizes::default() };
    };
    let unbound = bind.interface.is_some() && socket.bound() != Bound::Interface;
    let wait = (trip * 2).clamp(Duration::from_millis(400), Duration::from_secs(2));
    let mut prober = Prober { socket, pool: RecvPool::new(), remote, port, wait };
    let first = expected().unwrap_or(LARGEST);
    if prober.arrives(first).await {
        return Sizes { expected: Some(first), arrived: Some(first), unbound };
    }
    // A router may have reported a smaller MTU meanwhile.
    let reported = expected().filter(|reported| *reported < first);
    if let Some(reported) = reported
        && prober.arrives(reported).await
    {
        return Sizes { expected: Some(reported), arrived: Some(reported), unbound };
    }
    let below: Vec<u16> = SIZES.into_iter().filter(|size| *size < reported.unwrap_or(first)).collect();
    let arrived = prober.largest(&below).await;
    Sizes { expected: expected(), arrived, unbound }
}

struct Prober {
    socket: PathSocket,
    pool: RecvPool,
    remote: SocketAddr,
    port: u16,
    wait: Duration,
}

impl Prober {
    /// Returns the largest size in the descending list `sizes` that arrives. The search is by bisection.
    async fn largest(&mut self, sizes: &[u16]) -> Option<u16> {
        let (mut low, mut high) = (0, sizes.len());
        while low < high {
            let middle = usize::midpoint(low, high);
            match self.arrives(sizes[middle]).await {
                true => high = middle,
                false => low = middle + 1,
            }
        }
        sizes.get(low).copied()
    }

    /// Returns whether an IP packet of this size is answered.
    async fn arrives(&mut self, size: u16) -> bool {
        let headers = if self.remote.is_ipv4() { HEADERS_V4 } else { HEADERS_V6 };
        let contents = probe(self.port, usize::from(size.saturating_sub(headers)));
        for _ in 0..3 {
            // An answer to an earlier, larger probe must not count.
            while matches!(self.socket.try_recv(&mut self.pool), Ok(Some(_))) {}
            let sending = Transmit {
                remote: self.remote,
                src_ip: None,
                segment_size: contents.len(),
                contents: &contents,
            };
            if matches!(self.socket.try_send(&sending), SendOutcome::TooBig | SendOutcome::Fatal(_)) {
                return false;
            }
            let until = Instant::now() + self.wait;
            let begun = Instant::now();
            let came = self.answered(until).await;
            tokio::time::sleep(PACE.saturating_sub(begun.elapsed())).await;
            if came {
                return true;
            }
        }
        false
    }

    async fn answered(&mut self, until: Instant) -> bool {
        loop {
            if !matches!(timeout_at(until, self.socket.readable()).await, Ok(Ok(()))) {
                return false;
            }
            while let Ok(Some(received)) = self.socket.try_recv(&mut self.pool) {
                let own = received.remote == self.remote;
                if own && received.datagrams().any(|datagram| answer(datagram).is_some()) {
                    return true;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probes_are_inits_as_long_as_asked() {
        for size in [SHORTEST, 40, 548, 1200, 1472] {
            let datagram = probe(5000, size);
            let packet = Packet::parse(Bytes::from(datagram.clone())).expect("a packet with its checksum");
            assert!(matches!(packet.chunks().next(), Some(Ok((_, Chunk::Init(_))))));
            assert!(datagram.len() <= size && datagram.len() + 4 > size, "{size}: {}", datagram.len());
        }
    }

    #[test]
    fn only_answers_to_the_probe_count() {
        assert_eq!(answer(&probe(5000, SHORTEST)), None);
        assert_eq!(answer(b"anything else"), None);
    }
}

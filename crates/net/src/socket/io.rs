//! Sending and receiving batches.

use super::bind::PathSocket;
use crate::pool::RecvPool;
use bytes::Bytes;
use quinn_udp::{RecvMeta, UdpSockRef};
use std::io::{self, ErrorKind, IoSliceMut};
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::task::{Context, Poll};
use tokio::io::Interest;

/// The longest UDP payload the kernel takes in one call (65535 less an IPv6 and a UDP header).
const LONGEST_BATCH: usize = 65_535 - 40 - 8;

/// Datagrams to send: all but the last have `segment_size` bytes, the last has the rest.
#[derive(Clone, Copy, Debug)]
pub struct Transmit<'a> {
    /// Where to.
    pub remote: SocketAddr,
    /// The local address to send from, for a socket that is bound to none.
    pub src_ip: Option<IpAddr>,
    /// Bytes a datagram; the contents' length (or more) for a single one.
    pub segment_size: usize,
    /// The datagrams' payloads, one after the other.
    pub contents: &'a [u8],
}

/// What became of a [`Transmit`].
#[derive(Debug)]
#[must_use]
pub enum SendOutcome {
    /// The kernel took it all.
    Sent,
    /// The kernel's buffer is full: it took only this many bytes (whole datagrams); send the rest when the socket
    /// is writable.
    Blocked(usize),
    /// A datagram is longer than the interface's MTU allows; it and what followed were not sent.
    TooBig,
    /// The network cannot be reached this way now (down, no route, refused, address gone): the path has failed
    /// for the moment, the socket may recover.
    Unreachable,
    /// The socket is of no use any more.
    Fatal(io::Error),
}

/// A batch of datagrams from one peer.
#[derive(Clone, Debug)]
pub struct Received {
    /// Who sent it.
    pub remote: SocketAddr,
    /// The local address it was sent to, where the system tells: answers should leave from it.
    pub local_ip: Option<IpAddr>,
    /// Index of the interface it came by, where the system tells.
    pub interface_index: Option<u32>,
    /// Bytes a datagram (the last may be shorter).
    pub stride: usize,
    /// The datagrams, one after the other.
    pub contents: Bytes,
}

impl Received {
    /// The datagrams one by one, without copying.
    pub fn datagrams(&self) -> impl Iterator<Item = Bytes> + '_ {
        let stride = self.stride.max(1);
        let starts = (0..self.contents.len()).step_by(stride);
        starts.map(move |at| self.contents.slice(at..self.contents.len().min(at + stride)))
    }
}

impl PathSocket {
    /// Most datagrams one system call sends; 1 where the kernel or driver has no segmentation offload.
    pub fn max_gso_segments(&self) -> usize {
        self.state.max_gso_segments()
    }

    /// Waits until something can be received.
    ///
    /// # Errors
    /// The runtime is shutting down.
    pub async fn readable(&self) -> io::Result<()> {
        self.io.readable().await
    }

    /// Waits until something can be sent, after [`SendOutcome::Blocked`].
    ///
    /// # Errors
    /// The runtime is shutting down.
    pub async fn writable(&self) -> io::Result<()> {
        self.io.writable().await
    }

    /// [`PathSocket::readable`] for a driver that waits on a changing set of sockets.
    ///
    /// # Errors
    /// The runtime is shutting down.
    pub fn poll_readable(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.io.poll_recv_ready(cx)
    }

    /// [`PathSocket::writable`] for a driver that waits on a changing set of sockets.
    ///
    /// # Errors
    /// The runtime is shutting down.
    pub fn poll_writable(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.io.poll_send_ready(cx)
    }

    /// Takes the next batch from the kernel; `None` when there is none now. Call it until then, or come back after
    /// [`PathSocket::readable`]. What a network reports (unreachable, refused) is not an error here: sending tells.
    ///
    /// # Errors
    /// The socket is of no use any more.
    pub fn try_recv(&self, pool: &mut RecvPool) -> io::Result<Option<Received>> {
        loop {
            let mut meta = [RecvMeta::default()];
            let got = self.io.try_io(Interest::READABLE, || {
                self.state.recv(self.sock(), &mut [IoSliceMut::new(pool.slot())], &mut meta)
            });
            match got {
                Ok(_) => return Ok(Some(self.received(&meta[0], pool))),
                Err(e) if e.kind() == ErrorKind::WouldBlock => return Ok(None),
                Err(e) if e.kind() == ErrorKind::Interrupted || is_unreachable(&e) => {}
                Err(e) => return Err(e),
            }
        }
    }

    /// Hands datagrams to the kernel, in as few calls as it allows.
    pub fn try_send(&self, transmit: &Transmit<'_>) -> SendOutcome {
        let segment = transmit.segment_size.max(1);
        let mut sent = 0;
        while sent < transmit.contents.len() {
            let most = self.max_gso_segments().min(LONGEST_BATCH / segment).max(1).saturating_mul(segment);
            let rest = &transmit.contents[sent..];
            let batch = &rest[..rest.len().min(most)];
            match self.send_batch(transmit, batch) {
                Ok(()) => sent += batch.len(),
                Err(e) if e.kind() == ErrorKind::WouldBlock => return SendOutcome::Blocked(sent),
                // The network card cannot segment: from now on one datagram a call.
                Err(e) if batch.len() > segment && self.max_gso_segments() == 1 && is_gso_refusal(&e) => {}
                Err(e) => return classify(e),
            }
        }
        SendOutcome::Sent
    }

    /// Sends datagrams that are longer than the interface's MTU one by one, in fragments (RFC 9260 §6.9: what was cut
    /// for a larger MTU can not be cut again). Where the system can't, they are lost.
    pub fn send_fragmented(&self, transmit: &Transmit<'_>) {
        #[cfg(target_os = "linux")]
        {
            use rustix::net::sockopt::{self, Ipv4PathMtuDiscovery as V4, Ipv6PathMtuDiscovery as V6};
            // One of the two is refused where it does not apply.
            let discover = |v4, v6| {
                let _ = sockopt::set_ip_mtu_discover(&self.io, v4);
                let _ = sockopt::set_ipv6_mtu_discover(&self.io, v6);
            };
            discover(V4::DONT, V6::DONT);
            for datagram in transmit.contents.chunks(transmit.segment_size.max(1)) {
                // Whatever becomes of it, loss is the transport's business.
                let _ = self.send_batch(&Transmit { segment_size: datagram.len(), ..*transmit }, datagram);
            }
            discover(V4::PROBE, V6::PROBE);
        }
        #[cfg(not(target_os = "linux"))]
        let _ = transmit;
    }

    fn send_batch(&self, transmit: &Transmit<'_>, batch: &[u8]) -> io::Result<()> {
        let datagram = quinn_udp::Transmit {
            destination: self.to_family(transmit.remote),
            ecn: None,
            contents: batch,
            segment_size: (batch.len() > transmit.segment_size).then_some(transmit.segment_size),
            src_ip: transmit.src_ip,
        };
        match self.state.try_send(self.sock(), &datagram) {
            // Asked again through the runtime, which notes that the socket is not writable and will wake us.
            Err(e) if e.kind() == ErrorKind::WouldBlock => {
                self.io.try_io(Interest::WRITABLE, || self.state.try_send(self.sock(), &datagram))
            }
            done => done,
        }
    }

    fn received(&self, meta: &RecvMeta, pool: &mut RecvPool) -> Received {
        Received {
            remote: canonical(meta.addr),
            local_ip: meta.dst_ip.map(|ip| ip.to_canonical()),
            interface_index: meta.interface_index,
            stride: meta.stride,
            contents: pool.take(meta.len),
        }
    }

    /// `remote` as this socket's address family writes it: an IPv6 socket reaches IPv4 as `::ffff:a.b.c.d`.
    fn to_family(&self, remote: SocketAddr) -> SocketAddr {
        match (self.local, remote.ip()) {
            (SocketAddr::V6(_), IpAddr::V4(v4)) => {
                let mapped: Ipv6Addr = v4.to_ipv6_mapped();
                SocketAddr::new(mapped.into(), remote.port())
            }
            _ => remote,
        }
    }

    fn sock(&self) -> UdpSockRef<'_> {
        (&self.io).into()
    }
}

/// `::ffff:a.b.c.d` as the IPv4 address it means; keeps scope and flow of true IPv6 addresses.
fn canonical(addr: SocketAddr) -> SocketAddr {
    match addr.ip().to_canonical() {
        IpAddr::V4(v4) => SocketAddr::new(v4.into(), addr.port()),
        IpAddr::V6(_) => addr,
    }
}

fn classify(e: io::Error) -> SendOutcome {
    if quinn_udp::is_msg_size_err(&e) {
        return SendOutcome::TooBig;
    }
    match e.raw_os_error() {
        // A full interface queue drops the datagram as any queue on the way would.
        Some(libc::ENOBUFS) => SendOutcome::Sent,
        // The source address has gone, or cannot reach that destination.
        Some(libc::EINVAL) => SendOutcome::Unreachable,
        _ if is_unreachable(&e) => SendOutcome::Unreachable,
        _ => SendOutcome::Fatal(e),
    }
}

/// Errors that speak of the network, not of the socket.
fn is_unreachable(e: &io::Error) -> bool {
    use libc::{
        EACCES, EADDRNOTAVAIL, ECONNREFUSED, ECONNRESET, EHOSTDOWN, EHOSTUNREACH, ENETDOWN, ENETUNREACH,
        ENODEV, ENXIO, EPERM, EPROTO, ETIMEDOUT,
    };
    let known = [
        EACCES,
        EADDRNOTAVAIL,
        ECONNREFUSED,
        ECONNRESET,
        EHOSTDOWN,
        EHOSTUNREACH,
        ENETDOWN,
        ENETUNREACH,
        ENODEV,
        ENXIO,
        EPERM,
        EPROTO,
        ETIMEDOUT,
    ];
    e.raw_os_error().is_some_and(|code| known.contains(&code))
}

/// `EIO` or `EINVAL`, by which drivers without segmentation offload refuse a batch.
fn is_gso_refusal(e: &io::Error) -> bool {
    matches!(e.raw_os_error(), Some(libc::EIO | libc::EINVAL))
}

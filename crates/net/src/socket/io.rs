//! Sending and receiving batches.

use std::io::{self, ErrorKind, IoSliceMut};
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::task::{Context, Poll};

use bytes::{Bytes, BytesMut};
use quinn_udp::{RecvMeta, UdpSockRef};
use tokio::io::Interest;

use super::bind::PathSocket;
use crate::pool::RecvPool;

/// The longest UDP payload per system call (65535 less an IPv6 and a UDP header).
const MAX_BATCH: usize = 65_535 - 40 - 8;

/// Datagrams to send: all but the last have `segment_size` bytes, the last has the rest.
#[derive(Clone, Copy, Debug)]
pub struct Transmit<'a> {
    /// The destination.
    pub remote: SocketAddr,
    /// The local address to send from, for a socket that is bound to none.
    pub src_ip: Option<IpAddr>,
    /// Bytes per datagram; at least the contents' length for a single one.
    pub segment_size: usize,
    /// The datagrams' payloads, concatenated.
    pub contents: &'a [u8],
}

/// The outcome of a [`Transmit`].
#[derive(Debug)]
#[must_use]
pub enum SendOutcome {
    /// The kernel took it all.
    Sent,
    /// The kernel's buffer is full. It took only this many bytes (whole datagrams); send the rest when the socket is
    /// writable.
    Blocked(usize),
    /// A datagram exceeds the interface's MTU; it and the following ones were not sent.
    TooBig,
    /// The network is unreachable over this socket now (down, no route, refused, address gone). The path has failed for
    /// the moment; the socket may recover.
    Unreachable,
    /// The socket is unusable.
    Fatal(io::Error),
}

/// A batch of datagrams from one peer.
#[derive(Debug)]
pub struct Received {
    /// The sender.
    pub remote: SocketAddr,
    /// The local address it was sent to, where the system reports it; answers should leave from it.
    pub local_ip: Option<IpAddr>,
    /// Index of the receiving interface, where the system reports it.
    pub interface_index: Option<u32>,
    /// Bytes per datagram (the last may be shorter).
    pub stride: usize,
    /// The datagrams, concatenated; not shared yet, so that they can be opened in place.
    pub contents: BytesMut,
}

impl Received {
    /// The datagrams one by one.
    pub fn datagrams(&self) -> impl Iterator<Item = &[u8]> {
        self.contents.chunks(self.stride.max(1))
    }

    /// The datagrams one by one, to keep, without copying.
    pub fn into_datagrams(self) -> impl Iterator<Item = Bytes> {
        let (stride, contents) = (self.stride.max(1), self.contents.freeze());
        let starts = (0..contents.len()).step_by(stride);
        starts.map(move |at| contents.slice(at..contents.len().min(at + stride)))
    }
}

impl PathSocket {
    /// Maximum number of datagrams per system call; 1 where the kernel or driver has no segmentation offload.
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

    /// Takes the next batch from the kernel; `None` if there is none now. Call it until then, or again after
    /// [`PathSocket::readable`]. Network errors (unreachable, refused) are not reported here but when sending.
    ///
    /// # Errors
    /// The socket is unusable.
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
            let most = self.max_gso_segments().min(MAX_BATCH / segment).max(1).saturating_mul(segment);
            let rest = &transmit.contents[sent..];
            let batch = &rest[..rest.len().min(most)];
            match self.send_batch(transmit, batch) {
                Ok(()) => sent += batch.len(),
                Err(e) if e.kind() == ErrorKind::WouldBlock => return SendOutcome::Blocked(sent),
                // The network card cannot segment: from now on one datagram per call.
                Err(e) if batch.len() > segment && self.max_gso_segments() == 1 && is_gso_refusal(&e) => {}
                Err(e) => return classify(e),
            }
        }
        SendOutcome::Sent
    }

    /// Sends datagrams that exceed the MTU of the interface or the path one by one, with DF clear: IP may fragment them (RFC
    /// 9260 §6.9: chunks cut for a larger MTU cannot be cut again). Where neither this system nor a router on the way does,
    /// they are lost.
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
                // The transport recovers from loss.
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
            // Retried through the runtime, which notes that the socket is not writable and wakes the task later.
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

/// Errors of the network rather than of the socket.
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

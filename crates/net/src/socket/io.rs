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

/// Consecutive errors of receiving that are taken for lost datagrams.
const FAILURES: u32 = 16;

/// Datagrams to send: all but the last have `segment_size` bytes, the last has the remainder.
#[derive(Clone, Copy, Debug)]
pub struct Transmit<'a> {
    /// The destination.
    pub remote: SocketAddr,
    /// The local address to send from, if the socket is not bound to one.
    pub src_ip: Option<IpAddr>,
    /// Bytes per datagram; at least the contents' length for a single one.
    pub segment_size: usize,
    /// The datagrams' payloads, concatenated.
    pub contents: &'a [u8],
}

/// Result of a [`Transmit`].
#[derive(Debug)]
#[must_use]
pub enum SendOutcome {
    /// The kernel took all datagrams.
    Sent,
    /// The kernel's buffer is full. The kernel took only this many bytes (whole datagrams); send the rest when the
    /// socket is writable.
    Blocked(usize),
    /// A datagram exceeds the interface's MTU; it and the following ones were not sent.
    TooBig,
    /// The system refused it: no route, a removed address, a filter, no memory, or an unknown reason. The
    /// datagrams are lost, as they may be anywhere on the path; the next ones may succeed.
    Lost,
    /// The socket is closed.
    Fatal(io::Error),
}

/// A batch of datagrams from one peer.
#[derive(Debug)]
pub struct Received {
    /// The sender.
    pub remote: SocketAddr,
    /// The local address to which it was sent, if the system reports it; answers should leave from it.
    pub local_ip: Option<IpAddr>,
    /// Index of the receiving interface, if the system reports it.
    pub interface_index: Option<u32>,
    /// Bytes per datagram (the last may be shorter).
    pub stride: usize,
    /// The datagrams, concatenated; not shared yet, so that they can be opened in place.
    pub contents: BytesMut,
}

impl Received {
    /// The single datagrams.
    pub fn datagrams(&self) -> impl Iterator<Item = &[u8]> {
        self.contents.chunks(self.stride.max(1))
    }

    /// The single datagrams, to keep, without copying.
    pub fn into_datagrams(self) -> impl Iterator<Item = Bytes> {
        let (stride, contents) = (self.stride.max(1), self.contents.freeze());
        let starts = (0..contents.len()).step_by(stride);
        starts.map(move |at| contents.slice(at..contents.len().min(at + stride)))
    }
}

impl PathSocket {
    /// Maximum number of datagrams per system call; 1 if the kernel or driver has no segmentation offload.
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

    /// Takes the next batch from the kernel; returns `None` if none has arrived. Call it until then, or again
    /// after [`PathSocket::readable`]. A single error only means that a datagram was lost.
    ///
    /// # Errors
    /// The socket is closed ([`is_fatal`]), or the system failed several times in a row. A caller that only waits for
    /// the next datagram may then be woken again and again without a datagram.
    pub fn try_recv(&self, pool: &mut RecvPool) -> io::Result<Option<Received>> {
        let mut failures = 0;
        loop {
            let mut meta = [RecvMeta::default()];
            let got = self.io.try_io(Interest::READABLE, || {
                self.state.recv(self.sock(), &mut [IoSliceMut::new(pool.slot())], &mut meta)
            });
            match got {
                Ok(_) => return Ok(Some(self.received(&meta[0], pool))),
                Err(e) if e.kind() == ErrorKind::WouldBlock => return Ok(None),
                Err(e) if is_fatal(&e) || failures == FAILURES => return Err(e),
                Err(_) => failures += 1,
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
                // The network card cannot segment: each later call sends one datagram.
                Err(e) if batch.len() > segment && self.max_gso_segments() == 1 && is_gso_refusal(&e) => {}
                Err(e) => return classify(e),
            }
        }
        SendOutcome::Sent
    }

    /// Sends datagrams that exceed the MTU of the interface or the path one by one, with DF clear: IP may
    /// fragment them (RFC 9260 §6.9: chunks cut for a larger MTU cannot be cut again). If neither this system
    /// nor a router on the path does, they are lost.
    pub fn send_fragmented(&self, transmit: &Transmit<'_>) {
        #[cfg(target_os = "linux")]
        {
            use rustix::net::sockopt::{self, Ipv4PathMtuDiscovery as V4, Ipv6PathMtuDiscovery as V6};
            // The option of the other family is refused.
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
            // Retried through the runtime, which records that the socket is not writable and wakes the task
            // later.
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

    /// `remote` in the notation of this socket's address family: an IPv6 socket reaches IPv4 as
    /// `::ffff:a.b.c.d`.
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

/// `::ffff:a.b.c.d` as its IPv4 address; keeps scope and flow of true IPv6 addresses.
fn canonical(addr: SocketAddr) -> SocketAddr {
    match addr.ip().to_canonical() {
        IpAddr::V4(v4) => SocketAddr::new(v4.into(), addr.port()),
        IpAddr::V6(_) => addr,
    }
}

/// Classifies an error of sending. Only errors known to be final count as final.
fn classify(e: io::Error) -> SendOutcome {
    if quinn_udp::is_msg_size_err(&e) {
        return SendOutcome::TooBig;
    }
    if is_fatal(&e) {
        return SendOutcome::Fatal(e);
    }
    match e.raw_os_error() {
        // A full interface queue drops the datagram like any other queue on the path.
        Some(libc::ENOBUFS) => SendOutcome::Sent,
        _ => SendOutcome::Lost,
    }
}

/// Returns whether an error means that the socket is closed: its descriptor is closed, or something else. All
/// other errors may be temporary.
pub fn is_fatal(e: &io::Error) -> bool {
    matches!(e.raw_os_error(), Some(libc::EBADF | libc::ENOTSOCK))
}

/// `EIO` or `EINVAL`, by which drivers without segmentation offload refuse a batch.
fn is_gso_refusal(e: &io::Error) -> bool {
    matches!(e.raw_os_error(), Some(libc::EIO | libc::EINVAL))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Errors that a system may return, known or not: only two of them mean that the socket is closed.
    #[test]
    fn no_error_but_that_there_is_no_socket_is_final() {
        let fatal: Vec<i32> = (1..200)
            .filter(|code| {
                let error = || io::Error::from_raw_os_error(*code);
                let final_one = matches!(classify(error()), SendOutcome::Fatal(_));
                assert_eq!(final_one, is_fatal(&error()), "sending and receiving agree: {code}");
                final_one
            })
            .collect();
        assert_eq!(fatal, [libc::EBADF, libc::ENOTSOCK]);
    }
}

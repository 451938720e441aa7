//! Sending and receiving batches.

use std::io::{self, ErrorKind, IoSliceMut};
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::task::{Context, Poll};

use bytes::{Bytes, BytesMut};
use quinn_udp::{RecvMeta, UdpSockRef};
use tokio::io::Interest;

use super::bind::PathSocket;
use crate::pool::RecvPool;

/// Maximum length of the UDP payload per system call: 65535 bytes, less an IPv6 header and a UDP header.
const MAX_BATCH: usize = 65_535 - 40 - 8;

/// Number of errors in a row that count as lost datagrams when receiving.
const FAILURES: u32 = 16;

/// Datagrams to send. Each datagram has `segment_size` bytes, except the last one, which has the remaining bytes.
#[derive(Clone, Copy, Debug)]
pub struct Transmit<'a> {
    /// The destination.
    pub remote: SocketAddr,
    /// The local address from which to send, if the socket is not bound to an address.
    pub src_ip: Option<IpAddr>,
    /// Bytes per datagram. For a single datagram, the value is at least the length of the contents.
    pub segment_size: usize,
    /// The payloads of the datagrams, one after the other.
    pub contents: &'a [u8],
}

/// Result of a [`Transmit`].
#[derive(Debug)]
#[must_use]
pub enum SendOutcome {
    /// The kernel accepted all datagrams.
    Sent,
    /// The kernel's buffer is full. The kernel accepted only this many bytes, which are whole datagrams. Send the rest
    /// when the socket is writable.
    Blocked(usize),
    /// A datagram is longer than the interface's MTU. This datagram and the following ones were not sent.
    TooBig,
    /// The system refused to send. Possible reasons are a missing route, a removed address, a filter, lack of memory,
    /// and others. The datagrams are lost, as datagrams may be lost anywhere on the path. The next ones may be sent
    /// successfully.
    Lost,
    /// The socket is closed.
    Fatal(io::Error),
}

/// A batch of datagrams from one peer.
#[derive(Debug)]
pub struct Received {
    /// The sender.
    pub remote: SocketAddr,
    /// The local address to which the datagrams were sent, if the system reports it. Answers should be sent from this
    /// address.
    pub local_ip: Option<IpAddr>,
    /// Index of the receiving interface, if the system reports it.
    pub interface_index: Option<u32>,
    /// Bytes per datagram. The last datagram may be shorter.
    pub stride: usize,
    /// The datagrams, one after the other. No other buffer shares these bytes yet, so that they can be decrypted in
    /// place.
    pub contents: BytesMut,
}

impl Received {
    /// The single datagrams.
    pub fn datagrams(&self) -> impl Iterator<Item = &[u8]> {
        self.contents.chunks(self.stride.max(1))
    }

    /// The single datagrams. Datagrams can be kept, and are not copied.
    pub fn into_datagrams(self) -> impl Iterator<Item = Bytes> {
        let (stride, contents) = (self.stride.max(1), self.contents.freeze());
        let starts = (0..contents.len()).step_by(stride);
        starts.map(move |at| contents.slice(at..contents.len().min(at + stride)))
    }
}

impl PathSocket {
    /// Maximum number of datagrams per system call. It is 1 if the kernel or the driver has no segmentation offload.
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

    /// Does the same as [`PathSocket::readable`], for a driver that waits for a changing set of sockets.
    ///
    /// # Errors
    /// The runtime is shutting down.
    pub fn poll_readable(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.io.poll_recv_ready(cx)
    }

    /// Does the same as [`PathSocket::writable`], for a driver that waits for a changing set of sockets.
    ///
    /// # Errors
    /// The runtime is shutting down.
    pub fn poll_writable(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.io.poll_send_ready(cx)
    }

    /// Reads the next batch from the kernel. Returns `None` if no batch has arrived. The caller repeats the call until
    /// it returns `None`, and then again after [`PathSocket::readable`]. A single error only means that one datagram
    /// was lost.
    ///
    /// # Errors
    /// Returns an error if the socket is closed ([`is_fatal`]), or if the system returned several errors in a row.
    /// After several errors, the next call may fail at once, and the caller may be woken although no datagram has
    /// arrived.
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

    /// Passes datagrams to the kernel, in as few calls as possible.
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

    /// Sends datagrams that are longer than the MTU of the interface or of the path. Each datagram is sent separately.
    /// The DF bit is not set, so that IP may fragment them. Chunks that were cut for a larger MTU cannot be cut again
    /// (RFC 9260 §6.9). If neither this system nor a router on the path fragments the datagrams, they are lost.
    pub fn send_fragmented(&self, transmit: &Transmit<'_>) {
        #[cfg(target_os = "linux")]
        {
            use rustix::net::sockopt::{self, Ipv4PathMtuDiscovery as V4, Ipv6PathMtuDiscovery as V6};
            // The socket refuses the option of the other address family.
            let discover = |v4, v6| {
                let _ = sockopt::set_ip_mtu_discover(&self.io, v4);
                let _ = sockopt::set_ipv6_mtu_discover(&self.io, v6);
            };
            discover(V4::DONT, V6::DONT);
            for datagram in transmit.contents.chunks(transmit.segment_size.max(1)) {
                // The transport recovers from this loss.
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
            // The runtime repeats the attempt. It records that the socket is not writable, and wakes the task later.
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

    /// Converts `remote` to the address family of this socket. An IPv6 socket reaches an IPv4 address as
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

/// Converts `::ffff:a.b.c.d` to its IPv4 address. Other IPv6 addresses keep their scope and flow.
fn canonical(addr: SocketAddr) -> SocketAddr {
    match addr.ip().to_canonical() {
        IpAddr::V4(v4) => SocketAddr::new(v4.into(), addr.port()),
        IpAddr::V6(_) => addr,
    }
}

/// Decides how serious an error when sending is. Only errors that are known to be final count as final.
fn classify(e: io::Error) -> SendOutcome {
    if quinn_udp::is_msg_size_err(&e) {
        return SendOutcome::TooBig;
    }
    if is_fatal(&e) {
        return SendOutcome::Fatal(e);
    }
    match e.raw_os_error() {
        // A full queue of the interface drops the datagram, like any other queue on the path.
        Some(libc::ENOBUFS) => SendOutcome::Sent,
        _ => SendOutcome::Lost,
    }
}

/// Returns whether an error means that the socket is closed. A socket is closed if its descriptor is closed or does not
/// belong to a socket. All other errors may be temporary.
pub fn is_fatal(e: &io::Error) -> bool {
    matches!(e.raw_os_error(), Some(libc::EBADF | libc::ENOTSOCK))
}

/// `EIO` or `EINVAL`. A network driver without segmentation offload refuses a batch with one of these errors.
fn is_gso_refusal(e: &io::Error) -> bool {
    matches!(e.raw_os_error(), Some(libc::EIO | libc::EINVAL))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All errors that a system may return, including unknown ones. Only two of them mean that the socket is closed.
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

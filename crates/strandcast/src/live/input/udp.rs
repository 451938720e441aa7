//! Media over UDP.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use socket2::{Domain, Protocol, Socket, Type};
use strandcast_net::resolve::resolve;
use strandcast_net::socket::is_fatal;
use tokio::net::UdpSocket;
use tokio::time::{Instant, sleep};

use super::source::Input;
use crate::error::Error;
use crate::live::url::UdpUrl;
use crate::text::why;

/// Time for which a live input may only fail, and the pause before the next read.
const PATIENCE: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(10);
/// Time without an error after which the next error starts a new series.
const APART: Duration = Duration::from_secs(1);

/// A UDP input. An error of the system, such as a lack of memory, costs at most one datagram and does not end the
/// stream.
#[derive(Debug)]
pub struct Udp {
    socket: UdpSocket,
    name: String,
    /// Times of the first and the last error since the last datagram.
    failing: Option<(Instant, Instant)>,
}

impl Udp {
    /// Listens on a host's first address. A multicast address is joined as a group. A group that the URL names apart is
    /// joined on the host's interface.
    ///
    /// # Errors
    /// [`Error::Network`].
    pub async fn listen(url: &UdpUrl) -> Result<Udp, Error> {
        let name = url.to_string();
        let refuse = |why: String| Error::Network(format!("cannot listen on {name}: {why}"));
        let host = first(&url.host, url.port).await?;
        let group = match &url.group {
            Some(group) => Some(first(group, url.port).await?),
            None => host.ip().is_multicast().then_some(host),
        };
        if let Some(group) = group.filter(|g| !g.ip().is_multicast()) {
            return Err(refuse(format!("{} is not a multicast group", group.ip())));
        }
        let interface = (group != Some(host)).then_some(host.ip());
        let socket = open(group.unwrap_or(host), group.map(|g| g.ip()), interface);
        let socket = socket.map_err(|e| refuse(why(&e)))?;
        Ok(Udp { socket, name, failing: None })
    }
}

impl Input for Udp {
    fn name(&self) -> String {
        self.name.clone()
    }

    async fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.datagram(buffer).await
    }
}

impl Udp {
    /// Reads a datagram. Cancel safe.
    async fn datagram(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.socket.recv(buffer).await {
                Ok(len) => {
                    self.failing = None;
                    // An empty datagram is not the end.
                    if len > 0 {
                        return Ok(len);
                    }
                }
                Err(error) if is_fatal(&error) || self.lasts(Instant::now()) => return Err(error),
                Err(_) => sleep(PAUSE).await,
            }
        }
    }

    /// Records an error. Returns whether the input has only failed for too long.
    fn lasts(&mut self, now: Instant) -> bool {
        let first = self.failing.filter(|(_, last)| now - *last < APART).map_or(now, |(first, _)| first);
        self.failing = Some((first, now));
        now - first >= PATIENCE
    }
}

/// Returns the first address of a name.
pub(in crate::live) async fn first(host: &str, port: u16) -> Result<SocketAddr, Error> {
    let found = resolve(host, port).await.map_err(|e| Error::Network(e.to_string()))?;
    Ok(*found.first().expect("a name that resolves has an address"))
}

fn open(local: SocketAddr, group: Option<IpAddr>, interface: Option<IpAddr>) -> io::Result<UdpSocket> {
    let socket = Socket::new(Domain::for_address(local), Type::DGRAM, Some(Protocol::UDP))?;
    if group.is_some() {
        // Several programs on one machine may listen to the same group.
        socket.set_reuse_address(true)?;
    }
    // A smaller buffer than requested may lose packets, which the continuity counters detect.
    let _ = socket.set_recv_buffer_size(4 << 20);
    socket.bind(&local.into())?;
    match (group, interface) {
        (Some(IpAddr::V4(group)), Some(IpAddr::V4(interface))) => {
            socket.join_multicast_v4(&group, &interface)?
        }
        (Some(IpAddr::V4(group)), _) => socket.join_multicast_v4(&group, &std::net::Ipv4Addr::UNSPECIFIED)?,
        (Some(IpAddr::V6(group)), _) => socket.join_multicast_v6(&group, 0)?,
        (None, _) => {}
    }
    socket.set_nonblocking(true)?;
    UdpSocket::from_std(socket.into())
}

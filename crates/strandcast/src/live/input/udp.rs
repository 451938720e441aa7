//! Media over UDP.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use socket2::{Domain, Protocol, Socket, Type};
use strandcast_net::resolve::resolve;
use strandcast_net::socket::is_fatal;
use tokio::net::UdpSocket;
use tokio::time::{Instant, sleep};

use super::rtp;
use super::source::Input;
use crate::error::Error;
use crate::live::url::UdpUrl;
use crate::live::via::Via;
use crate::text::why;

/// Time after which a live input fails if it returns only errors.
const PATIENCE: Duration = Duration::from_secs(10);
/// Pause between an error and the next read.
const PAUSE: Duration = Duration::from_millis(10);
/// Time without an error after which the next error starts a new series.
const APART: Duration = Duration::from_secs(1);

/// A UDP input. An error of the system, such as a lack of memory, loses at most one datagram. The stream then
/// continues.
#[derive(Debug)]
pub struct Udp {
    socket: UdpSocket,
    name: String,
    /// Only source address from which datagrams are accepted.
    source: Option<IpAddr>,
    /// Times of the first and the last error since the last datagram.
    failing: Option<(Instant, Instant)>,
}

impl Udp {
    /// Listens on a host's first address. If this address is a multicast address, the input joins the group. If the URL
    /// names both a group and a host, the input joins the group on the host's interface.
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
        if url.ttl.is_some() {
            return Err(refuse("ttl= is an option of outputs".to_owned()));
        }
        if group.is_none() && (url.interface.is_some() || url.source.is_some()) {
            return Err(refuse("if= and source= are options of a multicast group".to_owned()));
        }
        let local = group.unwrap_or(host);
        if let Some(source) = url.source.filter(|source| source.is_ipv4() != local.is_ipv4()) {
            return Err(refuse(format!("{source} and {} are not both IPv4 or both IPv6", local.ip())));
        }
        // Only for a group does the input need an interface. Any other host is an address to bind. It need not be an
        // address of an interface: 127.0.0.2 or a broadcast address are possible. The system refuses addresses of other
        // machines.
        let via = Via::of(url, url.group.as_ref().map(|_| host.ip())).map_err(&refuse)?;
        let socket = open(local, group.map(|g| g.ip()), via.as_ref(), url.source);
        let socket = socket.map_err(|e| refuse(why(&e)))?;
        Ok(Udp { socket, name, source: url.source, failing: None })
    }
}

impl Input for Udp {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn may_begin_late(&self) -> bool {
        true
    }

    async fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.datagram(buffer).await
    }
}

impl Udp {
    /// Reads a datagram. Cancel safe.
    async fn datagram(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let received = match self.source {
                None => self.socket.recv(buffer).await.map(|len| (len, false)),
                Some(source) => {
                    self.socket.recv_from(buffer).await.map(|(len, from)| (len, from.ip() != source))
                }
            };
            match received {
                Ok((len, other)) => {
                    self.failing = None;
                    // An empty datagram does not mean the end of the input.
                    if len > 0 && !other {
                        return Ok(match rtp::payload(&buffer[..len]) {
                            Some(packets) => {
                                let len = packets.len();
                                buffer.copy_within(packets, 0);
                                len
                            }
                            None => len,
                        });
                    }
                }
                Err(error) if is_fatal(&error) || self.lasts(Instant::now()) => return Err(error),
                Err(_) => sleep(PAUSE).await,
            }
        }
    }

    /// Records an error. Returns true if there have been only errors for too long.
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

fn open(
    local: SocketAddr,
    group: Option<IpAddr>,
    via: Option<&Via>,
    source: Option<IpAddr>,
) -> io::Result<UdpSocket> {
    let socket = Socket::new(Domain::for_address(local), Type::DGRAM, Some(Protocol::UDP))?;
    if group.is_some() {
        // Several programs on one machine may listen to the same group.
        socket.set_reuse_address(true)?;
    }
    // A buffer that is smaller than requested may lose packets. The continuity counters detect such losses.
    let _ = socket.set_recv_buffer_size(4 << 20);
    socket.bind(&local.into())?;
    let own = via.and_then(|via| via.v4).unwrap_or(Ipv4Addr::UNSPECIFIED);
    match (group, source) {
        (Some(IpAddr::V4(group)), Some(IpAddr::V4(source))) => socket.join_ssm_v4(&source, &group, &own)?,
        (Some(IpAddr::V4(group)), _) => socket.join_multicast_v4(&group, &own)?,
        // Datagrams of other sources are dropped when they are read.
        (Some(IpAddr::V6(group)), _) => socket.join_multicast_v6(&group, via.map_or(0, |via| via.index))?,
        (None, _) => {}
    }
    socket.set_nonblocking(true)?;
    UdpSocket::from_std(socket.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An input at a free port.
    async fn listen(text: &str) -> Result<Udp, Error> {
        let mut url: UdpUrl = text.parse().expect("a URL");
        url.port = 0;
        Udp::listen(&url).await
    }

    /// Sends a datagram to an input, and returns the bytes that the input reads.
    async fn heard(text: &str, to: &str) -> Vec<u8> {
        let mut input = listen(text).await.unwrap_or_else(|error| panic!("{text}: {error}"));
        let port = input.socket.local_addr().expect("it is bound").port();
        let from = std::net::UdpSocket::bind("127.0.0.1:0").expect("a port");
        from.set_broadcast(true).expect("an option");
        from.set_multicast_loop_v4(true).expect("an option");
        let socket = socket2::SockRef::from(&from);
        socket.set_multicast_if_v4(&Ipv4Addr::LOCALHOST).expect("an option");
        from.send_to(b"media", (to, port)).expect("it leaves");
        let mut buffer = vec![0; 64 << 10];
        let len = tokio::time::timeout(Duration::from_secs(10), input.read(&mut buffer));
        let len = len.await.unwrap_or_else(|_| panic!("{text}: nothing came")).expect("it can be read");
        buffer.truncate(len);
        buffer
    }

    /// The system has no interface with some of these addresses.
    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn it_listens_on_every_address_that_the_system_takes() {
        for (listens, to) in [
            ("udp://127.0.0.1:9", "127.0.0.1"),
            ("udp://127.0.0.2:9", "127.0.0.2"),
            ("udp://127.255.255.255:9", "127.255.255.255"),
            ("udp://0.0.0.0:9", "127.0.0.3"),
            ("udp://239.255.77.1@127.0.0.1:9", "239.255.77.1"),
            ("udp://239.255.77.2@127.0.0.2:9", "239.255.77.2"),
            ("udp://239.255.77.3:9?if=lo", "239.255.77.3"),
        ] {
            assert_eq!(heard(listens, to).await, b"media", "{listens}");
        }
    }

    #[tokio::test]
    async fn an_address_of_another_machine_is_refused() {
        for text in ["udp://192.0.2.1:9", "udp://239.255.77.4@192.0.2.1:9"] {
            let error = listen(text).await.expect_err(text).to_string();
            assert!(error.contains("cannot listen on") && error.contains("192.0.2.1"), "{error}");
        }
    }
}

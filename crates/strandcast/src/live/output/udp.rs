//! Media over UDP.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, Instant};

use socket2::{Domain, Protocol, Socket, Type};

use super::rtp::Rtp;
use super::sink::{Batch, Output};
use crate::error::Error;
use crate::live::input::first;
use crate::live::url::UdpUrl;
use crate::live::via::Via;
use crate::text::why;

/// Maximum number of different reasons that are counted.
const MOST_REASONS: usize = 16;

/// Reason for datagrams that no program receives, according to an answer of the destination. A network may drop some of
/// these answers.
const NO_LISTENER: &str = "there is no listener";

/// Time after which a failing socket is opened again.
const AGAIN: Duration = Duration::from_secs(1);

/// Sends each message as a datagram. If the URL requests RTP, the datagram has a header of RTP. After an error the
/// datagram is lost and counted. The first error of each kind is reported.
#[derive(Debug)]
pub struct Udp {
    socket: Socket,
    to: SocketAddr,
    via: Option<Via>,
    ttl: Option<u8>,
    name: String,
    rtp: Option<Rtp>,
    /// Time of the last attempt to open the socket again.
    opened: Instant,
    /// Number of lost datagrams by reason, since the last call of [`Output::troubles`].
    lost: BTreeMap<String, u64>,
}

impl Udp {
    /// Opens a socket that sends to the group in the URL, or to the first address of its host. This address may be a
    /// multicast group. If the URL names both a group and a host, datagrams leave by the host's interface.
    ///
    /// # Errors
    /// Returns [`Error::Network`] if the name has no address, there is no such interface, or the system cannot open a
    /// socket.
    pub async fn open(url: &UdpUrl) -> Result<Udp, Error> {
        let name = url.to_string();
        let refuse = |why: String| Error::Network(format!("cannot send to {name}: {why}"));
        if url.source.is_some() {
            return Err(refuse("source= is an option of inputs".to_owned()));
        }
        let host = first(&url.host, url.port).await?;
        let to = match &url.group {
            Some(group) => first(group, url.port).await?,
            None => host,
        };
        if url.group.is_some() && !to.ip().is_multicast() {
            return Err(refuse(format!("{} is not a multicast group", to.ip())));
        }
        let via = Via::of(url, url.group.as_ref().map(|_| host.ip())).map_err(&refuse)?;
        let socket = open(to, via.as_ref(), url.ttl).map_err(|e| refuse(why(&e)))?;
        let (lost, opened, ttl) = (BTreeMap::new(), Instant::now(), url.ttl);
        let rtp = url.rtp.then(|| rtp(opened)).transpose().map_err(|e| refuse(why(&e)))?;
        Ok(Udp { socket, to, via, ttl, name, rtp, opened, lost })
    }

    /// Sends a datagram. If the error was only the answer to an earlier datagram, the datagram is sent a second time.
    fn send(&mut self, message: &[u8]) {
        let to = self.to.into();
        let mut sent = self.socket.send_to(message, &to);
        if sent.as_ref().is_err_and(is_refused) {
            self.refused();
            sent = self.socket.send_to(message, &to);
        }
        match sent {
            Ok(_) => {}
            Err(error) if is_refused(&error) => self.refused(),
            Err(error) => {
                self.note(why(&error), 1);
                self.reopen();
            }
        }
    }

    /// Counts a datagram to which the destination answered that there is no listener.
    fn refused(&mut self) {
        self.note(NO_LISTENER.to_owned(), 1);
    }

    /// Opens the socket again, because its address may be gone.
    fn reopen(&mut self) {
        if self.opened.elapsed() >= AGAIN {
            self.opened = Instant::now();
            if let Ok(socket) = open(self.to, self.via.as_ref(), self.ttl) {
                self.socket = socket;
            }
        }
    }

    fn note(&mut self, why: String, lost: u64) {
        if self.lost.len() < MOST_REASONS || self.lost.contains_key(&why) {
            *self.lost.entry(why).or_default() += lost;
        }
    }
}

impl Output for Udp {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn takes_slate(&self) -> bool {
        true
    }

    fn troubles(&mut self) -> Vec<(String, u64)> {
        // This is the answer to the last datagram. No later datagram may follow that would return the answer.
        if let Ok(Some(error)) = self.socket.take_error()
            && is_refused(&error)
        {
            self.refused();
        }
        std::mem::take(&mut self.lost).into_iter().collect()
    }

    async fn write(&mut self, batch: &Batch) -> io::Result<()> {
        let Some(mut rtp) = self.rtp.take() else {
            batch.messages().for_each(|message| self.send(message));
            return Ok(());
        };
        for message in batch.messages() {
            rtp.write(Instant::now(), message, |datagram| self.send(datagram));
        }
        self.rtp = Some(rtp);
        Ok(())
    }
}

fn is_refused(error: &io::Error) -> bool {
    error.kind() == ErrorKind::ConnectionRefused
}

/// Makes a source of RTP whose numbers cannot be guessed.
fn rtp(now: Instant) -> io::Result<Rtp> {
    let (mut random, mut numbers) = (strandcast_net::entropy::seeds()?.stream("rtp"), [0; 10]);
    random.fill(&mut numbers);
    Ok(Rtp::new(now, numbers))
}

fn open(to: SocketAddr, via: Option<&Via>, ttl: Option<u8>) -> io::Result<Socket> {
    let socket = Socket::new(Domain::for_address(to), Type::DGRAM, Some(Protocol::UDP))?;
    socket.set_nonblocking(true)?;
    // Broadcast addresses need this option.
    socket.set_broadcast(true)?;
    let ttl = ttl.map(u32::from);
    let group = to.ip().is_multicast();
    match (to.ip(), via) {
        (IpAddr::V4(_), Some(via)) if group => {
            let own = via.v4.ok_or_else(|| io::Error::other(format!("{} has no IPv4 address", via.name)))?;
            socket.set_multicast_if_v4(&own)?;
        }
        (IpAddr::V6(_), Some(via)) if group => socket.set_multicast_if_v6(via.index)?,
        #[cfg(target_os = "linux")]
        (_, Some(via)) => socket.bind_device(Some(via.name.as_bytes()))?,
        _ => {}
    }
    match (to.ip(), ttl) {
        (IpAddr::V4(_), Some(ttl)) if group => socket.set_multicast_ttl_v4(ttl)?,
        (IpAddr::V4(_), Some(ttl)) => socket.set_ttl_v4(ttl)?,
        (IpAddr::V6(_), Some(ttl)) if group => socket.set_multicast_hops_v6(ttl)?,
        (IpAddr::V6(_), Some(ttl)) => socket.set_unicast_hops_v6(ttl)?,
        (_, None) => {}
    }
    if !group {
        // The socket is connected, so that the system reports that there is no listener. Without a route the socket is
        // not connected, and sends once a route exists.
        let _ = socket.connect(&to.into());
    }
    Ok(socket)
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;

    use super::*;

    #[tokio::test]
    async fn its_name_is_the_url_that_it_was_given() {
        for text in
            ["udp://239.1.1.1@127.0.0.1:5004", "udp://127.0.0.1:5004", "udp://239.1.1.1:5004?if=lo&ttl=9"]
        {
            let url: UdpUrl = text.parse().expect("a URL");
            let output = Udp::open(&url).await.expect("the system gives a socket");
            assert_eq!(output.name(), text);
            assert_eq!(output.to.ip().is_multicast(), text.contains("239"));
        }
    }

    fn batch(messages: &[&[u8]]) -> Batch {
        let mut batch = Batch::default();
        messages.iter().for_each(|message| batch.push(message));
        batch
    }

    async fn open(text: &str) -> Udp {
        Udp::open(&text.parse().expect("a URL")).await.expect("the system gives a socket")
    }

    #[tokio::test]
    async fn datagrams_without_a_listener_are_counted_until_there_is_one() {
        let free = UdpSocket::bind("127.0.0.1:0").expect("a port");
        let to = free.local_addr().expect("it is bound");
        drop(free);
        let mut output = open(&format!("udp://{to}")).await;
        let refused = |output: &mut Udp| {
            let all: BTreeMap<String, u64> = output.troubles().into_iter().collect();
            assert!(all.keys().all(|why| why == "there is no listener"), "{all:?}");
            all.values().sum::<u64>()
        };
        output.write(&batch(&[b"one", b"two", b"three"])).await.expect("it continues");
        let mut lost = refused(&mut output);
        for _ in 0..2000 {
            if lost == 3 {
                break;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
            lost += refused(&mut output);
        }
        assert_eq!(lost, 3);
        let listener = UdpSocket::bind(to).expect("the port is free");
        output.write(&batch(&[b"late"])).await.expect("it continues");
        let mut buffer = [0; 16];
        listener.set_read_timeout(Some(Duration::from_secs(10))).expect("a timeout");
        assert_eq!(listener.recv(&mut buffer).map(|len| buffer[..len].to_vec()).ok(), Some(b"late".to_vec()));
        assert_eq!(refused(&mut output), 0);
    }

    #[tokio::test]
    async fn datagrams_that_cannot_leave_are_counted_by_reason() {
        let mut output = open("udp://127.0.0.1:9").await;
        let long = vec![0; 70_000];
        output.write(&batch(&[&long, &long])).await.expect("it continues");
        assert_eq!(output.troubles(), [("message too long".to_owned(), 2)]);
        assert!(output.troubles().is_empty());
    }

    #[tokio::test]
    async fn mistakes_of_its_url_are_one_line() {
        for (text, words) in [
            ("udp://239.1.1.1@9.9.9.9:5000", "no interface has the address 9.9.9.9"),
            ("udp://239.1.1.1:5000?if=nope0", "no interface called nope0 has an address: choose from "),
            ("udp://192.0.2.9@127.0.0.1:5000", "192.0.2.9 is not a multicast group"),
            ("udp://239.1.1.1:5000?source=192.0.2.1", "source= is an option of inputs"),
        ] {
            let error = Udp::open(&text.parse().expect("a URL")).await.expect_err(text).to_string();
            assert!(error.contains(words) && error.contains(text) && !error.contains('\n'), "{error}");
        }
    }
}

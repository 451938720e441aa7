//! Media over UDP.

use std::io;
use std::net::{SocketAddr, UdpSocket};

use super::sink::{Batch, Output};
use crate::error::Error;
use crate::live::input::first;
use crate::live::url::UdpUrl;
use crate::text::why;

/// Sends each message as a datagram.
#[derive(Debug)]
pub struct Udp {
    socket: UdpSocket,
    to: SocketAddr,
    name: String,
}

impl Udp {
    /// Opens a socket that sends to the URL's group, or to its host's first address, which may be a multicast group.
    ///
    /// # Errors
    /// [`Error::Network`]: the name has no address, or the system cannot open a socket.
    pub async fn open(url: &UdpUrl) -> Result<Udp, Error> {
        let to = first(url.group.as_ref().unwrap_or(&url.host), url.port).await?;
        let any: SocketAddr = if to.is_ipv4() { ([0; 4], 0).into() } else { ([0u16; 8], 0).into() };
        let socket = UdpSocket::bind(any).and_then(|s| s.set_nonblocking(true).map(|()| s));
        let name = url.to_string();
        let refuse = |e| Error::Network(format!("cannot send to {name}: {}", why(&e)));
        Ok(Udp { socket: socket.map_err(refuse)?, to, name })
    }
}

impl Output for Udp {
    fn name(&self) -> String {
        self.name.clone()
    }

    async fn write(&mut self, batch: &Batch) -> io::Result<()> {
        for message in batch.messages() {
            // A missing listener is not an error. A full buffer of the system loses a datagram as a network does.
            let _ = self.socket.send_to(message, self.to);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn its_name_is_the_url_that_it_was_given() {
        for text in ["udp://239.1.1.1@127.0.0.1:5004", "udp://127.0.0.1:5004"] {
            let url: UdpUrl = text.parse().expect("a URL");
            let output = Udp::open(&url).await.expect("the system gives a socket");
            assert_eq!(output.name(), text);
            assert_eq!(output.to.ip().is_multicast(), url.group.is_some());
        }
    }
}

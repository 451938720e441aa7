//! Where media are written to.

use crate::error::CliError;
use crate::error::why;
use crate::input::first;
use crate::place::Place;
use std::io;
use std::net::SocketAddr;
use tokio::io::{AsyncWriteExt, BufWriter};
use tokio::net::UdpSocket;

/// An open output.
#[derive(Debug)]
enum Sink {
    File(BufWriter<tokio::fs::File>),
    Pipe(BufWriter<tokio::io::Stdout>),
    Udp(UdpSocket, SocketAddr),
}

/// An open output and its name.
#[derive(Debug)]
pub(crate) struct Output {
    sink: Sink,
    name: String,
}

impl Output {
    /// Opens `place`; a file is made anew.
    ///
    /// # Errors
    /// [`CliError::Media`], [`CliError::Network`].
    pub(crate) async fn open(place: &Place) -> Result<Output, CliError> {
        let (sink, name) = match place {
            Place::Pipe => (Sink::Pipe(BufWriter::new(tokio::io::stdout())), "standard output".to_owned()),
            Place::File(path) => {
                let file = tokio::fs::File::create(path).await;
                let file = file.map_err(|e| CliError::Media(format!("cannot write {place}: {}", why(&e))))?;
                (Sink::File(BufWriter::new(file)), place.to_string())
            }
            Place::Udp(udp) => {
                let to = first(udp.group.as_deref().unwrap_or(&udp.host), udp.port).await?;
                let any: SocketAddr = if to.is_ipv4() { ([0; 4], 0).into() } else { ([0u16; 8], 0).into() };
                let socket = UdpSocket::bind(any).await;
                let refuse = |e| CliError::Network(format!("cannot send to {place}: {}", why(&e)));
                (Sink::Udp(socket.map_err(refuse)?, to), place.to_string())
            }
        };
        Ok(Output { sink, name })
    }

    /// Writes a message's transport packets; they are on their way after [`Output::flush`].
    ///
    /// # Errors
    /// [`CliError::Media`]: the disk is full, nobody reads the pipe.
    pub(crate) async fn write(&mut self, bytes: &[u8]) -> Result<(), CliError> {
        let written = match &mut self.sink {
            Sink::File(file) => file.write_all(bytes).await,
            Sink::Pipe(pipe) => pipe.write_all(bytes).await,
            Sink::Udp(socket, to) => {
                // Nobody has to listen yet.
                let _ = socket.send_to(bytes, *to).await;
                Ok(())
            }
        };
        self.told(written)
    }

    /// Hands to the system what was written.
    ///
    /// # Errors
    /// As [`Output::write`].
    pub(crate) async fn flush(&mut self) -> Result<(), CliError> {
        let flushed = match &mut self.sink {
            Sink::File(file) => file.flush().await,
            Sink::Pipe(pipe) => pipe.flush().await,
            Sink::Udp(..) => Ok(()),
        };
        self.told(flushed)
    }

    fn told(&self, result: io::Result<()>) -> Result<(), CliError> {
        result.map_err(|e| CliError::Media(format!("cannot write {}: {}", self.name, why(&e))))
    }
}

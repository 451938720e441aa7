//! Media outputs.

use std::io;
use std::net::SocketAddr;

use tokio::io::{AsyncWriteExt, BufWriter};
use tokio::net::UdpSocket;

use crate::error::CliError;
use crate::error::why;
use crate::input::first;
use crate::media_url::MediaUrl;

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
    /// Opens `place`; an existing file is overwritten.
    ///
    /// # Errors
    /// [`CliError::Media`], [`CliError::Network`].
    pub(crate) async fn open(place: &MediaUrl) -> Result<Output, CliError> {
        let (sink, name) = match place {
            MediaUrl::Pipe => (Sink::Pipe(BufWriter::new(tokio::io::stdout())), "standard output".to_owned()),
            MediaUrl::File(path) => {
                let file = tokio::fs::File::create(path).await;
                let file = file.map_err(|e| CliError::Media(format!("cannot write {place}: {}", why(&e))))?;
                (Sink::File(BufWriter::new(file)), place.to_string())
            }
            MediaUrl::Udp(udp) => {
                let to = first(udp.group.as_deref().unwrap_or(&udp.host), udp.port).await?;
                let any: SocketAddr = if to.is_ipv4() { ([0; 4], 0).into() } else { ([0u16; 8], 0).into() };
                let socket = UdpSocket::bind(any).await;
                let refuse = |e| CliError::Network(format!("cannot send to {place}: {}", why(&e)));
                (Sink::Udp(socket.map_err(refuse)?, to), place.to_string())
            }
        };
        Ok(Output { sink, name })
    }

    /// Writes a message's transport packets. [`Output::flush`] passes them to the system.
    ///
    /// # Errors
    /// [`CliError::Media`]: the disk is full, or the pipe has no reader.
    pub(crate) async fn write(&mut self, bytes: &[u8]) -> Result<(), CliError> {
        let written = match &mut self.sink {
            Sink::File(file) => file.write_all(bytes).await,
            Sink::Pipe(pipe) => pipe.write_all(bytes).await,
            Sink::Udp(socket, to) => {
                // A missing listener is not an error.
                let _ = socket.send_to(bytes, *to).await;
                Ok(())
            }
        };
        self.checked(written)
    }

    /// Passes written data to the system.
    ///
    /// # Errors
    /// As [`Output::write`].
    pub(crate) async fn flush(&mut self) -> Result<(), CliError> {
        let flushed = match &mut self.sink {
            Sink::File(file) => file.flush().await,
            Sink::Pipe(pipe) => pipe.flush().await,
            Sink::Udp(..) => Ok(()),
        };
        self.checked(flushed)
    }

    fn checked(&self, result: io::Result<()>) -> Result<(), CliError> {
        result.map_err(|e| CliError::Media(format!("cannot write {}: {}", self.name, why(&e))))
    }
}

//! Media over SRT.

use std::io;

use strandcast_srt::Direction;
use tokio::sync::mpsc;

use super::source::Input;
use crate::error::Error;
use crate::live::srt::{DATAGRAM, Driver, Media, SrtUrl};

/// An SRT input. A listener takes one sender at a time, and then waits for the next one. A caller calls again after a
/// loss of the connection.
#[derive(Debug)]
pub struct Srt {
    name: String,
    driver: Driver,
    payloads: mpsc::Receiver<Vec<u8>>,
}

impl Srt {
    /// Listens or begins to call.
    ///
    /// # Errors
    /// Returns [`Error::Network`] if the name has no address, or the system cannot open a socket.
    pub async fn open(url: &SrtUrl) -> Result<Srt, Error> {
        let (driver, media) = Driver::start(url, url.config(Direction::Receive)).await?;
        let Media::Receive(payloads) = media else { return Err(Error::Aborted) };
        Ok(Srt { name: url.to_string(), driver, payloads })
    }
}

impl Input for Srt {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn troubles(&mut self) -> Vec<String> {
        self.driver.refused()
    }

    async fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let payload = self.payloads.recv().await.ok_or_else(|| self.driver.ended())?;
        let mut len = payload.len();
        buffer[..len].copy_from_slice(&payload);
        while buffer.len() - len >= DATAGRAM {
            let Ok(payload) = self.payloads.try_recv() else { break };
            buffer[len..len + payload.len()].copy_from_slice(&payload);
            len += payload.len();
        }
        Ok(len)
    }
}

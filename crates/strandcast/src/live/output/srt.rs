//! Media over SRT.

use std::io;

use strandcast_srt::Direction;
use tokio::sync::mpsc;

use super::sink::{Batch, Output};
use crate::error::Error;
use crate::live::srt::{Driver, Media, SrtUrl};

/// An SRT output. A listener sends to each of its callers from the time of the call. A caller calls again after a loss.
/// Without a peer, the media are lost and counted, but the output continues.
#[derive(Debug)]
pub struct Srt {
    name: String,
    driver: Driver,
    /// `None` once no more media are sent.
    messages: Option<mpsc::Sender<Vec<u8>>>,
    /// True once the output has had media to send.
    wrote: bool,
}

impl Srt {
    /// Listens or begins to call.
    ///
    /// # Errors
    /// Returns [`Error::Network`] if the name has no address, or the system cannot open a socket.
    pub async fn open(url: &SrtUrl) -> Result<Srt, Error> {
        let (driver, media) = Driver::start(url, url.config(Direction::Send)).await?;
        let Media::Send(messages) = media else { return Err(Error::Aborted) };
        Ok(Srt { name: url.to_string(), driver, messages: Some(messages), wrote: false })
    }
}

impl Output for Srt {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn takes_slate(&self) -> bool {
        true
    }

    fn troubles(&mut self) -> Vec<(String, u64)> {
        self.driver.missed()
    }

    async fn write(&mut self, batch: &Batch) -> io::Result<()> {
        let Some(messages) = &self.messages else { return Err(io::ErrorKind::BrokenPipe.into()) };
        self.wrote = true;
        for message in batch.messages() {
            messages.send(message.to_vec()).await.map_err(|_| self.driver.ended())?;
        }
        // All messages have left this queue.
        let all = messages.max_capacity();
        messages.reserve_many(all).await.map(drop).map_err(|_| self.driver.ended())
    }

    /// Waits until players have received the rest. The wait takes at most twice the latency plus one second.
    async fn end(&mut self) -> io::Result<()> {
        self.messages = None;
        self.driver.finished().await;
        if self.wrote && !self.driver.was_connected() {
            return Err(io::Error::other("no peer has connected"));
        }
        Ok(())
    }
}

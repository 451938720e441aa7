//! Media over SRT.

use std::io;

use strandcast_srt::Direction;
use tokio::sync::mpsc;

use super::sink::{Batch, Output};
use crate::error::Error;
use crate::live::srt::{Driver, Media, SrtUrl};

/// Largest payload: seven transport packets, as SRT's programs send them.
const PAYLOAD: usize = 7 * 188;

/// An SRT output. A listener sends to each of its callers from the moment at which it calls; a caller calls again.
/// Without a peer the media are lost, and the output does not stop.
#[derive(Debug)]
pub struct Srt {
    name: String,
    driver: Driver,
    payloads: mpsc::Sender<Vec<u8>>,
}

impl Srt {
    /// Listens or begins to call.
    ///
    /// # Errors
    /// [`Error::Network`]: the name has no address, or the system cannot open a socket.
    pub async fn open(url: &SrtUrl) -> Result<Srt, Error> {
        let (driver, media) = Driver::start(url, url.config(Direction::Send)).await?;
        let Media::Send(payloads) = media else { return Err(Error::Aborted) };
        Ok(Srt { name: url.to_string(), driver, payloads })
    }
}

impl Output for Srt {
    fn name(&self) -> String {
        self.name.clone()
    }

    async fn write(&mut self, batch: &Batch) -> io::Result<()> {
        for payload in batch.messages().flat_map(|message| message.chunks(PAYLOAD)) {
            self.payloads.send(payload.to_vec()).await.map_err(|_| self.driver.ended())?;
        }
        // Everything has left this queue.
        let all = self.payloads.max_capacity();
        self.payloads.reserve_many(all).await.map(drop).map_err(|_| self.driver.ended())
    }
}

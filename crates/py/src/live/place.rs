//! Inputs and outputs as Python names them: a path, a URL, bytes, or an object that a thread of Python serves.

use pyo3::prelude::*;
use strandcast::Error;
use strandcast::live::input::{self, Input};
use strandcast::live::output::{self, Output, Recordings};
use strandcast::live::{Listening, Receiver, Sender, SenderConfig, UdpUrl};

use super::drain::{Drain, DrainedOutput};
use super::feeder::{FedInput, Feeder, Held};

/// An input that is not open yet.
pub(super) enum Source {
    Place(String),
    Held(Vec<u8>),
    Fed(FedInput),
}

impl Source {
    pub(super) fn of(given: &Bound<'_, PyAny>) -> PyResult<Source> {
        if let Ok(feeder) = given.cast::<Feeder>() {
            return Ok(Source::Fed(feeder.get().input()?));
        }
        if let Ok(place) = given.extract() {
            return Ok(Source::Place(place));
        }
        Ok(Source::Held(given.extract()?))
    }

    /// Opens it, and starts to send it.
    pub(super) async fn send(self, config: SenderConfig) -> Result<Sender, Error> {
        async fn start(config: SenderConfig, input: impl Input) -> Result<Sender, Error> {
            Sender::start(config, input).await
        }
        match self {
            Source::Fed(fed) => start(config, fed).await,
            Source::Held(all) => start(config, Held { all, read: 0 }).await,
            Source::Place(place) => match UdpUrl::of(&place)? {
                Some(url) => start(config, input::Udp::listen(&url).await?).await,
                None => start(config, input::File::open(place).await?).await,
            },
        }
    }
}

/// An output that is not open yet.
pub(super) enum Sink {
    /// A name, and whether a file with content is overwritten.
    Place(String, bool),
    Drained(DrainedOutput),
}

impl Sink {
    pub(super) fn of(given: &Bound<'_, PyAny>, overwrite: bool) -> PyResult<Sink> {
        match given.cast::<Drain>() {
            Ok(drain) => Ok(Sink::Drained(drain.get().output()?)),
            Err(_) => Ok(Sink::Place(given.extract()?, overwrite)),
        }
    }

    /// Opens it, and starts to play to it.
    pub(super) async fn play(self, listening: Listening) -> Result<Receiver, Error> {
        fn start(listening: Listening, output: impl Output) -> Receiver {
            listening.play(output)
        }
        let (place, overwrite) = match self {
            Sink::Drained(drained) => return Ok(start(listening, drained)),
            Sink::Place(place, overwrite) => (place, overwrite),
        };
        if let Some(url) = UdpUrl::of(&place)? {
            return Ok(start(listening, output::Udp::open(&url).await?));
        }
        Ok(match Recordings::of(place.as_ref())? {
            Some(recordings) => start(listening, recordings),
            None => start(listening, output::File::open(place.as_ref(), overwrite)?),
        })
    }
}

//! Inputs and outputs that Python can name: a path, a URL, bytes, or a Python object that a separate
//! thread calls.

use std::io;

use pyo3::prelude::*;
use strandcast::Error;
use strandcast::live::input::{AnyInput, Input};
use strandcast::live::output::{AnyOutput, Batch, Output};
use strandcast::live::{Listening, Receiver, Sender, SenderConfig};

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

    /// Opens the input, and starts to send it.
    pub(super) async fn send(self, config: SenderConfig) -> Result<Sender, Error> {
        async fn start(config: SenderConfig, input: impl Input) -> Result<Sender, Error> {
            Sender::start(config, input).await
        }
        match self {
            Source::Fed(fed) => start(config, fed).await,
            Source::Held(all) => start(config, Held { all, read: 0 }).await,
            Source::Place(place) => start(config, AnyInput::open(place).await?).await,
        }
    }
}

/// An output that is not open yet.
pub(super) enum Sink {
    Place(String),
    Drained(DrainedOutput),
}

impl Sink {
    pub(super) fn of(given: &Bound<'_, PyAny>) -> PyResult<Sink> {
        match given.cast::<Drain>() {
            Ok(drain) => Ok(Sink::Drained(drain.get().output()?)),
            Err(_) => Ok(Sink::Place(given.extract()?)),
        }
    }

    async fn open(self, overwrite: bool) -> Result<OpenSink, Error> {
        Ok(match self {
            Sink::Drained(drained) => OpenSink::Drained(drained),
            Sink::Place(place) => OpenSink::Place(AnyOutput::open(place, overwrite).await?),
        })
    }
}

/// Opens outputs, and starts to play to each of them. With `overwrite`, a file with content is overwritten.
pub(super) async fn play(sinks: Vec<Sink>, overwrite: bool, listening: Listening) -> Result<Receiver, Error> {
    let mut outputs = Vec::new();
    for sink in sinks {
        outputs.push(sink.open(overwrite).await?);
    }
    Ok(listening.play_all(outputs))
}

/// An output that is open.
#[derive(Debug)]
enum OpenSink {
    Place(AnyOutput),
    Drained(DrainedOutput),
}

impl Output for OpenSink {
    fn name(&self) -> String {
        match self {
            OpenSink::Place(output) => output.name(),
            OpenSink::Drained(output) => output.name(),
        }
    }

    fn takes_slate(&self) -> bool {
        match self {
            OpenSink::Place(output) => output.takes_slate(),
            OpenSink::Drained(output) => output.takes_slate(),
        }
    }

    fn troubles(&mut self) -> Vec<(String, u64)> {
        match self {
            OpenSink::Place(output) => output.troubles(),
            OpenSink::Drained(output) => output.troubles(),
        }
    }

    async fn begin(&mut self) -> io::Result<()> {
        match self {
            OpenSink::Place(output) => output.begin().await,
            OpenSink::Drained(output) => output.begin().await,
        }
    }

    async fn write(&mut self, batch: &Batch) -> io::Result<()> {
        match self {
            OpenSink::Place(output) => output.write(batch).await,
            OpenSink::Drained(output) => output.write(batch).await,
        }
    }

    async fn end(&mut self) -> io::Result<()> {
        match self {
            OpenSink::Place(output) => output.end().await,
            OpenSink::Drained(output) => output.end().await,
        }
    }
}

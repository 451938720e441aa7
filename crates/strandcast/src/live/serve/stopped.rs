//! Streams and outputs that were stopped by request.

use super::command::StreamNow;
use super::config::StreamConfig;
use super::event::Event;
use super::router::Router;
use super::stream::Running;
use crate::error::Error;

impl Router {
    /// Stops a stream, or starts it again.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] if there is no such stream.
    pub(super) fn switch_stream(&mut self, name: &str, on: bool) -> Result<(), Error> {
        let Some(config) = self.config.streams.get(name).cloned() else {
            return Err(Error::Usage(format!("there is no stream {name}")));
        };
        if !on {
            let Some(running) = self.streams.remove(name) else { return Ok(()) };
            running.stop(false);
            self.stopped.insert(name.to_owned(), tokio::spawn(running.end()));
            self.report(Event::Stopped { name: name.to_owned(), output: None });
        } else if let Some(ending) = self.stopped.remove(name) {
            // The outputs of the stream are closed before they are opened again.
            let first = async { ending.await.unwrap_or_default() };
            self.start(&config, first);
            self.report(Event::Started { name: name.to_owned(), output: None });
        }
        Ok(())
    }

    /// Stops an output of a stream, or starts it again.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] if there is no such output, or its stream is stopped.
    pub(super) fn switch_output(&mut self, name: &str, number: usize, on: bool) -> Result<(), Error> {
        let Some(running) = self.streams.get_mut(name) else {
            return Err(Error::Usage(match self.stopped.contains_key(name) {
                true => format!("the stream {name} is stopped: start it first"),
                false => format!("there is no stream {name}"),
            }));
        };
        let Some(place) = running.config.outputs.get(number) else {
            let all = running.config.outputs.len();
            return Err(Error::Usage(format!(
                "{name} has no output {number}: its {all} outputs begin with 0"
            )));
        };
        let (name, output) = (name.to_owned(), Some(place.to_string()));
        let changes = if on { running.off.remove(&number) } else { running.off.insert(number) };
        if changes {
            running.switch(number, on);
            self.report(match on {
                true => Event::Started { name, output },
                false => Event::Stopped { name, output },
            });
        }
        Ok(())
    }

    /// Returns all streams of the configuration.
    pub(super) fn look(&self) -> Vec<StreamNow> {
        let now = |config: &StreamConfig| StreamNow {
            config: config.clone(),
            stopped: self.stopped.contains_key(config.name.as_str()),
            outputs: self.streams.get(config.name.as_str()).map(Running::outputs).unwrap_or_default(),
            viewers: self.streams.get(config.name.as_str()).map(|running| running.viewers.clone()),
        };
        self.config.streams.values().map(now).collect()
    }
}

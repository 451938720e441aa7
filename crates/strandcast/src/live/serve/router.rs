//! The task of a server: it passes senders to streams.

use std::collections::BTreeMap;
use std::time::Duration;

use strandcast_media::pack::VERSION;
use tokio::runtime::Handle;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::mpsc::{Sender, UnboundedReceiver};
use tokio::task::JoinHandle;
use tokio::time::{Interval, MissedTickBehavior, interval};

use super::command::Command;
use super::config::{Config, StreamConfig};
use super::event::{Changes, Event, reason};
use super::rights::{Verdict, decide};
use super::stream::{Common, Running};
use crate::error::Error;
use crate::live::event;
use crate::live::receiver::door::Own;
use crate::live::receiver::incoming::{Arrival, Naming, PendingSender, handshake};
use crate::live::receiver::session::Arrivals;
use crate::live::stop::{Stop, stopped};
use crate::live::words::REFUSED;

/// Interval between two checks of the addresses and the gate.
const TICK: Duration = Duration::from_millis(250);
/// Pause before a stream that failed begins again.
const PAUSE: Duration = Duration::from_secs(1);

/// Time for the last packets of a server that is dropped.
const FAREWELL: Duration = Duration::from_millis(500);

pub(super) struct Router {
    pub(super) door: Own,
    pub(super) config: Config,
    pub(super) common: Common,
    pub(super) ready: Arrivals,
    pub(super) commands: UnboundedReceiver<Command>,
    /// Receives the names and run numbers of streams that have ended.
    pub(super) ended: UnboundedReceiver<(String, u64)>,
    pub(super) streams: BTreeMap<String, Running>,
    /// Streams that were stopped by request, each with the task of its end.
    pub(super) stopped: BTreeMap<String, JoinHandle<()>>,
    /// Number of the last run of a stream.
    pub(super) runs: u64,
    /// Number of events for which the queue had no room.
    pub(super) missed: u64,
}

impl Router {
    /// Runs until the application requests the end.
    ///
    /// # Errors
    /// Returns [`Error::Network`] if the server could not listen for a while.
    pub(super) async fn run(mut self, mut stop: Stop) -> Result<(), Error> {
        let configs: Vec<StreamConfig> = self.config.streams.values().cloned().collect();
        configs.iter().for_each(|config| self.start(config, std::future::ready(())));
        let mut ticks = interval(TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let outcome = self.route(&mut stop, &mut ticks).await;
        self.end().await;
        outcome
    }

    async fn route(&mut self, stop: &mut Stop, ticks: &mut Interval) -> Result<(), Error> {
        loop {
            tokio::select! {
                () = stopped(stop) => return Ok(()),
                accepted = self.door.listener.accept() => match accepted {
                    Some(association) => {
                        tokio::spawn(handshake(association, self.ready.0.clone(), Naming::Chooses));
                    }
                    None => return Err(Error::Network("the transport stopped".into())),
                },
                Some(arrival) = self.ready.1.recv() => self.arrived(arrival).await,
                Some(command) = self.commands.recv() => self.obey(command),
                Some((name, run)) = self.ended.recv() => self.stream_ended(&name, run).await,
                _ = ticks.tick() => {
                    self.poll_gate().await;
                    for change in self.door.changes().await? {
                        self.report(Event::Door(event::Event::Socket(change)));
                    }
                }
            }
        }
    }

    /// Executes a request of the program, which may have ended before the answer.
    fn obey(&mut self, command: Command) {
        match command {
            Command::Reload(config, told) => drop(told.send(self.reload(*config))),
            Command::Stream(name, on, told) => drop(told.send(self.switch_stream(&name, on))),
            Command::Output(name, number, on, told) => {
                drop(told.send(self.switch_output(&name, number, on)));
            }
            Command::Look(told) => drop(told.send(self.look())),
        }
    }

    /// Reports an event, if there is room for it.
    pub(super) fn report(&mut self, event: Event) {
        send(&self.common.events, &mut self.missed, event);
    }

    async fn poll_gate(&mut self) {
        for event in self.door.poll_gate().await {
            self.report(Event::Door(event::Event::Gate(event)));
        }
    }

    /// Passes a sender to the stream that it asks for and may send.
    async fn arrived(&mut self, arrival: Arrival) {
        let mut sender = match arrival {
            Arrival::Newer(peer, version) => {
                let news = event::Event::OtherVersion { peer, version, reads: VERSION };
                return self.report(Event::Door(news));
            }
            Arrival::Sender(sender) => sender,
        };
        // Reports of the seal on a sender arrive before the sender.
        self.poll_gate().await;
        let label = self.door.label(sender.key);
        if let Some(label) = label {
            sender.peer = format!("{label} ({})", sender.peer);
        }
        let asks = sender.asks.clone().unwrap_or_default();
        let verdict = match &self.door.gate {
            Some(gate) => decide(&self.config.streams, gate, sender.key.as_ref(), &asks),
            None => Verdict::Refused(Vec::new()),
        };
        let stream = match verdict {
            Verdict::Sends(name) if self.stopped.contains_key(&name) => {
                return self.refuse_stopped(*sender, name);
            }
            Verdict::Sends(name) => self.streams.get(&name),
            Verdict::Refused(may) => return self.refuse(*sender, asks, may),
        };
        match stream {
            Some(stream) => stream.take(Arrival::Sender(sender)),
            // The stream has failed, and starts again soon.
            None => sender.association.abort("the stream is not there at the moment"),
        }
    }

    fn refuse(&mut self, sender: PendingSender, asks: String, may: Vec<String>) {
        sender.association.abort(&format!("{REFUSED}{}", reason(&asks, &may)));
        self.report(Event::NotAllowed { peer: sender.peer, asks, may });
    }

    fn refuse_stopped(&mut self, sender: PendingSender, name: String) {
        sender.association.abort(&format!("{REFUSED}the stream is stopped"));
        self.report(Event::NotStarted { peer: sender.peer, name });
    }

    /// Starts a stream once `first` is complete.
    pub(super) fn start(&mut self, config: &StreamConfig, first: impl Future<Output = ()> + Send + 'static) {
        self.runs += 1;
        let running = Running::start(&self.common, config, self.runs, first);
        self.streams.insert(config.name.as_str().to_owned(), running);
    }

    /// Starts a stream again that ended without a request.
    async fn stream_ended(&mut self, name: &str, run: u64) {
        if self.streams.get(name).is_none_or(|running| running.run != run) {
            return;
        }
        let Some(failed) = self.streams.remove(name) else { return };
        let why = failed.outcome().await;
        self.report(Event::Failed { name: name.to_owned(), why });
        let config = failed.config.clone();
        drop(failed);
        self.start(&config, tokio::time::sleep(PAUSE));
    }

    /// Applies the difference to another configuration. If this fails, no stream changes.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] if a running server cannot change this.
    fn reload(&mut self, config: Config) -> Result<Changes, Error> {
        self.config.refuse_fixed(&config)?;
        let changes = self.difference(&config);
        self.config = config;
        self.stopped.retain(|name, _| self.config.streams.contains_key(name));
        for name in &changes.opened {
            if let (Some(running), Some(stream)) = (self.streams.get_mut(name), self.config.streams.get(name))
            {
                running.config.senders.clone_from(&stream.senders);
            }
        }
        // A stream that ends may leave its outputs to a stream that begins.
        for name in changes.changed.iter().chain(&changes.removed) {
            self.streams.get(name).into_iter().for_each(|running| running.stop(true));
        }
        for name in &changes.removed {
            if let Some(running) = self.streams.remove(name) {
                tokio::spawn(running.end());
            }
        }
        for name in changes.changed.iter().chain(&changes.added) {
            let Some(stream) = self.config.streams.get(name).cloned() else { continue };
            match self.streams.remove(name) {
                Some(before) => self.start(&stream, before.end()),
                None => self.start(&stream, std::future::ready(())),
            }
        }
        Ok(changes)
    }

    /// Returns the difference between the running streams and another configuration.
    fn difference(&self, config: &Config) -> Changes {
        let mut changes = Changes::default();
        for (name, stream) in &config.streams {
            match self.streams.get(name) {
                Some(running) if running.config == *stream => {}
                Some(running) if running.config.only_admits_more(stream) => changes.opened.push(name.clone()),
                Some(_) => changes.changed.push(name.clone()),
                None if self.stopped.contains_key(name) => {}
                None => changes.added.push(name.clone()),
            }
        }
        let gone = self.streams.keys().filter(|name| !config.streams.contains_key(*name));
        changes.removed = gone.cloned().collect();
        changes
    }

    /// Ends all streams.
    async fn end(&mut self) {
        // No caller waits for an answer meanwhile.
        self.commands.close();
        while self.commands.try_recv().is_ok() {}
        let streams = std::mem::take(&mut self.streams);
        streams.values().for_each(|running| running.stop(false));
        for running in streams.into_values() {
            running.end().await;
        }
        for (_, ending) in std::mem::take(&mut self.stopped) {
            // This call limits its own time.
            let _ = ending.await;
        }
        for event in self.door.end().await {
            self.report(Event::Door(event::Event::Gate(event)));
        }
    }
}

impl Drop for Router {
    fn drop(&mut self) {
        let driver = self.door.listener.driver().clone();
        // Streams that are dropped notify their senders. At the regular end, the streams have already notified their
        // senders.
        let farewell = if self.streams.is_empty() { Duration::ZERO } else { FAREWELL };
        match Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn(async move {
                tokio::time::sleep(farewell).await;
                driver.stop();
            })),
            Err(_) => driver.stop(),
        }
    }
}

/// Sends an event. Events for which the queue has no room are counted.
pub(super) fn send(events: &Sender<Event>, missed: &mut u64, event: Event) {
    if *missed > 0 && events.try_send(Event::Missed(*missed)).is_ok() {
        *missed = 0;
    }
    if let Err(TrySendError::Full(_)) = events.try_send(event) {
        *missed += 1;
    }
}

//! A stream of a server while it runs.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::mpsc::{Sender, UnboundedSender, unbounded_channel};
use tokio::task::AbortHandle;

use super::config::StreamConfig;
use super::event::Event;
use super::lasting::Lasting;
use crate::live::event;
use crate::live::feed::Feed;
use crate::live::output::{Outlet, Outlets, OutputNow, Switch, Viewers};
use crate::live::receiver::door::{Door, Served};
use crate::live::receiver::incoming::Arrival;
use crate::live::receiver::session::{Open, Session};
use crate::live::receiver::{Receiver, ReceiverConfig};
use crate::memory::Memory;
use crate::scheme::Scheme;

/// Time for which a stream waits for the end of its predecessor, in addition to the latency. The time covers writing
/// and the last packets.
const PATIENCE: Duration = Duration::from_secs(7);

/// A running stream. Dropping the stream ends it at once.
#[derive(Debug)]
pub(super) struct Running {
    pub(super) config: StreamConfig,
    /// Number of the run.
    pub(super) run: u64,
    arrivals: UnboundedSender<Arrival>,
    receiver: Arc<Receiver>,
    again: Arc<AtomicBool>,
    switches: UnboundedSender<Switch>,
    /// Numbers of the outputs that were stopped by request.
    pub(super) off: BTreeSet<usize>,
    /// Outputs that are being opened again, by number.
    opening: BTreeMap<usize, AbortHandle>,
    pub(super) viewers: Viewers,
}

/// Objects that all streams share.
#[derive(Clone, Debug)]
pub(super) struct Common {
    pub(super) scheme: Scheme,
    /// Memory share of one stream.
    pub(super) memory: Memory,
    pub(super) events: Sender<Event>,
    /// True if programs may read the played media.
    pub(super) watched: bool,
    /// Receives the names and run numbers of streams that have ended.
    pub(super) ended: UnboundedSender<(String, u64)>,
}

impl Running {
    /// Starts a stream once the future `first` is complete. `first` may be the end of another stream. Call it inside a
    /// tokio runtime.
    pub(super) fn start(
        common: &Common,
        config: &StreamConfig,
        run: u64,
        first: impl Future<Output = ()> + Send + 'static,
    ) -> Running {
        let (arrivals, taken) = unbounded_channel();
        let (switches, asked) = unbounded_channel();
        let viewers = Viewers::default();
        let seen = viewers.clone();
        let again = Arc::<AtomicBool>::default();
        let mut receiver = ReceiverConfig::new(common.scheme.clone());
        (receiver.latency, receiver.silence) = (config.latency, config.silence);
        (receiver.memory, receiver.slate) = (common.memory, config.slate.clone());
        let ready = (arrivals.clone(), taken);
        let (places, memory, watched) = (config.outputs.clone(), common.memory, common.watched);
        let served = Served { again: Arc::clone(&again) };
        let feed = Feed::start(|reporter, stop| async move {
            first.await;
            let mut outputs = Vec::new();
            for place in &places {
                let (output, failed) = Lasting::open(place).await;
                let output_name = place.to_string();
                let trouble = failed.map(|why| event::Event::OutputTrouble { output: output_name, why });
                trouble.into_iter().for_each(|event| reporter.report(event));
                outputs.push(output);
            }
            let kept = watched.then(|| memory.recent());
            let outlets = Outlets::start(outputs, memory.output_of_served()).with(seen, kept);
            Session::run(Open {
                config: receiver,
                door: Door::Served(served),
                ready,
                outlets,
                reporter,
                stop,
                switches: asked,
            })
            .await
        });
        let receiver = Arc::new(Receiver { feed, viewers: viewers.clone() });
        let name = config.name.as_str().to_owned();
        tokio::spawn(forward(name, run, Arc::clone(&receiver), common.clone()));
        Running {
            config: config.clone(),
            run,
            arrivals,
            receiver,
            again,
            switches,
            off: BTreeSet::new(),
            opening: BTreeMap::new(),
            viewers,
        }
    }

    /// Passes a sender to the stream.
    pub(super) fn take(&self, arrival: Arrival) {
        // A stream that has ended is started again, and its sender connects again.
        let _ = self.arrivals.send(arrival);
    }

    /// State of the outputs.
    pub(super) fn outputs(&self) -> Vec<OutputNow> {
        self.receiver.outputs()
    }

    /// Stops the output with this number, or starts it again. Call it inside a tokio runtime.
    pub(super) fn switch(&mut self, number: usize, on: bool) {
        // This request must not overtake a request that is being carried out.
        if let Some(opening) = self.opening.remove(&number) {
            opening.abort();
        }
        let Some(place) = self.config.outputs.get(number).filter(|_| on).cloned() else {
            // A session that has ended has no outputs.
            let _ = self.switches.send(Switch { number, start: None });
            return;
        };
        let switches = self.switches.clone();
        let opening = tokio::spawn(async move {
            let (output, _) = Lasting::open(&place).await;
            let start = Box::new(|share, ended| Outlet::start(output, share, ended));
            let _ = switches.send(Switch { number, start: Some(start) });
        });
        self.opening.insert(number, opening.abort_handle());
    }

    /// Requests the end. `again` is true if senders may connect again at once.
    pub(super) fn stop(&self, again: bool) {
        self.again.store(again, Ordering::Relaxed);
        self.receiver.stop();
    }

    /// Waits for the end of a stream that was stopped, for a limited time.
    pub(super) async fn end(self) {
        let latency = self.config.latency.unwrap_or_default();
        // Data that cannot be written by then are lost, as at the end of `strandcast receive`.
        let _: Result<_, _> = tokio::time::timeout(latency + PATIENCE, self.receiver.wait()).await;
    }

    /// Reason why the stream has ended.
    pub(super) async fn outcome(&self) -> String {
        match self.receiver.wait().await {
            Ok(()) => "it ended".to_owned(),
            Err(error) => error.to_string(),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.receiver.abort();
        self.viewers.close();
    }
}

/// Forwards the events of a stream until it ends. A stream never waits for the reader of its events.
async fn forward(name: String, run: u64, receiver: Arc<Receiver>, common: Common) {
    while let Some(event) = receiver.event().await {
        if common.events.send(Event::Stream { name: name.clone(), event }).await.is_err() {
            return;
        }
    }
    // Without a router the server is ending.
    let _ = common.ended.send((name, run));
}

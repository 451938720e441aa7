//! Queue of events from a stream's task to the application.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;

use super::event::Event;
use super::output::OutputNow;
use super::stats::Stats;
use super::stop::Stop;
use crate::error::Error;

/// Maximum number of waiting events. If there are more, the oldest ones are dropped.
const MOST: usize = 1024;

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    came: Notify,
}

#[derive(Debug, Default)]
struct State {
    events: VecDeque<Event>,
    /// Number of events that were dropped to make room for newer events.
    missed: u64,
    stats: Option<Arc<Stats>>,
    outputs: Vec<OutputNow>,
    over: bool,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The task's end of the queue. The task never waits for the application.
#[derive(Debug)]
pub(in crate::live) struct Reporter(Arc<Shared>);

impl Reporter {
    pub(in crate::live) fn report(&self, event: Event) {
        let mut state = self.0.lock();
        if state.events.len() >= MOST {
            state.events.pop_front();
            state.missed += 1;
        }
        state.events.push_back(event);
        self.0.came.notify_one();
    }

    /// Replaces the state of the outputs.
    pub(in crate::live) fn outputs(&self, outputs: Vec<OutputNow>) {
        self.0.lock().outputs = outputs;
    }

    /// Queues a snapshot, which replaces an unread one.
    pub(in crate::live) fn stats(&self, stats: Arc<Stats>) {
        let mut state = self.0.lock();
        state.events.retain(|event| !matches!(event, Event::Stats(_)));
        state.stats = Some(Arc::clone(&stats));
        drop(state);
        self.report(Event::Stats(stats));
    }
}

impl Drop for Reporter {
    fn drop(&mut self) {
        self.0.lock().over = true;
        self.0.came.notify_one();
    }
}

/// The application's end of the queue. Dropping it ends the task.
#[derive(Debug)]
pub(in crate::live) struct Feed {
    shared: Arc<Shared>,
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
    /// Outcome of the task, once the task has ended. The task has the sending end of this channel.
    outcome: watch::Receiver<Option<Result<(), Error>>>,
}

impl Feed {
    /// Starts a task. Call it inside a tokio runtime.
    pub(in crate::live) fn start<F>(task: impl FnOnce(Reporter, Stop) -> F) -> Feed
    where
        F: Future<Output = Result<(), Error>> + Send + 'static,
    {
        let shared = Arc::<Shared>::default();
        let (stop, stopped) = watch::channel(false);
        let (ended, outcome) = watch::channel(None);
        let work = task(Reporter(Arc::clone(&shared)), stopped);
        let task = tokio::spawn(async move { drop(ended.send(Some(work.await))) });
        Feed { shared, stop, task, outcome }
    }

    /// Returns the next event, and `None` after the last one. Cancel safe.
    pub(in crate::live) async fn event(&self) -> Option<Event> {
        loop {
            let came = self.shared.came.notified();
            {
                let mut state = self.shared.lock();
                if state.missed > 0 {
                    return Some(Event::Missed(std::mem::take(&mut state.missed)));
                }
                let event = state.events.pop_front();
                if event.is_some() || state.over {
                    // Other waiting callers must check again, for more events or for the end.
                    self.shared.came.notify_one();
                    return event;
                }
            }
            came.await;
        }
    }

    pub(in crate::live) fn stats(&self) -> Option<Arc<Stats>> {
        self.shared.lock().stats.clone()
    }

    /// Returns the last state of the outputs.
    pub(in crate::live) fn outputs(&self) -> Vec<OutputNow> {
        self.shared.lock().outputs.clone()
    }

    pub(in crate::live) fn stop(&self) {
        // Without a receiver the task has ended.
        let _ = self.stop.send(true);
    }

    /// Ends the task at once.
    pub(in crate::live) fn abort(&self) {
        self.task.abort();
    }

    /// Waits for the outcome of the task. Cancel safe.
    pub(in crate::live) async fn wait(&self) -> Result<(), Error> {
        let mut outcome = self.outcome.clone();
        // A task that was aborted or that panicked leaves no outcome.
        let ended = outcome.wait_for(Option::is_some).await.map(|ended| ended.clone());
        ended.ok().flatten().unwrap_or(Err(Error::Aborted))
    }
}

impl Drop for Feed {
    fn drop(&mut self) {
        self.task.abort();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_application_that_does_not_read_misses_the_oldest_events_and_is_told() {
        let feed = Feed::start(|reporter, _| async move {
            for n in 0..MOST + 10 {
                reporter.report(Event::Waiting { why: n.to_string() });
                reporter.stats(Arc::new(Stats { seconds: n as f64, ..Stats::default() }));
            }
            Ok(())
        });
        assert_eq!(feed.wait().await, Ok(()));
        assert_eq!(feed.wait().await, Ok(()), "it can be asked again");
        assert!(matches!(feed.event().await, Some(Event::Missed(11))));
        assert!(matches!(feed.event().await, Some(Event::Waiting { why }) if why == "11"));
        let mut snapshots = 0;
        let mut last = None;
        while let Some(event) = feed.event().await {
            snapshots += u32::from(matches!(event, Event::Stats(_)));
            last = Some(event);
        }
        assert!(matches!(last, Some(Event::Stats(stats)) if stats.seconds == (MOST + 9) as f64));
        assert_eq!(snapshots, 1, "only the newest");
        assert_eq!(feed.stats().map(|stats| stats.seconds), Some((MOST + 9) as f64));
    }

    #[tokio::test]
    async fn dropping_it_ends_the_task() {
        struct Told(Arc<Notify>);
        impl Drop for Told {
            fn drop(&mut self) {
                self.0.notify_one();
            }
        }
        let ended = Arc::<Notify>::default();
        let told = Told(Arc::clone(&ended));
        let feed = Feed::start(|_reporter, _| async move {
            let _told = told;
            std::future::pending().await
        });
        tokio::task::yield_now().await;
        drop(feed);
        ended.notified().await;
    }

    #[tokio::test]
    async fn aborting_it_wakes_whoever_waits() {
        let feed = Feed::start(|_reporter, _| std::future::pending());
        let both = async { tokio::join!(feed.event(), feed.wait(), feed.event()) };
        let abort = async {
            tokio::task::yield_now().await;
            feed.abort();
        };
        let ((event, outcome, other), ()) = tokio::join!(both, abort);
        assert!(event.is_none() && other.is_none() && outcome == Err(Error::Aborted));
    }
}

//! Handle of a stream that is being sent.

use std::sync::Arc;

use tokio::time::Instant;

use super::config::SenderConfig;
use super::connect::Plan;
use super::intake::Timing;
use super::reasons::Reasons;
use super::session::run;
use super::tariffs::Tariffs;
use crate::error::Error;
use crate::live::event::Event;
use crate::live::feed::Feed;
use crate::live::input::Input;
use crate::live::stats::{Role, Stats};
use crate::pairing::SealReports;
use crate::route::{self, Paths};

/// Sends a stream, and connects again as its configuration permits. Dropping it ends the stream.
#[derive(Debug)]
pub struct Sender(Feed);

impl Sender {
    /// Starts to send `input`. Call it inside a tokio runtime.
    ///
    /// # Errors
    /// [`Error::Network`]: the receiver's name has no address, or no path leads there, and the sender does not wait for
    /// one ([`SenderConfig::retry`]); [`Error::Usage`]: no path has the name of a tariff, or a path is given twice.
    pub async fn start<I: Input>(config: SenderConfig, input: I) -> Result<Sender, Error> {
        let SenderConfig { to, stream, scheme, latency, retry, paths, tariffs, transport, taps, .. } = config;
        let (rate_bps, paces_pipes) = (config.rate_bps, config.paces_pipes);
        let timing = Timing { latency, rate_bps, paces_pipes, begun: Instant::now() };
        let unpaced = input.is_live() && !input.waits();
        if let Some(bps) = timing.rate_bps.filter(|_| unpaced) {
            return Err(Error::Usage(format!("rate {bps}: {} comes at its own rate", input.name())));
        }
        // A supervisor may start the sender while a modem is not there yet.
        let paths = Paths { paths, awaited: retry.is_some() };
        let (remotes, uplinks) = route::routes(&to.hosts, &paths).await?;
        let tariffs = Tariffs::new(tariffs, &uplinks)?;
        let sending =
            Event::Sending { input: input.name(), to: to.label.clone(), over: route::describe(&uplinks) };
        let missing = route::not_yet(&uplinks);
        let absent = missing.iter().map(|[name, _, why]| (name.clone(), why.clone())).collect();
        let missing = missing.into_iter().map(|[_, path, why]| Event::PathMissing { path, why });
        let caps = tariffs.caps().into_iter().map(|(link, left)| Event::Capped { link, left });
        let unprotected = to.seal.is_none().then_some(Event::Unprotected(Role::Send));
        let first: Vec<Event> = [sending].into_iter().chain(missing).chain(caps).chain(unprotected).collect();
        let (reports, reasons, tries) = (SealReports::default(), Reasons::default(), Arc::default());
        let plan = Plan {
            to,
            stream,
            reports,
            reasons,
            tries,
            transport,
            paths,
            scheme,
            taps,
            tariffs,
            remotes,
            absent,
        };
        Ok(Sender(Feed::start(|reporter, stop| {
            first.into_iter().for_each(|event| reporter.report(event));
            run(plan, input, timing, retry, reporter, stop)
        })))
    }

    /// Returns the next event; `None` after the sender has ended. Cancel safe. Unread events are dropped when newer
    /// ones need room.
    pub async fn event(&self) -> Option<Event> {
        self.0.event().await
    }

    /// Returns the last figures; `None` before the first ones.
    pub fn stats(&self) -> Option<Arc<Stats>> {
        self.0.stats()
    }

    /// Ends the stream: the sender reads no further input, and delivers all data read so far that can arrive in time.
    pub fn stop(&self) {
        self.0.stop();
    }

    /// Ends the stream at once, as dropping it does.
    pub fn abort(&self) {
        self.0.abort();
    }

    /// Waits for the end. Cancel safe. Events can still be read afterwards.
    ///
    /// # Errors
    /// [`Error::Peer`]: the receiver is silent, has left or refuses; [`Error::Media`]: the input cannot be sent;
    /// [`Error::Unmet`]: most of the stream was late; [`Error::Network`]; [`Error::Aborted`].
    pub async fn wait(&self) -> Result<(), Error> {
        self.0.wait().await
    }
}

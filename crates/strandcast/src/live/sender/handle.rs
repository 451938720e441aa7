//! Handle of a stream that is being sent.

use std::sync::Arc;

use tokio::time::Instant;

use super::config::SenderConfig;
use super::connect::Plan;
use super::intake::Timing;
use super::reasons::Reasons;
use super::session::run;
use super::switches::Switches;
use super::tariffs::Tariffs;
use crate::error::Error;
use crate::live::event::Event;
use crate::live::feed::Feed;
use crate::live::input::Input;
use crate::live::ledger::Ledger;
use crate::live::stats::{Role, Stats};
use crate::live::tariff::LinkTariff;
use crate::pairing::SealReports;
use crate::route::{self, Paths};

/// Sends a stream, and connects again as its configuration permits. Dropping the handle ends the stream.
#[derive(Debug)]
pub struct Sender {
    feed: Feed,
    switches: Switches,
    tariffs: Tariffs,
}

/// Settings of a link that can be changed while it sends.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct LinkSetting {
    /// Name of the link.
    pub link: String,
    /// False if the link is switched off. A link that is off is still probed.
    pub on: bool,
    /// Costs of the link, with the remaining bytes and the remaining time. `None`: the link has no costs.
    pub tariff: Option<LinkTariff>,
    /// Allowance of each month in bytes, if the tariff has one.
    pub month: Option<u64>,
}

impl Sender {
    /// Starts to send `input`. Call it inside a tokio runtime.
    ///
    /// # Errors
    /// [`Error::Network`]: the receiver's name has no address, or no path leads there, and the sender does not wait for
    /// one ([`SenderConfig::retry`]); [`Error::Usage`]: no path has the name of a tariff, a path is given twice, or a
    /// monthly allowance has no ledger; [`Error::Store`]: the ledger cannot be read or written.
    pub async fn start<I: Input>(config: SenderConfig, input: I) -> Result<Sender, Error> {
        let SenderConfig {
            to, stream, scheme, latency, retry, paths, tariffs, ledger, transport, taps, ..
        } = config;
        let (rate_bps, paces_pipes) = (config.rate_bps, config.paces_pipes);
        let timing = Timing { latency, rate_bps, paces_pipes, begun: Instant::now() };
        let unpaced = input.is_live() && !input.waits();
        if let Some(bps) = timing.rate_bps.filter(|_| unpaced) {
            return Err(Error::Usage(format!("rate {bps}: {} comes at its own rate", input.name())));
        }
        // A supervisor may start the sender before a modem is present.
        let paths = Paths { paths, awaited: retry.is_some() };
        let (remotes, uplinks) = route::routes(&to.hosts, &paths).await?;
        let tariffs = Tariffs::new(tariffs, &uplinks, ledger.map(Ledger::at)).await?;
        let switches = Switches::new(&uplinks);
        let sending =
            Event::Sending { input: input.name(), to: to.label.clone(), over: route::describe(&uplinks) };
        let missing = route::not_yet(&uplinks);
        let absent = missing.iter().map(|[name, _, why]| (name.clone(), why.clone())).collect();
        let missing = missing.into_iter().map(|[_, path, why]| Event::PathMissing { path, why });
        let unprotected = to.seal.is_none().then_some(Event::Unprotected(Role::Send));
        let first: Vec<Event> =
            [sending].into_iter().chain(missing).chain(tariffs.caps()).chain(unprotected).collect();
        let (reports, reasons, tries) = (SealReports::default(), Reasons::default(), Arc::default());
        let (own, costs) = (switches.clone(), tariffs.clone());
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
            switches,
            remotes,
            absent,
        };
        let feed = Feed::start(|reporter, stop| {
            first.into_iter().for_each(|event| reporter.report(event));
            run(plan, input, timing, retry, reporter, stop)
        });
        Ok(Sender { feed, switches: own, tariffs: costs })
    }

    /// Returns the settings of all links, by name.
    pub fn links(&self) -> Vec<LinkSetting> {
        let tariffs = self.tariffs.all();
        let setting = |(link, on): (String, bool)| {
            let tariff = tariffs.iter().find(|(tariff, _)| tariff.link == link).cloned();
            let (tariff, month) = tariff.map_or((None, None), |(tariff, month)| (Some(tariff), month));
            LinkSetting { link, on, tariff, month }
        };
        self.switches.all().into_iter().map(setting).collect()
    }

    /// Switches a link off or on within half a second. The switch applies to all connections of the stream. A link that
    /// is off carries no media. Returns whether the state of the link changes.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] if no link has this name, or no other link that is switched on works.
    pub fn switch_link(&self, link: &str, on: bool) -> Result<bool, Error> {
        self.switches.turn(link, on)
    }

    /// Replaces the costs of a link, within half a second. The time of the new costs begins now. Schemes that do not
    /// read costs ignore them.
    ///
    /// # Errors
    /// [`Error::Usage`]: no link has this name, or the tariff has a monthly allowance and the sender has no ledger.
    pub fn set_tariff(&self, tariff: LinkTariff) -> Result<(), Error> {
        self.switches.check(&tariff.link)?;
        self.tariffs.set(tariff)
    }

    /// Returns the next event. Returns `None` after the sender has ended. Cancel safe. Unread events are dropped when
    /// newer ones need room.
    pub async fn event(&self) -> Option<Event> {
        self.feed.event().await
    }

    /// Returns the last figures. Returns `None` before the first figures.
    pub fn stats(&self) -> Option<Arc<Stats>> {
        self.feed.stats()
    }

    /// Ends the stream. The sender reads no further input, and delivers all data read so far that can arrive in time.
    pub fn stop(&self) {
        self.feed.stop();
    }

    /// Ends the stream at once, as dropping the handle does.
    pub fn abort(&self) {
        self.feed.abort();
    }

    /// Waits for the end. Cancel safe. Events can still be read afterwards.
    ///
    /// # Errors
    /// Returns [`Error::Peer`] if the receiver is silent, has left or refuses. Returns [`Error::Media`] if the input
    /// cannot be sent. Returns [`Error::Unmet`] if most of the stream was late. Other errors are [`Error::Network`] and
    /// [`Error::Aborted`].
    pub async fn wait(&self) -> Result<(), Error> {
        self.feed.wait().await
    }
}

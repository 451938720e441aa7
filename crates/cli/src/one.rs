//! The API of a command with one stream.

use std::future::pending;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use serde_json::json;
use strandcast::live::api::{Access, Api, Asked, Change, Outcome, Shown, has_page};
use strandcast::live::serve::ApiConfig;
use strandcast::live::{Receiver, Sender};
use strandcast::pairing::Name;

use crate::args::{ApiArgs, ApiPlace};
use crate::error::CliError;
use crate::show::Monitor;

/// Name of the stream if it has no other name.
const NAME: &str = "live";

/// The API of a sender or a receiver, if the command has an API.
pub(crate) struct One {
    api: Option<Api>,
    /// Token of the page, or `None` without `--page`.
    token: Option<String>,
    name: String,
}

impl One {
    /// Starts the API of a sender, if the options ask for an API.
    ///
    /// # Errors
    /// As [`Api::start`]. Returns [`CliError::Usage`] if this program does not contain the page.
    pub(crate) fn of_sender(args: &ApiArgs, name: Option<&Name>) -> Result<One, CliError> {
        let name = name.map_or(NAME, Name::as_str).to_owned();
        One::start(args, "send", true, name)
    }

    /// Starts the API of a receiver, if the options ask for an API. This API cannot change anything.
    ///
    /// # Errors
    /// As [`Api::start`]. Returns [`CliError::Usage`] if this program does not contain the page.
    pub(crate) fn of_receiver(args: &ApiArgs) -> Result<One, CliError> {
        One::start(args, "receive", false, NAME.to_owned())
    }

    /// `instance` is the label of the command in metrics. If `controls` is true, the page may change the stream.
    fn start(args: &ApiArgs, instance: &str, controls: bool, name: String) -> Result<One, CliError> {
        let mut config = ApiConfig::default();
        match &args.api {
            Some(ApiPlace::Address(address)) => config.listen = Some(*address),
            Some(ApiPlace::Socket(path)) => config.socket = Some(path.clone()),
            None if !args.page => return Ok(One { api: None, token: None, name }),
            None => {}
        }
        let (access, token) = match args.page {
            false => (Access::read(&config)?, None),
            true if !has_page() => {
                let line =
                    "--page: this program was built without its page: run `make web`, and build it again";
                return Err(CliError::Usage(line.to_owned()));
            }
            true => {
                config.listen.get_or_insert(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)));
                let (access, token) = Access::drawn(controls)?;
                (access, Some(token))
            }
        };
        Ok(One { api: Some(Api::start(&config, access, instance)?), token, name })
    }

    /// Prints the addresses of the API, and shows the state of the command there.
    pub(crate) fn announce(&self, monitor: &mut Monitor) {
        let Some(api) = &self.api else { return };
        let events = api.events();
        monitor.watch(&self.name, move |line| events.send(line));
        let (places, text) = (api.places(), format!("API on {}", api.places().join(" and ")));
        monitor.command("api", &text, json!({ "places": places }));
        // The token must not appear in a file of statistics.
        let page = self.token.as_ref().and_then(|token| api.page(&self.name, token));
        page.iter().for_each(|place| monitor.last_line(&format!("page on {place}")));
    }

    /// Waits for the next request for a change. Cancel safe.
    pub(crate) async fn asked(&mut self) -> Asked {
        match &mut self.api {
            Some(api) => api.asked().await,
            // Without an API no request ever comes.
            None => pending().await,
        }
    }

    /// Shows the current state of a sender in the API.
    pub(crate) fn look_at_sender(&mut self, monitor: &Monitor, sender: &Sender, latency_ms: u32) {
        let Some(api) = &mut self.api else { return };
        let line = monitor.figures();
        api.show(vec![Shown::sender(&self.name, sender, latency_ms, line)], vec![line.clone()]);
    }

    /// Shows the current state of a receiver in the API.
    pub(crate) fn look_at_receiver(
        &mut self,
        monitor: &Monitor,
        receiver: &Arc<Receiver>,
        latency_ms: Option<u32>,
    ) {
        let Some(api) = &mut self.api else { return };
        let line = monitor.figures();
        api.show(vec![Shown::receiver(&self.name, receiver, latency_ms, line)], vec![line.clone()]);
    }

    /// Shows in the API that the command is ending.
    pub(crate) fn stopping(&self) {
        self.api.iter().for_each(Api::stopping);
    }
}

/// Carries out a change of a sender, and returns the outcome. If the scheme ignores costs, `costs` is an error with the
/// reason.
pub(crate) fn change_sender(
    change: Change,
    sender: &Sender,
    costs: Result<(), &str>,
    monitor: &mut Monitor,
) -> Outcome {
    if let (Change::Tariff(_), Err(why)) = (&change, costs) {
        return Err(why.to_owned());
    }
    let (outcome, changed) = change.at_sender(sender);
    if let Some(changed) = changed {
        monitor.command(changed.event, &changed.text, json!({ "path": changed.link }));
    }
    outcome
}

/// Refuses any change of a receiver.
pub(crate) fn refuse(asked: Asked) {
    let why = match asked.change {
        Change::Link { .. } | Change::Tariff(_) => "links are switched at their sender: send --api or --page",
        Change::Senders | Change::Allow { .. } | Change::Revoke { .. } => "use strandcast key",
        _ => "a receiver of one stream can change nothing: strandcast serve can",
    };
    asked.answer.send(Err(why.to_owned()));
}

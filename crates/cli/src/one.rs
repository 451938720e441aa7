//! The API of a command with one stream.

use std::sync::Arc;

use serde_json::{Value, json};
use strandcast::live::{LinkSetting, Receiver, Sender};
use strandcast::pairing::Name;

use crate::api::{Asked, Change, Outcome, Shown, View};
use crate::args::ApiArgs;
use crate::error::CliError;
use crate::offer::Offer;
use crate::show::{Monitor, object};

/// Name of the stream if it has no other name.
const NAME: &str = "live";

/// The API of a sender or a receiver, if the command has an API.
pub(crate) struct One {
    offer: Option<Offer>,
    name: String,
}

impl One {
    /// Starts the API of a sender, if the options ask for an API.
    ///
    /// # Errors
    /// As [`Offer::of_one`].
    pub(crate) fn of_sender(args: &ApiArgs, name: Option<&Name>) -> Result<One, CliError> {
        let name = name.map_or(NAME, Name::as_str).to_owned();
        Ok(One { offer: Offer::of_one(args, "send", true)?, name })
    }

    /// Starts the API of a receiver, if the options ask for an API. This API cannot change anything.
    ///
    /// # Errors
    /// As [`Offer::of_one`].
    pub(crate) fn of_receiver(args: &ApiArgs) -> Result<One, CliError> {
        Ok(One { offer: Offer::of_one(args, "receive", false)?, name: NAME.to_owned() })
    }

    /// Prints the addresses of the API, and shows the state of the command there.
    pub(crate) fn announce(&self, monitor: &mut Monitor) {
        let Some(offer) = &self.offer else { return };
        monitor.watch(&self.name, offer.watcher());
        let (places, text) = (offer.places(), format!("API on {}", offer.places().join(" and ")));
        monitor.command("api", &text, object(json!({ "places": places })));
        // The token must not appear in a file of statistics.
        offer.page(&self.name).iter().for_each(|place| monitor.last_line(&format!("page on {place}")));
    }

    /// Waits for the next request for a change. Cancel safe.
    pub(crate) async fn asked(&mut self) -> Asked {
        Offer::asked(self.offer.as_mut()).await
    }

    /// Shows the current state of a sender in the API.
    pub(crate) fn look_at_sender(&mut self, monitor: &Monitor, sender: &Sender, latency_ms: u32) {
        let links: Vec<Value> = sender.links().iter().map(setting).collect();
        let more = json!({ "latency_ms": latency_ms, "outputs": [], "links": links });
        self.look(monitor, more, View::Nowhere);
    }

    /// Shows the current state of a receiver in the API.
    pub(crate) fn look_at_receiver(
        &mut self,
        monitor: &Monitor,
        receiver: &Arc<Receiver>,
        latency_ms: Option<u32>,
    ) {
        let more = json!({ "latency_ms": latency_ms, "outputs": receiver.outputs() });
        self.look(monitor, more, View::Receiver(Arc::clone(receiver)));
    }

    fn look(&mut self, monitor: &Monitor, more: Value, view: View) {
        let Some(offer) = &mut self.offer else { return };
        let line = monitor.figures();
        let mut described = object(line.clone());
        described.extend(object(json!({ "name": self.name, "senders": [] })));
        described.extend(object(more));
        let lines = if line.is_null() { Vec::new() } else { vec![line.clone()] };
        offer.show(vec![Shown { name: self.name.clone(), described: Value::Object(described), view }], lines);
    }

    /// Shows in the API that the command is ending.
    pub(crate) fn stopping(&self) {
        self.offer.iter().for_each(Offer::stopping);
    }
}

/// Returns the settings of a link in the form in which the API shows them.
fn setting(link: &LinkSetting) -> Value {
    let tariff = link.tariff.as_ref().map(|tariff| {
        json!({
            "class": tariff.class,
            "price": tariff.price,
            "left_bytes": tariff.left,
            "month_bytes": link.month,
            "month_begins": tariff.month_begins,
            "lasts_s": tariff.lasts.map(|lasts| lasts.as_secs_f64()),
        })
    });
    json!({ "link": link.link, "on": link.on, "tariff": tariff })
}

/// Carries out a change of a sender, and returns the outcome. If the scheme ignores costs, `costs` is an error with the
/// reason.
pub(crate) fn change_sender(
    change: Change,
    sender: &Sender,
    costs: Result<(), &str>,
    monitor: &mut Monitor,
) -> Outcome {
    match change {
        Change::Link { link, on } => switch(sender, &link, on, monitor),
        Change::Tariff(tariff) => costs.map_err(str::to_owned).and_then(|()| {
            let link = tariff.link.clone();
            sender.set_tariff(tariff).map_err(|error| error.to_string())?;
            let text = format!("costs of {link} changed by request");
            monitor.command("tariff", &text, object(json!({ "path": link })));
            Ok(done())
        }),
        _ => Err("a sender cannot do this: it can only switch links and set their costs".to_owned()),
    }
}

fn switch(sender: &Sender, link: &str, on: bool, monitor: &mut Monitor) -> Outcome {
    if sender.switch_link(link, on).map_err(|error| error.to_string())? {
        let (event, word) = if on { ("link-on", "on") } else { ("link-off", "off") };
        monitor.command(
            event,
            &format!("{link} switched {word} by request"),
            object(json!({ "path": link })),
        );
    }
    Ok(done())
}

/// Refuses any change of a receiver.
pub(crate) fn refuse(asked: Asked) {
    let why = match asked.change {
        Change::Link { .. } | Change::Tariff(_) => "links are switched at their sender: send --api or --page",
        Change::Senders | Change::Allow { .. } | Change::Revoke { .. } => "use strandcast key",
        _ => "a receiver of one stream can change nothing: strandcast serve can",
    };
    // The client may have left.
    let _ = asked.told.send(Err(why.to_owned()));
}

fn done() -> Value {
    json!({ "done": true })
}

//! `strandcast serve`.

mod requests;

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use strandcast::live::Event as Live;
use strandcast::live::serve::{Config, Event, Place, Server, StreamNow};
use strandcast::pairing::Senders;
use strandcast_keys::catalog::SharedCatalog;

use crate::api::{Access, Outcome, Shown, View};
use crate::args::{LIVE_SCHEME, SealArgs, ServeArgs};
use crate::error::CliError;
use crate::key::{Invitation, gate, gate_line, invitation, spare_store, store};
use crate::offer::Offer;
use crate::service::Service;
use crate::show::{Many, object};
use crate::signals::{stopped, watch_and_reopen};
use crate::{print, transport};

/// A running server, and the output about it.
struct Serving {
    args: ServeArgs,
    server: Server,
    many: Many,
    invitation: Option<Invitation>,
    offer: Option<Offer>,
    /// File of the server's identity. `None` means the identity of the user.
    key: Option<PathBuf>,
}

/// Receives many streams.
///
/// # Errors
/// [`CliError`].
pub(crate) async fn run(args: ServeArgs, catalog: &SharedCatalog) -> Result<(), CliError> {
    let (config, access) = read(&args.config)?;
    let spec = config.scheme.clone().unwrap_or_else(|| LIVE_SCHEME.to_owned());
    let scheme = transport::scheme(&spec, &**catalog)?;
    if args.check {
        return check(&args, &config);
    }
    let (mut stop, mut hang_up) = watch_and_reopen()?;
    let mut many = args.stats.many()?;
    let instance = args.config.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let offer = config.api.as_ref().zip(access);
    let offer = offer.map(|(api, access)| Offer::start(api, access, instance)).transpose()?;
    offer.iter().for_each(|offer| many.watch(offer.watcher()));
    let seal = seal(&config);
    let mut gate = gate(&seal)?.ok_or_else(|| CliError::Store("there is no identity".into()))?;
    let invitation = Some(invitation(&mut gate, &seal));
    let names: Vec<String> = config.streams.keys().cloned().collect();
    let key = config.key.clone();
    let server = Server::start(config, scheme, gate)?;
    let mut serving = Serving { args, server, many, invitation, offer, key };
    serving.many.only(names.iter().map(String::as_str));
    let (mut service, mut asked) = (Service::find(), false);
    service.ready();
    loop {
        tokio::select! {
            // The outcome was printed already.
            () = hang_up.asked() => drop(serving.reload().await),
            asked = Offer::asked(serving.offer.as_mut()) => serving.carry_out(asked).await,
            () = serving.many.tick() => serving.look().await,
            event = serving.server.event() => match event {
                Some(event) => serving.event(&event),
                None => break,
            },
            () = stopped(&mut stop), if !asked => {
                asked = true;
                service.stopping();
                serving.offer.iter().for_each(Offer::stopping);
                serving.server.stop();
            }
            () = service.live() => {}
        }
    }
    Ok(serving.server.wait().await?)
}

/// Reads the configuration and the files of its API. Refuses an output that would replace a file of keys.
fn read(path: &Path) -> Result<(Config, Option<Access>), CliError> {
    let config = Config::read(path)?;
    let access = config.api.as_ref().map(Access::read).transpose()?;
    let seal = seal(&config);
    for place in config.streams.values().flat_map(|stream| &stream.outputs) {
        if let Place::Device(path) | Place::Recordings(path) = place {
            spare_store(&seal, path)?;
        }
    }
    Ok((config, access))
}

fn seal(config: &Config) -> SealArgs {
    SealArgs { key: config.key.clone(), plain: false, keylog: None }
}

/// Prints the streams that a configuration defines.
fn check(args: &ServeArgs, config: &Config) -> Result<(), CliError> {
    let store = store(config.key.as_deref())?;
    let senders = if store.identity()?.is_some() { store.senders()? } else { Senders::default() };
    let mut text = format!(
        "{}: {}\n",
        args.config.display(),
        strandcast::text::count(config.streams.len() as u64, "stream")
    );
    for (name, stream) in &config.streams {
        let outputs: Vec<String> = stream.outputs.iter().map(ToString::to_string).collect();
        text += &format!("  {name}: from {} to {}", stream.senders.join(", "), outputs.join(", "));
        if let Some(slate) = &stream.slate {
            text += &format!("; after {} ms without media the slate, {slate}", slate.after.as_millis());
        }
        text += "\n";
    }
    for (stream, who) in config.unknown_senders(&senders) {
        text += &format!(
            "{stream}: no sender is called {who} here yet: pair it (strandcast key pair), then strandcast key allow \
             KEY --as {who}\n"
        );
    }
    print::text(&text)
}

impl Serving {
    /// Writes statistics, and shows the streams in the API.
    async fn look(&mut self) {
        self.many.look();
        if let Some(offer) = &mut self.offer {
            let lines = self.many.lines();
            let streams = self.server.streams().await.into_iter().map(|stream| shown(stream, &lines));
            offer.show(streams.collect(), lines.clone());
        }
    }

    /// Reads the configuration again. If it has an error, nothing changes. Returns what has changed, or the reason why
    /// nothing has changed.
    async fn reload(&mut self) -> Outcome {
        self.many.reopen();
        let path = self.args.config.clone();
        let reloaded = match requests::aside(move || read(&path)).await {
            Ok((config, access)) => {
                let names: Vec<String> = config.streams.keys().cloned().collect();
                let changes = self.server.reload(config).await.map_err(CliError::from);
                changes.map(|changes| {
                    // The new tokens and certificate are for the same addresses, because a server refuses to change the
                    // addresses.
                    self.offer
                        .as_ref()
                        .zip(access)
                        .into_iter()
                        .for_each(|(offer, access)| offer.install(access));
                    (changes, names)
                })
            }
            Err(error) => Err(error),
        };
        match reloaded {
            Ok((changes, names)) => {
                self.many.only(names.iter().map(String::as_str));
                let fields = json!({
                    "added": changes.added, "changed": changes.changed, "opened": changes.opened,
                    "removed": changes.removed,
                });
                self.many.server("reloaded", None, &changes.to_string(), object(fields.clone()));
                Ok(fields)
            }
            Err(why) => {
                let text = format!("not reloaded, and everything stays as it was: {why}");
                self.many.server("not-reloaded", None, &text, object(json!({ "why": why.to_string() })));
                Err(text)
            }
        }
    }

    /// Reports that a stream or an output was stopped or started.
    fn switched(&mut self, what: &str, name: &str, output: Option<&str>, event: &Event) {
        let fields = json!({ "output": output });
        self.many.server(what, Some(name), &event.to_string(), object(fields));
    }

    /// Prints the addresses of the API.
    fn announce(&mut self) {
        let Some(offer) = &self.offer else { return };
        let (places, text) = (offer.places(), format!("API on {}", offer.places().join(" and ")));
        self.many.server("api", None, &text, object(json!({ "places": places })));
    }

    fn event(&mut self, event: &Event) {
        match event {
            Event::Listening { addresses, streams } => {
                let fields = json!({ "addresses": addresses, "streams": streams });
                self.many.server("listening", None, &event.to_string(), object(fields));
                self.announce();
                self.invitation.take().iter().for_each(Invitation::print);
            }
            Event::Door(door @ Live::Gate(said)) => self.many.door(door, &gate_line(said)),
            Event::Door(door) => self.many.door(door, &door.to_string()),
            Event::Stream { name, event } => {
                self.many.event(name, event, &event.to_string());
                if let (Live::Received(summary), true) = (event, self.args.json) {
                    // If standard output fails, the error is reported at the end of the command.
                    let _ = print::json(&print::json_of(&Named { name, summary }));
                }
            }
            Event::NotAllowed { peer, asks, may } => {
                let fields = json!({ "peer": peer, "asks": asks, "may": may });
                self.many.server("not-allowed", None, &event.to_string(), object(fields));
            }
            Event::Failed { name, why } => {
                let fields = json!({ "why": why });
                self.many.server("stream-failed", Some(name), &event.to_string(), object(fields));
            }
            Event::NotStarted { peer, name } => {
                let fields = json!({ "peer": peer });
                self.many.server("not-started", Some(name), &event.to_string(), object(fields));
            }
            Event::Stopped { name, output } => self.switched("stopped", name, output.as_deref(), event),
            Event::Started { name, output } => self.switched("started", name, output.as_deref(), event),
            Event::Missed(events) => self.many.omit(*events),
            _ => {}
        }
    }
}

/// A summary, with the name of its stream.
#[derive(serde::Serialize)]
struct Named<'a> {
    name: &'a str,
    #[serde(flatten)]
    summary: &'a strandcast::live::ReceiveSummary,
}

/// Returns a stream in the form in which the API shows it. The form has the keys of the stream's last line of
/// statistics, and keys that only the API has.
fn shown(stream: StreamNow, lines: &[Value]) -> Shown {
    let config = &stream.config;
    let name = config.name.as_str().to_owned();
    let mut described =
        lines.iter().find(|line| line["name"] == name).cloned().map(object).unwrap_or_default();
    described.extend(object(json!({
        "name": name,
        "senders": config.senders,
        "latency_ms": config.latency.map(|latency| latency.as_millis()),
        "outputs": stream.outputs,
    })));
    if stream.stopped {
        described.insert("state".to_owned(), json!("stopped"));
    }
    Shown { name, described: Value::Object(described), view: View::Served(Box::new(stream)) }
}

//! `strandcast serve`.

use std::path::Path;

use serde_json::{Value, json};
use strandcast::files::aside;
use strandcast::live::Event as Live;
use strandcast::live::api::{Access, Api, Asked, Change, Outcome, Shown};
use strandcast::live::serve::{Config, Event, Place, Server};
use strandcast::pairing::{Senders, Store};
use strandcast_keys::catalog::SharedCatalog;

use crate::args::{LIVE_SCHEME, SealArgs, ServeArgs};
use crate::error::CliError;
use crate::key::{Invitation, gate, gate_line, invitation, spare_store, store};
use crate::service::Service;
use crate::show::Many;
use crate::signals::{stopped, watch_and_reopen};
use crate::{print, transport};

/// A running server, and the output about it.
struct Serving {
    args: ServeArgs,
    server: Server,
    many: Many,
    invitation: Option<Invitation>,
    api: Option<Api>,
    /// Store of the server's identity and of its senders.
    store: Store,
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
    let api = config.api.as_ref().zip(access);
    let api = api.map(|(api, access)| Api::start(api, access, &instance)).transpose()?;
    if let Some(api) = &api {
        let events = api.events();
        many.watch(move |line| events.send(line));
    }
    let seal = seal(&config);
    let mut gate = gate(&seal)?.ok_or_else(|| CliError::Store("there is no identity".into()))?;
    let invitation = Some(invitation(&mut gate, &seal));
    let names: Vec<String> = config.streams.keys().cloned().collect();
    let store = store(config.key.as_deref())?;
    let server = Server::start(config, scheme, gate)?;
    let mut serving = Serving { args, server, many, invitation, api, store };
    serving.many.only(names.iter().map(String::as_str));
    let (mut service, mut asked) = (Service::find(), false);
    service.ready();
    loop {
        tokio::select! {
            // The outcome was printed already.
            () = hang_up.asked() => drop(serving.reload().await),
            asked = request(serving.api.as_mut()) => serving.carry_out(asked).await,
            () = serving.many.tick() => serving.look().await,
            event = serving.server.event() => match event {
                Some(event) => serving.event(&event),
                None => break,
            },
            () = stopped(&mut stop), if !asked => {
                asked = true;
                service.stopping();
                serving.api.iter().for_each(Api::stopping);
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
        if let Some(api) = &mut self.api {
            let (lines, streams) = (self.many.lines(), self.server.streams().await);
            let of = |name: &str| lines.iter().find(|line| line["name"] == name).unwrap_or(&Value::Null);
            let shown = streams.into_iter().map(|stream| {
                let line = of(stream.config.name.as_str());
                Shown::served(stream, line)
            });
            let shown = shown.collect();
            api.show(shown, lines);
        }
    }

    /// Carries out a change that a request asks for, shows its effect, and reports the outcome.
    async fn carry_out(&mut self, asked: Asked) {
        let Asked { change, answer } = asked;
        let outcome = match change.at_server(&self.server, &self.store).await {
            Ok(outcome) => outcome,
            Err(Change::Reload) => self.reload().await,
            Err(_) => Err("links are switched at their sender: strandcast send --api or --page".to_owned()),
        };
        self.look().await;
        answer.send(outcome);
    }

    /// Reads the configuration again. If it has an error, nothing changes. Returns what has changed, or the reason why
    /// nothing has changed.
    async fn reload(&mut self) -> Outcome {
        self.many.reopen();
        let path = self.args.config.clone();
        let reloaded = match aside(move || read(&path)).await {
            Ok((config, access)) => {
                let names: Vec<String> = config.streams.keys().cloned().collect();
                let changes = self.server.reload(config).await.map_err(CliError::from);
                changes.map(|changes| {
                    // The new tokens and certificate are for the same addresses, because a server refuses to change the
                    // addresses.
                    self.api.as_ref().zip(access).into_iter().for_each(|(api, access)| api.install(access));
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
                self.many.server("reloaded", None, &changes.to_string(), fields.clone());
                Ok(fields)
            }
            Err(why) => {
                let text = format!("not reloaded, and everything stays as it was: {why}");
                self.many.server("not-reloaded", None, &text, json!({ "why": why.to_string() }));
                Err(text)
            }
        }
    }

    /// Reports that a stream or an output was stopped or started.
    fn switched(&mut self, what: &str, name: &str, output: Option<&str>, event: &Event) {
        let fields = json!({ "output": output });
        self.many.server(what, Some(name), &event.to_string(), fields);
    }

    /// Prints the addresses of the API.
    fn announce(&mut self) {
        let Some(api) = &self.api else { return };
        let (places, text) = (api.places(), format!("API on {}", api.places().join(" and ")));
        self.many.server("api", None, &text, json!({ "places": places }));
    }

    fn event(&mut self, event: &Event) {
        match event {
            Event::Listening { addresses, streams } => {
                let fields = json!({ "addresses": addresses, "streams": streams });
                self.many.server("listening", None, &event.to_string(), fields);
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
                self.many.server("not-allowed", None, &event.to_string(), fields);
            }
            Event::Failed { name, why } => {
                let fields = json!({ "why": why });
                self.many.server("stream-failed", Some(name), &event.to_string(), fields);
            }
            Event::NotStarted { peer, name } => {
                let fields = json!({ "peer": peer });
                self.many.server("not-started", Some(name), &event.to_string(), fields);
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

/// Waits for the next change that a request asks for. Cancel safe.
async fn request(api: Option<&mut Api>) -> Asked {
    match api {
        Some(api) => api.asked().await,
        // Without an API no request ever comes.
        None => std::future::pending().await,
    }
}

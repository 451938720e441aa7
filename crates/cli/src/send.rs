//! `strandcast send`.

use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};

use strandcast::live::api::Asked;
use strandcast::live::input::{AnyInput, File, Pipe, Srt, Stdin, Udp};
use strandcast::live::{Event, Role, Sender, SenderConfig};
use strandcast::{Error, Scheme};
use strandcast_keys::catalog::{Catalog, Extra, SharedCatalog};

use crate::advice::AdviceOutput;
use crate::args::SendArgs;
use crate::capture::Capture;
use crate::error::CliError;
use crate::key::{destination, user_store};
use crate::media_url::MediaUrl;
use crate::one::{One, change_sender};
use crate::service::Service;
use crate::show::Monitor;
use crate::signals::stopped;
use crate::{print, transport};

/// Returns the scheme of the options, with the additional keys that `--tariff` and `--advice` need.
///
/// # Errors
/// Returns [`CliError::Usage`] if the scheme ignores `--tariff` or `--advice`, or if there is no such scheme.
fn scheme(args: &SendArgs, catalog: &dyn Catalog) -> Result<Scheme, CliError> {
    let given = [
        ("--tariff", Extra::Tariffs, !args.tariffs.is_empty()),
        ("--advice", Extra::Advice, args.advice.is_some()),
    ];
    // If the spec is invalid even without the additional keys, the error message must not name these keys.
    let plan = transport::scheme(&args.transport.scheme, catalog)?;
    let mut spec = args.transport.scheme.clone();
    for (option, extra, _) in given.into_iter().filter(|(.., given)| *given) {
        let honours = catalog.honouring(&spec, extra);
        spec = honours.map_err(|why| CliError::Usage(format!("{option}: scheme {why}")))?;
    }
    if spec == args.transport.scheme {
        return Ok(plan);
    }
    Ok(transport::scheme(&spec, catalog)?.named(&args.transport.scheme))
}

/// Display of a stream's events.
struct Shown {
    monitor: Monitor,
    advice: AdviceOutput,
    json: bool,
    /// Result of printing the summary of the stream.
    printed: Result<(), CliError>,
}

/// Sends a stream.
///
/// # Errors
/// [`CliError`].
pub(crate) async fn run(args: SendArgs, catalog: &SharedCatalog) -> Result<(), CliError> {
    let scheme = scheme(&args, &**catalog)?;
    let ignores =
        catalog.honouring(&args.transport.scheme, Extra::Tariffs).err().map(|why| format!("scheme {why}"));
    let (mut stop, mut reopen) = args.stats.signals()?;
    let mut one = One::of_sender(&args.api, args.stream.as_ref())?;
    let latency = args.latency;
    let opened = tokio::select! {
        opened = open(args, scheme, &one) => opened?,
        () = stopped(&mut stop) => return Ok(()),
    };
    let (sender, mut shown) = opened;
    let (mut service, mut asked) = (Service::find(), false);
    service.ready();
    loop {
        tokio::select! {
            () = reopen.asked() => shown.monitor.reopen(),
            () = shown.monitor.tick() => {
                shown.monitor.look();
                one.look_at_sender(&shown.monitor, &sender, latency);
            }
            Asked { change, answer } = one.asked() => {
                let costs = ignores.as_deref().map_or(Ok(()), Err);
                let outcome = change_sender(change, &sender, costs, &mut shown.monitor);
                // The API shows the change before the client receives the response.
                one.look_at_sender(&shown.monitor, &sender, latency);
                answer.send(outcome);
            }
            event = sender.event() => match event {
                Some(event) => shown.event(event),
                None => break,
            },
            () = stopped(&mut stop), if !asked => {
                asked = true;
                service.stopping();
                one.stopping();
                sender.stop();
            }
            () = service.live() => {}
        }
    }
    match sender.wait().await.map_err(CliError::from) {
        // If the summary could not be printed, this error has precedence over a missed target in the summary.
        Err(unmet @ CliError::Unmet(_)) => shown.printed.and(Err(unmet)),
        outcome => outcome.and(shown.printed),
    }
}

/// Opens the input.
async fn input(args: &SendArgs) -> Result<AnyInput, CliError> {
    if args.input == MediaUrl::Pipe && std::io::stdin().is_terminal() {
        let line = "standard input is a terminal: pipe a transport stream into it, as in \
                    ffmpeg -re -i FILE -c copy -f mpegts - | strandcast send - @NAME";
        return Err(CliError::Usage(line.to_owned()));
    }
    let input = match &args.input {
        MediaUrl::Pipe => AnyInput::Stdin(Stdin::open()),
        MediaUrl::Udp(url) => AnyInput::Udp(Udp::listen(url).await?),
        MediaUrl::Srt(url) => AnyInput::Srt(Srt::open(url).await?),
        MediaUrl::File(path) if Pipe::is_at(path) => AnyInput::Pipe(Pipe::open(path).await?),
        MediaUrl::File(path) => {
            let file = File::open_at(path, args.rate).await?;
            AnyInput::File(if args.repeat { file.repeated() } else { file })
        }
    };
    if args.repeat && !matches!(input, AnyInput::File(_)) {
        return Err(CliError::Usage(format!("--loop: {} is not a file that could begin again", args.input)));
    }
    Ok(input)
}

/// The default ledger: a file in the folder of the identity. `None`: the user has no home.
fn ledger(key: Option<&Path>) -> Option<PathBuf> {
    Some(user_store(key)?.path().with_file_name("ledger.toml"))
}

/// Opens all files and inputs, but does not connect yet.
async fn open(args: SendArgs, scheme: Scheme, one: &One) -> Result<(Sender, Shown), CliError> {
    let mut monitor = args.stats.monitor(Role::Send)?;
    let advice = AdviceOutput::open(args.advice.as_deref())?;
    let source = input(&args).await?;
    let to = destination(&args.to, &args.transport.seal)?;
    let capture = Capture::open(args.transport.pcap.as_deref(), &args.transport.seal)?;
    let mut config = SenderConfig::new(to, scheme);
    config.latency = std::time::Duration::from_millis(u64::from(args.latency));
    config.retry = args.retry;
    config.stream = args.stream;
    (config.rate_bps, config.paces_pipes) = (args.rate, !args.no_pace);
    config.paths = args.paths.paths;
    config.ledger = args.ledger.or_else(|| ledger(args.transport.seal.key.as_deref()));
    config.tariffs = args.tariffs;
    config.transport = transport::options(&args.transport);
    config.taps = capture.taps();
    // A usage error of the library begins with the name of an option, but without `--`.
    let sender = Sender::start(config, source).await.map_err(|error| match error {
        Error::Usage(line) => CliError::Usage(format!("--{line}")),
        other => other.into(),
    });
    let sender = sender?;
    one.announce(&mut monitor);
    Ok((sender, Shown { monitor, advice, json: args.transport.json, printed: Ok(()) }))
}

impl Shown {
    fn event(&mut self, event: Event) {
        match event {
            Event::Advice { seconds, advice } => self.advice.write(seconds, advice),
            Event::Sent(ref summary) => {
                self.monitor.summary(&event, &summary.lines());
                if self.json {
                    self.printed = print::json(&print::json_of(&**summary));
                }
            }
            event => {
                if let Event::Stats(stats) = &event {
                    self.advice.look(stats);
                }
                self.monitor.event(&event);
            }
        }
    }
}

//! `strandcast send`.

use strandcast::live::input::{File, Srt, Stdin, Udp};
use strandcast::live::{Event, Role, Sender, SenderConfig};
use strandcast::{Error, Scheme};
use strandcast_keys::catalog::{Catalog, Extra, SharedCatalog};

use crate::advice::AdviceOutput;
use crate::args::SendArgs;
use crate::capture::Capture;
use crate::error::CliError;
use crate::key::destination;
use crate::media_url::MediaUrl;
use crate::service::Service;
use crate::show::{Monitor, Stats};
use crate::signals::{self, stopped};
use crate::{print, transport};

/// Scheme of the options, with what it needs to honour `--tariff` and `--advice`.
///
/// # Errors
/// [`CliError::Usage`]: the scheme would do nothing with one of them, or there is no such scheme.
fn scheme(args: &SendArgs, catalog: &dyn Catalog) -> Result<Scheme, CliError> {
    let given = [
        ("--tariff", Extra::Tariffs, !args.tariffs.is_empty()),
        ("--advice", Extra::Advice, args.advice.is_some()),
    ];
    // A spec that is completely wrong has a line of its own.
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
    /// Result of printing the summary.
    printed: Result<(), CliError>,
}

/// Sends a stream.
///
/// # Errors
/// [`CliError`].
pub(crate) async fn run(args: SendArgs, catalog: &SharedCatalog) -> Result<(), CliError> {
    let scheme = scheme(&args, &**catalog)?;
    let mut stop = signals::watch()?;
    let opened = tokio::select! {
        opened = open(args, scheme) => opened?,
        () = stopped(&mut stop) => return Ok(()),
    };
    let (sender, mut shown) = opened;
    let (mut service, mut asked) = (Service::find(), false);
    service.ready();
    loop {
        tokio::select! {
            event = sender.event() => match event {
                Some(event) => shown.event(event),
                None => break,
            },
            () = stopped(&mut stop), if !asked => {
                asked = true;
                service.stopping();
                sender.stop();
            }
            () = service.live() => {}
        }
    }
    match sender.wait().await.map_err(CliError::from) {
        // That the summary could not be printed counts before what it says.
        Err(unmet @ CliError::Unmet(_)) => shown.printed.and(Err(unmet)),
        outcome => outcome.and(shown.printed),
    }
}

/// An input of the command line.
enum Source {
    File(File),
    Stdin(Stdin),
    Udp(Udp),
    Srt(Srt),
}

/// Opens everything but the connection.
async fn open(args: SendArgs, scheme: Scheme) -> Result<(Sender, Shown), CliError> {
    let stats = Stats::open(args.stats.stats.as_ref())?;
    let monitor = Monitor::new(Role::Send, stats);
    let advice = AdviceOutput::open(args.advice.as_deref())?;
    let source = match &args.input {
        MediaUrl::Pipe => Source::Stdin(Stdin::open()),
        MediaUrl::Udp(url) => Source::Udp(Udp::listen(url).await?),
        MediaUrl::Srt(url) => Source::Srt(Srt::open(url).await?),
        MediaUrl::File(path) => Source::File(File::open(path).await?),
    };
    let to = destination(&args.to, &args.transport.seal)?;
    let capture = Capture::open(args.transport.pcap.as_deref(), &args.transport.seal)?;
    let mut config = SenderConfig::new(to, scheme);
    config.latency = std::time::Duration::from_millis(u64::from(args.latency));
    config.retry = args.retry;
    config.paths = args.paths.paths;
    config.tariffs = args.tariffs;
    config.transport = transport::options(&args.transport);
    config.taps = capture.taps();
    let sender = match source {
        Source::File(file) => Sender::start(config, file).await,
        Source::Stdin(stdin) => Sender::start(config, stdin).await,
        Source::Udp(udp) => Sender::start(config, udp).await,
        Source::Srt(srt) => Sender::start(config, srt).await,
    };
    // Its mistakes begin with the name of an option.
    let sender = sender.map_err(|error| match error {
        Error::Usage(line) => CliError::Usage(format!("--{line}")),
        other => other.into(),
    });
    Ok((sender?, Shown { monitor, advice, json: args.transport.json, printed: Ok(()) }))
}

impl Shown {
    fn event(&mut self, event: Event) {
        match event {
            Event::Advice { seconds, advice } => self.advice.write(seconds, advice),
            Event::Sent(summary) => {
                self.monitor.clear();
                for line in summary.lines() {
                    self.monitor.last_line(&line);
                }
                if self.json {
                    self.printed = print::json(&print::json_of(&*summary));
                }
            }
            event => self.monitor.event(&event),
        }
    }
}

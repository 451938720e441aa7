//! `strandcast receive`.

use std::time::Duration;

use strandcast::live::output::{File, Recordings, Srt, Udp};
use strandcast::live::{Event, Listening, Receiver, ReceiverConfig, Role};
use strandcast::transport::listen_addresses;
use strandcast::{Error, Scheme};
use strandcast_keys::catalog::SharedCatalog;

use crate::args::ReceiveArgs;
use crate::capture::Capture;
use crate::error::CliError;
use crate::key::{Invitation, gate, gate_line, invitation, spare_store};
use crate::media_url::MediaUrl;
use crate::service::Service;
use crate::show::{Monitor, Stats};
use crate::signals::{self, stopped};
use crate::{print, transport};

/// Display of a receiver's events.
struct Shown {
    monitor: Monitor,
    /// Invitation to pair with it.
    invitation: Option<Invitation>,
    /// Print summaries as JSON; `true`: on standard error, because standard output carries media.
    json: Option<bool>,
}

/// Receives streams.
///
/// # Errors
/// [`CliError`].
pub(crate) async fn run(args: ReceiveArgs, catalog: &SharedCatalog) -> Result<(), CliError> {
    let scheme = transport::scheme(&args.transport.scheme, &**catalog)?;
    let mut stop = signals::watch()?;
    let opened = tokio::select! {
        opened = open(args, scheme) => opened?,
        () = stopped(&mut stop) => return Ok(()),
    };
    let (receiver, mut shown) = opened;
    let (mut service, mut asked) = (Service::find(), false);
    service.ready();
    loop {
        tokio::select! {
            event = receiver.event() => match event {
                Some(event) => shown.event(&event),
                None => break,
            },
            () = stopped(&mut stop), if !asked => {
                asked = true;
                service.stopping();
                receiver.stop();
            }
            () = service.live() => {}
        }
    }
    shown.monitor.clear();
    Ok(receiver.wait().await?)
}

/// Opens everything and listens.
async fn open(args: ReceiveArgs, scheme: Scheme) -> Result<(Receiver, Shown), CliError> {
    if let MediaUrl::File(path) = &args.output {
        spare_store(&args.transport.seal, path)?;
    }
    let stats = Stats::open(args.stats.stats.as_ref())?;
    let (host, port) = args.listen.as_ref().map_or((None, None), |l| (l.host.as_deref(), l.port));
    let addresses = listen_addresses(host, port).await?;
    let capture = Capture::open(args.transport.pcap.as_deref(), &args.transport.seal)?;
    let mut config = ReceiverConfig::new(scheme);
    config.listen = addresses;
    config.gate = gate(&args.transport.seal)?;
    config.latency = args.latency.map(|ms| Duration::from_millis(u64::from(ms)));
    config.silence = args.silence;
    config.once = args.once;
    config.memory = args.limit.memory;
    config.transport = transport::options(&args.transport);
    config.taps = capture.taps();
    let mut listening = Listening::start(config)?;
    let output = Destination::open(&args.output, args.overwrite).await?;
    let invitation = listening.gate().map(invitation);
    let receiver = match output {
        Destination::File(file) => listening.play(file),
        Destination::Recordings(recordings) => listening.play(recordings),
        Destination::Udp(udp) => listening.play(udp),
        Destination::Srt(srt) => listening.play(srt),
    };
    let json = args.transport.json.then_some(args.output == MediaUrl::Pipe);
    Ok((receiver, Shown { monitor: Monitor::new(Role::Receive, stats), invitation, json }))
}

/// An output of the command line.
enum Destination {
    File(File),
    Recordings(Recordings),
    Udp(Udp),
    Srt(Srt),
}

impl Destination {
    async fn open(place: &MediaUrl, overwrite: bool) -> Result<Destination, CliError> {
        Ok(match place {
            MediaUrl::Pipe => Destination::File(File::stdout()?),
            MediaUrl::Udp(url) => Destination::Udp(Udp::open(url).await?),
            MediaUrl::Srt(url) => Destination::Srt(Srt::open(url).await?),
            MediaUrl::File(path) => match Recordings::of(path)? {
                Some(recordings) => Destination::Recordings(recordings),
                None => Destination::File(File::open(path, overwrite).map_err(|error| match error {
                    Error::Usage(line) => CliError::Usage(format!("{line} with --overwrite")),
                    other => other.into(),
                })?),
            },
        })
    }
}

impl Shown {
    fn event(&mut self, event: &Event) {
        match event {
            Event::Listening { .. } => {
                self.monitor.event(event);
                self.invitation.take().iter().for_each(Invitation::print);
            }
            Event::Received(summary) => {
                self.monitor.clear();
                for line in summary.lines() {
                    self.monitor.line(&line);
                }
                let json = print::json_of(&**summary);
                match self.json {
                    Some(true) => print::json_line(json.trim_end()),
                    // Output that cannot be printed is reported at the end of the command.
                    Some(false) => drop(print::json(&json)),
                    None => {}
                }
            }
            Event::Gate(event) => self.monitor.line(&gate_line(event)),
            event => self.monitor.event(event),
        }
    }
}

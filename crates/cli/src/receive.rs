//! `strandcast receive`.

use std::io::IsTerminal as _;
use std::sync::Arc;
use std::time::Duration;

use strandcast::Scheme;
use strandcast::live::{Event, Listening, Receiver, ReceiverConfig, Role, Slate};
use strandcast::transport::listen_addresses;
use strandcast_keys::catalog::SharedCatalog;

use crate::args::ReceiveArgs;
use crate::capture::Capture;
use crate::error::CliError;
use crate::key::{Invitation, gate, gate_line, invitation, spare_store};
use crate::media_url::MediaUrl;
use crate::one::{One, refuse};
use crate::places::{Places, places};
use crate::service::Service;
use crate::show::Monitor;
use crate::signals::stopped;
use crate::{media_output, print, transport};

/// Display of a receiver's events.
struct Shown {
    monitor: Monitor,
    /// Invitation to pair with the receiver.
    invitation: Option<Invitation>,
    /// If present, summaries are printed as JSON. `true` means on standard error, because standard output carries
    /// media.
    json: Option<bool>,
}

/// Receives streams.
///
/// # Errors
/// [`CliError`].
pub(crate) async fn run(args: ReceiveArgs, catalog: &SharedCatalog) -> Result<(), CliError> {
    let scheme = transport::scheme(&args.transport.scheme, &**catalog)?;
    let (mut stop, mut reopen) = args.stats.signals()?;
    let mut one = One::of_receiver(&args.api)?;
    let latency = args.latency;
    let opened = tokio::select! {
        opened = open(args, scheme, &one) => opened?,
        () = stopped(&mut stop) => return Ok(()),
    };
    let (receiver, mut shown) = opened;
    let receiver = Arc::new(receiver);
    let (mut service, mut asked) = (Service::find(), false);
    service.ready();
    loop {
        tokio::select! {
            () = reopen.asked() => shown.monitor.reopen(),
            () = shown.monitor.tick() => {
                shown.monitor.look();
                one.look_at_receiver(&shown.monitor, &receiver, latency);
            }
            asked = one.asked() => refuse(asked),
            event = receiver.event() => match event {
                Some(event) => shown.event(&event),
                None => break,
            },
            () = stopped(&mut stop), if !asked => {
                asked = true;
                service.stopping();
                one.stopping();
                receiver.stop();
            }
            () = service.live() => {}
        }
    }
    shown.monitor.clear();
    Ok(receiver.wait().await?)
}

/// Opens all files and outputs, and listens.
async fn open(args: ReceiveArgs, scheme: Scheme, one: &One) -> Result<(Receiver, Shown), CliError> {
    let Places { listen, outputs } = places(&args.places).map_err(CliError::Usage)?;
    for output in &outputs {
        if let MediaUrl::File(path) = output {
            spare_store(&args.transport.seal, path)?;
        }
    }
    let piped = outputs.contains(&MediaUrl::Pipe);
    if piped && std::io::stdout().is_terminal() {
        let line =
            "standard output is a terminal: send it to a file or a program, as in receive - | ffplay -";
        return Err(CliError::Usage(line.to_owned()));
    }
    let mut monitor = args.stats.monitor(Role::Receive)?;
    let (host, port) = listen.as_ref().map_or((None, None), |l| (l.host.as_deref(), l.port));
    let addresses = listen_addresses(host, port).await?;
    let capture = Capture::open(args.transport.pcap.as_deref(), &args.transport.seal)?;
    let mut config = ReceiverConfig::new(scheme);
    config.listen = addresses;
    config.gate = gate(&args.transport.seal)?;
    config.latency = args.latency.map(|ms| Duration::from_millis(u64::from(ms)));
    config.silence = args.silence;
    config.once = args.once;
    config.slate = args.slate.as_deref().map(Slate::named).transpose()?;
    config.watched = args.api.is_on();
    config.memory = args.limit.memory;
    config.transport = transport::options(&args.transport);
    config.taps = capture.taps();
    let mut listening = Listening::start(config)?;
    let mut opened = Vec::new();
    for output in &outputs {
        opened.push(media_output::open(output, args.overwrite).await?);
    }
    let invitation = listening.gate().map(|gate| invitation(gate, &args.transport.seal));
    let receiver = listening.play_all(opened);
    one.announce(&mut monitor);
    let json = args.transport.json.then_some(piped);
    Ok((receiver, Shown { monitor, invitation, json }))
}

impl Shown {
    fn event(&mut self, event: &Event) {
        match event {
            Event::Listening { .. } => {
                self.monitor.event(event);
                self.invitation.take().iter().for_each(Invitation::print);
            }
            Event::Received(summary) => {
                self.monitor.summary(event, &summary.lines());
                let json = print::json_of(&**summary);
                match self.json {
                    Some(true) => print::json_line(json.trim_end()),
                    // If standard output fails, the error is reported at the end of the command.
                    Some(false) => drop(print::json(&json)),
                    None => {}
                }
            }
            Event::Gate(said) => self.monitor.event_as(event, &gate_line(said)),
            event => self.monitor.event(event),
        }
    }
}

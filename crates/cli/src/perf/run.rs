//! `strandcast perf`.

use std::ffi::OsString;
use std::time::{Duration, Instant};

use clap::Parser;
use strandcast::Scheme;
use strandcast::UDP_PORT;
use strandcast::live::parts::listen_changes;
use strandcast::pairing::{Destination, Gate, SealReports};
use strandcast::route;
use strandcast::text::{bits_per_s, bytes};
use strandcast::transport::{listen_addresses, policies};
use strandcast_keys::catalog::Catalog;
use strandcast_keys::catalog::SharedCatalog;
use strandcast_net::driver::{self, Driver, Uplink};
use strandcast_proto::endpoint::EndpointConfig;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use super::client::{Client, Progress};
use super::result::{Outcome, Setup};
use super::server::{Server, ServerEvent};
use crate::args::{PerfArgs, PerfClientArgs, PerfServerArgs, PerfSide};
use crate::capture::Capture;
use crate::error::CliError;
use crate::key::{self, destination};
use crate::print;
use crate::signals::{self, Stop, stopped};
use crate::sparing::Sparing;
use crate::usage::one_line;
use crate::{block_on, transport};

/// Timeout for the server's first answer.
const CONNECT: Duration = Duration::from_secs(8);
/// Timeout for the first answer of the server if the server has another host that can be tried.
const CONNECT_NEXT: Duration = Duration::from_secs(3);
/// Interval at which the list of permitted clients is read again.
const LOOK: Duration = Duration::from_millis(250);
/// Time limit for the last packets of an association.
const FAREWELL: Duration = Duration::from_secs(2);

/// The warning that client and server print with `--plain`.
const PLAIN: &str = "warning: measurements are neither encrypted nor authenticated";

/// Runs a measurement, or serves measurements.
///
/// # Errors
/// [`CliError`].
pub(crate) async fn run(args: PerfArgs, catalog: &SharedCatalog) -> Result<(), CliError> {
    match args.side {
        PerfSide::Client(args) => {
            let stop = signals::watch()?;
            let (json, quiet) = (args.transport.json, args.quiet);
            let outcome = client(args, &**catalog, stop).await?;
            report(&outcome, json, quiet)
        }
        PerfSide::Server(args) => server(args, catalog).await,
    }
}

/// Measures like `strandcast perf client`, for use by other programs. `args` are the arguments after `client`, and
/// `catalog` provides the schemes. Returns the JSON that the command prints with `--json`. With `--quiet` nothing is
/// printed on standard error. Ctrl-C ends the measurement, but the process continues.
///
/// # Errors
/// Returns the exit code and the error message of the command.
pub fn perf_client(args: Vec<OsString>, catalog: SharedCatalog) -> Result<String, (u8, String)> {
    let told = |error: CliError| (error.code(), print::safe(&error.to_string()));
    let words = std::iter::once(OsString::from("strandcast perf client")).chain(args);
    let args =
        PerfClient::try_parse_from(words).map_err(|e| told(CliError::Usage(one_line(&e.to_string()))))?;
    let quiet = args.client.quiet;
    let measured = block_on(async {
        let stop = signals::watch_interrupt()?;
        client(args.client, &*catalog, stop).await
    });
    let outcome = measured.map_err(told)?;
    if !quiet {
        outcome.lines().iter().for_each(|line| print::line(line));
    }
    Ok(format!("{:#}", outcome.json()))
}

/// The command line of [`perf_client`].
#[derive(Parser)]
struct PerfClient {
    #[command(flatten)]
    client: PerfClientArgs,
}

async fn client(
    args: PerfClientArgs,
    catalog: &dyn Catalog,
    mut stop: Stop,
) -> Result<Box<Outcome>, CliError> {
    let plan = transport::scheme(&args.transport.scheme, catalog)?;
    let to = destination(&args.to, &args.transport.seal)?;
    let (remotes, _) = route::routes(&to.hosts, &args.paths.paths.clone().into()).await?;
    let capture = Capture::open(args.transport.pcap.as_deref(), &args.transport.seal)?;
    let reports = SealReports::default();
    let measurement = Measurement { args, plan, to, reports, capture };
    if measurement.to.seal.is_none() {
        measurement.say(PLAIN);
    }
    let last = remotes.len().saturating_sub(1);
    for host in 0..remotes.len() {
        let connect_timeout = if host < last { CONNECT_NEXT } else { CONNECT };
        let addresses = route::in_turn(&remotes, host);
        // If no path leads to the addresses of this host, the next host is tried.
        let Ok(uplinks) = route::uplinks(&measurement.args.paths.paths.clone().into(), &addresses) else {
            continue;
        };
        match measurement.run(host, uplinks, connect_timeout, &mut stop).await? {
            Some(outcome) => return Ok(outcome),
            None => continue,
        }
    }
    Err(measurement.refused("the server does not answer"))
}

/// A measurement and its settings.
struct Measurement {
    args: PerfClientArgs,
    plan: Scheme,
    to: Destination,
    reports: SealReports,
    capture: Capture,
}

impl Measurement {
    fn say(&self, line: &str) {
        if !self.args.quiet {
            print::line(line);
        }
    }

    /// Runs a measurement with the server, and tries one of its hosts first. Returns `None` if the server does not
    /// answer in time.
    async fn run(
        &self,
        host: usize,
        uplinks: Vec<Uplink>,
        connect_timeout: Duration,
        stop: &mut Stop,
    ) -> Result<Option<Box<Outcome>>, CliError> {
        self.say(&format!("measuring to {} over {}", self.to.label, route::describe(&uplinks)));
        let args = &self.args;
        let endpoint = transport::options(&args.transport).endpoint(&self.plan, false);
        let (port, scheme) = (args.transport.sctp_port, policies(&self.plan)?);
        let (seal, tap) = (self.reports.seal(&self.to), self.capture.tap());
        let client = driver::Client { endpoint, uplinks, port, scheme, seal, tap };
        let (report, mut progress) = unbounded_channel();
        let started = client.run(|_| Client::new(self.setup(host), report));
        let (driver, _task) = started.map_err(|e| transport::open_error(&e))?;
        let mut connect_timeout = Some(tokio::time::Instant::now() + connect_timeout);
        let outcome = loop {
            let next = tokio::select! {
                next = progress.recv() => next,
                () = stopped(stop) => return Err(CliError::Unmet("interrupted".into())),
                () = sleep_until(connect_timeout) => return Ok(None),
            };
            match next {
                Some(Progress::Connected) => connect_timeout = None,
                Some(Progress::Interval(interval)) => self.say(&interval.line()),
                Some(Progress::Diagnostic(line)) => self.say(&line),
                Some(Progress::Done(outcome)) => break outcome,
                None => break Err("the transport stopped".into()),
            }
        };
        let outcome = outcome.map_err(|why| self.refused(&why))?;
        // The server may have to retransmit its last packet, so that the client waits for a while.
        let _ = tokio::time::timeout(FAREWELL, driver.finished()).await;
        Ok(Some(Box::new(Outcome { cipher: self.reports.cipher(), ..*outcome })))
    }

    fn setup(&self, host: usize) -> Setup {
        let (args, host) = (&self.args, &self.to.hosts[host]);
        Setup {
            host: host.host.clone(),
            port: host.port.unwrap_or(UDP_PORT),
            scheme: args.transport.scheme.clone(),
            time: args.time,
            message: args.message.unwrap_or(0) as usize,
            reverse: args.reverse,
        }
    }

    /// Returns the reason why there was no measurement. If encryption failed, its more precise reason is used.
    fn refused(&self, why: &str) -> CliError {
        match self.reports.refusal(&self.to) {
            Some((words, _)) => CliError::Peer(format!("{} {words}", self.to.label)),
            None => CliError::Peer(why.to_owned()),
        }
    }
}

/// Prints the result as text, and as JSON if requested. With `quiet` no text is printed.
fn report(outcome: &Outcome, json: bool, quiet: bool) -> Result<(), CliError> {
    if !(json && quiet) {
        outcome.lines().iter().for_each(|line| print::line(line));
    }
    if json { print::json(&format!("{:#}\n", outcome.json())) } else { Ok(()) }
}

async fn sleep_until(at: Option<tokio::time::Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}

/// Waits for a while. Then reads again who may connect, and checks that the server still listens. Returns lines to
/// print.
///
/// # Errors
/// Returns [`CliError::Network`] if the server no longer listens.
async fn look(gate: Option<&mut Gate>, driver: &Driver) -> Result<Vec<String>, CliError> {
    tokio::time::sleep(LOOK).await;
    listen_changes(driver).await?.iter().for_each(|change| print::line(&change.to_string()));
    let mut lines = Vec::new();
    if let Some(gate) = gate {
        lines.extend(gate.poll(driver).await.iter().map(key::gate_line));
    }
    Ok(lines)
}

async fn server(args: PerfServerArgs, catalog: &SharedCatalog) -> Result<(), CliError> {
    let plan = transport::scheme(&args.transport.scheme, &**catalog)?;
    let mut stop = signals::watch()?;
    let listen = args.listen.as_ref();
    let listen =
        listen_addresses(listen.and_then(|l| l.host.as_deref()), listen.and_then(|l| l.port)).await?;
    let capture = Capture::open(args.transport.pcap.as_deref(), &args.transport.seal)?;
    let limit = args.limit.memory;
    let mut gate = key::gate(&args.transport.seal)?;
    let memory = limit.for_transfers(gate.is_some());
    let endpoint = EndpointConfig { memory, ..transport::options(&args.transport).endpoint(&plan, true) };
    let seal = gate.as_mut().map(|gate| gate.seal(limit.sessions()));
    let server = driver::Server { endpoint, listen, seal, tap: capture.tap() };
    let (report, mut served) = unbounded_channel();
    let (driver, _task) = server.run(Server::new(report)).map_err(|e| transport::open_error(&e))?;
    let locals: Vec<String> = driver.local_addrs().iter().map(ToString::to_string).collect();
    print::line(&format!("listening on UDP {}", locals.join(", ")));
    match &mut gate {
        Some(gate) => {
            gate.listens(driver.local_addrs());
            key::invitation(gate, &args.transport.seal).print();
        }
        None => print::line(PLAIN),
    }
    let outcome = serve(args.once, &mut served, &mut stop, gate.as_mut(), &driver).await;
    if let Some(gate) = &mut gate {
        gate.end().await.iter().for_each(|event| print::line(&key::gate_line(event)));
    }
    outcome
}

/// Prints events of the server until the user ends it. With `once` it ends after the first client.
async fn serve(
    once: bool,
    served: &mut UnboundedReceiver<ServerEvent>,
    stop: &mut Stop,
    mut gate: Option<&mut Gate>,
    driver: &Driver,
) -> Result<(), CliError> {
    let mut sparing = Sparing::new(Instant::now());
    let mut say = |line: &str| sparing.line(Instant::now(), line, print::line);
    loop {
        let next = tokio::select! {
            next = served.recv() => next,
            () = stopped(stop) => return Ok(()),
            lines = look(gate.as_deref_mut(), driver) => {
                lines?.iter().for_each(|line| say(line));
                continue;
            }
        };
        match next {
            Some(ServerEvent::Begun { client, reverse }) => {
                say(&format!("{} {client}", if reverse { "sending to" } else { "receiving from" }));
            }
            Some(ServerEvent::Done(totals, cpu)) => {
                let rate = totals.bytes as f64 * 8.0 / totals.seconds.max(1e-3);
                let (amount, rate, cpu) = (bytes(totals.bytes), bits_per_s(rate), cpu.total_s());
                say(&format!("{amount} in {:.2} s, {rate}, processor time {cpu:.2} s", totals.seconds));
            }
            Some(ServerEvent::Diagnostic(line)) => say(&line),
            Some(ServerEvent::Left) if once => return Ok(()),
            Some(ServerEvent::Left) => {}
            Some(ServerEvent::Failed(why)) if once => return Err(CliError::Peer(why)),
            Some(ServerEvent::Failed(why)) => say(&why),
            None => return Err(CliError::Network("the transport stopped".into())),
        }
    }
}

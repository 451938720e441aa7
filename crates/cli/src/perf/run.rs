//! `strandcast perf`.

use super::client::{Client, Progress};
use super::result::{Outcome, Setup};
use super::server::{Server, ServerEvent};
use crate::args::{PerfArgs, PerfClientArgs, PerfServerArgs, PerfSide};
use crate::capture::Capture;
use crate::catalog::SharedCatalog;
use crate::error::CliError;
use crate::print;
use crate::show::{bits_per_s, bytes};
use crate::signals::{self, Stop, stopped};
use crate::usage::one_line;
use crate::{block_on, transport};
use clap::Parser;
use std::ffi::OsString;
use std::time::Duration;
use strandcast_net::driver;
use strandcast_proto::catalog::Catalog;
use strandcast_proto::endpoint::EndpointConfig;
use strandcast_proto::text::printable;
use tokio::sync::mpsc::unbounded_channel;

/// Timeout for the server's first answer.
const CONNECT: Duration = Duration::from_secs(8);
/// Time limit for the last packets of an association.
const FAREWELL: Duration = Duration::from_secs(2);

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

/// Measures like `strandcast perf client`, for other programs: `args` are those after `client`, schemes come from
/// `catalog`. Returns the JSON that the command prints with `--json`. With `--quiet` nothing is printed on standard
/// error. Ctrl-C ends the measurement; the process continues.
///
/// # Errors
/// The command's exit code and diagnostic.
pub fn perf_client(args: Vec<OsString>, catalog: SharedCatalog) -> Result<String, (u8, String)> {
    let told = |error: CliError| (error.code(), printable(&error.to_string()).into_owned());
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
    let say = |line: &str| {
        if !args.quiet {
            print::line(line);
        }
    };
    let plan = transport::scheme(&args.transport.scheme, catalog)?;
    let remotes = transport::remotes(&args.host).await?;
    let uplinks = transport::uplinks(&args.paths, &remotes)?;
    let capture = Capture::open(args.transport.pcap.as_deref())?;
    say(&format!("measuring to {} over {}", args.host, transport::describe(&uplinks)));
    let setup = Setup {
        host: args.host.host.clone(),
        port: args.host.port.unwrap_or(transport::UDP_PORT),
        scheme: args.transport.scheme.clone(),
        time: args.time,
        message: args.message.unwrap_or(0) as usize,
        reverse: args.reverse,
    };
    let endpoint = transport::endpoint(&args.transport, &plan, false);
    let (port, scheme) = (args.transport.sctp_port, transport::build(&plan)?);
    let client = driver::Client { endpoint, uplinks, port, scheme, seal: None, tap: capture.tap() };
    let (report, mut progress) = unbounded_channel();
    let started = client.run(|_| Client::new(setup, report));
    let (driver, _task) = started.map_err(|e| transport::open_error(&e))?;
    let mut patience = Some(tokio::time::Instant::now() + CONNECT);
    let outcome = loop {
        let next = tokio::select! {
            next = progress.recv() => next,
            () = stopped(&mut stop) => return Err(CliError::Unmet("interrupted".into())),
            () = sleep_until(patience) => Some(Progress::Done(Err("the server does not answer".into()))),
        };
        match next {
            Some(Progress::Connected) => patience = None,
            Some(Progress::Interval(interval)) => say(&interval.line()),
            Some(Progress::Remark(line)) => say(&line),
            Some(Progress::Done(outcome)) => break outcome,
            None => break Err("the transport stopped".into()),
        }
    };
    let outcome = outcome.map_err(CliError::Peer)?;
    // The server's last packet may be retransmitted.
    let _ = tokio::time::timeout(FAREWELL, driver.finished()).await;
    Ok(outcome)
}

/// Prints the text result, unless only JSON is requested, and the JSON.
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

async fn server(args: PerfServerArgs, catalog: &SharedCatalog) -> Result<(), CliError> {
    let plan = transport::scheme(&args.transport.scheme, &**catalog)?;
    let mut stop = signals::watch()?;
    let listen = transport::listen(args.listen.as_ref()).await?;
    let capture = Capture::open(args.transport.pcap.as_deref())?;
    let memory = args.limit.memory.for_transfers();
    let endpoint = EndpointConfig { memory, ..transport::endpoint(&args.transport, &plan, true) };
    let server = driver::Server { endpoint, listen, seal: None, tap: capture.tap() };
    let (report, mut served) = unbounded_channel();
    let (driver, _task) = server.run(Server::new(report)).map_err(|e| transport::open_error(&e))?;
    let locals: Vec<String> = driver.local_addrs().iter().map(ToString::to_string).collect();
    print::line(&format!("listening on UDP {}", locals.join(", ")));
    loop {
        let next = tokio::select! {
            next = served.recv() => next,
            () = stopped(&mut stop) => return Ok(()),
        };
        match next {
            Some(ServerEvent::Begun { client, reverse }) => {
                print::line(&format!("{} {client}", if reverse { "sending to" } else { "receiving from" }));
            }
            Some(ServerEvent::Done(totals, cpu)) => {
                let rate = totals.bytes as f64 * 8.0 / totals.seconds.max(1e-3);
                let (amount, rate, cpu) = (bytes(totals.bytes), bits_per_s(rate), cpu.total_s());
                print::line(&format!(
                    "{amount} in {:.2} s, {rate}, processor time {cpu:.2} s",
                    totals.seconds
                ));
            }
            Some(ServerEvent::Remark(line)) => print::line(&line),
            Some(ServerEvent::Left) if args.once => return Ok(()),
            Some(ServerEvent::Left) => {}
            Some(ServerEvent::Failed(why)) if args.once => return Err(CliError::Peer(why)),
            Some(ServerEvent::Failed(why)) => print::line(&why),
            None => return Err(CliError::Network("the transport stopped".into())),
        }
    }
}

//! `strandcast perf`.

use std::cell::Cell;
use std::ffi::OsString;
use std::time::Instant;

use clap::Parser;
use strandcast::perf::{Measurement, Outcome, Progress, Server, ServerConfig, ServerEvent};
use strandcast::text::{bits_per_s, bytes};
use strandcast::transport::listen_addresses;
use strandcast_keys::catalog::{Catalog, SharedCatalog};

use crate::args::{PerfArgs, PerfClientArgs, PerfServerArgs, PerfSide};
use crate::capture::Capture;
use crate::error::CliError;
use crate::key::{self, destination};
use crate::print;
use crate::signals::{self, Stop, stopped};
use crate::sparing::Sparing;
use crate::usage::one_line;
use crate::{block_on, transport};

/// The warning that client and server print with `--plain`.
const PLAIN: &str = "warning: measurements are neither encrypted nor authenticated";

/// Reason for refusing a peer that sends media.
const NO_STREAM: &str = "this is strandcast perf server, and plays no stream: run strandcast receive there";

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
    let mut measurement = Measurement::new(destination(&args.to, &args.transport.seal)?, plan);
    measurement.paths = args.paths.paths;
    (measurement.time, measurement.message) = (args.time, args.message.unwrap_or(0));
    measurement.reverse = args.reverse;
    measurement.transport = transport::options(&args.transport);
    let plain = measurement.to.seal.is_none();
    let measurement = measurement.resolve().await?;
    let taps = Capture::open(args.transport.pcap.as_deref(), &args.transport.seal)?.taps();
    let (quiet, measured) = (args.quiet, Cell::new(false));
    let say = |line: &str| {
        if !quiet {
            print::line(line);
        }
    };
    if plain {
        say(PLAIN);
    }
    let progress = |progress| match progress {
        Progress::Connecting { to, over } => say(&format!("measuring to {to} over {over}")),
        Progress::Interval(interval) => say(&interval.line()),
        Progress::Diagnostic(line) => say(&line),
        Progress::Measured => measured.set(true),
        _ => {}
    };
    // A result that is there is printed in any case.
    let interrupted = async {
        stopped(&mut stop).await;
        if measured.get() {
            std::future::pending::<()>().await;
        }
    };
    tokio::select! {
        outcome = measurement.run(taps.as_ref(), progress) => Ok(outcome?),
        () = interrupted => Err(CliError::Unmet("interrupted".into())),
    }
}

/// Prints the result as text, and as JSON if requested. With `quiet` no text is printed.
fn report(outcome: &Outcome, json: bool, quiet: bool) -> Result<(), CliError> {
    if !(json && quiet) {
        outcome.lines().iter().for_each(|line| print::line(line));
    }
    if json { print::json(&format!("{:#}\n", outcome.json())) } else { Ok(()) }
}

async fn server(args: PerfServerArgs, catalog: &SharedCatalog) -> Result<(), CliError> {
    let plan = transport::scheme(&args.transport.scheme, &**catalog)?;
    let mut stop = signals::watch()?;
    let listen = args.listen.as_ref();
    let listen =
        listen_addresses(listen.and_then(|l| l.host.as_deref()), listen.and_then(|l| l.port)).await?;
    let capture = Capture::open(args.transport.pcap.as_deref(), &args.transport.seal)?;
    let mut config = ServerConfig::new(plan);
    (config.listen, config.memory) = (listen, args.limit.memory);
    config.gate = key::gate(&args.transport.seal)?;
    (config.transport, config.taps) = (transport::options(&args.transport), capture.taps());
    config.no_stream = NO_STREAM.to_owned();
    let mut server = Server::start(config)?;
    let locals: Vec<String> = server.addresses().iter().map(ToString::to_string).collect();
    print::line(&format!("listening on UDP {}", locals.join(", ")));
    match server.gate() {
        Some(gate) => key::invitation(gate, &args.transport.seal).print(),
        None => print::line(PLAIN),
    }
    let outcome = serve(args.once, &mut server, &mut stop).await;
    server.end().await.iter().for_each(|event| print::line(&key::gate_line(event)));
    outcome
}

/// Prints events of the server until the user ends it. With `once` it ends after the first client.
async fn serve(once: bool, server: &mut Server, stop: &mut Stop) -> Result<(), CliError> {
    let mut sparing = Sparing::new(Instant::now());
    let mut say = |line: &str| sparing.line(Instant::now(), line, print::line);
    loop {
        let event = tokio::select! {
            event = server.event() => event?,
            () = stopped(stop) => return Ok(()),
        };
        match event {
            ServerEvent::Begun { client, reverse } => {
                say(&format!("{} {client}", if reverse { "sending to" } else { "receiving from" }));
            }
            ServerEvent::Done { totals, cpu } => {
                let rate = totals.bytes as f64 * 8.0 / totals.seconds.max(1e-3);
                let (amount, rate, cpu) = (bytes(totals.bytes), bits_per_s(rate), cpu.total_s());
                say(&format!("{amount} in {:.2} s, {rate}, processor time {cpu:.2} s", totals.seconds));
            }
            ServerEvent::Diagnostic(line) => say(&line),
            ServerEvent::Left if once => return Ok(()),
            ServerEvent::Failed(why) if once => return Err(CliError::Peer(why)),
            ServerEvent::Failed(why) => say(&why),
            ServerEvent::Gate(event) => say(&key::gate_line(&event)),
            ServerEvent::Socket(change) => print::line(&change.to_string()),
            _ => {}
        }
    }
}

//! `strandcast perf`.

use super::client::{Client, Progress};
use super::result::{Outcome, Setup};
use super::server::{Served, Server};
use crate::args::{PerfArgs, PerfClientArgs, PerfServerArgs, PerfSide};
use crate::capture::Capture;
use crate::error::CliError;
use crate::show::{bits_per_s, bytes};
use crate::signals::{self, stopped};
use crate::transport;
use std::time::Duration;
use strandcast_net::driver;
use tokio::sync::mpsc::unbounded_channel;

/// How long the server may take to answer at all.
const CONNECT: Duration = Duration::from_secs(8);
/// How long the last packets of an association may take.
const FAREWELL: Duration = Duration::from_secs(2);

/// Measures, or serves measurements.
///
/// # Errors
/// [`CliError`].
pub(crate) async fn run(args: PerfArgs) -> Result<(), CliError> {
    match args.side {
        PerfSide::Client(args) => client(args).await,
        PerfSide::Server(args) => server(args).await,
    }
}

async fn client(args: PerfClientArgs) -> Result<(), CliError> {
    let spec = transport::scheme(&args.transport.scheme)?;
    let mut stop = signals::watch()?;
    let remotes = transport::remotes(&args.host).await?;
    let uplinks = transport::uplinks(&args.paths, &remotes)?;
    let capture = Capture::open(args.transport.pcap.as_deref())?;
    eprintln!("measuring to {} over {}", args.host, transport::describe(&uplinks));
    let setup = Setup {
        host: args.host.host.clone(),
        port: args.host.port.unwrap_or(transport::UDP_PORT),
        scheme: args.transport.scheme.clone(),
        time: args.time,
        message: args.message.unwrap_or(0) as usize,
        reverse: args.reverse,
    };
    let endpoint = transport::endpoint(&args.transport, &spec, false);
    let (port, scheme) = (args.transport.sctp_port, transport::build(&spec)?);
    let client = driver::Client { endpoint, uplinks, port, scheme, tap: capture.tap() };
    let (tell, mut progress) = unbounded_channel();
    let started = client.run(|_| Client::new(setup, tell));
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
            Some(Progress::Interval(interval)) => eprintln!("{}", interval.line()),
            Some(Progress::Remark(line)) => eprintln!("{line}"),
            Some(Progress::Done(outcome)) => break outcome,
            None => break Err("the transport stopped".into()),
        }
    };
    let outcome = outcome.map_err(CliError::Peer)?;
    // The server's last packet may come again.
    let _ = tokio::time::timeout(FAREWELL, driver.finished()).await;
    print(&outcome, args.transport.json);
    Ok(())
}

fn print(outcome: &Outcome, json: bool) {
    for line in outcome.lines() {
        eprintln!("{line}");
    }
    if json {
        println!("{:#}", outcome.json());
    }
}

async fn sleep_until(at: Option<tokio::time::Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}

async fn server(args: PerfServerArgs) -> Result<(), CliError> {
    let spec = transport::scheme(&args.transport.scheme)?;
    let mut stop = signals::watch()?;
    let listen = transport::listen(args.listen.as_ref()).await?;
    let capture = Capture::open(args.transport.pcap.as_deref())?;
    let endpoint = transport::endpoint(&args.transport, &spec, true);
    let server = driver::Server { endpoint, listen, tap: capture.tap() };
    let (tell, mut served) = unbounded_channel();
    let (driver, _task) = server.run(Server::new(tell)).map_err(|e| transport::open_error(&e))?;
    let locals: Vec<String> = driver.local_addrs().iter().map(ToString::to_string).collect();
    eprintln!("listening on UDP {}", locals.join(", "));
    loop {
        let next = tokio::select! {
            next = served.recv() => next,
            () = stopped(&mut stop) => return Ok(()),
        };
        match next {
            Some(Served::Begun { client, reverse }) => {
                eprintln!("{} {client}", if reverse { "sending to" } else { "receiving from" });
            }
            Some(Served::Done(totals, cpu)) => {
                let rate = totals.bytes as f64 * 8.0 / totals.seconds.max(1e-3);
                let (amount, rate, cpu) = (bytes(totals.bytes), bits_per_s(rate), cpu.total_s());
                eprintln!("{amount} in {:.2} s, {rate}, processor time {cpu:.2} s", totals.seconds);
            }
            Some(Served::Remark(line)) => eprintln!("{line}"),
            Some(Served::Left) if args.once => return Ok(()),
            Some(Served::Left) => {}
            Some(Served::Failed(why)) if args.once => return Err(CliError::Peer(why)),
            Some(Served::Failed(why)) => eprintln!("{why}"),
            None => return Err(CliError::Network("the transport stopped".into())),
        }
    }
}

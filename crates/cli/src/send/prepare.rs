//! What a stream needs before it is connected.

use std::sync::Arc;

use strandcast_keys::catalog::{Catalog, Extra, SchemePlan};

use super::advice::AdviceOutput;
use super::connect::Plan;
use super::reasons::Reasons;
use super::tariffs::Tariffs;
use crate::args::SendArgs;
use crate::capture::Capture;
use crate::error::CliError;
use crate::input::Input;
use crate::key::{Destination, SealReports};
use crate::show::{Monitor, Role, Stats};
use crate::transport;

/// Scheme of the options, with what it needs to honour `--tariff` and `--advice`.
///
/// # Errors
/// [`CliError::Usage`]: the scheme would do nothing with one of them, or there is no such scheme.
pub(super) fn scheme(args: &SendArgs, catalog: &dyn Catalog) -> Result<SchemePlan, CliError> {
    let given = [
        ("--tariff", Extra::Tariffs, !args.tariffs.is_empty()),
        ("--advice", Extra::Advice, args.advice.is_some()),
    ];
    // A spec that is none at all has a line of its own.
    let plan = transport::scheme(&args.transport.scheme, catalog)?;
    let mut spec = args.transport.scheme.clone();
    for (option, extra, _) in given.into_iter().filter(|(.., given)| *given) {
        let honours = catalog.honouring(&spec, extra);
        spec = honours.map_err(|why| CliError::Usage(format!("{option}: scheme {why}")))?;
    }
    if spec == args.transport.scheme { Ok(plan) } else { transport::scheme(&spec, catalog) }
}

/// What a stream needs before it is connected.
pub(super) struct Prepared {
    pub(super) plan: Plan,
    pub(super) input: Input,
    pub(super) advice: AdviceOutput,
    pub(super) monitor: Monitor,
}

/// Opens everything but the connection.
///
/// # Errors
/// [`CliError`].
pub(super) async fn open(args: &mut SendArgs, scheme: SchemePlan) -> Result<Prepared, CliError> {
    let stats = Stats::open(args.stats.stats.as_ref())?;
    let mut monitor = Monitor::new(Role::Send, stats);
    let advice = AdviceOutput::open(args.advice.as_deref())?;
    let input = Input::open(&args.input).await?;
    let to = Destination::find(&args.to, &args.transport.seal)?;
    // A supervisor may start the sender while a modem is not there yet.
    args.paths.awaited = args.retry.is_some();
    let (remotes, uplinks) = transport::routes(&to.hosts, &args.paths).await?;
    let tariffs = Tariffs::new(std::mem::take(&mut args.tariffs), &uplinks)?;
    let capture = Capture::open(args.transport.pcap.as_deref(), &args.transport.seal)?;
    let over = transport::describe(&uplinks);
    monitor.line(&format!("sending {} to {} over {over}", input.name(), to.label));
    let not_yet = transport::not_yet(&args.paths, &transport::in_turn(&remotes, 0));
    not_yet.iter().for_each(|line| monitor.line(line));
    tariffs.caps().iter().for_each(|line| monitor.line(line));
    if to.seal.is_none() {
        monitor.line("warning: the stream is neither encrypted nor authenticated");
    }
    let (transport, paths, reports) = (args.transport.clone(), args.paths.clone(), SealReports::default());
    let (reasons, tries) = (Reasons::default(), Arc::default());
    let plan =
        Plan { to, reports, reasons, tries, transport, paths, scheme, capture, tariffs, remotes, uplinks };
    Ok(Prepared { plan, input, advice, monitor })
}

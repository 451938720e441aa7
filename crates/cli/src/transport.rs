//! From the command line to the transport's configuration, paths and names.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use strandcast_keys::catalog::{Catalog, SchemePlan};
use strandcast_net::driver::{OpenError, Uplink};
use strandcast_net::entropy;
use strandcast_net::interface::{Interface, PathError, PathSpec, interfaces, is_here, usable_paths};
use strandcast_net::resolve::{HostPort, resolve};
use strandcast_proto::config::TransportConfig;
use strandcast_proto::endpoint::EndpointConfig;
use strandcast_proto::policy::Scheme;

use crate::args::{PathArgs, TransportArgs};
use crate::error::CliError;
use crate::media_url::Listen;

/// The default UDP port (RFC 6951).
pub(crate) const UDP_PORT: u16 = 9899;

/// Timeout for resolving names at the start.
const RESOLVE: Duration = Duration::from_secs(10);

/// The scheme that `--scheme` names.
///
/// # Errors
/// [`CliError::Usage`], with suggestions.
pub(crate) fn scheme(text: &str, catalog: &dyn Catalog) -> Result<SchemePlan, CliError> {
    catalog.scheme(text, "").map_err(|e| CliError::Usage(format!("--scheme {text}: {e}")))
}

/// Builds a scheme for an association opened here.
///
/// # Errors
/// [`CliError::Network`]: no randomness.
pub(crate) fn build(plan: &SchemePlan) -> Result<Box<dyn Scheme>, CliError> {
    let seeds = entropy::seeds().map_err(|e| CliError::Network(OpenError::Entropy(e).to_string()))?;
    Ok((plan.build)(&seeds))
}

/// The endpoint's configuration.
pub(crate) fn endpoint(args: &TransportArgs, plan: &SchemePlan, accepts: bool) -> EndpointConfig {
    let (live, limit) = (TransportConfig::live(), args.buffer.bytes());
    let mut transport = TransportConfig {
        mtu: args.mtu,
        outbound_streams: 2,
        receive_buffer: live.receive_buffer.min(u32::try_from(limit).unwrap_or(u32::MAX)),
        send_buffer: live.send_buffer.min(limit),
        buffer_limit: Some(limit),
        ..live
    };
    (plan.tune)(&mut transport);
    EndpointConfig {
        transport: Arc::new(transport),
        port: args.sctp_port,
        accept: accepts.then(|| Arc::clone(&plan.build)),
        ..EndpointConfig::default()
    }
}

/// The addresses of each host, or why there are none; all are looked up at once, and each may take `time`.
pub(crate) async fn addresses(hosts: &[HostPort], time: Duration) -> Vec<Result<Vec<SocketAddr>, CliError>> {
    let look = |host: &HostPort| {
        let (host, port) = (host.host.clone(), host.port.unwrap_or(UDP_PORT));
        tokio::spawn(async move {
            let found = tokio::time::timeout(time, resolve(&host, port)).await;
            let late = |_| CliError::Network(format!("cannot resolve {host}: no answer in time"));
            found.map_err(late)?.map_err(|e| CliError::Network(e.to_string()))
        })
    };
    let under_way: Vec<_> = hosts.iter().map(look).collect();
    let mut all = Vec::new();
    for found in under_way {
        // A look-up that panicked found nothing.
        all.push(found.await.unwrap_or(Err(CliError::Aborted)));
    }
    all
}

/// All addresses of all hosts, each once, beginning with those of host number `first`.
pub(crate) fn in_turn(hosts: &[Vec<SocketAddr>], first: usize) -> Vec<SocketAddr> {
    let (before, after) = hosts.split_at(first.min(hosts.len()));
    let mut all = Vec::new();
    for address in after.iter().chain(before).flatten() {
        if !all.contains(address) {
            all.push(*address);
        }
    }
    all
}

/// The addresses of each of the receiver's hosts, and the paths to them. Of several hosts, some may be out of reach from here.
///
/// # Errors
/// [`CliError::Network`]: no host has an address, or paths lead to none.
pub(crate) async fn routes(
    hosts: &[HostPort],
    paths: &PathArgs,
) -> Result<(Vec<Vec<SocketAddr>>, Vec<Uplink>), CliError> {
    let (mut all, mut mistake) = (Vec::new(), None);
    for found in addresses(hosts, RESOLVE).await {
        match found {
            Ok(found) => all.push(found),
            Err(error) => {
                mistake = mistake.or(Some(error));
                all.push(Vec::new());
            }
        }
    }
    let remotes = in_turn(&all, 0);
    match mistake {
        Some(mistake) if remotes.is_empty() => Err(mistake),
        _ => uplinks(paths, &remotes).map(|uplinks| (all, uplinks)),
    }
}

/// The paths to `remotes`, each of which goes to the one that answers: the configured ones, or else one per interface with a
/// route to any. If the first that can be reached is this machine, there is one path inside it.
///
/// # Errors
/// [`CliError::Network`] if a configured path has no interface here, or no path is left.
pub(crate) fn uplinks(args: &PathArgs, remotes: &[SocketAddr]) -> Result<Vec<Uplink>, CliError> {
    let here =
        interfaces().map_err(|e| CliError::Network(format!("cannot list the network interfaces: {e}")))?;
    if !args.paths.is_empty() {
        for spec in &args.paths {
            check(spec, &here, remotes, args.awaited)?;
        }
        return Ok(args.paths.iter().map(|spec| Uplink::new(spec.clone(), remotes)).collect());
    }
    let (mut specs, mut outside) = (Vec::new(), Vec::new());
    for remote in remotes {
        let paths = usable_paths(&here, *remote);
        let inside = is_here(&here, remote.ip());
        if let (true, true, Some(spec)) = (inside, specs.is_empty(), paths.first()) {
            let uplink = Uplink::new(spec.clone(), &[*remote]);
            return Ok(vec![Uplink { name: "loopback".into(), ..uplink }]);
        }
        if !inside {
            outside.push(*remote);
            specs.extend(paths.into_iter().filter(|path| !specs.contains(path)).collect::<Vec<_>>());
        }
    }
    if specs.is_empty() {
        let hosts: Vec<String> = remotes.iter().map(|r| r.ip().to_string()).collect();
        return Err(CliError::Network(format!("no network interface has a route to {}", hosts.join(" or "))));
    }
    Ok(specs.into_iter().map(|spec| Uplink::new(spec, &outside)).collect())
}

/// A path that is only down is retried later, and so is an awaited one; one that cannot exist is an error.
fn check(spec: &PathSpec, here: &[Interface], remotes: &[SocketAddr], awaited: bool) -> Result<(), CliError> {
    match mistake(spec, here, remotes) {
        None | Some(PathError::Down(_)) => Ok(()),
        Some(error) if awaited && error.may_pass() => Ok(()),
        Some(error) => Err(CliError::Network(format!("path {spec}: {error}"))),
    }
}

/// Why a path leads to none of the remotes now; that it is down counts before anything else.
fn mistake(spec: &PathSpec, here: &[Interface], remotes: &[SocketAddr]) -> Option<PathError> {
    let mut mistake = None;
    for remote in remotes {
        match spec.bind_spec(here, *remote) {
            Ok(_) => return None,
            Err(down @ PathError::Down(_)) => return Some(down),
            Err(error) => mistake = mistake.or(Some(error)),
        }
    }
    mistake
}

/// A line for each configured path that cannot be used yet.
pub(crate) fn not_yet(args: &PathArgs, remotes: &[SocketAddr]) -> Vec<String> {
    // What the system does not list now was checked a moment ago.
    let here = interfaces().unwrap_or_default();
    let why = |spec: &PathSpec| {
        let why = mistake(spec, &here, remotes)?;
        Some(format!("path {spec}: {why}; it is used once it is there"))
    };
    args.paths.iter().filter_map(why).collect()
}

/// Text of the paths: `wlan0 (192.0.2.7), wwan0`.
pub(crate) fn describe(uplinks: &[Uplink]) -> String {
    let one = |u: &Uplink| match u.spec.address.map(|a| a.to_string()).filter(|a| *a != u.name) {
        Some(address) => format!("{} ({address})", u.name),
        None => u.name.clone(),
    };
    uplinks.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// Addresses to listen on.
///
/// # Errors
/// [`CliError::Network`].
pub(crate) async fn listen(listen: Option<&Listen>) -> Result<Vec<SocketAddr>, CliError> {
    let port = listen.and_then(|l| l.port).unwrap_or(UDP_PORT);
    match listen.and_then(|l| l.host.as_deref()) {
        Some(host) => resolve(host, port).await.map_err(|e| CliError::Network(e.to_string())),
        // IPv4 as well.
        None => Ok(vec![SocketAddr::new(IpAddr::V6(Ipv6Addr::UNSPECIFIED), port)]),
    }
}

/// Converts the error of a failed start.
pub(crate) fn open_error(error: &OpenError) -> CliError {
    CliError::Network(error.to_string())
}

#[cfg(test)]
mod tests;

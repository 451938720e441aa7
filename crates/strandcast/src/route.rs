//! Names, addresses, and the paths that lead to them.

use std::net::SocketAddr;
use std::time::Duration;

use strandcast_net::driver::Uplink;
use strandcast_net::interface::{Interface, PathError, PathSpec, interfaces, is_here, usable_paths};
use strandcast_net::resolve::{HostPort, resolve};

use crate::UDP_PORT;
use crate::error::Error;

/// Timeout for resolving names at the start.
const RESOLVE: Duration = Duration::from_secs(10);

/// The paths that a client uses.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Paths {
    /// Paths to use; if empty, one over every interface that is up and has a route to the peer.
    pub paths: Vec<PathSpec>,
    /// If true, a path whose interface or address does not exist yet is used once it does. Otherwise it is an error.
    pub awaited: bool,
}

impl From<Vec<PathSpec>> for Paths {
    fn from(paths: Vec<PathSpec>) -> Paths {
        Paths { paths, awaited: false }
    }
}

/// Returns the addresses of each host, or the error. All hosts are resolved at once, and each may take `time`.
pub async fn addresses(hosts: &[HostPort], time: Duration) -> Vec<Result<Vec<SocketAddr>, Error>> {
    let look = |host: &HostPort| {
        let (host, port) = (host.host.clone(), host.port.unwrap_or(UDP_PORT));
        tokio::spawn(async move {
            let found = tokio::time::timeout(time, resolve(&host, port)).await;
            let late = |_| Error::Network(format!("cannot resolve {host}: no answer in time"));
            found.map_err(late)?.map_err(|e| Error::Network(e.to_string()))
        })
    };
    let under_way: Vec<_> = hosts.iter().map(look).collect();
    let mut all = Vec::new();
    for found in under_way {
        // A look-up that panicked has found nothing.
        all.push(found.await.unwrap_or(Err(Error::Aborted)));
    }
    all
}

/// Returns all addresses of all hosts, each once, beginning with those of host number `first`.
pub fn in_turn(hosts: &[Vec<SocketAddr>], first: usize) -> Vec<SocketAddr> {
    let (before, after) = hosts.split_at(first.min(hosts.len()));
    let mut all = Vec::new();
    for address in after.iter().chain(before).flatten() {
        if !all.contains(address) {
            all.push(*address);
        }
    }
    all
}

/// Returns the addresses of each of the receiver's hosts, and the paths to them. Some of several hosts may be out of
/// reach from here.
///
/// # Errors
/// [`Error::Network`]: no host has an address, or no path leads to one.
pub async fn routes(hosts: &[HostPort], paths: &Paths) -> Result<(Vec<Vec<SocketAddr>>, Vec<Uplink>), Error> {
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

/// Returns the paths to `remotes`. Each path connects to the remote that answers. The paths are the configured ones, or
/// else one per interface with a route to any remote. If the first remote that can be reached is this machine, there is
/// one path inside it.
///
/// # Errors
/// [`Error::Network`] if a configured path has no interface here, or no path is left.
pub fn uplinks(args: &Paths, remotes: &[SocketAddr]) -> Result<Vec<Uplink>, Error> {
    let here =
        interfaces().map_err(|e| Error::Network(format!("cannot list the network interfaces: {e}")))?;
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
        return Err(Error::Network(format!("no network interface has a route to {}", hosts.join(" or "))));
    }
    Ok(specs.into_iter().map(|spec| Uplink::new(spec, &outside)).collect())
}

/// Checks a configured path. A path that is only down is retried later, and so is an awaited one. A path that cannot
/// exist is an error.
fn check(spec: &PathSpec, here: &[Interface], remotes: &[SocketAddr], awaited: bool) -> Result<(), Error> {
    match mistake(spec, here, remotes) {
        None | Some(PathError::Down(_)) => Ok(()),
        Some(error) if awaited && error.may_pass() => Ok(()),
        Some(error) => Err(Error::Network(format!("path {spec}: {error}"))),
    }
}

/// Reason why a path leads to no remote now. A path that is down reports that first.
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

/// Returns each configured path that cannot be used yet, and the reason.
pub fn not_yet(args: &Paths, remotes: &[SocketAddr]) -> Vec<(String, String)> {
    // An interface list that cannot be read now was read a moment ago.
    let here = interfaces().unwrap_or_default();
    let why = |spec: &PathSpec| {
        let why = mistake(spec, &here, remotes)?;
        Some((spec.to_string(), why.to_string()))
    };
    args.paths.iter().filter_map(why).collect()
}

/// Returns the paths as text: `wlan0 (192.0.2.7), wwan0`.
pub fn describe(uplinks: &[Uplink]) -> String {
    let one = |u: &Uplink| match u.spec.address.map(|a| a.to_string()).filter(|a| *a != u.name) {
        Some(address) => format!("{} ({address})", u.name),
        None => u.name.clone(),
    };
    uplinks.iter().map(one).collect::<Vec<_>>().join(", ")
}

//! Names, addresses, and the paths that lead to them.

use std::net::SocketAddr;
use std::time::Duration;

use strandcast_net::driver::Uplink;
use strandcast_net::interface::{Interface, PathError, PathSpec, Routes, interfaces, is_here};
use strandcast_net::resolve::{HostPort, resolve};

use crate::UDP_PORT;
use crate::error::Error;

/// Timeout for resolving names at the start.
const RESOLVE: Duration = Duration::from_secs(10);

/// Configuration of the paths of a client.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Paths {
    /// Paths to use. If the list is empty, there is one path over every interface that has a route to the peer. Paths
    /// over interfaces that appear later are included.
    pub paths: Vec<PathSpec>,
    /// True if the client waits when no path can be used yet. If false, the lack of a path is an error.
    pub awaited: bool,
}

impl From<Vec<PathSpec>> for Paths {
    fn from(paths: Vec<PathSpec>) -> Paths {
        Paths { paths, awaited: false }
    }
}

/// Returns for each host its addresses or the error. All hosts are resolved at the same time, and each may take `time`.
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
        // A look-up that panicked has found no address.
        all.push(found.await.unwrap_or(Err(Error::Aborted)));
    }
    all
}

/// Returns all addresses of all hosts. Each address occurs once, and the addresses of host number `first` come first.
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

/// Returns the addresses of each of the receiver's hosts, and the paths to them. If there are several hosts, some of
/// them may be unreachable. If the client waits for paths, it also waits for names that have no address yet.
///
/// # Errors
/// Returns [`Error::Network`] if no host has an address, or no path leads to a host.
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
        Some(mistake) if remotes.is_empty() && !paths.awaited => Err(mistake),
        _ => uplinks(paths, &remotes).map(|uplinks| (all, uplinks)),
    }
}

/// Text that follows "no answer". The text contains the addresses that were tried, the key that was expected there, and
/// possible causes to check.
pub(crate) fn unanswered(asked: &[String], key: Option<String>) -> String {
    let who = key.map_or_else(String::new, |key| format!(" as {key}, which this machine is paired with,"));
    format!(
        "asked {}; does a receiver listen there{who} and does UDP reach its port (firewall, port forwarding)?",
        asked.join(", ")
    )
}

/// Returns the paths to `remotes`. Each path connects to the remote that answers. These are the configured paths.
/// Without configured paths, there is one path per interface with a route to any remote. If the first remote that can
/// be reached is this machine, there is one path inside this machine.
///
/// # Errors
/// [`Error::Network`] if a configured path leads to none of the remotes. The error also occurs if no path can be used
/// now, and the client does not wait for paths.
pub fn uplinks(args: &Paths, remotes: &[SocketAddr]) -> Result<Vec<Uplink>, Error> {
    let here =
        interfaces().map_err(|e| Error::Network(format!("cannot list the network interfaces: {e}")))?;
    let mut routes = Routes::default();
    let all: Vec<Uplink> = match args.paths.is_empty() {
        true => match default_path(&here, &mut routes, remotes) {
            inside if inside.spec.address.is_some() => return Ok(vec![inside]),
            outside => vec![outside],
        },
        false => args.paths.iter().map(|spec| Uplink::new(spec.clone(), remotes)).collect(),
    };
    let mut absent = Vec::new();
    for (at, uplink) in all.iter().enumerate() {
        refuse_twice(uplink, &all[..at], &here)?;
        match uplink.hindrance(&here, &mut routes) {
            Some(error) if !error.may_pass() => {
                return Err(Error::Network(format!("path {}: {error}", uplink.spec)));
            }
            found => absent.extend(found),
        }
    }
    match absent.first() {
        Some(why) if absent.len() == all.len() && !args.awaited => Err(none_usable(args, why, remotes)),
        _ => Ok(all),
    }
}

/// Refuses a path if an earlier path has the same interface and the same address. If two patterns match the same
/// interface later, the interface is used once.
fn refuse_twice(uplink: &Uplink, before: &[Uplink], here: &[Interface]) -> Result<(), Error> {
    let spec = &uplink.spec;
    let bound = |spec: &PathSpec, to| spec.bind_spec(here, to).ok().filter(|_| !spec.is_pattern());
    let same = |other: &&Uplink| {
        let alike = (&other.spec.interface, other.spec.address) == (&spec.interface, spec.address);
        alike
            || uplink
                .remotes
                .iter()
                .any(|to| bound(spec, *to).is_some_and(|b| bound(&other.spec, *to) == Some(b)))
    };
    match before.iter().find(same) {
        None => Ok(()),
        Some(other) if other.spec == *spec => Err(Error::Usage(format!("path {spec} is given twice"))),
        Some(other) => Err(Error::Usage(format!(
            "path {spec} is the same path as {}: leave one of them out",
            other.spec
        ))),
    }
}

/// Returns a path over every interface with a route to any remote, or a single path inside this machine.
fn default_path(here: &[Interface], routes: &mut Routes, remotes: &[SocketAddr]) -> Uplink {
    let mut outside = Vec::new();
    for remote in remotes {
        if !is_here(here, remote.ip()) {
            outside.push(*remote);
        } else if Uplink::new(PathSpec::any(), &outside).takes(here, routes).is_empty() {
            let spec = PathSpec::address(remote.ip());
            return Uplink { name: "loopback".into(), ..Uplink::new(spec, &[*remote]) };
        }
    }
    Uplink::new(PathSpec::any(), &outside)
}

fn none_usable(args: &Paths, why: &PathError, remotes: &[SocketAddr]) -> Error {
    if let [spec, ..] = &args.paths[..] {
        return Error::Network(format!("path {spec}: {why}"));
    }
    let hosts: Vec<String> = remotes.iter().map(|r| r.ip().to_string()).collect();
    let why = match why {
        PathError::NoInterface(_) => String::new(),
        of_one => format!(": {of_one}"),
    };
    Error::Network(format!("no network interface has a route to {}{why}", hosts.join(" or ")))
}

/// Returns name and specification of each configured path that cannot be used yet, with the reason.
pub fn not_yet(uplinks: &[Uplink]) -> Vec<[String; 3]> {
    // The list of interfaces cannot be read now, but it was read a moment ago.
    let (here, mut routes) = (interfaces().unwrap_or_default(), Routes::default());
    let all = uplinks.iter().filter(|uplink| uplink.spec != PathSpec::any());
    let missing = all.filter_map(|uplink| {
        let why = uplink.hindrance(&here, &mut routes)?;
        Some([uplink.name.clone(), uplink.spec.to_string(), why.to_string()])
    });
    missing.collect()
}

/// Returns the paths that can be used now as text: `wlan0, wwan0`.
pub fn describe(uplinks: &[Uplink]) -> String {
    let (here, mut routes) = (interfaces().unwrap_or_default(), Routes::default());
    let mut names: Vec<String> = Vec::new();
    for uplink in uplinks {
        match uplink.spec.is_pattern() {
            true => names.extend(uplink.takes(&here, &mut routes).iter().map(|i| i.name.clone())),
            false => {
                names.push(match uplink.spec.address.map(|a| a.to_string()).filter(|a| *a != uplink.name) {
                    Some(address) => format!("{} ({address})", uplink.name),
                    None => uplink.name.clone(),
                })
            }
        }
    }
    if names.is_empty() { "networks that are not there yet".to_owned() } else { names.join(", ") }
}

//! Steps of an examination.

use std::net::SocketAddr;
use std::time::{Duration, SystemTime};

use strandcast_net::interface::PathSpec;
use strandcast_net::resolve::HostPort;

use super::exchange::{Exchange, Line};
use super::judge::judge;
use super::links::{Way, links};
use super::machine;
use super::probe::{Answer, ask, sizes};
use super::report::{Link, Peer, Probed, Report};
use crate::error::Error;
use crate::pairing::{Destination, Store, fingerprint};
use crate::route::{self, Paths};
use crate::{SCTP_PORT, UDP_PORT};

/// Time for resolving names.
const RESOLVE: Duration = Duration::from_secs(10);
/// An address that is reserved for documentation (RFC 5737). It stands for the Internet in queries of routes.
const ANYWHERE: SocketAddr =
    SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 1)), UDP_PORT);
/// Maximum number of the receiver's addresses that are probed over each link.
const MOST_REMOTES: usize = 4;
/// Ports that are tried if no program answers at the receiver's port. They are the default port and the ports of
/// further receivers.
const USUAL_PORTS: std::ops::Range<u16> = UDP_PORT..UDP_PORT + 4;

/// Time for which the links are left silent, to find out whether NATs keep their mappings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Wait {
    /// No answer.
    None,
    /// 30 s.
    #[default]
    Short,
    /// 5 min.
    Long,
}

impl Wait {
    fn time(self) -> Duration {
        match self {
            Wait::None => Duration::ZERO,
            Wait::Short => Duration::from_secs(30),
            Wait::Long => Duration::from_secs(300),
        }
    }
}

/// Configuration of an examination.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Doctor {
    /// The receiver's name in the report, and its hosts.
    pub target: Option<(String, Vec<HostPort>)>,
    /// The receiver, with the data that a sender needs to connect. `None` if this machine is not paired with the
    /// receiver. The examination then only finds facts that need no pairing.
    pub to: Option<Destination>,
    /// Keys of this machine.
    pub store: Option<Store>,
    /// Paths to examine. If the list is empty, every interface is examined.
    pub paths: Vec<PathSpec>,
    /// SCTP port of both sides.
    pub sctp_port: u16,
    /// Time of silence.
    pub wait: Wait,
    /// Function that returns the time of day.
    pub now: fn() -> SystemTime,
}

impl Default for Doctor {
    fn default() -> Self {
        Doctor {
            target: None,
            to: None,
            store: None,
            paths: Vec::new(),
            sctp_port: SCTP_PORT,
            wait: Wait::default(),
            now: SystemTime::now,
        }
    }
}

impl Doctor {
    /// Runs the whole examination. Call it inside a tokio runtime.
    ///
    /// # Errors
    /// Returns [`Error::Network`] if the system does not list its interfaces, or a name has no address.
    pub async fn examine(&self) -> Result<Report, Error> {
        let mut report =
            Report { target: self.target.as_ref().map(|(name, _)| name.clone()), ..Report::default() };
        report.machine = machine::look(self.store.as_ref(), (self.now)());
        report.asked = self.addresses().await?;
        let remotes = if report.asked.is_empty() { vec![ANYWHERE] } else { report.asked.clone() };
        let mut ways = links(&self.paths, &remotes)?;
        if self.target.is_some() {
            for way in &mut ways {
                probe(way, self.sctp_port).await;
            }
            report.peer = Some(self.peer(&mut ways, &report.asked).await?);
        }
        report.links = ways.into_iter().map(|way| way.link).collect();
        judge(&mut report);
        Ok(report)
    }

    async fn addresses(&self) -> Result<Vec<SocketAddr>, Error> {
        let Some((name, hosts)) = &self.target else { return Ok(Vec::new()) };
        let (mut all, mut mistake) = (Vec::new(), None);
        for found in route::addresses(hosts, RESOLVE).await {
            match found {
                Ok(found) => all.push(found),
                Err(error) => mistake = mistake.or(Some(error)),
            }
        }
        let all = route::in_turn(&all, 0);
        match (all.is_empty(), mistake) {
            (true, Some(mistake)) => Err(mistake),
            (true, None) => Err(Error::Network(format!("{name} has no address"))),
            (false, _) => Ok(all),
        }
    }

    /// Examines the receiver, and uses its answers to examine the links.
    async fn peer(&self, ways: &mut [Way], asked: &[SocketAddr]) -> Result<Peer, Error> {
        let mut peer = Peer::default();
        let any = |probed| ways.iter().any(|way| way.link.probed == Some(probed));
        if any(Probed::NoProgram) && !any(Probed::Sealed) && !any(Probed::Plain) {
            peer.other_port = other_port(ways, self.sctp_port).await;
        }
        let Some(to) = &self.to else { return Ok(peer) };
        peer.expected = to.seal.as_ref().map(|(_, peer)| fingerprint(&peer.key));
        let paths = Paths { paths: self.paths.clone(), awaited: true };
        let uplinks = route::uplinks(&paths, asked)?;
        // Without any route, there is no path to try.
        if ways.iter().all(|way| way.bind.is_none()) {
            return Ok(peer);
        }
        let line = Line { to: to.clone(), sctp_port: self.sctp_port, now: self.now };
        let found = line.exchange(uplinks, self.wait.time()).await?;
        for way in ways.iter_mut() {
            carried(&mut way.link, &found);
        }
        peer.connected = found.connected;
        (peer.refusal, peer.key_refused) = (found.refusal, found.key_refused);
        (peer.answered, peer.clock_ahead_s) = (found.answered, found.clock_ahead_s);
        let waited = found.links.values().any(|link| link.kept.is_some());
        peer.silence_s = waited.then(|| self.wait.time().as_secs_f64());
        Ok(peer)
    }
}

/// Probes the receiver's addresses over a link until one answers.
async fn probe(way: &mut Way, port: u16) {
    let Some(bind) = &way.bind else { return };
    for remote in way.remotes.iter().take(MOST_REMOTES) {
        let of_family = bind.address.is_none_or(|ip| ip.is_ipv4() == remote.is_ipv4());
        if !of_family {
            continue;
        }
        let Answer { outcome, took } = ask(bind, *remote, port).await;
        let link = &mut way.link;
        if link.probed.is_none_or(|before| !before.came_back()) {
            (link.probed, link.remote) = (Some(outcome), Some(*remote));
        }
        if matches!(outcome, Probed::Sealed | Probed::Plain) {
            (link.out, link.back) = (Some(true), Some(true));
            let found = sizes(bind, *remote, port, took).await;
            link.mtu = found.expected.or(link.mtu);
            (link.path_mtu, link.unbound) = (found.arrived, found.unbound);
            return;
        }
        link.back = Some(link.back == Some(true) || outcome.came_back());
        if outcome.came_back() {
            link.out = Some(true);
        }
    }
}

/// Returns the usual port at which a receiver answers instead of the given one.
async fn other_port(ways: &[Way], sctp_port: u16) -> Option<u16> {
    let way = ways.iter().find(|way| way.link.probed == Some(Probed::NoProgram))?;
    let (bind, remote) = (way.bind.as_ref()?, way.link.remote?);
    for port in USUAL_PORTS.filter(|port| *port != remote.port()) {
        let found = ask(bind, SocketAddr::new(remote.ip(), port), sctp_port).await;
        if matches!(found.outcome, Probed::Sealed | Probed::Plain) {
            return Some(port);
        }
    }
    None
}

/// Adds facts about a link that a connection has shown.
fn carried(link: &mut Link, found: &Exchange) {
    let Some(carried) = found.links.get(&link.name) else { return };
    if carried.back {
        (link.out, link.back) = (Some(true), Some(true));
    } else if found.connected && link.back != Some(true) {
        (link.out, link.back) = (carried.out, Some(false));
    }
    (link.local, link.seen) = (carried.local, carried.seen);
    (link.kept, link.seen_later) = (carried.kept, carried.seen_later);
}

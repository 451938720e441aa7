//! Connection to the receiver as a sender makes it, but without a stream. The connection shows which links work, and
//! which addresses they have at the receiver. It also shows whether the receiver's packets still arrive after a time of
//! silence.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use strandcast_net::driver::{AssociationHandle, Client, PathSnapshot, Uplink};
use strandcast_net::interface::PathSpec;
use strandcast_proto::association::CloseReason;
use strandcast_proto::config::TransportConfig;
use strandcast_proto::endpoint::EndpointConfig;
use tokio::time::{Instant, sleep, timeout};

use crate::error::Error;
use crate::live::seen::{self, Seen};
use crate::pairing::{Destination, SealReports};
use crate::scheme::Scheme;
use crate::transport::{open_error, policies};

/// Maximum number of links that are examined after a silence. Each link needs a separate session. The number is small
/// because a receiver admits few sessions per key.
const MOST_SILENT: usize = 4;

/// Time limit for a connection.
const CONNECT: Duration = Duration::from_secs(6);
/// Time after connecting in which all links may begin to carry data.
const JOIN: Duration = Duration::from_secs(5);
const POLL: Duration = Duration::from_millis(100);
/// Time limit for the answer to a question, and interval between two questions.
const ANSWER: Duration = Duration::from_secs(4);
const AGAIN: Duration = Duration::from_secs(1);
/// Interval of heartbeats of this side. The interval is so long that no heartbeat leaves while the links are silent.
const NO_HEARTBEATS: Duration = Duration::from_secs(3600);
/// Time after which a heartbeat of the receiver must have arrived. The heartbeat leaves after 30 s of silence and a
/// part of the receiver's timeout.
const HEARTBEAT: Duration = Duration::from_secs(34);
/// Length of the final part of the silence. Only packets that arrive in this part count.
const EARLY: Duration = Duration::from_secs(8);

/// Traffic of a link.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Carried {
    /// True if the receiver's answers arrive over this path.
    pub(super) back: bool,
    /// True if the receiver saw packets of this path. `None` if the receiver did not report on the path.
    pub(super) out: Option<bool>,
    /// Address of this side.
    pub(super) local: Option<SocketAddr>,
    /// Address that the receiver saw, and the address that it saw after the silence.
    pub(super) seen: Option<SocketAddr>,
    pub(super) seen_later: Option<SocketAddr>,
    /// True if a packet of the receiver arrived after the silence. `None` if this was not tried.
    pub(super) kept: Option<bool>,
}

/// Outcome of a connection.
#[derive(Debug, Default)]
pub(super) struct Exchange {
    pub(super) connected: bool,
    /// Reason why the receiver refuses. The flag is true if the receiver refuses the key of this machine.
    pub(super) refusal: Option<String>,
    pub(super) key_refused: bool,
    pub(super) answered: bool,
    /// Seconds by which this machine's clock is ahead of the receiver's.
    pub(super) clock_ahead_s: Option<f64>,
    pub(super) links: BTreeMap<String, Carried>,
}

/// A receiver, and the settings for connecting to it.
#[derive(Clone)]
pub(super) struct Line {
    pub(super) to: Destination,
    pub(super) sctp_port: u16,
    /// Function that returns the time of day.
    pub(super) now: fn() -> SystemTime,
}

impl Line {
    /// Begins to connect over the links `uplinks`.
    fn open(&self, uplinks: Vec<Uplink>, reports: &SealReports) -> Result<AssociationHandle, Error> {
        let (scheme, port) = (Scheme::rfc9260(), self.sctp_port);
        let transport = TransportConfig {
            heartbeat_interval: NO_HEARTBEATS,
            mtu_discovery: None,
            // The first packet of the handshake fits this MTU.
            mtu: 1280,
            outbound_streams: 2,
            ..TransportConfig::live()
        };
        let endpoint = EndpointConfig { port, ..scheme.endpoint(transport, false) };
        let (seal, scheme) = (reports.seal(&self.to), policies(&scheme)?);
        let client = Client { endpoint, uplinks, port, scheme, seal, tap: None };
        client.connect().map_err(|e| open_error(&e))
    }

    /// Connects over all links, queries the receiver, and examines each link again after `silence`. If `silence` is
    /// zero, there is no second examination.
    ///
    /// # Errors
    /// Returns [`Error::Network`] if no connection could be tried.
    pub(super) async fn exchange(&self, uplinks: Vec<Uplink>, silence: Duration) -> Result<Exchange, Error> {
        let reports = SealReports::default();
        let association = self.open(uplinks.clone(), &reports)?;
        let mut found = Exchange::default();
        match timeout(CONNECT, association.connected()).await {
            Ok(Ok(_)) => found.connected = true,
            Ok(Err(CloseReason::PeerAborted(words))) => found.refusal = Some(words),
            Ok(Err(_)) | Err(_) => {}
        }
        if let Some((words, proven)) = reports.refusal(&self.to) {
            (found.refusal, found.key_refused) = (Some(words), proven);
        }
        if found.connected {
            self.look(&association, &mut found).await;
        }
        end(&association).await;
        if !silence.is_zero() {
            self.keep_all(&uplinks, silence, &mut found).await;
        }
        Ok(found)
    }

    /// Finds out which links carry packets to the receiver, and which carry its answers.
    async fn look(&self, association: &AssociationHandle, found: &mut Exchange) {
        join(association).await;
        let seen = question(association, Duration::ZERO).await;
        if let Some((seen, took)) = &seen {
            let here = (self.now)().duration_since(UNIX_EPOCH).unwrap_or_default();
            let there = seen.time + *took / 2;
            found.clock_ahead_s = Some(here.as_secs_f64() - there.as_secs_f64());
            found.answered = true;
        }
        for path in paths(association).await {
            let link = found.links.entry(path.name.clone()).or_default();
            link.back |= path.confirmed;
            link.local = Some(path.tuple.local).filter(|local| local.port() != 0).or(link.local);
            if let Some((seen, _)) = &seen {
                let remote = of_path(seen, &path);
                link.out = Some(link.out == Some(true) || remote.is_some());
                link.seen = remote.or(link.seen);
            }
        }
    }

    /// Examines each link after a silence. All links are silent at the same time.
    async fn keep_all(&self, uplinks: &[Uplink], silence: Duration, found: &mut Exchange) {
        let remotes = uplinks.first().map_or(Vec::new(), |uplink| uplink.remotes.clone());
        let live = found.links.iter().filter(|(_, link)| link.back).map(|(name, _)| name.clone());
        let mut running = Vec::new();
        for name in live.take(MOST_SILENT) {
            let own = uplinks.iter().find(|uplink| uplink.name == name).cloned();
            let spec = PathSpec::interface(&name);
            let (line, uplink) = (self.clone(), own.unwrap_or_else(|| Uplink::new(spec, &remotes)));
            running.push((name, tokio::spawn(async move { line.keep(uplink, silence).await })));
        }
        for (name, kept) in running {
            // An examination that panicked has no result.
            let kept = kept.await.ok().flatten();
            if let (Some(link), Some(kept)) = (found.links.get_mut(&name), kept) {
                *link = Carried { back: link.back, out: link.out, ..kept };
            }
        }
    }

    /// Connects over one link, sends nothing for a time, and then checks whether the receiver's heartbeat arrives.
    /// Packets of an association over several links would make a NAT create another mapping. Each link therefore needs
    /// a separate association.
    async fn keep(&self, uplink: Uplink, silence: Duration) -> Option<Carried> {
        let association = self.open(vec![uplink], &SealReports::default()).ok()?;
        timeout(CONNECT, association.connected()).await.ok()?.ok()?;
        let stays = silence + HEARTBEAT + ANSWER;
        let (seen, _) = question(&association, stays).await?;
        let path = paths(&association).await.into_iter().next()?;
        sleep(silence.saturating_sub(EARLY)).await;
        let (before, until) = (received(&association).await, Instant::now() + HEARTBEAT);
        let mut kept = false;
        while !kept && Instant::now() < until {
            sleep(POLL).await;
            kept = received(&association).await > before;
        }
        let later = question(&association, Duration::ZERO).await;
        end(&association).await;
        Some(Carried {
            local: Some(path.tuple.local),
            seen: of_path(&seen, &path),
            seen_later: later.and_then(|(later, _)| of_path(&later, &path)),
            kept: Some(kept),
            ..Carried::default()
        })
    }
}

/// Ends an association, and waits until its last packets have left.
async fn end(association: &AssociationHandle) {
    association.abort("it was looked at");
    let _ = timeout(ANSWER, association.closed()).await;
}

/// Address of a path at the receiver.
fn of_path(seen: &Seen, path: &PathSnapshot) -> Option<SocketAddr> {
    seen.paths.iter().find(|there| Some(there.number) == path.number).map(|there| there.remote)
}

/// Waits until all links carry packets, but at most for [`JOIN`].
async fn join(association: &AssociationHandle) {
    let until = Instant::now() + JOIN;
    while Instant::now() < until {
        let Some(now) = association.snapshot().await else { return };
        let carries = |name: &str| now.paths.iter().any(|path| path.name == name && path.confirmed);
        let mut links = now.links.iter().filter(|link| link.why.is_none()).peekable();
        if links.peek().is_some() && links.all(|link| carries(&link.name)) {
            return;
        }
        sleep(POLL).await;
    }
}

async fn paths(association: &AssociationHandle) -> Vec<PathSnapshot> {
    association.snapshot().await.map_or_else(Vec::new, |now| now.paths)
}

/// Number of packets received on all paths.
async fn received(association: &AssociationHandle) -> u64 {
    paths(association).await.iter().map(|path| path.stats.packets_received).sum()
}

/// Queries the receiver's view of this machine. Returns the view, and the time until the answer arrived.
async fn question(association: &AssociationHandle, stays: Duration) -> Option<(Seen, Duration)> {
    let until = Instant::now() + ANSWER;
    while Instant::now() < until {
        let asked = Instant::now();
        seen::ask(association, stays);
        while let Ok(Some(message)) = timeout(AGAIN.saturating_sub(asked.elapsed()), association.recv()).await
        {
            if let Some(seen) = seen::decode(&message.payload) {
                return Some((seen, asked.elapsed()));
            }
        }
    }
    None
}

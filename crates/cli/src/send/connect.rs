//! Connecting to the receiver, with retries.

use crate::args::{PathArgs, Retry, TransportArgs};
use crate::capture::Capture;
use crate::error::CliError;
use crate::print::quoted;
use crate::transport;
use std::net::SocketAddr;
use std::time::Duration;
use strandcast_net::driver::{AssociationHandle, Client, Uplink};
use strandcast_net::resolve::HostPort;
use strandcast_proto::association::CloseReason;
use strandcast_proto::catalog::SchemePlan;
use tokio::time::Instant;

/// Timeout for resolving the receiver's name; known addresses are used afterwards.
const RESOLVE: Duration = Duration::from_secs(1);
/// Timeout of one attempt.
const ATTEMPT: Duration = Duration::from_secs(8);
/// Pause after an attempt that failed immediately.
pub(super) const PAUSE: Duration = Duration::from_secs(1);
/// Prefix of the reason of a deliberate abort: the peer need not wait or retry.
pub(crate) const REFUSED: &str = "refused: ";
/// The reason after [`REFUSED`] while another sender is received.
pub(crate) const BUSY: &str = "already receiving from another sender";

/// The target of a connection and its settings.
#[derive(Clone)]
pub(super) struct Plan {
    pub(super) host: HostPort,
    pub(super) transport: TransportArgs,
    pub(super) paths: PathArgs,
    pub(super) scheme: SchemePlan,
    pub(super) capture: Capture,
    /// The receiver's addresses and uplinks at the start of the command: during an outage names may not resolve, and no
    /// interface may have a route.
    pub(super) remotes: Vec<SocketAddr>,
    pub(super) uplinks: Vec<Uplink>,
}

impl Plan {
    /// Retries until connected, for `retry` at most. With `endures`, refusals are retried as well.
    ///
    /// # Errors
    /// [`CliError::Peer`] when the time is over or the receiver refuses; [`CliError::Network`] if no attempt was
    /// possible.
    pub(super) async fn connect(&self, retry: Retry, endures: bool) -> Result<AssociationHandle, CliError> {
        let begun = Instant::now();
        let left = || match retry {
            Retry::Forever => ATTEMPT,
            Retry::For(time) => time.saturating_sub(begun.elapsed()).min(ATTEMPT),
        };
        loop {
            let attempt = Instant::now();
            let failed = match self.attempt(left()).await {
                Ok(association) => return Ok(association),
                Err(error) => error,
            };
            if refuses(&failed) && !endures || left() <= PAUSE {
                return Err(failed.into_error(&self.host, begun.elapsed()));
            }
            tokio::time::sleep(PAUSE.saturating_sub(attempt.elapsed())).await;
        }
    }

    async fn attempt(&self, time: Duration) -> Result<AssociationHandle, Failed> {
        let association = self.open().await.map_err(Failed::Here)?;
        match tokio::time::timeout(time, association.connected()).await {
            Ok(Ok(_)) => Ok(association),
            Ok(Err(reason)) => Err(Failed::There(reason)),
            Err(_) => {
                association.abort("no answer in time");
                Err(Failed::There(CloseReason::NoAnswer))
            }
        }
    }

    async fn open(&self) -> Result<AssociationHandle, CliError> {
        let found = tokio::time::timeout(RESOLVE, transport::remotes(&self.host)).await;
        let remotes = found.ok().and_then(Result::ok).unwrap_or_else(|| self.remotes.clone());
        let mut uplinks = transport::uplinks(&self.paths, &remotes).unwrap_or_default();
        // An uplink without a route may get one soon: the driver polls every second.
        let missing = self.uplinks.iter().filter(|known| uplinks.iter().all(|u| u.name != known.name));
        uplinks.extend(missing.cloned().collect::<Vec<_>>());
        let endpoint = transport::endpoint(&self.transport, &self.scheme, false);
        let (port, scheme) = (self.transport.sctp_port, transport::build(&self.scheme)?);
        let client = Client { endpoint, uplinks, port, scheme, seal: None, tap: self.capture.tap() };
        client.connect().map_err(|e| transport::open_error(&e))
    }
}

/// Why an attempt failed.
enum Failed {
    Here(CliError),
    There(CloseReason),
}

impl Failed {
    fn into_error(self, host: &HostPort, after: Duration) -> CliError {
        match self {
            Failed::Here(error) => error,
            Failed::There(CloseReason::NoAnswer | CloseReason::Unreachable) => {
                CliError::Peer(format!("no answer from {host} for {:.0} s", after.as_secs_f64()))
            }
            Failed::There(reason) => CliError::Peer(format!("{host} {}", words(&reason))),
        }
    }
}

fn refuses(failed: &Failed) -> bool {
    matches!(failed, Failed::There(reason) if final_words(reason))
}

/// Whether the peer's abort is deliberate: a retry would not help.
pub(super) fn final_words(reason: &CloseReason) -> bool {
    matches!(reason, CloseReason::PeerAborted(words) if words.starts_with(REFUSED))
}

/// Whether the receiver refuses because it has another sender.
pub(super) fn is_busy(reason: &CloseReason) -> bool {
    matches!(reason, CloseReason::PeerAborted(words) if words.strip_prefix(REFUSED) == Some(BUSY))
}

/// Why an association ended, after the peer's name.
pub(super) fn words(reason: &CloseReason) -> String {
    match reason {
        CloseReason::Shutdown => "ended the stream".into(),
        CloseReason::Aborted => "was disconnected".into(),
        CloseReason::PeerAborted(words) => match words.strip_prefix(REFUSED) {
            Some(words) => format!("refuses: {}", quoted(words)),
            None if words.is_empty() => "broke off".into(),
            None => format!("broke off: {}", quoted(words)),
        },
        CloseReason::NoAnswer => "does not answer".into(),
        CloseReason::Unreachable => "can no longer be reached".into(),
        CloseReason::Protocol(words) => format!("breaks the protocol: {}", quoted(words)),
        _ => "ended the association".into(),
    }
}

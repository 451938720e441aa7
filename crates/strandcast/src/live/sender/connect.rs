//! Connecting to the receiver, with retries.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use strandcast_net::driver::{AssociationHandle, Client};
use strandcast_proto::association::CloseReason;
use strandcast_seal::Lost;
use tokio::time::Instant;

use super::reasons::Reasons;
use super::switches::Switches;
use super::tariffs::Tariffs;
use crate::error::Error;
use crate::live::asking;
use crate::live::event::Event;
use crate::live::retry::Retry;
use crate::live::tap::Taps;
use crate::live::words::{BUSY, REFUSED, REPLACED};
use crate::pairing::{Destination, Name, SealReports, fingerprint};
use crate::route::{self, Paths};
use crate::scheme::Scheme;
use crate::text::quoted;
use crate::transport::{TransportOptions, open_error, policies};

/// Timeout for resolving the receiver's name. After this time, the sender uses addresses that it already has.
const RESOLVE: Duration = Duration::from_secs(1);
/// Time limit of an attempt.
const ATTEMPT: Duration = Duration::from_secs(8);
/// Time limit of an encrypted attempt, except the first attempt with each host. A handshake takes two round trips,
/// which may last up to ten seconds each.
const PATIENT: Duration = Duration::from_secs(20);
/// Time limit of the first attempt with each of several hosts.
const FIRST: Duration = Duration::from_secs(3);
/// Pause after an attempt that failed at once.
pub(super) const PAUSE: Duration = Duration::from_secs(1);
/// Target of a connection, and its settings.
#[derive(Clone)]
pub(super) struct Plan {
    pub(super) to: Destination,
    /// Name of the stream at the receiver.
    pub(super) stream: Option<Name>,
    /// Reports of the seal, if there is one.
    pub(super) reports: SealReports,
    /// Reasons of failed attempts.
    pub(super) reasons: Reasons,
    /// Number of attempts. Each attempt begins with the next host.
    pub(super) tries: Arc<AtomicUsize>,
    pub(super) transport: TransportOptions,
    pub(super) paths: Paths,
    pub(super) scheme: Scheme,
    pub(super) taps: Option<Taps>,
    pub(super) tariffs: Tariffs,
    pub(super) switches: Switches,
    /// Addresses of each of the receiver's hosts, as resolved at the start of the command. They are kept because names
    /// may not resolve during an outage.
    pub(super) remotes: Vec<Vec<SocketAddr>>,
    /// Names of paths that could not be used at the start, and the reasons. These paths and reasons were already
    /// reported.
    pub(super) absent: Vec<(String, String)>,
}

impl Plan {
    /// Retries until connected, for at most `retry`. If `retries_refusals` is true, the sender also tries again after a
    /// refusal.
    ///
    /// # Errors
    /// [`Error::Peer`] if the time is over or the receiver refuses. [`Error::Network`] if no attempt was possible.
    pub(super) async fn connect(
        &self,
        retry: Retry,
        retries_refusals: bool,
    ) -> Result<AssociationHandle, Error> {
        let begun = Instant::now();
        let left = || match retry {
            Retry::Forever => PATIENT,
            Retry::For(time) => time.saturating_sub(begun.elapsed()),
        };
        loop {
            let attempt = Instant::now();
            let failed = match self.attempt(left()).await {
                Ok(association) => {
                    self.reasons.connected();
                    return Ok(association);
                }
                Err(error) => error,
            };
            if self.refuses(&failed) && !retries_refusals || left() <= PAUSE {
                return Err(self.failure(failed, begun.elapsed()));
            }
            self.note(&failed);
            tokio::time::sleep(PAUSE.saturating_sub(attempt.elapsed())).await;
        }
    }

    /// Records the reason of a failed attempt. An attempt without any answer has no reason.
    fn note(&self, failed: &Failed) {
        match failed {
            Failed::Here(error) => self.reasons.failed(error.to_string()),
            Failed::There(CloseReason::NoAnswer | CloseReason::Unreachable) => self.note_hint(),
            Failed::There(reason) => {
                self.reasons.failed(format!("{} {}", self.to.label, self.words(reason)));
            }
        }
    }

    /// Records an unencrypted message about an attempt. The attempt continues, because anyone on the route can send
    /// such a message.
    fn note_hint(&self) {
        if let Some((words, false)) = self.reports.refusal(&self.to) {
            self.reasons.failed(format!("{} {words}", self.to.label));
        }
    }

    /// Returns the reason why there is no connection yet, if it has not been reported.
    pub(super) fn untold(&self) -> Option<Event> {
        self.note_hint();
        self.reasons.untold().map(|why| Event::Waiting { why })
    }

    /// Ends without a connection because the user requested the end.
    ///
    /// # Errors
    /// Returns [`Error::Peer`] if the reason why the connection failed is known.
    pub(super) fn given_up(&self) -> Result<(), Error> {
        self.note_hint();
        self.reasons.last().map_or(Ok(()), |why| Err(Error::Peer(why)))
    }

    /// Tries all of the receiver's addresses at once, until one answers. Each attempt begins with the addresses of
    /// another host. There may be more addresses than an attempt can try, and one of them may also be an address of
    /// this machine.
    async fn attempt(&self, time: Duration) -> Result<AssociationHandle, Failed> {
        let (tries, hosts) = (self.tries.load(Ordering::Relaxed), self.to.hosts.len().max(1));
        let most = match tries < hosts {
            true if hosts > 1 => FIRST,
            false if self.to.seal.is_some() => PATIENT,
            _ => ATTEMPT,
        };
        let outcome = self.attempt_at(tries % hosts, time.min(most)).await;
        if outcome.is_err() {
            self.tries.fetch_add(1, Ordering::Relaxed);
        }
        outcome
    }

    async fn attempt_at(&self, host: usize, time: Duration) -> Result<AssociationHandle, Failed> {
        let association = self.open(host).await.map_err(Failed::Here)?;
        self.tariffs.tell(&association).await;
        match tokio::time::timeout(time, association.connected()).await {
            Ok(Ok(knows)) => {
                // Only receivers of this program read this message.
                if knows {
                    asking::ask(&association, self.stream.as_ref());
                }
                Ok(association)
            }
            Ok(Err(reason)) => Err(Failed::There(reason)),
            Err(_) => {
                association.abort("no answer in time");
                Err(Failed::There(CloseReason::NoAnswer))
            }
        }
    }

    /// Connects to the receiver at any of its addresses. The addresses of `host` come first.
    async fn open(&self, host: usize) -> Result<AssociationHandle, Error> {
        let found = route::addresses(&self.to.hosts, RESOLVE).await;
        let unresolved = found.iter().find_map(|found| found.as_ref().err().cloned());
        let known = self.remotes.iter().cloned().chain(std::iter::repeat(Vec::new()));
        let all: Vec<_> = found.into_iter().zip(known).map(|(found, known)| found.unwrap_or(known)).collect();
        let remotes = route::in_turn(&all, host);
        if remotes.is_empty() {
            return Err(
                unresolved.unwrap_or_else(|| Error::Network(format!("{} has no address", self.to.label)))
            );
        }
        // The driver follows the interfaces, and uses a path once the path exists.
        let paths = Paths { awaited: true, ..self.paths.clone() };
        let uplinks = route::uplinks(&paths, &remotes)?;
        let endpoint = self.transport.endpoint(&self.scheme, false);
        let (port, scheme) = (self.transport.sctp_port, policies(&self.scheme)?);
        let (seal, tap) = (self.reports.seal(&self.to), self.taps.as_ref().map(Taps::tap));
        let client = Client { endpoint, uplinks, port, scheme, seal, tap };
        client.connect().map_err(|e| open_error(&e))
    }

    /// Returns whether the receiver refuses deliberately. Another attempt would then fail as well.
    fn refuses(&self, failed: &Failed) -> bool {
        matches!(failed, Failed::There(reason) if self.is_final(reason))
    }

    /// Returns whether the peer has ended the association deliberately. Another attempt would then end in the same way.
    pub(super) fn is_final(&self, reason: &CloseReason) -> bool {
        match reason {
            CloseReason::PeerAborted(words) => words.starts_with(REFUSED),
            CloseReason::SealLost(_) => self.reports.refusal(&self.to).is_some_and(|(_, proven)| proven),
            _ => false,
        }
    }

    /// Returns whether another sender with this sender's key has taken over. In that case the sender does not return,
    /// because the two senders would replace each other for ever. Without a seal, anyone who observes packets can send
    /// this reason.
    pub(super) fn is_replaced(&self, reason: &CloseReason) -> bool {
        let says = |words: &str| words.strip_prefix(REFUSED) == Some(REPLACED);
        match reason {
            CloseReason::PeerAborted(words) => self.to.seal.is_some() && says(words),
            CloseReason::SealLost(why) => *why == Lost::Replaced.to_string(),
            _ => false,
        }
    }

    /// Text of the reason why an association ended. The text follows the peer's name.
    pub(super) fn words(&self, reason: &CloseReason) -> String {
        match (reason, self.reports.refusal(&self.to)) {
            (CloseReason::SealLost(_), Some((words, _))) => words,
            _ => words(reason),
        }
    }

    /// Text with the addresses that did not answer, and possible causes.
    fn unanswered(&self) -> String {
        let known: Vec<String> = self.remotes.iter().flatten().map(ToString::to_string).collect();
        let hosts = || self.to.hosts.iter().map(ToString::to_string).collect();
        let asked = if known.is_empty() { hosts() } else { known };
        route::unanswered(&asked, self.to.seal.as_ref().map(|(_, peer)| fingerprint(&peer.key)))
    }

    /// Text of a receiver that has been silent for a time.
    pub(super) fn silent(&self, after: Duration) -> String {
        let (label, seconds) = (&self.to.label, after.as_secs_f64());
        format!("no answer from {label} for {seconds:.0} s: {}", self.unanswered())
    }

    fn failure(&self, failed: Failed, after: Duration) -> Error {
        let label = &self.to.label;
        match failed {
            Failed::Here(error) => error,
            Failed::There(CloseReason::NoAnswer | CloseReason::Unreachable) => {
                let said = self.reports.refusal(&self.to).map(|(words, _)| format!("{label} {words}"));
                Error::Peer(said.unwrap_or_else(|| self.silent(after)))
            }
            Failed::There(reason) => Error::Peer(format!("{label} {}", self.words(&reason))),
        }
    }
}

/// Outcome of a failed attempt.
enum Failed {
    Here(Error),
    There(CloseReason),
}

/// Returns whether the receiver refuses because it is receiving from another sender.
pub(super) fn is_busy(reason: &CloseReason) -> bool {
    matches!(reason, CloseReason::PeerAborted(words) if words.strip_prefix(REFUSED) == Some(BUSY))
}

/// Text of the transport's reason for the end of an association.
fn words(reason: &CloseReason) -> String {
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
        CloseReason::SealLost(words) => format!("is lost: {words}"),
        _ => "ended the association".into(),
    }
}

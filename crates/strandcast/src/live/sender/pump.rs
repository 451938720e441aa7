//! Submits messages of the input to the transport.

use std::time::Duration;

use bytes::Bytes;
use strandcast_media::MediaTime;
use strandcast_media::ingest::{Ingest, IngestError, IngestStats};
use strandcast_media::pack::{Header, Outgoing, Part, Worth};
use strandcast_net::driver::{AssociationHandle, Snapshot};
use strandcast_proto::association::SendOptions;
use strandcast_proto::policy::{Importance, PathState};

use crate::live::words::MEDIA;

/// Number of the transport's stream for keep-alive messages.
const ALIVE: u16 = 1;
/// Divisor of the latency that gives the minimum lifetime of messages.
const MIN_LIFETIME: u32 = 4;

/// Submits messages to an association when they are due.
#[derive(Debug)]
pub struct Pump {
    ingest: Ingest,
    latency: Duration,
    /// Time for which a message may wait and be retransmitted.
    lifetime: Duration,
    /// Number of messages submitted to the transport.
    pub messages: u64,
    /// Bytes of media in submitted messages.
    pub bytes: u64,
    /// Number of dropped messages: messages that were due without an association, messages without room in the buffer,
    /// and messages that `overdue` counts.
    pub dropped: u64,
    /// Number of dropped messages that were due without an association.
    pub unconnected: u64,
    /// Bytes of media of all due messages.
    pub offered: u64,
    /// Number of messages that expired before submission because this process was not running.
    pub overdue: u64,
    /// Last message of the stream, once it is due.
    end: Option<Bytes>,
    /// True if the last message of the stream was submitted.
    pub ended: bool,
    /// Time at which a message was last submitted.
    pub last: MediaTime,
}

impl Pump {
    /// Makes a pump for the messages of `ingest`. The receiver plays a message one `latency` after it was sent.
    /// Messages that would be late are abandoned.
    pub fn new(ingest: Ingest, latency: Duration) -> Self {
        let (lifetime, last) = (latency, MediaTime::ZERO);
        Pump {
            ingest,
            latency,
            lifetime,
            messages: 0,
            bytes: 0,
            dropped: 0,
            unconnected: 0,
            offered: 0,
            overdue: 0,
            end: None,
            ended: false,
            last,
        }
    }

    /// Updates the lifetime from the current queueing delay of the network. The deadline of a message, less this delay,
    /// is the latest useful time to send it. A message that is still unsent then would be late, and would only delay
    /// later messages. Schemes that estimate queues abandon such messages themselves. Sets the size of messages, so
    /// that each message fits one packet on every path. A message of two fragments would need two datagrams, and the
    /// loss of either datagram would lose the message.
    pub fn observe(&mut self, seen: &Snapshot) {
        self.ingest.limit_messages(seen.max_unfragmented);
        self.lifetime = self.latency.saturating_sub(queueing(seen)).max(self.latency / MIN_LIFETIME);
    }

    /// Updates the lifetime for a new association, before its first message.
    pub async fn observe_first(&mut self, association: &AssociationHandle) {
        if let Some(seen) = association.snapshot().await {
            self.observe(&seen);
        }
    }

    /// Processes input bytes. An empty slice means the end of the input.
    ///
    /// # Errors
    /// The input cannot be sent.
    pub fn push(&mut self, now: MediaTime, bytes: &[u8]) -> Result<(), IngestError> {
        if bytes.is_empty() { self.ingest.finish(now) } else { self.ingest.push(now, bytes) }
    }

    /// Ends the stream immediately.
    pub fn stop(&mut self, now: MediaTime) {
        self.ingest.stop(now);
    }

    /// Returns whether more input should be read.
    pub fn wants_input(&self, now: MediaTime) -> bool {
        self.ingest.wants_input(now)
    }

    /// Time of the next call of [`Pump::pump`].
    pub fn poll_timeout(&self) -> Option<MediaTime> {
        self.ingest.poll_timeout()
    }

    /// The playout latency.
    pub fn latency(&self) -> Duration {
        self.latency
    }

    /// The input's state machine.
    pub fn ingest(&self) -> &Ingest {
        &self.ingest
    }

    /// Number of the stream.
    pub fn stream(&self) -> u32 {
        self.ingest.session()
    }

    /// Statistics of the input.
    pub fn stats(&self) -> IngestStats {
        self.ingest.stats()
    }

    /// Submits due messages. `sent` is called with the header and the bytes of each message.
    pub fn pump(
        &mut self,
        now: MediaTime,
        association: Option<&AssociationHandle>,
        mut sent: impl FnMut(&Header, &Bytes),
    ) {
        self.ingest.handle_timeout(now);
        while let Some(message) = self.ingest.poll(now) {
            if message.end {
                self.end = Some(message.wire);
            } else {
                self.hand_over(now, association, message, &mut sent);
            }
        }
        // The message that ends the stream is sent reliably, and waits for an association.
        if let (Some(end), Some(association)) = (&self.end, association)
            && association.try_send(end.clone(), SendOptions { stream: MEDIA, ..unordered(None) }).is_ok()
        {
            self.end = None;
            self.ended = true;
        }
    }

    fn hand_over(
        &mut self,
        now: MediaTime,
        association: Option<&AssociationHandle>,
        message: Outgoing,
        sent: &mut impl FnMut(&Header, &Bytes),
    ) {
        let payload = (message.wire.len() - strandcast_media::pack::HEADER_LEN) as u64;
        self.offered += payload;
        sent(&message.header, &message.wire);
        // The lifetime of a message starts at its due time.
        let left = self.lifetime.saturating_sub(now.saturating_since(message.send_at));
        if left.is_zero() {
            self.dropped += 1;
            self.overdue += 1;
            return;
        }
        let Part { worth, frame: group } = message.part;
        let importance = importance(worth);
        let options = SendOptions { stream: MEDIA, importance, group, ..unordered(Some(left)) };
        if association.is_some_and(|a| a.try_send(message.wire, options).is_ok()) {
            self.messages += 1;
            self.bytes += payload;
            self.last = now;
        } else {
            self.dropped += 1;
            self.unconnected += u64::from(association.is_none());
        }
    }

    /// Sends a keep-alive message after a second without other messages.
    pub fn keep_alive(&mut self, now: MediaTime, association: &AssociationHandle) {
        if now - self.last >= Duration::from_secs(1) {
            let options = SendOptions { stream: ALIVE, ..unordered(Some(Duration::from_secs(2))) };
            // If there is no room, other messages are queued, so that no keep-alive message is needed.
            let _ = association.try_send(Bytes::from_static(&[0]), options);
            self.last = now;
        }
    }
}

/// Converts a message's worth to its importance, for schemes that rank messages.
fn importance(worth: Worth) -> Importance {
    match worth {
        Worth::Disposable => Importance::Disposable,
        Worth::Unknown => Importance::Normal,
        Worth::Reference => Importance::Reference,
        Worth::Key => Importance::Key,
    }
}

fn unordered(lifetime: Option<Duration>) -> SendOptions {
    SendOptions { unordered: true, lifetime, ..SendOptions::default() }
}

/// Queueing delay of the network. The queueing delay is the smoothed round-trip time plus twice its mean deviation,
/// less the minimum round-trip time and less the longest delay of the peer's acknowledgements. The usable path with the
/// smallest value determines the delay.
fn queueing(seen: &Snapshot) -> Duration {
    let usable = || seen.paths.iter().map(|p| &p.view).filter(|v| v.state == PathState::Active);
    if usable().any(|v| v.est.queue.is_some()) {
        return Duration::ZERO;
    }
    let waits = usable().filter_map(|v| {
        Some((v.srtt? + (2 * v.rttvar).saturating_sub(v.ack_delay)).saturating_sub(v.min_rtt?))
    });
    waits.min().unwrap_or_default()
}

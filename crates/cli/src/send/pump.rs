//! From the input's bytes to messages in the transport's hands.

use bytes::Bytes;
use std::time::Duration;
use strandcast_media::MediaTime;
use strandcast_media::ingest::{Ingest, IngestError, IngestStats};
use strandcast_media::pack::{Header, Outgoing};
use strandcast_net::driver::{AssociationHandle, Snapshot};
use strandcast_proto::association::SendOptions;
use strandcast_proto::policy::PathState;
use strandcast_schemes::estimate::QUEUE;

/// The stream of media messages.
const MEDIA: u16 = 0;
/// The stream of signs of life.
const ALIVE: u16 = 1;
/// Messages are given up no earlier than after this part of the latency.
const LEAST_LIFETIME: u32 = 4;

/// Hands messages to an association when they are due.
#[derive(Debug)]
pub(crate) struct Pump {
    ingest: Ingest,
    latency: Duration,
    /// How long a message may wait and be sent again.
    lifetime: Duration,
    /// Messages handed to the transport.
    pub(crate) messages: u64,
    /// Bytes of media in them.
    pub(crate) bytes: u64,
    /// Messages that were due while there was no association, that found no room, or that are in `overdue`.
    pub(crate) dropped: u64,
    /// Messages of which the time was over before they could be handed over: this process did not run.
    pub(crate) overdue: u64,
    /// The last message, once it is due.
    end: Option<Bytes>,
    /// The last message was handed over.
    pub(crate) ended: bool,
    /// When something was last handed over.
    pub(crate) last: MediaTime,
}

impl Pump {
    /// Messages of `ingest`, each played `latency` after it was sent and given up when it can't be.
    pub(crate) fn new(ingest: Ingest, latency: Duration) -> Self {
        let (lifetime, last) = (latency, MediaTime::ZERO);
        Pump {
            ingest,
            latency,
            lifetime,
            messages: 0,
            bytes: 0,
            dropped: 0,
            overdue: 0,
            end: None,
            ended: false,
            last,
        }
    }

    /// Learns how long packets wait in the network's queues now, at most: what has not left that much before its time
    /// comes too late, and would only hold up what follows. Schemes that estimate queues give such messages up themselves.
    pub(crate) fn observe(&mut self, seen: &Snapshot) {
        self.lifetime = self.latency.saturating_sub(queueing(seen)).max(self.latency / LEAST_LIFETIME);
    }

    /// Takes in what was read; nothing means the input's end.
    ///
    /// # Errors
    /// What makes the input unfit to be sent.
    pub(crate) fn push(&mut self, now: MediaTime, bytes: &[u8]) -> Result<(), IngestError> {
        if bytes.is_empty() { self.ingest.finish(now) } else { self.ingest.push(now, bytes) }
    }

    /// Ends the stream here and now.
    pub(crate) fn stop(&mut self, now: MediaTime) {
        self.ingest.stop(now);
    }

    /// Whether more should be read.
    pub(crate) fn wants_input(&self, now: MediaTime) -> bool {
        self.ingest.wants_input(now)
    }

    /// When [`Pump::pump`] has something to do.
    pub(crate) fn poll_timeout(&self) -> Option<MediaTime> {
        self.ingest.poll_timeout()
    }

    /// From sending to playing.
    pub(crate) fn latency(&self) -> Duration {
        self.latency
    }

    /// What was seen of the input.
    pub(crate) fn stats(&self) -> IngestStats {
        self.ingest.stats()
    }

    /// Hands over what is due; `sent` sees each message's header and bytes.
    pub(crate) fn pump(
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
        // The end goes reliably, and waits for an association if it must.
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
        sent(&message.header, &message.wire);
        // Its time runs from when it was due, whenever that is noticed.
        let left = self.lifetime.saturating_sub(now.saturating_since(message.send_at));
        if left.is_zero() {
            self.dropped += 1;
            self.overdue += 1;
            return;
        }
        let options = SendOptions { stream: MEDIA, ..unordered(Some(left)) };
        if association.is_some_and(|a| a.try_send(message.wire, options).is_ok()) {
            self.messages += 1;
            self.bytes += payload;
            self.last = now;
        } else {
            self.dropped += 1;
        }
    }

    /// Lets the receiver know that we are there, if nothing else has for a second.
    pub(crate) fn sign_of_life(&mut self, now: MediaTime, association: &AssociationHandle) {
        if now - self.last >= Duration::from_secs(1) {
            let options = SendOptions { stream: ALIVE, ..unordered(Some(Duration::from_secs(2))) };
            // What finds no room is not needed: others are on their way.
            let _ = association.try_send(Bytes::from_static(&[0]), options);
            self.last = now;
        }
    }
}

fn unordered(lifetime: Option<Duration>) -> SendOptions {
    SendOptions { unordered: true, lifetime, ..SendOptions::default() }
}

/// How much longer than the shortest round trip the latest ones took, twice their mean deviation included, on the usable
/// path where it is least.
fn queueing(seen: &Snapshot) -> Duration {
    let usable = || seen.paths.iter().map(|p| &p.view).filter(|v| v.state == PathState::Active);
    if usable().any(|v| v.est.extra(QUEUE).is_some()) {
        return Duration::ZERO;
    }
    let waits = usable().filter_map(|v| Some((v.srtt? + 2 * v.rttvar).saturating_sub(v.min_rtt?)));
    waits.min().unwrap_or_default()
}

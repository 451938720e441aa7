//! Counters of an association.

use super::dropped::{DropCause, DropCounts, Dropped};
use crate::coding::CodingStats;
use crate::policy::Advice;
use crate::time::{Duration, Instant};

/// Counters since the association began. Each path has its own counters ([`crate::path::PathStats`]).
#[derive(Clone, PartialEq, Debug, Default)]
#[non_exhaustive]
pub struct AssociationStats {
    /// Number of messages that the application submitted.
    pub messages_sent: u64,
    /// Number of messages whose chunks were all acknowledged.
    pub messages_acked: u64,
    /// Number of acknowledged messages with a lifetime.
    pub messages_with_lifetime: u64,
    /// Number of messages of which no part was sent, by cause of the drop.
    pub unsent: DropCounts,
    /// Number of messages that were given up after a part was sent (RFC 3758), by cause. Messages that were partly sent
    /// when the association ended are included. Messages in coded blocks are not counted.
    pub abandoned: DropCounts,
    /// Payload bytes of messages that were sent. A byte counts once, even if it was sent several times.
    pub media_sent: u64,
    /// Bytes of redundant user data: all repair symbols, and transmissions that were not needed because another
    /// transmission of the chunk arrived. If messages are sent in coded blocks, redundancy is the bytes of symbols that
    /// exceed the messages' bytes.
    pub redundancy_sent: u64,
    /// Number of copies and repair symbols that the cap refused ([`crate::config::TransportConfig::redundancy`]). Parts
    /// of the scheme had requested them.
    pub redundancy_refused: u64,
    /// Last advice that the scheme gave to an encoder.
    pub advice: Option<Advice>,
    /// Number of messages delivered to the application.
    pub messages_received: u64,
    /// Payload bytes of messages that the application submitted.
    pub bytes_sent: u64,
    /// Payload bytes of messages delivered to the application.
    pub bytes_received: u64,
    /// Bytes of datagrams sent on paths, including the headers of IP and UDP and the envelope. Datagrams of the seal
    /// itself are not counted.
    pub wire_sent: u64,
    /// Bytes of datagrams that arrived by paths, including the headers of IP and UDP and the envelope.
    pub wire_received: u64,
    /// Number of new DATA chunks that arrived.
    pub chunks_received: u64,
    /// Number of DATA chunks that had arrived before.
    pub duplicates_received: u64,
    /// Number of DATA chunks refused because the receive buffer was full, or because the TSN was too far ahead.
    pub chunks_refused: u64,
    /// Number of SACKs sent.
    pub sacks_sent: u64,
    /// Number of SACKs received.
    pub sacks_received: u64,
    /// Number of SACKs that arrived after newer SACKs.
    pub old_sacks: u64,
    /// Number of reports of arrivals that arrived after newer reports.
    pub old_arrived: u64,
    /// Number of chunks that the peer acknowledged after they had been declared lost.
    pub spurious: u64,
    /// Number of malformed chunks that were dropped.
    pub bad_chunks: u64,
    /// Number of packets from an address without a path, or with another verification tag.
    pub bad_packets: u64,
    /// Number of the scheme's assignments and retransmissions that the core refused.
    pub refused_assignments: u64,
    /// Number of actions of the scheme ([`crate::policy::Policy::act`]) that were not possible.
    pub refused_acts: u64,
    /// Number of answers that were dropped because too many answers waited to be sent.
    pub answers_withheld: u64,
    /// Number of error causes that the peer reported.
    pub peer_errors: u64,
    /// Number of AUTH chunks that failed verification, and of reports that arrived without AUTH.
    pub bad_auth: u64,
    /// Time for which new data waited only for the peer's receive window. Only completed periods are counted.
    pub rwnd_blocked: Duration,
    /// Start of the current period.
    pub rwnd_blocked_since: Option<Instant>,
    /// Time for which new data waited only because the send buffer was full. Only completed periods are counted. A
    /// period counts if a message was refused although all accepted messages had been sent and a congestion window had
    /// room.
    pub send_buffer_blocked: Duration,
    /// Start of the current period.
    pub send_buffer_blocked_since: Option<Instant>,
    /// Counters of coding symbols, if at least one side codes.
    pub coding: CodingStats,
}

impl AssociationStats {
    /// Returns the number of messages that were never sent because their lifetime ended or the scheduler gave them up.
    pub fn messages_expired(&self) -> u64 {
        self.unsent.of(DropCause::Expired) + self.unsent.by_scheduler()
    }

    /// Returns the number of messages that were given up after a part was sent (RFC 3758).
    pub fn messages_abandoned(&self) -> u64 {
        self.abandoned.total() - self.abandoned.of(DropCause::Ended)
    }

    /// Returns the number of messages that were never sent because their group was given up
    /// ([`crate::policy::Act::Drop`]).
    pub fn messages_dropped(&self) -> u64 {
        self.unsent.of(DropCause::Group)
    }

    pub(super) fn count_dropped(&mut self, dropped: &Dropped) {
        let counts = if dropped.begun { &mut self.abandoned } else { &mut self.unsent };
        counts.add(dropped.cause);
    }

    /// Returns the time until `now` for which new data waited only for the peer's receive window.
    pub fn rwnd_blocked_time(&self, now: Instant) -> Duration {
        self.rwnd_blocked + self.rwnd_blocked_since.map_or(Duration::ZERO, |since| now - since)
    }

    /// Returns the time until `now` for which new data waited only because the send buffer was full.
    pub fn send_buffer_blocked_time(&self, now: Instant) -> Duration {
        let open = self.send_buffer_blocked_since.map_or(Duration::ZERO, |since| now - since);
        self.send_buffer_blocked + open
    }

    /// Returns the bytes on the wire per byte of media. The quotient divides the bytes of all datagrams in both
    /// directions by the payload bytes of sent and delivered messages. The result is `None` if there were no media in
    /// either direction.
    pub fn overhead(&self) -> Option<f64> {
        let media = self.media_sent + self.bytes_received;
        (media > 0).then(|| (self.wire_sent + self.wire_received) as f64 / media as f64)
    }

    /// Returns redundant bytes divided by bytes of media sent; `None` if no media were sent.
    pub fn redundancy(&self) -> Option<f64> {
        (self.media_sent > 0).then(|| self.redundancy_sent as f64 / self.media_sent as f64)
    }

    /// Records which buffer, if any, blocks new data from `now` on.
    pub(super) fn set_blocked(&mut self, now: Instant, rwnd: bool, send_buffer: bool) {
        track_blocked(now, rwnd, &mut self.rwnd_blocked, &mut self.rwnd_blocked_since);
        track_blocked(now, send_buffer, &mut self.send_buffer_blocked, &mut self.send_buffer_blocked_since);
    }
}

/// Begins or ends a blocked period, if `on` differs from the present state.
fn track_blocked(now: Instant, on: bool, sum: &mut Duration, open: &mut Option<Instant>) {
    match (on, *open) {
        (true, None) => *open = Some(now),
        (false, Some(since)) => {
            *sum += now - since;
            *open = None;
        }
        _ => {}
    }
}

//! Counters of an association.

use super::dropped::{DropCause, DropCounts, Dropped};
use crate::coding::CodingStats;
use crate::policy::Advice;
use crate::time::{Duration, Instant};

/// What happened since the association began. Paths have their own ([`crate::path::PathStats`]).
#[derive(Clone, PartialEq, Debug, Default)]
pub struct AssociationStats {
    /// Messages handed in by the application.
    pub messages_sent: u64,
    /// Messages of which every chunk was acknowledged.
    pub messages_acked: u64,
    /// Those with a lifetime.
    pub messages_with_lifetime: u64,
    /// Messages of which nothing was ever sent, by why.
    pub unsent: DropCounts,
    /// Messages given up after some of them was sent (RFC 3758), or begun when the association ended, by why. Messages in coded
    /// blocks are none of them.
    pub abandoned: DropCounts,
    /// Payload bytes of messages that left, each once however often it was sent.
    pub media_sent: u64,
    /// Bytes of user data that was not needed: transmissions whose chunk also arrived otherwise, as far as it is known by now, and
    /// all repair symbols; where messages leave in coded blocks, symbols beyond the messages' bytes.
    pub redundancy_sent: u64,
    /// Copies and repair symbols that parts of the scheme asked for beyond [`crate::config::TransportConfig::redundancy`].
    pub redundancy_refused: u64,
    /// What the scheme advised an encoder last.
    pub advice: Option<Advice>,
    /// Messages handed to the application.
    pub messages_received: u64,
    /// Payload bytes of messages handed in.
    pub bytes_sent: u64,
    /// Payload bytes of messages handed out.
    pub bytes_received: u64,
    /// Bytes of datagrams that left on paths, with headers of IP and UDP and the envelope. A seal's own are not counted.
    pub wire_sent: u64,
    /// Bytes of datagrams that came by paths, counted likewise.
    pub wire_received: u64,
    /// New DATA chunks that arrived.
    pub chunks_received: u64,
    /// DATA chunks that had arrived before.
    pub duplicates_received: u64,
    /// DATA chunks refused because the receive buffer was full or the TSN too far ahead.
    pub chunks_refused: u64,
    /// SACKs sent.
    pub sacks_sent: u64,
    /// SACKs received.
    pub sacks_received: u64,
    /// SACKs overtaken by newer ones.
    pub old_sacks: u64,
    /// Reports of arrivals overtaken by newer ones.
    pub old_arrived: u64,
    /// Chunks that were acknowledged after they had been declared lost.
    pub spurious: u64,
    /// Chunks that made no sense and were dropped.
    pub bad_chunks: u64,
    /// Packets from an address that is no path, or with another verification tag.
    pub bad_packets: u64,
    /// Assignments and retransmissions a scheme asked for that the core refused.
    pub refused_assignments: u64,
    /// Acts of a scheme ([`crate::policy::Policy::act`]) that could not be done.
    pub refused_acts: u64,
    /// Answers not given since too many waited to leave.
    pub answers_withheld: u64,
    /// Error causes the peer reported.
    pub peer_errors: u64,
    /// AUTH chunks that did not verify, and reports without one.
    pub bad_auth: u64,
    /// Time during which only the peer's receive window held new data back, finished periods only.
    pub rwnd_blocked: Duration,
    /// Since when it does.
    pub rwnd_blocked_since: Option<Instant>,
    /// Time during which only the full send buffer held new data back, finished periods only: a message was refused,
    /// all that was taken has been sent, and a congestion window had room.
    pub send_buffer_blocked: Duration,
    /// Since when it does.
    pub send_buffer_blocked_since: Option<Instant>,
    /// Symbols, where either side codes what it sends.
    pub coding: CodingStats,
}

impl AssociationStats {
    /// Messages of which nothing was sent: their lifetime ended, or the scheduler gave them up.
    pub fn messages_expired(&self) -> u64 {
        self.unsent.of(DropCause::Expired) + self.unsent.by_scheduler()
    }

    /// Messages given up after some of them was sent (RFC 3758).
    pub fn messages_abandoned(&self) -> u64 {
        self.abandoned.total() - self.abandoned.of(DropCause::Ended)
    }

    /// Messages of which nothing was sent since their group was given up ([`crate::policy::Act::Drop`]).
    pub fn messages_dropped(&self) -> u64 {
        self.unsent.of(DropCause::Group)
    }

    pub(super) fn count_dropped(&mut self, dropped: &Dropped) {
        let counts = if dropped.begun { &mut self.abandoned } else { &mut self.unsent };
        counts.add(dropped.cause);
    }

    /// Time until `now` during which only the peer's receive window held new data back.
    pub fn rwnd_blocked_time(&self, now: Instant) -> Duration {
        self.rwnd_blocked + self.rwnd_blocked_since.map_or(Duration::ZERO, |since| now - since)
    }

    /// Time until `now` during which only the full send buffer held new data back.
    pub fn send_buffer_blocked_time(&self, now: Instant) -> Duration {
        let open = self.send_buffer_blocked_since.map_or(Duration::ZERO, |since| now - since);
        self.send_buffer_blocked + open
    }

    /// Bytes of all datagrams either way by payload bytes of messages that left or were handed out: what a byte of media takes on
    /// the wire. `None`: no media went either way.
    pub fn overhead(&self) -> Option<f64> {
        let media = self.media_sent + self.bytes_received;
        (media > 0).then(|| (self.wire_sent + self.wire_received) as f64 / media as f64)
    }

    /// Redundant bytes by bytes of media sent; `None`: none was sent.
    pub fn redundancy(&self) -> Option<f64> {
        (self.media_sent > 0).then(|| self.redundancy_sent as f64 / self.media_sent as f64)
    }

    /// Notes which buffer holds new data back from `now` on, if any does.
    pub(super) fn set_blocked(&mut self, now: Instant, rwnd: bool, send_buffer: bool) {
        track_blocked(now, rwnd, &mut self.rwnd_blocked, &mut self.rwnd_blocked_since);
        track_blocked(now, send_buffer, &mut self.send_buffer_blocked, &mut self.send_buffer_blocked_since);
    }
}

/// Begins or ends a period, if `on` is something new.
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

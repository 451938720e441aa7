//! Numbers of bytes of media on the wire, and of their redundant part.

use serde::Serialize;
use strandcast_proto::association::AssociationStats;

use crate::text::percent;

/// Bytes of an association, or of all associations of a stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct WireNow {
    /// Bytes of datagrams sent on all paths, with headers of IP and UDP and the seal.
    pub sent_bytes: u64,
    /// Bytes of datagrams received.
    pub received_bytes: u64,
    /// Rate of the sent bytes over the interval of the figures.
    pub sent_bps: f64,
    /// Rate of the received bytes over the interval of the figures.
    pub received_bps: f64,
    /// Payload bytes of the messages that were sent or received. A message that was sent counts once.
    pub media_bytes: u64,
    /// Bytes sent and received, divided by the bytes of media. `None` without media.
    pub overhead: Option<f64>,
    /// Number of bytes that were not needed. They belong to repair symbols, and to copies and retransmissions of chunks
    /// that also arrived by another transmission.
    pub redundant_bytes: u64,
    /// Redundant bytes divided by the bytes of media sent. `None` if no media were sent, or if more media were received
    /// than sent. A receiver of media sends only short messages, which do not form a stream.
    pub redundancy: Option<f64>,
    /// Number of copies and repair symbols that the cap refused.
    pub redundancy_refused: u64,
}

/// Counters of bytes, which can be added.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct WireCounts {
    sent: u64,
    received: u64,
    media_sent: u64,
    media_received: u64,
    redundant: u64,
    refused: u64,
}

impl WireCounts {
    /// Counters of an association.
    pub(super) fn of(stats: &AssociationStats) -> WireCounts {
        WireCounts {
            sent: stats.wire_sent,
            received: stats.wire_received,
            media_sent: stats.media_sent,
            media_received: stats.bytes_received,
            redundant: stats.redundancy_sent,
            refused: stats.redundancy_refused,
        }
    }

    /// Returns the sums of two sets of counters.
    pub(super) fn plus(self, other: WireCounts) -> WireCounts {
        WireCounts {
            sent: self.sent + other.sent,
            received: self.received + other.received,
            media_sent: self.media_sent + other.media_sent,
            media_received: self.media_received + other.media_received,
            redundant: self.redundant + other.redundant,
            refused: self.refused + other.refused,
        }
    }

    /// Returns the figures without rates.
    pub(super) fn now(self) -> WireNow {
        let media = self.media_sent + self.media_received;
        let share = |bytes: u64, of: u64| (of > 0).then(|| bytes as f64 / of as f64);
        WireNow {
            sent_bytes: self.sent,
            received_bytes: self.received,
            sent_bps: 0.0,
            received_bps: 0.0,
            media_bytes: media,
            overhead: share(self.sent + self.received, media),
            redundant_bytes: self.redundant,
            redundancy: share(self.redundant, self.media_sent)
                .filter(|_| self.media_sent >= self.media_received),
            redundancy_refused: self.refused,
        }
    }
}

impl WireNow {
    /// Takes the bytes from the counters of an association.
    pub fn of(stats: &AssociationStats) -> WireNow {
        WireCounts::of(stats).now()
    }

    /// Returns the line of a summary; `None` without media.
    pub fn line(&self) -> Option<String> {
        let on_wire = format!("{:.3} bytes on the wire for each byte of media", self.overhead?);
        let redundant = self.redundancy.map(|share| format!(", {} redundant", percent(share)));
        Some(on_wire + &redundant.unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sender_reads_both_shares_a_receiver_one() {
        let mut sent = AssociationStats::default();
        (sent.media_sent, sent.redundancy_sent) = (1000, 25);
        (sent.wire_sent, sent.wire_received) = (1100, 34);
        let line = WireNow::of(&sent).line().expect("there are media");
        assert_eq!(line, "1.134 bytes on the wire for each byte of media, 2.5 % redundant");
        let mut received = AssociationStats::default();
        (received.bytes_received, received.wire_received) = (1000, 1100);
        let line = WireNow::of(&received).line().expect("there are media");
        assert_eq!(line, "1.100 bytes on the wire for each byte of media");
        // The receiver sent each of its short messages twice.
        let mut answers = received;
        (answers.media_sent, answers.redundancy_sent) = (20, 20);
        let line = WireNow::of(&answers).line().expect("there are media");
        assert_eq!(line, "1.078 bytes on the wire for each byte of media");
        assert_eq!(WireNow::default().line(), None);
    }

    #[test]
    fn shares_of_two_associations_are_those_of_their_sums() {
        let of = |wire_sent, media_sent, redundancy_sent| {
            let mut stats = AssociationStats::default();
            (stats.wire_sent, stats.media_sent, stats.redundancy_sent) =
                (wire_sent, media_sent, redundancy_sent);
            WireCounts::of(&stats)
        };
        let both = of(1300, 1000, 100).plus(of(3100, 3000, 0)).now();
        assert_eq!((both.sent_bytes, both.overhead, both.redundancy), (4400, Some(1.1), Some(0.025)));
    }
}

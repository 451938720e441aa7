//! Bytes of media on the wire, and the redundant part of them.

use serde::Serialize;
use strandcast_proto::association::AssociationStats;

use crate::text::percent;

/// Bytes of an association.
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
    /// Payload bytes of messages that were sent, each once, and of messages received.
    pub media_bytes: u64,
    /// Bytes sent and received, divided by bytes of media; `None`: no media.
    pub overhead: Option<f64>,
    /// Bytes that were sent without need: copies and retransmissions of chunks that also arrived otherwise, and repair
    /// symbols.
    pub redundant_bytes: u64,
    /// Redundant bytes divided by bytes of media sent; `None`: no media were sent.
    pub redundancy: Option<f64>,
    /// Number of copies and repair symbols that the cap refused.
    pub redundancy_refused: u64,
}

impl WireNow {
    /// Bytes from the counters of an association.
    pub fn of(stats: &AssociationStats) -> WireNow {
        WireNow {
            sent_bytes: stats.wire_sent,
            received_bytes: stats.wire_received,
            sent_bps: 0.0,
            received_bps: 0.0,
            media_bytes: stats.media_sent + stats.bytes_received,
            overhead: stats.overhead(),
            redundant_bytes: stats.redundancy_sent,
            redundancy: stats.redundancy(),
            redundancy_refused: stats.redundancy_refused,
        }
    }

    /// Line of a summary; `None` without media.
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
        let sent = AssociationStats {
            media_sent: 1000,
            redundancy_sent: 25,
            wire_sent: 1100,
            wire_received: 34,
            ..AssociationStats::default()
        };
        let line = WireNow::of(&sent).line().expect("there are media");
        assert_eq!(line, "1.134 bytes on the wire for each byte of media, 2.5 % redundant");
        let received = AssociationStats { bytes_received: 1000, wire_received: 1100, ..Default::default() };
        let line = WireNow::of(&received).line().expect("there are media");
        assert_eq!(line, "1.100 bytes on the wire for each byte of media");
        assert_eq!(WireNow::default().line(), None);
    }
}

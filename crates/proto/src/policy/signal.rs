//! Signals from the core to policies.

use bytes::Bytes;
use smallvec::SmallVec;

use super::arrivals::PeerArrivals;
use super::ids::{LinkId, PathId};
use super::importance::Importance;
use super::symbols::Symbol;
use super::view::{Limit, PathView};
use crate::time::{Duration, Instant};
use crate::units::Rate;
use crate::wire::serial::{StreamId, Tsn};

/// An event. An event goes to estimators, loss policy, congestion control, scheduler and feedback, in that order.
#[derive(Debug)]
pub enum Signal<'a> {
    /// A DATA chunk left. Its last transmission has the path; a chunk with copies has several transmissions with the
    /// same time.
    Sent(&'a ChunkInfo),
    /// The application queued data while no data were waiting.
    Queued,
    /// A SACK reports that a chunk arrived. The signal is sent once for each path by which the chunk arrived, before
    /// the `Acked` of that SACK and path. Only schemes that request the signal receive it
    /// ([`Policy::hears_deliveries`](super::Policy::hears_deliveries)).
    ///
    /// Each TSN that a SACK newly acknowledges is reported with that SACK. A copy whose path the peer names later is
    /// reported again with the next SACK, as if it had been sent only on that path. The first report of each TSN
    /// therefore shows which TSNs arrived.
    Delivered {
        /// The chunk. Its transmissions that arrived are no longer in flight.
        chunk: &'a ChunkInfo,
        /// The path whose [`AckInfo::newly_acked`] counts the chunk: the path on which it was sent, or last sent if it
        /// had been declared lost. It is `None` if the chunk was in flight on several paths and the peer does not
        /// report the path. Then no path counts the chunk.
        path: Option<PathId>,
    },
    /// A SACK newly acknowledged data on a path. The signal is sent once per SACK and path.
    Acked(&'a AckInfo),
    /// A transmission was declared lost. The chunk waits to be retransmitted unless another transmission of it is in
    /// flight or has arrived.
    Lost {
        /// The chunk without that transmission.
        chunk: &'a ChunkInfo,
        /// Path of the transmission. With copies it may differ from [`ChunkInfo::path`], the path on which the chunk
        /// was sent last.
        path: PathId,
        /// Verdict of the loss policy.
        cause: LossCause,
    },
    /// Losses of one window. The signal is sent at most once per round trip for losses that fast retransmit finds, and
    /// at each timeout. It is also sent for a penalty ([`LossTrigger::HeadOfLine`]), at most once per round trip. With
    /// [`Rules::Linux`](super::Rules::Linux) this is a round trip of the faster path.
    LossEvent {
        /// Path of the losses.
        path: PathId,
        /// Trigger of the loss event.
        trigger: LossTrigger,
        /// Highest TSN in flight on the path at that time. Recovery ends when it is acknowledged.
        highest: Tsn,
        /// Verdict of the loss policy on the first lost chunk.
        cause: LossCause,
    },
    /// Chunks that were declared lost on `path`, by miss indications or by a timeout, arrived after all. This signal
    /// precedes the `Acked` of the SACK that shows it. It is only sent if
    /// [`TransportConfig::reordering`](crate::config::TransportConfig::reordering) is on.
    Spurious {
        /// Path on which the chunks were declared lost.
        path: PathId,
        /// Trigger of the losses.
        trigger: LossTrigger,
        /// Number of chunks.
        chunks: u32,
        /// The path's limits before the loss event, if all losses of that event turned out to be spurious. The window
        /// then returns to these limits (RFC 4015).
        before: Option<Limit>,
    },
    /// Partial reliability gave up the chunk (RFC 3758 §3.5).
    Abandoned(&'a ChunkInfo),
    /// Counters of a local interface.
    Link(&'a LinkSample),
    /// A packet with DATA, or a padded HEARTBEAT, arrived.
    Arrived(&'a RxInfo),
    /// A report of the peer's scheme arrived. Reports in a packet precede its `Arrived`.
    Peer(&'a Report),
    /// The peer reports the arrivals by each path. Only schemes that request this signal
    /// ([`Policy::hears_arrivals`](super::Policy::hears_arrivals)) receive it, and only if the peer supports it. This
    /// signal precedes the SACK of the same packet.
    PeerArrivals(&'a PeerArrivals),
    /// A heartbeat was answered, or was not answered within the path's RTO.
    Heartbeat(&'a HeartbeatInfo),
    /// State, MTU or addresses of a path changed. The path may be new.
    PathChanged(PathId),
    /// The scheme's own timeout is due.
    Tick,
}

/// A TSN that was sent: its properties, and each of its transmissions.
#[derive(Clone, Debug)]
pub struct ChunkInfo {
    /// Transmission sequence number.
    pub tsn: Tsn,
    /// Counted bytes: payload + 16.
    pub len: u64,
    /// Stream of the chunk.
    pub stream: StreamId,
    /// Time at which the chunk's message becomes useless.
    pub expires: Option<Instant>,
    /// Importance of its message.
    pub importance: Importance,
    /// Group of its message.
    pub group: Option<u64>,
    /// Transmissions, oldest first. A copy is a further transmission at the same time.
    pub transmissions: SmallVec<[Transmission; 2]>,
    /// Number of times that the chunk was declared lost.
    pub losses: u8,
    /// Symbol that the chunk carries, if the association codes.
    pub symbol: Option<Symbol>,
}

impl ChunkInfo {
    /// Path on which the chunk was last sent.
    #[inline]
    pub fn path(&self) -> PathId {
        self.transmissions.last().map_or(PathId(0), |t| t.path)
    }

    /// Returns whether the chunk was sent exactly once.
    #[inline]
    pub fn sent_once(&self) -> bool {
        self.transmissions.len() == 1
    }

    /// Returns the newest transmission that is or was in flight on `path`.
    #[inline]
    pub fn on(&self, path: PathId) -> Option<&Transmission> {
        self.transmissions.iter().rev().find(|t| t.path == path)
    }
}

/// A transmission of a chunk.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct Transmission {
    /// Path of the transmission.
    pub path: PathId,
    /// Time of the transmission.
    pub at: Instant,
    /// Next new TSN at the time of this transmission. An acknowledged TSN that is equal or greater was sent after this
    /// transmission.
    pub next_tsn: Tsn,
    /// True if the transmission counts in the path's window, because it is neither acknowledged nor declared lost.
    pub in_flight: bool,
    /// Number of miss indications so far (RFC 9260 §7.2.4).
    pub misses: u8,
    /// Time at which a SACK first showed that a later transmission on this path had arrived and this one had not.
    pub overtaken: Option<Instant>,
    /// Time and trigger of the declaration of loss, unless the transmission is known to have arrived after all.
    pub lost: Option<DeclaredLost>,
}

impl Transmission {
    /// Makes a transmission in flight that leaves on `path` at `at`. `next_tsn` is the next new TSN at that time.
    pub fn new(path: PathId, at: Instant, next_tsn: Tsn) -> Self {
        Transmission { path, at, next_tsn, in_flight: true, misses: 0, overtaken: None, lost: None }
    }
}

/// Time and trigger of a declaration of loss.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct DeclaredLost {
    /// Time of the declaration.
    pub at: Instant,
    /// Trigger: miss indications or a timeout; `None` if the scheme declared the loss
    /// ([`Act::Lose`](super::Act::Lose)).
    pub by: Option<LossTrigger>,
}

/// Information of one SACK on one path.
#[derive(Clone, Debug)]
pub struct AckInfo {
    /// Path of the acknowledged data.
    pub path: PathId,
    /// Path on which the SACK arrived.
    pub return_path: PathId,
    /// Cumulative TSN of the SACK.
    pub cum_tsn: Tsn,
    /// True if the association's cumulative TSN moved.
    pub cum_advanced: bool,
    /// True if the earliest outstanding TSN of this path was acknowledged: the pseudo-cumack of the path moved (CUC).
    pub pseudo_cum_advanced: bool,
    /// True if the pseudo-cumack of retransmissions sent on this path moved.
    pub rtx_pseudo_cum_advanced: bool,
    /// Earliest TSN still outstanding on this path after the SACK.
    pub earliest_outstanding: Option<Tsn>,
    /// Counted bytes newly acknowledged, by cumulative TSN or gap block.
    pub newly_acked: u64,
    /// Part of these bytes that is known to have arrived by this path, because it was sent on no other path or the peer
    /// named the path (ARRIVALS).
    pub proven: u64,
    /// Number of chunks newly acknowledged.
    pub newly_acked_chunks: u32,
    /// Number of these chunks that had been declared lost, whether or not they were retransmitted. The retransmission
    /// queue shrinks by this number.
    pub newly_acked_again: u32,
    /// Bytes in flight on the path before this SACK.
    pub flight_before: u64,
    /// True if nothing is in flight on the path any longer.
    pub all_acked: bool,
    /// Round-trip time by Karn's rule, measured with a chunk that was sent once and on one path. If the acknowledgement
    /// may have been delayed, it is the possible value that is nearest to the smoothed round-trip time.
    pub rtt: Option<Duration>,
    /// Time at which the newest acknowledged chunk of this path was sent. Only chunks count of which the arrived
    /// transmission is known (Karn's rule).
    pub newest_sent: Option<Instant>,
    /// Lowest and highest TSN newly acknowledged on this path (SFR).
    pub newly_acked_range: Option<(Tsn, Tsn)>,
    /// Lowest TSN that a gap block newly acknowledges on this path.
    pub lowest_gap_acked: Option<Tsn>,
    /// Highest TSN newly acknowledged on any path (RFC 9260's HTNA).
    pub highest_newly_acked: Option<Tsn>,
    /// Highest TSN that the SACK acknowledges, including gap blocks.
    pub highest_reported: Tsn,
    /// Number of paths on which this SACK newly acknowledges data.
    pub paths_newly_acked: u8,
    /// Number of paths on which a gap block of this SACK newly acknowledges data.
    pub paths_gap_acked: u8,
    /// Number of DATA packets for which this SACK stands, if the peer reports this number (DAC), otherwise 1.
    pub dac_count: u8,
    /// Maximum time for which the peer may have delayed this acknowledgement after the path's newest packet arrived
    /// (RFC 9260 §6.2): It is zero if that packet triggered the acknowledgement, and at most SACK.Delay. It is always
    /// zero unless [`TransportConfig::ack_delays`](crate::config::TransportConfig::ack_delays) is on.
    pub held: Duration,
    /// Recent lateness of overtaken packets of this path. If the lateness is not zero, newly acknowledged chunks count
    /// as progress even if the earliest outstanding TSN does not move, and round-trip times vary by the lateness
    /// without a queue. The value is always zero unless
    /// [`TransportConfig::reordering`](crate::config::TransportConfig::reordering) is on.
    pub lateness: Duration,
}

impl AckInfo {
    /// Minimum and maximum possible round-trip time at `now` of the newest packet acknowledged on this path. The two
    /// differ because the peer may have delayed the acknowledgement, and because the delays of packets that overtake
    /// each other vary by their lateness. `None` if the arrived transmission is unknown.
    #[inline]
    pub fn newest_rtt(&self, now: Instant) -> Option<(Duration, Duration)> {
        let rtt = now.saturating_since(self.newest_sent?);
        Some((rtt.saturating_sub(self.held + self.lateness), rtt))
    }

    /// Returns whether the window of `path` (this path, as it was before the acknowledgement) was full. In this case
    /// the window, and not the application, the peer or another path, limited the sender, so that the window may grow
    /// (RFC 9260 §7.2.1, RFC 9438 §5.8; by RFC 7661 §4.1 a window is validated if half of it was used). Free room of
    /// less than one packet counts as full.
    #[inline]
    pub fn window_limited(&self, path: &PathView) -> bool {
        self.flight_before.saturating_add(path.mtu) > path.limit.cwnd
    }
}

/// Cause of a chunk's loss, as decided by the loss policy.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum LossCause {
    /// A queue was full: the sender must slow down.
    Congestion,
    /// The radio lost the chunk: the window need not shrink.
    Wireless,
    /// The path does not answer.
    PathFailure,
}

/// Trigger of a declaration of loss.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum LossTrigger {
    /// A sufficient number of miss indications.
    FastRetransmit,
    /// T3-rtx expired.
    Timeout,
    /// No data were lost. A buffer is full, and the data in flight on the path keep a faster path from sending new data
    /// ([`HeadOfLine`](super::HeadOfLine)). This trigger occurs only in a [`Signal::LossEvent`]. The window becomes
    /// smaller, unless it is small or was already reduced for the same data in flight. Losses and their causes are not
    /// affected.
    HeadOfLine,
}

/// Counters of a local interface. The counters are cumulative and never reset.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct LinkSample {
    /// Link of the counters.
    pub link: LinkId,
    /// Path over the link. The core sets it, and sends one signal for each path over the link.
    pub path: Option<PathId>,
    /// Number of frames sent, counting each transmission.
    pub tx_frames: u64,
    /// Number of sent frames in error that the link repeated.
    pub tx_retries: u64,
    /// Number of sent frames in error that the link gave up. The sum of this number and `tx_retries` is the number of
    /// all sent frames in error.
    pub tx_failed: u64,
    /// Number of frames received.
    pub rx_frames: u64,
    /// Number of frames received in error.
    pub rx_errors: u64,
    /// Bytes that wait in the interface.
    pub queued_bytes: Option<u64>,
    /// Mean frame length in bytes.
    pub frame_bytes: Option<f64>,
    /// Signal-to-noise ratio in dB.
    pub snr_db: Option<f64>,
    /// Physical rate of the link.
    pub phy_rate: Option<Rate>,
    /// Time and length of a packet of this side that left the link. Bandwidth estimators use the dispersion of these
    /// times.
    pub departure: Option<(Instant, u64)>,
}

/// Arrival of a packet at the receiver.
#[derive(Clone, Debug)]
pub struct RxInfo {
    /// Path by which the packet arrived.
    pub path: PathId,
    /// Bytes of the SCTP packet.
    pub bytes: u64,
    /// Lowest and highest TSN in the packet; `None` for a padded HEARTBEAT.
    pub tsns: Option<(Tsn, Tsn)>,
    /// True if a TSN in the packet was new.
    pub new: bool,
    /// True if a TSN in the packet had arrived before.
    pub duplicate: bool,
    /// True if TSNs are missing below the highest one received, after this packet.
    pub gap: bool,
    /// True if the packet closed a gap or a part of one.
    pub filled: bool,
    /// True if the sender requested a SACK at once (I bit, RFC 7053).
    pub immediate: bool,
    /// Number of DATA packets since the last SACK, including this one.
    pub packets_since_sack: u32,
}

/// A report of a scheme, as sent or as received.
#[derive(Clone, PartialEq, Debug)]
pub struct Report {
    /// Kind of the report: `0x100` and above (lower values belong to the core).
    pub kind: u16,
    /// Path that is the subject of the report.
    pub subject: Option<PathId>,
    /// Path on which to send the report; `None` leaves the choice to the core. In a received report it is the path of
    /// arrival.
    pub via: Option<PathId>,
    /// If true, the report is repeated until the peer has echoed it.
    pub reliable: bool,
    /// Content of the report.
    pub payload: Bytes,
}

/// Outcome of a heartbeat.
#[derive(Copy, Clone, Debug)]
pub struct HeartbeatInfo {
    /// Path of the heartbeat.
    pub path: PathId,
    /// Round-trip time; `None` if the heartbeat was not answered within the RTO.
    pub rtt: Option<Duration>,
    /// True if the scheme and not the core requested the heartbeat.
    pub probe: bool,
    /// Time at which the heartbeat was sent.
    pub sent: Instant,
    /// True if a heartbeat that the scheme requested was answered after its timeout, or after the answer to a later
    /// one. Such an answer shows that the path works, but not its present round-trip time.
    pub late: bool,
}

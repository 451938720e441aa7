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

/// A signal: an event that the core reports to policies. A signal is passed to estimators, loss policy, congestion
/// control, scheduler and feedback, in that order.
#[derive(Debug)]
pub enum Signal<'a> {
    /// A DATA chunk was sent. The chunk's last transmission has the path. A chunk with copies has several transmissions
    /// with one time.
    Sent(&'a ChunkInfo),
    /// The application queued data while no other data were waiting.
    Queued,
    /// A SACK reports that a chunk arrived. There is one signal for each path by which the chunk arrived. The signal
    /// for an arrived chunk precedes the signal `Acked` of that SACK and path. Only schemes that request this signal
    /// receive it ([`Policy::hears_deliveries`](super::Policy::hears_deliveries)).
    ///
    /// Each TSN that a SACK newly acknowledges is reported with this SACK. The peer may later name the path of a copy.
    /// The copy is then reported again with the next SACK, as if it had been sent only on this path. The first report
    /// of each TSN therefore shows that the TSN arrived.
    Delivered {
        /// The chunk that arrived. Its transmissions that arrived are no longer in flight.
        chunk: &'a ChunkInfo,
        /// The path to whose [`AckInfo::newly_acked`] the chunk is credited. The credited path is the path on which the
        /// chunk was sent, or last sent if the chunk had been declared lost. The credited path is `None` if the chunk
        /// was in flight on several paths and the peer does not report the path of arrival. The chunk is then credited
        /// to no path.
        path: Option<PathId>,
    },
    /// A SACK newly acknowledged data on a path. There is one signal per SACK and path.
    Acked(&'a AckInfo),
    /// A transmission of a chunk was declared lost. The chunk then waits for retransmission, unless another
    /// transmission of it is in flight or has arrived.
    Lost {
        /// The chunk, without the lost transmission.
        chunk: &'a ChunkInfo,
        /// Path of the lost transmission. For a chunk with copies, the value may differ from [`ChunkInfo::path`], the
        /// path on which the chunk was sent last.
        path: PathId,
        /// Verdict of the loss policy.
        cause: LossCause,
    },
    /// A window of data had losses. The signal is sent at each timeout, and at most once per round trip for losses
    /// found by fast retransmit. The signal of a loss event is also sent at most once per round trip for a penalty
    /// ([`LossTrigger::HeadOfLine`]). With [`Rules::Linux`](super::Rules::Linux), that round trip is one of the faster
    /// path.
    LossEvent {
        /// Path of the losses.
        path: PathId,
        /// Trigger of this signal.
        trigger: LossTrigger,
        /// Highest TSN that was in flight on the path at that time. Recovery ends when this TSN is acknowledged.
        highest: Tsn,
        /// Verdict of the loss policy on the first lost chunk.
        cause: LossCause,
    },
    /// Chunks arrived that miss indications or a timeout had declared lost on `path`. The signal precedes the `Acked`
    /// of the SACK that shows the arrival. The signal is sent only if
    /// [`TransportConfig::reordering`](crate::config::TransportConfig::reordering) is on.
    Spurious {
        /// Path on which the chunks were declared lost.
        path: PathId,
        /// Trigger by which the chunks had been declared lost.
        trigger: LossTrigger,
        /// Number of such chunks.
        chunks: u32,
        /// The path's limits before the loss event. The value is set if all losses of this event turned out to be
        /// spurious. The window then returns to these limits (RFC 4015).
        before: Option<Limit>,
    },
    /// The sender abandoned the chunk (RFC 3758 §3.5).
    Abandoned(&'a ChunkInfo),
    /// A local interface reported its counters.
    Link(&'a LinkSample),
    /// A packet arrived that contains DATA or a padded HEARTBEAT.
    Arrived(&'a RxInfo),
    /// A report of the peer's scheme arrived. Reports precede the signal `Arrived` of their packet.
    Peer(&'a Report),
    /// The peer's report of arrivals by path was received. Only schemes that request this signal receive it
    /// ([`Policy::hears_arrivals`](super::Policy::hears_arrivals)). The peer must support such reports. The signal
    /// precedes the signals of a SACK in the same packet.
    PeerArrivals(&'a PeerArrivals),
    /// The peer answered a heartbeat, or did not answer it within the path's RTO.
    Heartbeat(&'a HeartbeatInfo),
    /// The state, MTU or addresses of a path changed. The path may also be new.
    PathChanged(PathId),
    /// The time of [`Policy::poll_timeout`](super::Policy::poll_timeout) has come.
    Tick,
}

/// A DATA chunk that was sent: its properties, and each of its transmissions.
#[derive(Clone, Debug)]
pub struct ChunkInfo {
    /// Transmission sequence number.
    pub tsn: Tsn,
    /// Counted bytes of the chunk: payload + 16.
    pub len: u64,
    /// Stream of the chunk.
    pub stream: StreamId,
    /// Time at which the chunk's message becomes useless.
    pub expires: Option<Instant>,
    /// Importance of the chunk's message.
    pub importance: Importance,
    /// Group of the chunk's message.
    pub group: Option<u64>,
    /// Transmissions, oldest first. A copy is a further transmission with an equal time.
    pub transmissions: SmallVec<[Transmission; 2]>,
    /// Number of times that the chunk was declared lost.
    pub losses: u8,
    /// Symbol that the chunk carries, if the data are coded.
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
    /// Time at which the transmission was sent.
    pub at: Instant,
    /// Next new TSN at the time of this transmission. A TSN that is equal or greater was therefore sent after this
    /// transmission.
    pub next_tsn: Tsn,
    /// True if the transmission counts in the path's window. A transmission that counts in the window is neither
    /// acknowledged nor declared lost.
    pub in_flight: bool,
    /// Number of miss indications so far (RFC 9260 §7.2.4).
    pub misses: u8,
    /// Time at which a SACK first showed that this transmission was missing although a later one on this path had
    /// arrived.
    pub overtaken: Option<Instant>,
    /// Time and trigger of the declaration of loss. The value is `None` if there was no such declaration, or if the
    /// transmission is known to have arrived.
    pub lost: Option<DeclaredLost>,
}

impl Transmission {
    /// Returns a transmission in flight that was sent on `path` at `at`. `next_tsn` is the next new TSN at that time.
    pub fn new(path: PathId, at: Instant, next_tsn: Tsn) -> Self {
        Transmission { path, at, next_tsn, in_flight: true, misses: 0, overtaken: None, lost: None }
    }
}

/// Time and trigger of a declaration that a transmission is lost.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct DeclaredLost {
    /// Time of this declaration.
    pub at: Instant,
    /// Trigger: miss indications or a timeout. The trigger is `None` if the scheme declared the loss
    /// ([`Act::Lose`](super::Act::Lose)).
    pub by: Option<LossTrigger>,
}

/// Information about one SACK, for one path.
#[derive(Clone, Debug)]
pub struct AckInfo {
    /// Path of the acknowledged data.
    pub path: PathId,
    /// Path on which the SACK arrived.
    pub return_path: PathId,
    /// Cumulative TSN of the SACK.
    pub cum_tsn: Tsn,
    /// True if the SACK advanced the association's cumulative TSN.
    pub cum_advanced: bool,
    /// True if the SACK acknowledged the earliest outstanding TSN of this path: the path's pseudo-cumack advanced
    /// (CUC).
    pub pseudo_cum_advanced: bool,
    /// True if the pseudo-cumack of retransmissions on this path advanced.
    pub rtx_pseudo_cum_advanced: bool,
    /// Earliest TSN that is still outstanding on this path after the SACK.
    pub earliest_outstanding: Option<Tsn>,
    /// Counted bytes that the SACK newly acknowledges, by cumulative TSN or by gap block.
    pub newly_acked: u64,
    /// Part of `newly_acked` that is known to have arrived by this path: it was sent on no other path, or the peer
    /// named the path (ARRIVALS).
    pub proven: u64,
    /// Number of chunks that the SACK newly acknowledges.
    pub newly_acked_chunks: u32,
    /// Number of these chunks that had been declared lost, whether retransmitted or not. The retransmission queue
    /// shrinks by this number.
    pub newly_acked_again: u32,
    /// Bytes that were in flight on the path before this SACK.
    pub flight_before: u64,
    /// True if no data are in flight on the path after this SACK.
    pub all_acked: bool,
    /// Round-trip time by Karn's rule: it is measured with a chunk that was sent once and on one path. If the
    /// acknowledgement may have been delayed, `rtt` is the possible value nearest to the smoothed round-trip time.
    pub rtt: Option<Duration>,
    /// Time at which the newest acknowledged chunk of this path was sent. Only chunks count for which the arrived
    /// transmission is known (Karn's rule).
    pub newest_sent: Option<Instant>,
    /// Lowest and highest TSN that the SACK newly acknowledges on this path (SFR).
    pub newly_acked_range: Option<(Tsn, Tsn)>,
    /// Lowest TSN that a gap block newly acknowledges on this path.
    pub lowest_gap_acked: Option<Tsn>,
    /// Highest TSN that the SACK newly acknowledges on any path (HTNA of RFC 9260).
    pub highest_newly_acked: Option<Tsn>,
    /// Highest TSN that the SACK acknowledges, including gap blocks.
    pub highest_reported: Tsn,
    /// Number of paths on which this SACK newly acknowledges data.
    pub paths_newly_acked: u8,
    /// Number of paths on which a gap block of this SACK newly acknowledges data.
    pub paths_gap_acked: u8,
    /// Number of DATA packets that this SACK acknowledges, if the peer reports this number (DAC), otherwise 1.
    pub dac_count: u8,
    /// Longest time for which the peer may have delayed this acknowledgement, after the path's newest packet arrived
    /// (RFC 9260 §6.2). The time is zero if this packet triggered the acknowledgement, and at most SACK.Delay. The
    /// value is always zero unless [`TransportConfig::ack_delays`](crate::config::TransportConfig::ack_delays) is on.
    pub held: Duration,
    /// Recent lateness of overtaken packets of this path. A lateness above zero has two consequences. Newly
    /// acknowledged chunks then count as progress even if the earliest outstanding TSN does not advance. Round-trip
    /// times then vary by the lateness even without a queue. The value is always zero unless
    /// [`TransportConfig::reordering`](crate::config::TransportConfig::reordering) is on.
    pub lateness: Duration,
}

impl AckInfo {
    /// Returns the smallest and the largest round-trip time that the newest packet acknowledged on this path can have
    /// at `now`. Two causes separate these values: the peer may have delayed the acknowledgement, and delays of packets
    /// that overtake each other vary by their lateness. The result is `None` if it is unknown which transmission
    /// arrived.
    #[inline]
    pub fn newest_rtt(&self, now: Instant) -> Option<(Duration, Duration)> {
        let rtt = now.saturating_since(self.newest_sent?);
        Some((rtt.saturating_sub(self.held + self.lateness), rtt))
    }

    /// Returns whether the window of `path` was full. `path` has the state before the acknowledgement. If the window
    /// was full, the window limited the sender. The application, the peer and other paths did not. The window may then
    /// grow (RFC 9260 §7.2.1, RFC 9438 §5.8). By RFC 7661 §4.1, a window is validated if half of it was used. A window
    /// with less free room than one packet counts as full.
    #[inline]
    pub fn window_limited(&self, path: &PathView) -> bool {
        self.flight_before.saturating_add(path.mtu) > path.limit.cwnd
    }
}

/// Cause of a chunk's loss, decided by the loss policy.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum LossCause {
    /// Congestion loss in a full queue: the sender must slow down.
    Congestion,
    /// Random loss on a radio link: the window need not shrink.
    Wireless,
    /// Failure of the path, which does not answer.
    PathFailure,
}

/// Trigger of a declaration of loss.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum LossTrigger {
    /// Miss indications reached the threshold.
    FastRetransmit,
    /// T3-rtx expired.
    Timeout,
    /// This trigger involves no loss of data. A buffer is full, and data in flight on the path prevent a faster path
    /// from sending new data ([`HeadOfLine`](super::HeadOfLine)). This trigger occurs only in a [`Signal::LossEvent`].
    /// The window is then reduced, unless it is small or was already reduced for these data in flight. The trigger
    /// changes nothing about losses and their causes.
    HeadOfLine,
}

/// Counters that a local interface reports. The counters are cumulative and never reset.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct LinkSample {
    /// Link that has these counters.
    pub link: LinkId,
    /// Path that uses the link. The core sets it, and sends one signal for each path that uses the link.
    pub path: Option<PathId>,
    /// Number of frames sent. Each transmission of a frame counts.
    pub tx_frames: u64,
    /// Number of frame errors after which the link repeated the frame.
    pub tx_retries: u64,
    /// Number of frame errors after which the link gave up the frame. The sum of `tx_failed` and `tx_retries` is the
    /// number of all errors of sent frames.
    pub tx_failed: u64,
    /// Number of frames received.
    pub rx_frames: u64,
    /// Number of frames received in error.
    pub rx_errors: u64,
    /// Number of bytes that wait in the interface.
    pub queued_bytes: Option<u64>,
    /// Mean frame length in bytes.
    pub frame_bytes: Option<f64>,
    /// Signal-to-noise ratio in dB.
    pub snr_db: Option<f64>,
    /// Physical rate of the link.
    pub phy_rate: Option<Rate>,
    /// Time at which the link finished sending a packet of this side, and the packet's length in bytes. Bandwidth
    /// estimators use the intervals between such times.
    pub departure: Option<(Instant, u64)>,
}

/// Arrival of a packet at the receiver of data.
#[derive(Clone, Debug)]
pub struct RxInfo {
    /// Path by which the packet arrived.
    pub path: PathId,
    /// Bytes of the SCTP packet.
    pub bytes: u64,
    /// Lowest and highest TSN in the packet; `None` for a padded HEARTBEAT.
    pub tsns: Option<(Tsn, Tsn)>,
    /// True if a TSN in the packet arrived for the first time.
    pub new: bool,
    /// True if a TSN in the packet had arrived before.
    pub duplicate: bool,
    /// True if, after this packet, TSNs are missing below the highest TSN received.
    pub gap: bool,
    /// True if the packet closed a gap in the TSNs, or a part of a gap.
    pub filled: bool,
    /// True if the sender requested an immediate SACK (I bit, RFC 7053).
    pub immediate: bool,
    /// Number of DATA packets since the last SACK, including this packet.
    pub packets_since_sack: u32,
}

/// A scheme's report, as sent or as received.
#[derive(Clone, PartialEq, Debug)]
pub struct Report {
    /// Kind of the report. Kinds of schemes begin at `0x100`; lower values belong to the core.
    pub kind: u16,
    /// Path that is the subject of the report.
    pub subject: Option<PathId>,
    /// Path on which the report is sent. `None` leaves the choice to the core. In a received report, it is the path of
    /// arrival.
    pub via: Option<PathId>,
    /// If true, the report is repeated until the peer echoes it.
    pub reliable: bool,
    /// Content of the report.
    pub payload: Bytes,
}

/// Outcome of a heartbeat.
#[derive(Copy, Clone, Debug)]
pub struct HeartbeatInfo {
    /// Path of the heartbeat.
    pub path: PathId,
    /// Round-trip time of the heartbeat. The time is `None` if the peer did not answer within the RTO.
    pub rtt: Option<Duration>,
    /// True if the scheme requested the heartbeat, and not the core.
    pub probe: bool,
    /// Time at which the heartbeat was sent.
    pub sent: Instant,
    /// True if the answer arrived after the heartbeat's timeout, or after the answer to a later heartbeat. This field
    /// concerns heartbeats that the scheme requested. A late answer to a heartbeat shows that the path works. A late
    /// answer to a heartbeat does not show the present round-trip time.
    pub late: bool,
}

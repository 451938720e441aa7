//! What the core tells policies.

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

/// Something happened. Sent to estimators, loss policy, congestion control, scheduler and feedback, in that order.
#[derive(Debug)]
pub enum Signal<'a> {
    /// A DATA chunk left; its last transmission says where (several at once for copies).
    Sent(&'a ChunkInfo),
    /// The application queued data while nothing was waiting.
    Queued,
    /// A chunk arrived, as a SACK says: once for each path that it arrived by, before the `Acked` of that SACK and path. Only
    /// for schemes that ask for it ([`Policy::hears_deliveries`](super::Policy::hears_deliveries)).
    ///
    /// Each TSN that a SACK newly acknowledges comes with that SACK. A copy of which the peer names the path later comes
    /// once more, with the next SACK and as it was sent there alone: to know which TSNs arrived, take the first.
    Delivered {
        /// The chunk; what arrived of it is not in flight any more.
        chunk: &'a ChunkInfo,
        /// The path whose [`AckInfo::newly_acked`] counts it: where it was sent, or sent last if it had been declared lost.
        /// `None`: it was in flight on several paths, and the peer does not say by which it came; none counts it.
        path: Option<PathId>,
    },
    /// Once a SACK and path on which something was newly acknowledged.
    Acked(&'a AckInfo),
    /// A transmission was declared lost; once each. The chunk waits to be sent again unless another transmission of it
    /// is in flight or arrived.
    Lost {
        /// The chunk, as it is without that transmission.
        chunk: &'a ChunkInfo,
        /// Where the transmission was. With copies it need not be [`ChunkInfo::path`], where the chunk was sent last.
        path: PathId,
        /// The loss policy's verdict.
        cause: LossCause,
    },
    /// Losses of one window: once per round trip at most by fast retransmit, and at each timeout; or a penalty
    /// ([`LossTrigger::HeadOfLine`]), once per round trip at most, which by [`Rules::Linux`](super::Rules::Linux) is one of
    /// the faster path.
    LossEvent {
        /// Where.
        path: PathId,
        /// How it was noticed.
        trigger: LossTrigger,
        /// The highest TSN in flight on the path then: recovery ends when it is acknowledged.
        highest: Tsn,
        /// The loss policy's verdict on the first lost chunk.
        cause: LossCause,
    },
    /// Chunks that were declared lost on `path`, by miss indications or by a timeout, arrived after all. Comes before
    /// the `Acked` of the SACK that shows it. Only where
    /// [`TransportConfig::reordering`](crate::config::TransportConfig::reordering) is on.
    Spurious {
        /// The path on which they were declared lost.
        path: PathId,
        /// How.
        trigger: LossTrigger,
        /// Number of chunks.
        chunks: u32,
        /// The path's limits before the loss event, if all losses of that event turned out to be spurious: the window
        /// returns to them (RFC 4015).
        before: Option<Limit>,
    },
    /// Partial reliability gave the chunk up (RFC 3758 §3.5).
    Abandoned(&'a ChunkInfo),
    /// Counters of a local interface.
    Link(&'a LinkSample),
    /// A packet with DATA, or a padded HEARTBEAT, arrived.
    Arrived(&'a RxInfo),
    /// A report of the peer's scheme arrived. Those in one packet come before its `Arrived`.
    Peer(&'a Report),
    /// The peer says what arrived by which path. Only for schemes that ask for it
    /// ([`Policy::hears_arrivals`](super::Policy::hears_arrivals)), and from peers that know how; before the SACK of the same
    /// packet is read.
    PeerArrivals(&'a PeerArrivals),
    /// A heartbeat was answered, or was not within the path's RTO.
    Heartbeat(&'a HeartbeatInfo),
    /// State, MTU or addresses of a path changed; it may be new.
    PathChanged(PathId),
    /// The scheme's own timeout is due.
    Tick,
}

/// A TSN on its way: what it is and each time it was sent.
#[derive(Clone, Debug)]
pub struct ChunkInfo {
    /// Transmission sequence number.
    pub tsn: Tsn,
    /// Book size in bytes: payload + 16.
    pub len: u64,
    /// Its stream.
    pub stream: StreamId,
    /// When its message becomes worthless.
    pub expires: Option<Instant>,
    /// Its message's importance.
    pub importance: Importance,
    /// Its message's group.
    pub group: Option<u64>,
    /// Each transmission, oldest first; a copy is a second one at the same time.
    pub transmissions: SmallVec<[Transmission; 2]>,
    /// How often it was declared lost.
    pub losses: u8,
    /// The symbol that it carries, if the association codes what it sends.
    pub symbol: Option<Symbol>,
}

impl ChunkInfo {
    /// The path it was last sent on.
    #[inline]
    pub fn path(&self) -> PathId {
        self.transmissions.last().map_or(PathId(0), |t| t.path)
    }

    /// Whether it was sent once and only once.
    #[inline]
    pub fn sent_once(&self) -> bool {
        self.transmissions.len() == 1
    }

    /// The transmission that is or was in flight on `path`, newest first.
    #[inline]
    pub fn on(&self, path: PathId) -> Option<&Transmission> {
        self.transmissions.iter().rev().find(|t| t.path == path)
    }
}

/// One time a chunk was sent.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct Transmission {
    /// Where.
    pub path: PathId,
    /// When.
    pub at: Instant,
    /// The next new TSN when it left: an acknowledged TSN at or above it was sent later than this transmission.
    pub next_tsn: Tsn,
    /// Counts in the path's window: neither acknowledged nor declared lost.
    pub in_flight: bool,
    /// Miss indications so far (RFC 9260 §7.2.4).
    pub misses: u8,
    /// When a SACK first showed that a later transmission on this path had arrived and this one had not.
    pub overtaken: Option<Instant>,
    /// When it was declared lost, if it was and is not known to have arrived after all.
    pub lost: Option<DeclaredLost>,
}

impl Transmission {
    /// One that leaves on `path` at `at`, in flight; `next_tsn` is the next new TSN then.
    pub fn new(path: PathId, at: Instant, next_tsn: Tsn) -> Self {
        Transmission { path, at, next_tsn, in_flight: true, misses: 0, overtaken: None, lost: None }
    }
}

/// When a transmission was declared lost, and how.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct DeclaredLost {
    /// When.
    pub at: Instant,
    /// By miss indications or a timeout; `None`: the scheme declared it lost ([`Act::Lose`](super::Act::Lose)).
    pub by: Option<LossTrigger>,
}

/// What one SACK says of one path.
#[derive(Clone, Debug)]
pub struct AckInfo {
    /// The path whose data it acknowledges.
    pub path: PathId,
    /// The path the SACK arrived on.
    pub return_path: PathId,
    /// Cumulative TSN of the SACK.
    pub cum_tsn: Tsn,
    /// The association's cumulative TSN moved.
    pub cum_advanced: bool,
    /// The earliest outstanding TSN of this path was acknowledged: its pseudo-cumack moved (CUC).
    pub pseudo_cum_advanced: bool,
    /// The same for retransmissions sent on this path.
    pub rtx_pseudo_cum_advanced: bool,
    /// The earliest TSN still outstanding on this path after the SACK.
    pub earliest_outstanding: Option<Tsn>,
    /// Book bytes newly acknowledged, by cumulative TSN or gap block.
    pub newly_acked: u64,
    /// Those of them that are known to have arrived by this path: sent nowhere else, or named by the peer (ARRIVALS).
    pub proven: u64,
    /// Chunks newly acknowledged.
    pub newly_acked_chunks: u32,
    /// Those of them that had been declared lost, sent again or not: the retransmission queue shrinks by so much.
    pub newly_acked_again: u32,
    /// Bytes in flight on the path before this SACK.
    pub flight_before: u64,
    /// Nothing is in flight on the path any more.
    pub all_acked: bool,
    /// Round-trip time by Karn's rule: of a chunk sent once, on one path. If the acknowledgement may have been held back, the value
    /// nearest to the smoothed round-trip time of all that it may have been.
    pub rtt: Option<Duration>,
    /// When the newest chunk acknowledged here was sent, of those of which it is known which transmission arrived (Karn).
    pub newest_sent: Option<Instant>,
    /// Lowest and highest TSN newly acknowledged on this path (SFR).
    pub newly_acked_range: Option<(Tsn, Tsn)>,
    /// Highest TSN newly acknowledged on any path (RFC 9260's HTNA).
    pub highest_newly_acked: Option<Tsn>,
    /// Highest TSN the SACK acknowledges, gap blocks included.
    pub highest_reported: Tsn,
    /// Paths with something newly acknowledged by this SACK.
    pub paths_newly_acked: u8,
    /// DATA packets this SACK stands for, where the peer says so (DAC), else 1.
    pub dac_count: u8,
    /// How long the peer may have held this acknowledgement back after the path's newest packet arrived (RFC 9260 §6.2): zero
    /// if that packet made it leave, SACK.Delay at most. Always zero unless
    /// [`TransportConfig::ack_delays`](crate::config::TransportConfig::ack_delays) is on.
    pub held: Duration,
    /// How late packets of this path were lately that others had overtaken. If any were, what is newly acknowledged is progress
    /// although the earliest outstanding TSN may not move, and round trips vary by as much without a queue. Always zero unless
    /// [`TransportConfig::reordering`](crate::config::TransportConfig::reordering) is on.
    pub lateness: Duration,
}

impl AckInfo {
    /// Least and greatest round-trip time of the newest packet acknowledged here, at `now`: the peer may have held the
    /// acknowledgement back, and packets that overtake each other vary by their lateness. `None`: unknown which transmission
    /// arrived.
    #[inline]
    pub fn newest_rtt(&self, now: Instant) -> Option<(Duration, Duration)> {
        let rtt = now.saturating_since(self.newest_sent?);
        Some((rtt.saturating_sub(self.held + self.lateness), rtt))
    }

    /// Whether the window of `path` (this path, as it was before the acknowledgement) was full: then the window, not the
    /// application, the peer or another path, bounded what was sent, and it may grow (RFC 9260 §7.2.1, RFC 9438 §5.8; RFC
    /// 7661 §4.1 calls a window validated of which half was used). A free rest of less than one packet counts as full.
    #[inline]
    pub fn window_limited(&self, path: &PathView) -> bool {
        self.flight_before.saturating_add(path.mtu) > path.limit.cwnd
    }
}

/// Why a chunk was lost, as the loss policy judges.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum LossCause {
    /// A queue was full: slow down.
    Congestion,
    /// The radio lost it: the window need not shrink.
    Wireless,
    /// The path does not answer.
    PathFailure,
}

/// How a loss was noticed.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum LossTrigger {
    /// Enough miss indications.
    FastRetransmit,
    /// T3-rtx expired.
    Timeout,
    /// Nothing was lost: what is in flight on the path keeps a faster one from sending new data, since a buffer is full
    /// ([`HeadOfLine`](super::HeadOfLine)). Comes as a [`Signal::LossEvent`] alone. The window becomes smaller, or stays
    /// if it is small or was cut for this flight already; losses and their causes are not concerned.
    HeadOfLine,
}

/// Counters of a local interface. Cumulative, never reset.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct LinkSample {
    /// The link they belong to.
    pub link: LinkId,
    /// The path concerned; set by the core, one signal for each path over the link.
    pub path: Option<PathId>,
    /// Frames sent, each transmission counting.
    pub tx_frames: u64,
    /// Of these, those in error that the link sent again.
    pub tx_retries: u64,
    /// Of these, those in error that the link gave up: with `tx_retries` all that were in error.
    pub tx_failed: u64,
    /// Frames received.
    pub rx_frames: u64,
    /// Frames received in error.
    pub rx_errors: u64,
    /// Bytes waiting in the interface.
    pub queued_bytes: Option<u64>,
    /// Mean frame length, bytes.
    pub frame_bytes: Option<f64>,
    /// Signal-to-noise ratio, dB.
    pub snr_db: Option<f64>,
    /// Physical rate.
    pub phy_rate: Option<Rate>,
    /// When a packet of ours left the link, and its length: dispersion for bandwidth estimators.
    pub departure: Option<(Instant, u64)>,
}

/// An arrival at the receiver.
#[derive(Clone, Debug)]
pub struct RxInfo {
    /// The path it came by.
    pub path: PathId,
    /// Bytes of the SCTP packet.
    pub bytes: u64,
    /// Lowest and highest TSN in it; `None` for a padded HEARTBEAT.
    pub tsns: Option<(Tsn, Tsn)>,
    /// Some TSN in it was new.
    pub new: bool,
    /// Some TSN in it had arrived before.
    pub duplicate: bool,
    /// TSNs are missing below the highest one received, after this packet.
    pub gap: bool,
    /// It closed a gap or part of one.
    pub filled: bool,
    /// The sender asked for a SACK at once (I bit, RFC 7053).
    pub immediate: bool,
    /// DATA packets since the last SACK, this one included.
    pub packets_since_sack: u32,
}

/// A report of a scheme, as sent or as received.
#[derive(Clone, PartialEq, Debug)]
pub struct Report {
    /// What it says; `0x100` and above (below are the core's).
    pub kind: u16,
    /// The path it is about.
    pub subject: Option<PathId>,
    /// Where to send it; `None` leaves it to the core. Received: where it arrived.
    pub via: Option<PathId>,
    /// Resend until the peer echoed it.
    pub reliable: bool,
    /// Its content.
    pub payload: Bytes,
}

/// The end of a heartbeat.
#[derive(Copy, Clone, Debug)]
pub struct HeartbeatInfo {
    /// Where.
    pub path: PathId,
    /// Round-trip time; `None`: not answered within the RTO.
    pub rtt: Option<Duration>,
    /// Asked for by the scheme, not the core.
    pub probe: bool,
    /// When it was sent.
    pub sent: Instant,
    /// Of one that the scheme asked for: answered after its timeout, or after the answer to a later one. It shows that the path
    /// lives, not how long a round trip takes now.
    pub late: bool,
}

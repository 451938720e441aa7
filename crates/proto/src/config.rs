//! Configuration of an endpoint and its associations.

use core::time::Duration;
use std::sync::Arc;

use crate::coding::Coding;
use crate::path::Envelope;
use crate::policy::HeadOfLineConfig;

/// SACK.Delay between two Strandcast peers on real networks.
pub const SACK_DELAY_STRANDCAST: Duration = Duration::from_millis(25);

/// Protocol parameters of RFC 9260 §16, and further parameters. These parameters apply to all associations of an
/// endpoint, unless an association is opened with other parameters. The defaults are those of RFC 9260.
/// [`TransportConfig::live`] has values for real networks.
#[derive(Clone, PartialEq, Debug)]
pub struct TransportConfig {
    /// RTO.Initial: retransmission timeout before the first measurement.
    pub rto_initial: Duration,
    /// RTO.Min: minimum retransmission timeout.
    pub rto_min: Duration,
    /// RTO.Min for Strandcast peers. `None` means that it equals `rto_min`.
    pub rto_min_strandcast: Option<Duration>,
    /// RTO.Max: maximum retransmission timeout.
    pub rto_max: Duration,
    /// Time whose bytes may leave at once if a scheme paces. Such a burst is necessary because timers are coarse.
    pub pacing_quantum: Duration,
    /// Max.Burst: maximum number of packets per send opportunity. A SACK that acknowledges n packets permits n/2 bursts
    /// of this size, unless `strict_rfc` is set.
    pub max_burst: u32,
    /// Association.Max.Retrans: maximum number of consecutive errors of an association.
    pub association_max_retrans: u32,
    /// Longest total silence of a Strandcast peer that an association tolerates. The silence is measured from the first
    /// timeout. All paths are probed during a silence. If the value is `None`, Association.Max.Retrans errors end the
    /// association (RFC 9260 §8.1). This rule always applies to other peers.
    pub silence_timeout: Option<Duration>,
    /// Path.Max.Retrans: maximum number of consecutive errors of a path.
    pub path_max_retrans: u32,
    /// Max.Init.Retransmits: maximum number of repetitions in the handshake.
    pub max_init_retrans: u32,
    /// If set, INIT is sent on every path at once. INIT and COOKIE ECHO are repeated after at most this time. If
    /// `None`, INIT is sent on one path after the other, and T1 doubles up to RTO.Max (RFC 9260 §5.1, §6.3.3).
    pub eager_handshake: Option<Duration>,
    /// HB.interval: interval between heartbeats on an idle path.
    pub heartbeat_interval: Duration,
    /// SACK.Delay: longest delay of a SACK.
    pub sack_delay: Duration,
    /// SACK.Delay for Strandcast peers. `None` means that it equals `sack_delay`. The peer is assumed to use this
    /// value, but at least [`SACK_DELAY_STRANDCAST`]. The reason for the minimum is that the peer's scheme may set
    /// another value.
    pub sack_delay_strandcast: Option<Duration>,
    /// Number of DATA packets after which an acknowledgement is sent at the latest.
    pub sack_frequency: u32,
    /// Valid.Cookie.Life: lifetime of a state cookie.
    pub cookie_life: Duration,
    /// Number of errors after which a path is potentially failed (PFMR of RFC 7829). `None` turns the state off.
    pub pf_max_retrans: Option<u32>,
    /// Sends tail probes to a Strandcast peer: a chunk is retransmitted before T3-rtx expires if acknowledgements have
    /// stopped (RFC 8985 §7). Acknowledgements count as stopped after two round trips, or after one and a half if there
    /// is another path. Timeouts that turn out to be spurious are also reversed.
    pub tail_probes: bool,
    /// Waits for overtaken chunks before they count as lost. The wait is as long as earlier packets of the path were
    /// late (the reordering window of RFC 8985 §6.2). Also restores windows after spurious losses (RFC 4015). If false,
    /// the third miss indication declares the loss (RFC 9260 §7.2.4), and windows stay reduced.
    pub reordering: bool,
    /// Accounts for acknowledgements that the peer delays (RFC 9260 §6.2). If an acknowledgement may have been delayed,
    /// its round-trip time is only an upper bound, for timers and for schemes
    /// ([`AckInfo::held`](crate::policy::AckInfo::held)). If false, the round-trip time counts as measured (RFC 9260
    /// §6.3.1).
    pub ack_delays: bool,
    /// With a Strandcast peer, a path is potentially failed after an unanswered tail probe or after three unanswered
    /// heartbeats. A path is inactive after 40 consecutive errors and this time without an answer. If `None`, only the
    /// number of errors decides.
    pub failed_after: Option<Duration>,
    /// A path that is resumed carries data once the peer has answered on it, because it may have failed while it was
    /// suspended. Until then its state is [`PathState::Unconfirmed`](crate::policy::PathState::Unconfirmed). If false,
    /// it counts as working.
    pub proves_resumed: bool,
    /// With a Strandcast peer: a FORWARD-TSN also passes whole messages that the peer acknowledged, up to the next
    /// abandoned message. By RFC 3758 it closes only one gap per round trip. If symbols are sent, this is always on.
    pub forward_past_acked: bool,
    /// Maximum interval between probes of potentially failed and inactive paths. `None` means the back-off of RFC 9260.
    pub failed_probe_interval: Option<Duration>,
    /// IP-level MTU in bytes of a path for which no other value is given.
    pub mtu: u16,
    /// Largest IP-level MTU in bytes for which path MTU discovery searches (RFC 8899). Path MTU discovery searches only
    /// on paths that carry data. The search starts at `mtu`, and also detects packets that have become too large. If
    /// `None`, only the driver changes an MTU.
    pub mtu_discovery: Option<u16>,
    /// Bytes of the IP and UDP headers of an IPv4 packet. IPv6 adds 20 bytes.
    pub encapsulation: u16,
    /// Bytes that a seal outside the endpoint adds to each datagram. Inside a seal, packets have neither a checksum
    /// (RFC 9653) nor AUTH, and the seal verifies their addresses. [`Envelope::NONE`] means packets without a seal.
    /// Only the endpoint's value counts. The value in an association's parameters is ignored.
    pub envelope: Envelope,
    /// Receive buffer in bytes: the advertised a_rwnd.
    pub receive_buffer: u32,
    /// Size of the send buffer in bytes. If the buffer is full, messages are refused with
    /// [`crate::association::SendError::Full`].
    pub send_buffer: usize,
    /// Maximum size in bytes to which both buffers may grow as the paths need it. `None` means that they do not grow.
    /// The buffers grow only while the application reads, and only for peers that have answered on a path.
    pub buffer_limit: Option<usize>,
    /// Rules for a chunk on a slow path that blocks a buffer: sending it also on a faster path, and reducing the window
    /// of the slow path. The two rules are opportunistic retransmission and penalisation
    /// ([`crate::policy::HeadOfLine`]). `None` turns both off.
    pub head_of_line: Option<HeadOfLineConfig>,
    /// Maximum ratio of the bytes of copies and repair symbols that a scheme may send to the payload bytes of sent
    /// messages. The value is a hard cap. Unused redundancy is saved for at most ten seconds. Retransmissions, tail
    /// probes, transmissions by `head_of_line` and symbols of coded blocks do not count. `None` means no cap.
    pub redundancy: Option<f64>,
    /// Coding of sent data, for peers that can decode. `None` means no coding. A build without the feature `coding`
    /// neither codes nor decodes, and its handshake does not offer coding.
    pub coding: Option<Coding>,
    /// If true, INIT announces that this side can decode, even if it does not code. If false, associations that this
    /// side opens are not coded in either direction. An accepting side always decodes coded data of the side that
    /// opened the association.
    pub decodes: bool,
    /// Number of outbound streams to request.
    pub outbound_streams: u16,
    /// Number of inbound streams to admit.
    pub inbound_streams: u16,
    /// If true, partial reliability is offered (RFC 3758).
    pub partial_reliability: bool,
    /// If true, AUTH is offered (RFC 4895). Without AUTH there are no REPORT chunks.
    pub auth: bool,
    /// If true, REPORT is announced. REPORT's reports are about paths that join, leave and move, and carry data of
    /// schemes.
    pub reports: bool,
    /// If true, INIT lists every local address, for multihoming with other SCTP implementations.
    pub announce: bool,
    /// If true, the association avoids all departures from RFC 9260 that a network could observe. To avoid such
    /// departures, the association applies Max.Burst literally, and sends one SACK for every second packet.
    pub strict_rfc: bool,
    /// Maximum number of datagrams of one path in a batch of `poll_output`.
    pub max_batch: usize,
    /// If true, the application receives an event for each message that is given up
    /// ([`Event::Dropped`](crate::association::Event::Dropped)).
    pub drop_events: bool,
}

impl Default for TransportConfig {
    fn default() -> Self {
        TransportConfig {
            rto_initial: Duration::from_secs(1),
            rto_min: Duration::from_secs(1),
            rto_min_strandcast: None,
            rto_max: Duration::from_secs(60),
            pacing_quantum: Duration::ZERO,
            max_burst: 4,
            association_max_retrans: 10,
            silence_timeout: None,
            path_max_retrans: 5,
            max_init_retrans: 8,
            eager_handshake: None,
            heartbeat_interval: Duration::from_secs(30),
            sack_delay: Duration::from_millis(200),
            sack_delay_strandcast: None,
            sack_frequency: 2,
            cookie_life: Duration::from_secs(60),
            pf_max_retrans: None,
            tail_probes: false,
            reordering: false,
            ack_delays: false,
            failed_after: None,
            proves_resumed: false,
            forward_past_acked: false,
            failed_probe_interval: None,
            mtu: 1400,
            mtu_discovery: None,
            encapsulation: 28,
            envelope: Envelope::NONE,
            receive_buffer: 1 << 20,
            send_buffer: 1 << 20,
            buffer_limit: None,
            head_of_line: None,
            redundancy: None,
            coding: None,
            decodes: false,
            outbound_streams: 16,
            inbound_streams: 16,
            partial_reliability: true,
            auth: true,
            reports: true,
            announce: false,
            strict_rfc: false,
            max_batch: 32,
            drop_events: false,
        }
    }
}

impl TransportConfig {
    /// Returns parameters for live media on real networks. The returned parameters are those of RFC 9260, except where
    /// paths differ, fail or fall silent. `strandcast send`, `receive`, `demo` and `perf` start from these parameters.
    /// The profile `live` of simulated flows also does.
    pub fn live() -> Self {
        TransportConfig {
            receive_buffer: 512 << 10,
            send_buffer: 512 << 10,
            buffer_limit: Some(16 << 20),
            head_of_line: Some(HeadOfLineConfig::SOONER),
            rto_min_strandcast: Some(Duration::from_millis(200)),
            sack_delay_strandcast: Some(SACK_DELAY_STRANDCAST),
            pacing_quantum: Duration::from_millis(2),
            silence_timeout: Some(Duration::from_secs(65)),
            tail_probes: true,
            reordering: true,
            ack_delays: true,
            failed_after: Some(Duration::from_secs(10)),
            proves_resumed: true,
            forward_past_acked: true,
            decodes: true,
            eager_handshake: Some(Duration::from_secs(1)),
            mtu_discovery: Some(1500),
            ..TransportConfig::default()
        }
    }

    /// Returns the longest time for which the peer may delay an acknowledgement; `None` if delays are not accounted
    /// for.
    pub(crate) fn peer_ack_delay(&self) -> Option<Duration> {
        self.ack_delays.then(|| match self.sack_delay_strandcast {
            Some(_) => self.sack_delay.max(SACK_DELAY_STRANDCAST),
            None => self.sack_delay,
        })
    }

    /// Returns whether packets have an envelope.
    pub(crate) fn sealed(&self) -> bool {
        !self.envelope.is_empty()
    }

    /// Returns the configuration of an endpoint inside a seal with this `envelope`. The seal authenticates all packets
    /// and manages addresses.
    pub(crate) fn within(config: Arc<Self>, envelope: Envelope) -> Arc<Self> {
        if envelope.is_empty() && !config.sealed() {
            return config;
        }
        let open = envelope.is_empty();
        let (auth, announce) = (config.auth && open, config.announce && open);
        Arc::new(TransportConfig { envelope, auth, announce, ..(*config).clone() })
    }

    /// Returns the configuration for a peer, once it is known whether the peer is a Strandcast peer. Returns `None` if
    /// the configuration does not change.
    pub(crate) fn towards(&self, peer_is_strandcast: bool) -> Option<TransportConfig> {
        let mut own = self.clone();
        if peer_is_strandcast {
            own.rto_min = own.rto_min_strandcast.unwrap_or(own.rto_min).min(own.rto_max);
            own.sack_delay = own.sack_delay_strandcast.unwrap_or(own.sack_delay);
        } else {
            (own.tail_probes, own.failed_after, own.silence_timeout) = (false, None, None);
            own.forward_past_acked = false;
        }
        (own != *self).then_some(own)
    }
}

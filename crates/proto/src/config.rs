//! Configuration of an endpoint and its associations.

use core::time::Duration;
use std::sync::Arc;

use crate::coding::Coding;
use crate::path::Envelope;
use crate::policy::HeadOfLineConfig;

/// SACK.Delay between two Strandcast peers over real paths.
pub const SACK_DELAY_STRANDCAST: Duration = Duration::from_millis(25);

/// Protocol parameters (RFC 9260 §16), and parameters beyond the RFC. They apply to all associations of an endpoint,
/// unless an association is opened with other parameters. The defaults are those of RFC 9260; [`TransportConfig::live`]
/// has values for real paths.
#[derive(Clone, PartialEq, Debug)]
pub struct TransportConfig {
    /// RTO.Initial.
    pub rto_initial: Duration,
    /// RTO.Min.
    pub rto_min: Duration,
    /// RTO.Min for Strandcast peers; `None`: equal to `rto_min`.
    pub rto_min_strandcast: Option<Duration>,
    /// RTO.Max.
    pub rto_max: Duration,
    /// If a scheme paces, the bytes for this time may leave at once, because timers are coarse.
    pub pacing_quantum: Duration,
    /// Max.Burst in packets. A SACK that acknowledges n packets permits n/2 such bursts, unless `strict_rfc` is set.
    pub max_burst: u32,
    /// Association.Max.Retrans.
    pub association_max_retrans: u32,
    /// Time for which an association tolerates total silence of a Strandcast peer, counted from the first timeout. All
    /// paths are probed during this time. If it is `None`, and with other peers, Association.Max.Retrans errors end the
    /// association (RFC 9260 §8.1).
    pub silence_timeout: Option<Duration>,
    /// Path.Max.Retrans.
    pub path_max_retrans: u32,
    /// Max.Init.Retransmits.
    pub max_init_retrans: u32,
    /// If set, INIT leaves on every path at once, and INIT and COOKIE ECHO are repeated after at most this time. If
    /// `None`, INIT uses one path after the other, and T1 doubles up to RTO.Max (RFC 9260 §5.1, §6.3.3).
    pub eager_handshake: Option<Duration>,
    /// HB.interval.
    pub heartbeat_interval: Duration,
    /// SACK.Delay.
    pub sack_delay: Duration,
    /// SACK.Delay for Strandcast peers; `None`: equal to `sack_delay`. The peer is assumed to have the same value, but
    /// at least [`SACK_DELAY_STRANDCAST`], because its scheme may set another value.
    pub sack_delay_strandcast: Option<Duration>,
    /// Maximum number of DATA packets per acknowledgement.
    pub sack_frequency: u32,
    /// Valid.Cookie.Life.
    pub cookie_life: Duration,
    /// Number of errors after which a path is potentially failed (PFMR of RFC 7829); `None` turns this state off.
    pub pf_max_retrans: Option<u32>,
    /// With a Strandcast peer: retransmits a chunk before T3-rtx expires if no acknowledgement has arrived for two
    /// round trips (RFC 8985 §7), or for one and a half if there is another path. It also reverses timeouts that turn
    /// out to be spurious.
    pub tail_probes: bool,
    /// Waits for overtaken chunks for the time by which packets of the path were late before (the reordering window of
    /// RFC 8985 §6.2), and restores windows after spurious losses (RFC 4015). If false, the third miss indication
    /// decides (RFC 9260 §7.2.4), and windows stay reduced.
    pub reordering: bool,
    /// Accounts for acknowledgements that the peer delays (RFC 9260 §6.2): the round-trip time of an acknowledgement
    /// that may have been delayed is an upper bound, for timers and for schemes
    /// ([`AckInfo::held`](crate::policy::AckInfo::held)). If false, the round-trip time counts as measured (§6.3.1).
    pub ack_delays: bool,
    /// With a Strandcast peer: a path is potentially failed after an unanswered tail probe or three unanswered
    /// heartbeats, and inactive after 40 consecutive errors and this time without an answer. If `None`, only the number
    /// of errors counts.
    pub failed_after: Option<Duration>,
    /// A path that is resumed carries data once the peer has answered on it, because it may have failed while it was
    /// suspended. Until then its state is [`PathState::Unconfirmed`](crate::policy::PathState::Unconfirmed). If false,
    /// it counts as working.
    pub proves_resumed: bool,
    /// With a Strandcast peer: a FORWARD-TSN also passes whole messages that the peer acknowledged, up to the next
    /// abandoned message. By RFC 3758 it closes only one gap per round trip. If symbols are sent, this is always on.
    pub forward_past_acked: bool,
    /// Maximum interval between probes of potentially failed and inactive paths; `None`: RFC 9260's back-off.
    pub failed_probe_interval: Option<Duration>,
    /// IP-level MTU in bytes of a path for which no other value is given.
    pub mtu: u16,
    /// Largest IP-level size in bytes for the search of the MTU of paths that carry data (RFC 8899). The search starts
    /// at `mtu`, and also detects that packets have become too large. If `None`, only the driver changes an MTU.
    pub mtu_discovery: Option<u16>,
    /// Bytes of IP and UDP header of an IPv4 packet; IPv6 adds 20.
    pub encapsulation: u16,
    /// Bytes that a seal outside the endpoint adds to each datagram. Inside a seal, packets have no checksum (RFC 9653)
    /// and no AUTH, and the seal verifies their addresses. [`Envelope::NONE`] means packets in the clear. The value of
    /// the endpoint counts, not that of an association's parameters.
    pub envelope: Envelope,
    /// Receive buffer in bytes: the advertised a_rwnd.
    pub receive_buffer: u32,
    /// Send buffer in bytes. If it is full, messages are refused with [`crate::association::SendError::Full`].
    pub send_buffer: usize,
    /// Maximum size in bytes to which both buffers may grow as the paths need it; `None`: they do not grow. The buffers
    /// grow only for peers that have answered on a path, and while the application reads.
    pub buffer_limit: Option<usize>,
    /// Rules for sending a chunk that blocks a buffer on a slow path also on a faster path, and for reducing the window
    /// of the slow path (opportunistic retransmission and penalisation; [`crate::policy::HeadOfLine`]); `None`:
    /// neither.
    pub head_of_line: Option<HeadOfLineConfig>,
    /// Bytes of copies and repair symbols that parts of a scheme may request, divided by payload bytes of messages that
    /// left. This is a hard cap, and unused redundancy is saved up for at most ten seconds. Retransmissions, tail
    /// probes and `head_of_line` of the core and symbols of coded blocks do not count; `None`: no cap.
    pub redundancy: Option<f64>,
    /// Coding of sent data, for peers that can decode; `None`: no coding. A build without the feature `coding` neither
    /// codes nor decodes, and announces that to its peers.
    pub coding: Option<Coding>,
    /// Announces in INIT that this side can decode, even if it does not code. If false, an association that this side
    /// opens is coded in neither direction. An accepting side always decodes the opener's coded data.
    pub decodes: bool,
    /// Number of outbound streams to request.
    pub outbound_streams: u16,
    /// Number of inbound streams to admit.
    pub inbound_streams: u16,
    /// Offers partial reliability (RFC 3758).
    pub partial_reliability: bool,
    /// Offers AUTH (RFC 4895). Without it there are no REPORTs.
    pub auth: bool,
    /// Announces REPORT: paths that join, leave and move, and data of schemes.
    pub reports: bool,
    /// Lists every local address in INIT, for multihoming with other SCTP implementations.
    pub announce: bool,
    /// Avoids all departures from RFC 9260 that a network could observe: Max.Burst, and one SACK for every second
    /// packet, are as written.
    pub strict_rfc: bool,
    /// Maximum number of datagrams of one path in a batch of `poll_output`.
    pub max_batch: usize,
    /// Reports each message that is given up to the application
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
    /// Parameters for live media over real paths. They are those of RFC 9260, except for parameters that matter when
    /// paths differ, fail or fall silent. `strandcast send`, `receive`, `demo` and `perf` start from them, and so does
    /// the profile `live` of simulated flows.
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

    /// Maximum time for which the peer may delay an acknowledgement; `None` if delays are not accounted for.
    pub(crate) fn peer_ack_delay(&self) -> Option<Duration> {
        self.ack_delays.then(|| match self.sack_delay_strandcast {
            Some(_) => self.sack_delay.max(SACK_DELAY_STRANDCAST),
            None => self.sack_delay,
        })
    }

    /// Returns whether packets travel in an envelope.
    pub(crate) fn sealed(&self) -> bool {
        !self.envelope.is_empty()
    }

    /// Returns the configuration inside a seal with this `envelope`, which authenticates everything and manages
    /// addresses.
    pub(crate) fn within(config: Arc<Self>, envelope: Envelope) -> Arc<Self> {
        if envelope.is_empty() && !config.sealed() {
            return config;
        }
        let open = envelope.is_empty();
        let (auth, announce) = (config.auth && open, config.announce && open);
        Arc::new(TransportConfig { envelope, auth, announce, ..(*config).clone() })
    }

    /// Returns the configuration once it is known whether the peer is a Strandcast peer; `None` if it does not change.
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

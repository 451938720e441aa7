//! Configuration of an endpoint and its associations.

use core::time::Duration;
use std::sync::Arc;

use crate::coding::Coding;
use crate::path::Envelope;
use crate::policy::HeadOfLineConfig;

/// SACK.Delay between two Strandcast peers over real paths.
pub const SACK_DELAY_STRANDCAST: Duration = Duration::from_millis(25);

/// Protocol parameters (RFC 9260 §16) and what goes beyond it. One for all associations of an endpoint, unless an
/// association is opened with its own. The default is RFC 9260's; [`TransportConfig::live`] is for real paths.
#[derive(Clone, PartialEq, Debug)]
pub struct TransportConfig {
    /// RTO.Initial.
    pub rto_initial: Duration,
    /// RTO.Min.
    pub rto_min: Duration,
    /// RTO.Min towards a Strandcast peer; `None`: the same.
    pub rto_min_strandcast: Option<Duration>,
    /// RTO.Max.
    pub rto_max: Duration,
    /// Where a scheme paces sending, what this long amounts to may leave at once: timers are coarse.
    pub pacing_quantum: Duration,
    /// Max.Burst in packets. A SACK that acknowledges n packets allows n/2 such bursts unless `strict_rfc`.
    pub max_burst: u32,
    /// Association.Max.Retrans.
    pub association_max_retrans: u32,
    /// How long an association tolerates that nothing is received from a Strandcast peer on any path, from the first
    /// timeout on; all paths are probed meanwhile. `None`, and towards other stacks: Association.Max.Retrans errors
    /// (RFC 9260 §8.1).
    pub silence_timeout: Option<Duration>,
    /// Path.Max.Retrans.
    pub path_max_retrans: u32,
    /// Max.Init.Retransmits.
    pub max_init_retrans: u32,
    /// INIT goes over every path at once, and INIT and COOKIE ECHO are repeated after this long at most. `None`: INIT takes
    /// one path after the other, and T1 doubles up to RTO.Max (RFC 9260 §5.1, §6.3.3).
    pub eager_handshake: Option<Duration>,
    /// HB.interval.
    pub heartbeat_interval: Duration,
    /// SACK.Delay.
    pub sack_delay: Duration,
    /// SACK.Delay towards a Strandcast peer; `None`: the same. The peer is taken to have it, too, and not less than
    /// [`SACK_DELAY_STRANDCAST`]: its scheme may ask for another.
    pub sack_delay_strandcast: Option<Duration>,
    /// Acknowledge at least every this many DATA packets.
    pub sack_frequency: u32,
    /// Valid.Cookie.Life.
    pub cookie_life: Duration,
    /// Errors after which a path is potentially failed (RFC 7829's PFMR); `None` turns that state off.
    pub pf_max_retrans: Option<u32>,
    /// Towards a Strandcast peer: send something again before T3-rtx expires, when two round trips brought nothing (RFC
    /// 8985 §7), or one and a half if there is another path, and take back timeouts that turn out to be spurious.
    pub tail_probes: bool,
    /// Wait for chunks that later ones of their path overtook as long as the path's packets were late before (the reordering window
    /// of RFC 8985 §6.2), and restore windows after losses that were none (RFC 4015). Off: the last miss indication decides (RFC
    /// 9260 §7.2.4), and windows stay cut.
    pub reordering: bool,
    /// Account for acknowledgements that the peer holds back (RFC 9260 §6.2): the round trip of one that may have been is an upper
    /// bound, for timers and for schemes ([`AckInfo::held`](crate::policy::AckInfo::held)). Off: it is taken as it is (§6.3.1).
    pub ack_delays: bool,
    /// Towards a Strandcast peer: a path is potentially failed after a tail probe or three heartbeats that nothing
    /// answered, and inactive after 40 of them and this long without an answer; `None`: by the number of errors alone.
    pub failed_after: Option<Duration>,
    /// Towards a Strandcast peer: a FORWARD-TSN passes whole messages that the peer acknowledged, up to the next one
    /// that was given up, where RFC 3758 gives up one gap per round trip. It does so in any case where symbols are
    /// sent.
    pub forward_past_acked: bool,
    /// Probe potentially failed and inactive paths at least this often; `None`: RFC 9260's back-off.
    pub failed_probe_interval: Option<Duration>,
    /// IP-level MTU of a path unless the path says otherwise, bytes.
    pub mtu: u16,
    /// Search the MTU of paths that carry data (RFC 8899), from `mtu` up to this IP-level size, bytes, and notice when packets
    /// have become too large; `None`: only the driver's word changes an MTU.
    pub mtu_discovery: Option<u16>,
    /// Bytes of IP and UDP header in front of an IPv4 packet; IPv6 adds 20.
    pub encapsulation: u16,
    /// What a seal in front of the endpoint adds to each datagram; inside it packets have no checksum (RFC 9653), no AUTH,
    /// and their addresses are the seal's word. [`Envelope::NONE`]: packets in the clear. The endpoint's own counts, not that
    /// of an association's parameters.
    pub envelope: Envelope,
    /// Receive buffer, bytes: the a_rwnd advertised.
    pub receive_buffer: u32,
    /// Send buffer, bytes: [`crate::association::SendError::Full`] beyond it.
    pub send_buffer: usize,
    /// How far both buffers may grow beyond that, bytes, as the paths need it; `None`: not at all. They do for peers that
    /// answered on a path and while the application reads.
    pub buffer_limit: Option<usize>,
    /// Send what holds up a buffer on a slow path on a faster one, too, and hold the slow path back (opportunistic
    /// retransmission and penalisation; [`crate::policy::HeadOfLine`]), by these rules; `None`: neither.
    pub head_of_line: Option<HeadOfLineConfig>,
    /// Bytes of copies and repair symbols that parts of a scheme may ask for, by payload bytes of messages that left: a hard cap,
    /// saved up for ten seconds at the most. What the core repeats by itself (retransmissions, tail probes, `head_of_line`)
    /// and symbols of coded blocks don't count; `None`: as many as are asked for.
    pub redundancy: Option<f64>,
    /// Code what is sent, towards peers that can decode; `None`: don't. A build without the feature `coding` neither codes nor
    /// decodes, and tells its peers so.
    pub coding: Option<Coding>,
    /// Say in INIT that what a peer codes can be decoded, also where nothing is coded that is sent: else an association that
    /// this side opens is coded in no direction. A side that accepts decodes in any case what the opener codes.
    pub decodes: bool,
    /// Outbound streams asked for.
    pub outbound_streams: u16,
    /// Inbound streams admitted.
    pub inbound_streams: u16,
    /// Offer partial reliability (RFC 3758).
    pub partial_reliability: bool,
    /// Offer AUTH (RFC 4895). Without it there are no REPORTs.
    pub auth: bool,
    /// Announce REPORT: paths that join, leave and move, and what schemes say to each other.
    pub reports: bool,
    /// List every local address in INIT (multihoming towards other stacks).
    pub announce: bool,
    /// No departure from RFC 9260 that a network could see: Max.Burst and one SACK a second packet as written.
    pub strict_rfc: bool,
    /// Datagrams of one path that `poll_output` may put in one batch.
    pub max_batch: usize,
    /// Tell the application of each message that goes no further ([`Event::Dropped`](crate::association::Event::Dropped)).
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
    /// What live media over real paths is sent with: RFC 9260's parameters but where paths differ, fail and fall silent.
    /// `strandcast send`, `receive`, `demo` and `perf` begin with it, and so does the profile `live` of simulated flows.
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
            forward_past_acked: true,
            decodes: true,
            eager_handshake: Some(Duration::from_secs(1)),
            mtu_discovery: Some(1500),
            ..TransportConfig::default()
        }
    }

    /// How long the peer may hold an acknowledgement back; `None`: that is not accounted for.
    pub(crate) fn peer_ack_delay(&self) -> Option<Duration> {
        self.ack_delays.then(|| match self.sack_delay_strandcast {
            Some(_) => self.sack_delay.max(SACK_DELAY_STRANDCAST),
            None => self.sack_delay,
        })
    }

    /// Whether packets travel in an envelope.
    pub(crate) fn sealed(&self) -> bool {
        !self.envelope.is_empty()
    }

    /// The configuration behind a seal with this `envelope`, which signs everything, and whose business addresses are.
    pub(crate) fn within(config: Arc<Self>, envelope: Envelope) -> Arc<Self> {
        if envelope.is_empty() && !config.sealed() {
            return config;
        }
        let open = envelope.is_empty();
        let (auth, announce) = (config.auth && open, config.announce && open);
        Arc::new(TransportConfig { envelope, auth, announce, ..(*config).clone() })
    }

    /// The configuration once the peer is known, Strandcast or not; `None`: unchanged.
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

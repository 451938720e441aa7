//! Configuration of an endpoint, and arguments of its calls.

use core::fmt;
use core::net::SocketAddr;
use std::sync::Arc;

use bytes::Bytes;

use crate::config::TransportConfig;
use crate::path::FourTuple;
use crate::policy::{LinkId, LinkSample, Scheme};
use crate::seeds::Seeds;

/// Factory that creates the scheme of an association opened by a peer.
pub type SchemeFactory = Arc<dyn Fn(&Seeds) -> Box<dyn Scheme> + Send + Sync>;

/// Configuration of an endpoint.
#[derive(Clone)]
pub struct EndpointConfig {
    /// Parameters of associations that peers open. These parameters also apply to associations that this side opens
    /// without other parameters.
    pub transport: Arc<TransportConfig>,
    /// SCTP port of this side.
    pub port: u16,
    /// Factory of the schemes of accepted associations. `None` means that no association is accepted.
    pub accept: Option<SchemeFactory>,
    /// Local addresses for INIT ACK, and for further paths to peers with other SCTP implementations. The further local
    /// addresses are used only with [`TransportConfig::announce`].
    pub locals: Vec<(LinkId, SocketAddr)>,
    /// Maximum number of associations. Further associations are refused.
    pub max_associations: usize,
    /// Maximum number of associations that the peer of one sealed session may open.
    pub max_associations_of_session: usize,
    /// Heap in bytes that all associations may hold together. If the heap is used up, new associations are refused and
    /// receive windows shrink. Payloads in the driver's buffers are not counted (see [`super::Endpoint::copy_kept`]).
    pub memory: usize,
    /// If true, coded data are decoded as they arrive. Such decoding applies to data of peers that open associations.
    /// If false, few of these data are decoded before the application reads
    /// ([`crate::association::Association::want`]). `false` is for servers that select one of many associations.
    pub decodes_unasked: bool,
    /// Limits of answers to INIT (INIT ACK, ABORT) and to a late COOKIE ECHO (ERROR).
    pub init_answers: AnswerRates,
    /// Limits of answers to other packets that belong to no association: ABORT and SHUTDOWN COMPLETE (RFC 9260 §8.4).
    pub unmatched_answers: AnswerRates,
}

/// Limits of answers per second to packets that belong to no association. After a second without answers, the answers
/// of one second may leave at once. Answers beyond the limits are not sent. Each answer counts against all three rates.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct AnswerRates {
    /// Limit of answers per second to all senders together.
    pub all: u32,
    /// Limit of answers per second to the addresses of one prefix: /24 of IPv4, /48 of IPv6.
    pub prefix: u32,
    /// Limit of answers per second to one address; with IPv6, to one /64.
    pub address: u32,
}

impl Default for EndpointConfig {
    fn default() -> Self {
        EndpointConfig {
            transport: Arc::default(),
            port: 5000,
            accept: None,
            locals: Vec::new(),
            max_associations: 1024,
            max_associations_of_session: 2,
            memory: usize::MAX,
            decodes_unasked: true,
            // This is more than the 20 000 INITs per second of an expected flood. Source addresses are easily forged,
            // so that under a lower limit no other source would be answered.
            init_answers: AnswerRates { all: 25_000, prefix: 1000, address: 100 },
            unmatched_answers: AnswerRates { all: 1000, prefix: 100, address: 50 },
        }
    }
}

impl fmt::Debug for EndpointConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut s = f.debug_struct("EndpointConfig");
        s.field("transport", &self.transport)
            .field("port", &self.port)
            .field("accepts", &self.accept.is_some());
        s.field("locals", &self.locals)
            .field("max_associations", &self.max_associations)
            .field("memory", &self.memory)
            .finish_non_exhaustive()
    }
}

/// Parameters of an association to open.
#[derive(Debug)]
pub struct Connect {
    /// Paths of the handshake, each with its IP-level MTU if this is known. INIT is sent on these paths in turn.
    pub paths: Vec<(FourTuple, Option<u16>)>,
    /// SCTP port of the peer.
    pub port: u16,
    /// Scheme of the association.
    pub scheme: Box<dyn Scheme>,
    /// Parameters of the association. `None` means the parameters of the endpoint.
    pub transport: Option<Arc<TransportConfig>>,
}

/// Input that a driver passes to an endpoint.
#[derive(Debug)]
pub enum Input {
    /// Datagrams that arrived from one 4-tuple. Each datagram except the last has `segment_size` bytes.
    Datagrams {
        /// Source and destination of the datagrams.
        tuple: FourTuple,
        /// Payloads of the datagrams, one after the other. For sealed 4-tuples, the payloads include the opened
        /// envelopes, which the endpoint skips.
        data: Bytes,
        /// Bytes of each datagram except the last.
        segment_size: usize,
    },
    /// New values of a link's counters.
    Link(LinkSample),
    /// Maximum IP-level MTU that the interface and the route of a path allow. The limit may rise again
    /// ([`TransportConfig::mtu_discovery`]).
    Mtu {
        /// 4-tuple of the path.
        tuple: FourTuple,
        /// MTU in bytes.
        mtu: u16,
    },
    /// A datagram with `size` bytes of UDP payload did not fit on the path (EMSGSIZE). The MTU of the path is unknown.
    TooBig {
        /// 4-tuple of the path.
        tuple: FourTuple,
        /// Bytes of the datagram's UDP payload.
        size: usize,
    },
}

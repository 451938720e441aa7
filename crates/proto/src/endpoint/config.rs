//! Configuration of an endpoint, and the arguments of its calls.

use core::fmt;
use core::net::SocketAddr;
use std::sync::Arc;

use bytes::Bytes;

use crate::config::TransportConfig;
use crate::path::FourTuple;
use crate::policy::{LinkId, LinkSample, Scheme};
use crate::seeds::Seeds;

/// Factory of the scheme of an association that a peer opens.
pub type SchemeFactory = Arc<dyn Fn(&Seeds) -> Box<dyn Scheme> + Send + Sync>;

/// Configuration of an endpoint.
#[derive(Clone)]
pub struct EndpointConfig {
    /// Parameters of associations that peers open, and of associations that are opened here without other parameters.
    pub transport: Arc<TransportConfig>,
    /// SCTP port of this side.
    pub port: u16,
    /// Schemes of accepted associations; `None`: no association is accepted.
    pub accept: Option<SchemeFactory>,
    /// Local addresses, for INIT ACK and further paths with other SCTP implementations. They are used only with
    /// [`TransportConfig::announce`].
    pub locals: Vec<(LinkId, SocketAddr)>,
    /// Maximum number of associations. Further ones are refused.
    pub max_associations: usize,
    /// Maximum number of associations that the peer of one sealed session may open.
    pub max_associations_of_session: usize,
    /// Heap in bytes that all associations may hold together. If it is used up, associations are refused and windows
    /// shrink. Payloads in the driver's buffers are not included (see [`super::Endpoint::copy_kept`]).
    pub memory: usize,
    /// If true, coded data of peers that open associations are decoded as they arrive. If `false`, only few are decoded
    /// until the application reads ([`crate::association::Association::want`]). This is for servers that select one of
    /// many associations.
    pub decodes_unasked: bool,
    /// Answers to INIT (INIT ACK, ABORT) and to a late COOKIE ECHO (ERROR).
    pub init_answers: AnswerRates,
    /// Answers to other packets that belong to no association: ABORT and SHUTDOWN COMPLETE (RFC 9260 §8.4).
    pub unmatched_answers: AnswerRates,
}

/// Limits of the number of answers per second to packets that belong to no association. After a quiet second, that
/// number of answers may leave at once. Further answers are not sent. Each answer counts against all three rates.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct AnswerRates {
    /// Limit for all senders.
    pub all: u32,
    /// Limit for the addresses of one prefix: /24 of IPv4, /48 of IPv6.
    pub prefix: u32,
    /// Limit for one address; with IPv6, for one /64.
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

/// An association to open.
#[derive(Debug)]
pub struct Connect {
    /// First paths, with their IP-level MTU if it is known. INIT rotates over them.
    pub paths: Vec<(FourTuple, Option<u16>)>,
    /// SCTP port of the peer.
    pub port: u16,
    /// Scheme of the association.
    pub scheme: Box<dyn Scheme>,
    /// Parameters of the association; `None`: those of the endpoint.
    pub transport: Option<Arc<TransportConfig>>,
}

/// Input from a driver.
#[derive(Debug)]
pub enum Input {
    /// Datagrams from one 4-tuple. Each except the last has `segment_size` bytes.
    Datagrams {
        /// Source and destination of the datagrams.
        tuple: FourTuple,
        /// Payloads, one after the other. For sealed 4-tuples they include the opened envelopes, which are skipped.
        data: Bytes,
        /// Bytes of each datagram except the last.
        segment_size: usize,
    },
    /// Counters of a link.
    Link(LinkSample),
    /// Maximum IP-level MTU of a path that its interface and route allow. It may rise again
    /// ([`TransportConfig::mtu_discovery`]).
    Mtu {
        /// 4-tuple of the path.
        tuple: FourTuple,
        /// MTU in bytes.
        mtu: u16,
    },
    /// A datagram of `size` bytes (UDP payload) did not fit on the path (EMSGSIZE). Its MTU is unknown.
    TooBig {
        /// 4-tuple of the path.
        tuple: FourTuple,
        /// Bytes of the datagram.
        size: usize,
    },
}

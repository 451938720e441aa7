//! Configuration of an endpoint, and the arguments of its calls.

use core::fmt;
use core::net::SocketAddr;
use std::sync::Arc;

use bytes::Bytes;

use crate::config::TransportConfig;
use crate::path::FourTuple;
use crate::policy::{LinkId, LinkSample, Scheme};
use crate::seeds::Seeds;

/// Makes the scheme of an association that a peer opens.
pub type SchemeFactory = Arc<dyn Fn(&Seeds) -> Box<dyn Scheme> + Send + Sync>;

/// What an endpoint is made of.
#[derive(Clone)]
pub struct EndpointConfig {
    /// For associations that peers open, and for those opened here that bring none of their own.
    pub transport: Arc<TransportConfig>,
    /// Our SCTP port.
    pub port: u16,
    /// Accept associations with schemes from here; `None` accepts none.
    pub accept: Option<SchemeFactory>,
    /// Local addresses, for INIT ACK and further paths towards other stacks; used only with
    /// [`TransportConfig::announce`].
    pub locals: Vec<(LinkId, SocketAddr)>,
    /// Associations at a time; more are refused.
    pub max_associations: usize,
    /// Of those, associations at a time that the peer of one sealed session may open.
    pub max_associations_of_session: usize,
    /// Heap that all associations may hold together, bytes; more are refused, and windows shrink, when it is used up.
    /// Payloads that the driver's buffers hold are not in it (see [`super::Endpoint::copy_kept`]).
    pub memory: usize,
    /// What peers that open associations code is decoded as it comes. `false`: little of it, until the application wants it
    /// ([`Association::want`](crate::association::Association::want)); for servers that pick one of many.
    pub decodes_unasked: bool,
    /// Answers to INIT (INIT ACK, ABORT) and to a COOKIE ECHO that comes too late (ERROR).
    pub init_answers: AnswerRates,
    /// Answers to other packets that belong to no association: ABORT and SHUTDOWN COMPLETE (RFC 9260 §8.4).
    pub unmatched_answers: AnswerRates,
}

/// Answers per second to packets that belong to no association; as many may leave at once after a quiet second. More are
/// not given. Each answer counts against all three rates.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct AnswerRates {
    /// To all senders.
    pub all: u32,
    /// To the addresses of one prefix: /24 of IPv4, /48 of IPv6.
    pub prefix: u32,
    /// To one address; of IPv6, to one /64.
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
            // More than the 20 000 INITs per second of a flood to expect: source addresses are easily
            // spoofed, so that under a lower ceiling no other source would be answered.
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
    /// Its first paths with their IP-level MTU if that is known; INIT takes turns over them.
    pub paths: Vec<(FourTuple, Option<u16>)>,
    /// The peer's SCTP port.
    pub port: u16,
    /// Its scheme.
    pub scheme: Box<dyn Scheme>,
    /// Its parameters, if not the endpoint's.
    pub transport: Option<Arc<TransportConfig>>,
}

/// What a driver hands in.
#[derive(Debug)]
pub enum Input {
    /// Datagrams from one 4-tuple: each but the last has `segment_size` bytes.
    Datagrams {
        /// Where they came from and arrived.
        tuple: FourTuple,
        /// Their payloads, one after the other; of sealed 4-tuples with their opened envelopes, which are skipped.
        data: Bytes,
        /// Bytes of each but the last.
        segment_size: usize,
    },
    /// Counters of a link.
    Link(LinkSample),
    /// The IP-level MTU of a path is this at most, as far as interface and route go. It may rise again
    /// ([`TransportConfig::mtu_discovery`]).
    Mtu {
        /// Which path.
        tuple: FourTuple,
        /// Bytes.
        mtu: u16,
    },
    /// A datagram of `size` bytes (UDP payload) did not fit on the path (EMSGSIZE), whose MTU is not known.
    TooBig {
        /// Which path.
        tuple: FourTuple,
        /// Its size.
        size: usize,
    },
}

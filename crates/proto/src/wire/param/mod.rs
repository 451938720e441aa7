//! Parameters of INIT, INIT ACK, ASCONF, ASCONF-ACK and RE-CONFIG (RFC 9260 §3.2.1, §3.3.2.1 and extensions).
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |        Parameter Type         |       Parameter Length        |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! \                        Parameter Value                        \
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! ```

mod asconf;
mod decode;
mod encode;
mod heartbeat;
mod re_config;
#[cfg(test)]
mod tests;

use core::net::IpAddr;

use bytes::Bytes;
use smallvec::SmallVec;

pub use asconf::AddressRequest;
pub(super) use decode::{parse_address, parse_all};
pub(super) use heartbeat::{heartbeat_info_len, parse_heartbeat_info, write_heartbeat_info};
pub use re_config::{AddStreams, IncomingSsnReset, OutgoingSsnReset, ReConfigResponse};

use super::{Cause, UnknownAction, tlv};

/// Parameter types by their numbers.
pub mod types {
    /// IPv4 Address (RFC 9260 §3.3.2.1.1).
    pub const IPV4_ADDRESS: u16 = 5;
    /// IPv6 Address (RFC 9260 §3.3.2.1.2).
    pub const IPV6_ADDRESS: u16 = 6;
    /// State Cookie (RFC 9260 §3.3.3.1).
    pub const STATE_COOKIE: u16 = 7;
    /// Unrecognized Parameter (RFC 9260 §3.3.3.1).
    pub const UNRECOGNIZED_PARAMETER: u16 = 8;
    /// Cookie Preservative (RFC 9260 §3.3.2.1.3).
    pub const COOKIE_PRESERVATIVE: u16 = 9;
    /// Host Name Address, deprecated (RFC 9260 §3.3.2.1.4).
    pub const HOST_NAME_ADDRESS: u16 = 11;
    /// Supported Address Types (RFC 9260 §3.3.2.1.5).
    pub const SUPPORTED_ADDRESS_TYPES: u16 = 12;
    /// Outgoing SSN Reset Request (RFC 6525 §4.1).
    pub const OUTGOING_SSN_RESET: u16 = 13;
    /// Incoming SSN Reset Request (RFC 6525 §4.2).
    pub const INCOMING_SSN_RESET: u16 = 14;
    /// SSN/TSN Reset Request (RFC 6525 §4.3).
    pub const SSN_TSN_RESET: u16 = 15;
    /// Re-configuration Response (RFC 6525 §4.4).
    pub const RE_CONFIG_RESPONSE: u16 = 16;
    /// Add Outgoing Streams Request (RFC 6525 §4.5).
    pub const ADD_OUTGOING_STREAMS: u16 = 17;
    /// Add Incoming Streams Request (RFC 6525 §4.6).
    pub const ADD_INCOMING_STREAMS: u16 = 18;
    /// Reserved for ECN Capable (RFC 9260 §3.3.2).
    pub const ECN_CAPABLE: u16 = 0x8000;
    /// Random (RFC 4895 §3.1).
    pub const RANDOM: u16 = 0x8002;
    /// Chunk List (RFC 4895 §3.2).
    pub const CHUNKS: u16 = 0x8003;
    /// Requested HMAC Algorithm (RFC 4895 §3.3).
    pub const HMAC_ALGO: u16 = 0x8004;
    /// Padding (RFC 4820 §4).
    pub const PADDING: u16 = 0x8005;
    /// Supported Extensions (RFC 5061 §4.2.7).
    pub const SUPPORTED_EXTENSIONS: u16 = 0x8008;
    /// Coding and decoding of the sender (docs/models/coding.md). Other SCTP implementations skip it without an answer.
    pub const CODING: u16 = 0xb1c0;
    /// Forward TSN Supported (RFC 3758 §3.1).
    pub const FORWARD_TSN_SUPPORTED: u16 = 0xc000;
    /// Add IP Address (RFC 5061 §4.2.1).
    pub const ADD_IP_ADDRESS: u16 = 0xc001;
    /// Delete IP Address (RFC 5061 §4.2.2).
    pub const DELETE_IP_ADDRESS: u16 = 0xc002;
    /// Error Cause Indication (RFC 5061 §4.2.3).
    pub const ERROR_CAUSE_INDICATION: u16 = 0xc003;
    /// Set Primary IP Address (RFC 5061 §4.2.4).
    pub const SET_PRIMARY_ADDRESS: u16 = 0xc004;
    /// Success Indication (RFC 5061 §4.2.5).
    pub const SUCCESS_INDICATION: u16 = 0xc005;
    /// Adaptation Layer Indication (RFC 5061 §4.2.6).
    pub const ADAPTATION_LAYER: u16 = 0xc006;
}

/// Any parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Param {
    /// One of the sender's addresses.
    Address(IpAddr),
    /// State that the other side returns in COOKIE ECHO.
    StateCookie(Bytes),
    /// A whole parameter of the receiver, including its header, that the sender does not support.
    UnrecognizedParameter(Bytes),
    /// Requests a cookie with a longer life.
    CookiePreservative {
        /// Milliseconds by which the life should be longer.
        increment_ms: u32,
    },
    /// A host name instead of addresses. It must be refused with ABORT (RFC 9260 §5.1.2).
    HostNameAddress(Bytes),
    /// Types of the address parameters that the sender accepts.
    SupportedAddressTypes(SmallVec<[u16; 4]>),
    /// The sender supports ECN, which is not used here.
    EcnCapable,
    /// The sender's part of the keys of AUTH, usually 32 bytes.
    Random(Bytes),
    /// Chunk types that the sender requires to be authenticated.
    Chunks(Bytes),
    /// Numbers of the sender's HMAC algorithms, the best first.
    HmacAlgo(SmallVec<[u16; 4]>),
    /// Padding that lengthens an INIT.
    Padding(Bytes),
    /// Chunk types of extensions that the sender supports.
    SupportedExtensions(Bytes),
    /// Coding and decoding of the sender.
    Coding(Bytes),
    /// The sender supports partial reliability.
    ForwardTsnSupported,
    /// Adds an address of the sender.
    AddIpAddress(AddressRequest),
    /// Removes an address of the sender.
    DeleteIpAddress(AddressRequest),
    /// Requests that packets be sent to that address of the sender.
    SetPrimaryAddress(AddressRequest),
    /// A request failed.
    ErrorCauseIndication {
        /// Correlation id of the request.
        correlation_id: u32,
        /// Causes of the failure.
        causes: Vec<Cause>,
    },
    /// A request succeeded.
    SuccessIndication {
        /// Correlation id of the request.
        correlation_id: u32,
    },
    /// Adaptation layer of the sender's application.
    AdaptationLayer(u32),
    /// Restart of the sender's SSNs.
    OutgoingSsnReset(OutgoingSsnReset),
    /// Requests that the receiver reset its own SSNs.
    IncomingSsnReset(IncomingSsnReset),
    /// Requests that all SSNs and TSNs restart.
    SsnTsnReset {
        /// Sequence number of the request.
        request_seq: u32,
    },
    /// Answers a request to reset or add streams.
    ReConfigResponse(ReConfigResponse),
    /// The sender opens streams.
    AddOutgoingStreams(AddStreams),
    /// Asks the receiver to open streams.
    AddIncomingStreams(AddStreams),
    /// A parameter of an unknown type.
    Unknown(UnknownParam),
}

/// A parameter of an unknown type, kept unchanged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownParam {
    /// The Parameter Type field.
    pub param_type: u16,
    /// The Parameter Value.
    pub value: Bytes,
}

impl UnknownParam {
    /// Returns the action that the type's highest bits request of the receiver.
    pub fn action(&self) -> UnknownAction {
        UnknownAction::from_high_bits(self.param_type.to_be_bytes()[0])
    }
}

impl Param {
    /// Returns the parameter as bytes, with header and without padding, for reports of unknown parameters and for the
    /// key vectors of AUTH (RFC 4895 §6.1).
    pub fn to_bytes(&self) -> Bytes {
        let mut out = Vec::with_capacity(self.len());
        self.write(&mut out);
        out.into()
    }
}

/// Bytes of consecutive parameters, each padded except the last.
pub(super) fn len_all(params: &[Param]) -> usize {
    tlv::len_all(params.iter().map(Param::len))
}

/// Appends consecutive parameters, each padded except the last.
pub(super) fn write_all(out: &mut Vec<u8>, params: &[Param]) {
    tlv::write_all(out, params, Param::write);
}

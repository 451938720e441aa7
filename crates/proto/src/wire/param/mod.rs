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

/// Numbers of the parameter types.
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
    /// Coding: support of the sender for coding and decoding (docs/models/coding.md). Other SCTP implementations skip
    /// this parameter without an answer.
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

/// A parameter of any type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Param {
    /// One of the sender's addresses.
    Address(IpAddr),
    /// State cookie, which the other side returns in COOKIE ECHO.
    StateCookie(Bytes),
    /// A complete parameter of the receiver, including its header, that the sender does not support.
    UnrecognizedParameter(Bytes),
    /// Request for a cookie with a longer lifetime.
    CookiePreservative {
        /// Milliseconds by which the lifetime should be longer.
        increment_ms: u32,
    },
    /// A host name instead of addresses. A parameter with a host name must be refused with ABORT (RFC 9260 §5.1.2).
    HostNameAddress(Bytes),
    /// Types of address parameters that the sender accepts.
    SupportedAddressTypes(SmallVec<[u16; 4]>),
    /// The sender supports ECN. This implementation does not use ECN.
    EcnCapable,
    /// The sender's random bytes for the keys of AUTH, usually 32.
    Random(Bytes),
    /// Chunk types that the sender requires to be authenticated.
    Chunks(Bytes),
    /// Numbers of the sender's HMAC algorithms, in order of preference.
    HmacAlgo(SmallVec<[u16; 4]>),
    /// Padding that lengthens an INIT.
    Padding(Bytes),
    /// Chunk types of extensions that the sender supports.
    SupportedExtensions(Bytes),
    /// Support of the sender for coding and decoding (docs/models/coding.md).
    Coding(Bytes),
    /// The sender supports partial reliability.
    ForwardTsnSupported,
    /// Request to add an address of the sender.
    AddIpAddress(AddressRequest),
    /// Request to delete an address of the sender.
    DeleteIpAddress(AddressRequest),
    /// Request to send packets to this address of the sender.
    SetPrimaryAddress(AddressRequest),
    /// Result of a request in ASCONF that failed.
    ErrorCauseIndication {
        /// Correlation id of the request.
        correlation_id: u32,
        /// Error causes of the failure.
        causes: Vec<Cause>,
    },
    /// Result of a request in ASCONF that succeeded.
    SuccessIndication {
        /// Correlation id of the request.
        correlation_id: u32,
    },
    /// Adaptation layer of the sender's application.
    AdaptationLayer(u32),
    /// Request that restarts the SSNs of the sender's own streams.
    OutgoingSsnReset(OutgoingSsnReset),
    /// Request that the receiver restart the SSNs of its own streams.
    IncomingSsnReset(IncomingSsnReset),
    /// Request that all SSNs and TSNs restart.
    SsnTsnReset {
        /// Sequence number of the request.
        request_seq: u32,
    },
    /// Answer to a request to reset or add streams.
    ReConfigResponse(ReConfigResponse),
    /// Request by which the sender opens more streams of its own.
    AddOutgoingStreams(AddStreams),
    /// Request that the receiver open more streams of its own.
    AddIncomingStreams(AddStreams),
    /// A parameter of an unknown type.
    Unknown(UnknownParam),
}

/// A parameter of an unknown type, kept unchanged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownParam {
    /// Value of the Parameter Type field.
    pub param_type: u16,
    /// Value of the Parameter Value field.
    pub value: Bytes,
}

impl UnknownParam {
    /// Returns the action that the highest bits of the type request from the receiver.
    pub fn action(&self) -> UnknownAction {
        UnknownAction::from_high_bits(self.param_type.to_be_bytes()[0])
    }
}

impl Param {
    /// Returns the bytes of the parameter with header and without padding. Reports of unknown parameters need them, and
    /// the key vectors of AUTH (RFC 4895 §6.1).
    pub fn to_bytes(&self) -> Bytes {
        let mut out = Vec::with_capacity(self.len());
        self.write(&mut out);
        out.into()
    }
}

/// Returns the bytes of consecutive parameters. Each except the last is padded.
pub(super) fn len_all(params: &[Param]) -> usize {
    tlv::len_all(params.iter().map(Param::len))
}

/// Appends consecutive parameters. Each except the last is padded.
pub(super) fn write_all(out: &mut Vec<u8>, params: &[Param]) {
    tlv::write_all(out, params, Param::write);
}

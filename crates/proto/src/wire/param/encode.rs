//! Conversion of parameters to bytes.

use core::net::IpAddr;

use super::{AddStreams, Param, types};
use crate::wire::{cause, tlv};

impl Param {
    /// Returns the value of the Parameter Type field.
    pub fn param_type(&self) -> u16 {
        match self {
            Self::Address(IpAddr::V4(_)) => types::IPV4_ADDRESS,
            Self::Address(IpAddr::V6(_)) => types::IPV6_ADDRESS,
            Self::StateCookie(_) => types::STATE_COOKIE,
            Self::UnrecognizedParameter(_) => types::UNRECOGNIZED_PARAMETER,
            Self::CookiePreservative { .. } => types::COOKIE_PRESERVATIVE,
            Self::HostNameAddress(_) => types::HOST_NAME_ADDRESS,
            Self::SupportedAddressTypes(_) => types::SUPPORTED_ADDRESS_TYPES,
            Self::EcnCapable => types::ECN_CAPABLE,
            Self::Random(_) => types::RANDOM,
            Self::Chunks(_) => types::CHUNKS,
            Self::HmacAlgo(_) => types::HMAC_ALGO,
            Self::Padding(_) => types::PADDING,
            Self::SupportedExtensions(_) => types::SUPPORTED_EXTENSIONS,
            Self::Coding(_) => types::CODING,
            Self::ForwardTsnSupported => types::FORWARD_TSN_SUPPORTED,
            Self::AddIpAddress(_) => types::ADD_IP_ADDRESS,
            Self::DeleteIpAddress(_) => types::DELETE_IP_ADDRESS,
            Self::SetPrimaryAddress(_) => types::SET_PRIMARY_ADDRESS,
            Self::ErrorCauseIndication { .. } => types::ERROR_CAUSE_INDICATION,
            Self::SuccessIndication { .. } => types::SUCCESS_INDICATION,
            Self::AdaptationLayer(_) => types::ADAPTATION_LAYER,
            Self::OutgoingSsnReset(_) => types::OUTGOING_SSN_RESET,
            Self::IncomingSsnReset(_) => types::INCOMING_SSN_RESET,
            Self::SsnTsnReset { .. } => types::SSN_TSN_RESET,
            Self::ReConfigResponse(_) => types::RE_CONFIG_RESPONSE,
            Self::AddOutgoingStreams(_) => types::ADD_OUTGOING_STREAMS,
            Self::AddIncomingStreams(_) => types::ADD_INCOMING_STREAMS,
            Self::Unknown(param) => param.param_type,
        }
    }

    /// Returns the bytes of the parameter with header and without padding.
    #[expect(clippy::len_without_is_empty, reason = "a parameter has a header at least")]
    pub fn len(&self) -> usize {
        let value = match self {
            Self::Address(IpAddr::V4(_))
            | Self::CookiePreservative { .. }
            | Self::SuccessIndication { .. }
            | Self::AdaptationLayer(_)
            | Self::SsnTsnReset { .. } => 4,
            Self::Address(IpAddr::V6(_)) => 16,
            Self::EcnCapable | Self::ForwardTsnSupported => 0,
            Self::StateCookie(bytes)
            | Self::UnrecognizedParameter(bytes)
            | Self::HostNameAddress(bytes)
            | Self::Random(bytes)
            | Self::Chunks(bytes)
            | Self::Padding(bytes)
            | Self::Coding(bytes)
            | Self::SupportedExtensions(bytes) => bytes.len(),
            Self::SupportedAddressTypes(numbers) | Self::HmacAlgo(numbers) => 2 * numbers.len(),
            Self::AddIpAddress(request)
            | Self::DeleteIpAddress(request)
            | Self::SetPrimaryAddress(request) => request.len(),
            Self::ErrorCauseIndication { causes, .. } => 4 + cause::len_all(causes),
            Self::OutgoingSsnReset(reset) => reset.len(),
            Self::IncomingSsnReset(reset) => reset.len(),
            Self::ReConfigResponse(response) => response.len(),
            Self::AddOutgoingStreams(_) | Self::AddIncomingStreams(_) => AddStreams::LEN,
            Self::Unknown(param) => param.value.len(),
        };
        tlv::HEADER_LEN + value
    }

    /// Appends the parameter with its header and without padding.
    pub fn write(&self, out: &mut Vec<u8>) {
        tlv::write(out, self.param_type(), |out| self.write_value(out));
    }

    fn write_value(&self, out: &mut Vec<u8>) {
        match self {
            Self::Address(IpAddr::V4(address)) => out.extend_from_slice(&address.octets()),
            Self::Address(IpAddr::V6(address)) => out.extend_from_slice(&address.octets()),
            Self::EcnCapable | Self::ForwardTsnSupported => {}
            Self::StateCookie(bytes)
            | Self::UnrecognizedParameter(bytes)
            | Self::HostNameAddress(bytes)
            | Self::Random(bytes)
            | Self::Chunks(bytes)
            | Self::Padding(bytes)
            | Self::Coding(bytes)
            | Self::SupportedExtensions(bytes) => out.extend_from_slice(bytes),
            Self::SupportedAddressTypes(numbers) | Self::HmacAlgo(numbers) => {
                numbers.iter().for_each(|number| out.extend_from_slice(&number.to_be_bytes()));
            }
            Self::CookiePreservative { increment_ms: number }
            | Self::SuccessIndication { correlation_id: number }
            | Self::AdaptationLayer(number)
            | Self::SsnTsnReset { request_seq: number } => out.extend_from_slice(&number.to_be_bytes()),
            Self::AddIpAddress(request)
            | Self::DeleteIpAddress(request)
            | Self::SetPrimaryAddress(request) => {
                request.write(out);
            }
            Self::ErrorCauseIndication { correlation_id, causes } => {
                out.extend_from_slice(&correlation_id.to_be_bytes());
                cause::write_all(out, causes);
            }
            Self::OutgoingSsnReset(reset) => reset.write(out),
            Self::IncomingSsnReset(reset) => reset.write(out),
            Self::ReConfigResponse(response) => response.write(out),
            Self::AddOutgoingStreams(streams) | Self::AddIncomingStreams(streams) => streams.write(out),
            Self::Unknown(param) => out.extend_from_slice(&param.value),
        }
    }
}

//! Conversion of bytes to parameters.

use core::net::IpAddr;

use smallvec::SmallVec;

use super::{
    AddStreams, AddressRequest, IncomingSsnReset, OutgoingSsnReset, Param, ReConfigResponse, UnknownParam,
    types,
};
use crate::wire::cursor::Cursor;
use crate::wire::{ParseError, cause, tlv};

/// Parses all parameters up to the end of the chunk.
pub(in crate::wire) fn parse_all(body: &mut Cursor<'_>) -> Result<Vec<Param>, ParseError> {
    tlv::all(body, parse)
}

/// Parses an address parameter, in a place where no other parameter is permitted.
pub(in crate::wire) fn parse_address(body: &mut Cursor<'_>) -> Result<IpAddr, ParseError> {
    let (param_type, value) = tlv::next(body)?;
    match parse(param_type, value)? {
        Param::Address(address) => Ok(address),
        _ => Err(ParseError::Forbidden),
    }
}

/// Parses the value of a request in ASCONF.
fn address_request(value: &mut Cursor<'_>) -> Result<AddressRequest, ParseError> {
    Ok(AddressRequest { correlation_id: value.u32()?, address: parse_address(value)? })
}

/// Parses the value of one parameter. The value must have the length that its type requires.
fn parse(param_type: u16, mut value: Cursor<'_>) -> Result<Param, ParseError> {
    let v = &mut value;
    let param = match param_type {
        types::IPV4_ADDRESS => Param::Address(v.array::<4>()?.into()),
        types::IPV6_ADDRESS => Param::Address(v.array::<16>()?.into()),
        types::STATE_COOKIE => Param::StateCookie(v.rest()),
        types::UNRECOGNIZED_PARAMETER => Param::UnrecognizedParameter(v.rest()),
        types::COOKIE_PRESERVATIVE => Param::CookiePreservative { increment_ms: v.u32()? },
        types::HOST_NAME_ADDRESS => Param::HostNameAddress(v.rest()),
        types::SUPPORTED_ADDRESS_TYPES => Param::SupportedAddressTypes(parse_numbers(v)?),
        types::ECN_CAPABLE => Param::EcnCapable,
        types::RANDOM => Param::Random(v.rest()),
        types::CHUNKS => Param::Chunks(v.rest()),
        types::HMAC_ALGO => Param::HmacAlgo(parse_numbers(v)?),
        types::PADDING => Param::Padding(v.rest()),
        types::SUPPORTED_EXTENSIONS => Param::SupportedExtensions(v.rest()),
        types::CODING => Param::Coding(v.rest()),
        types::FORWARD_TSN_SUPPORTED => Param::ForwardTsnSupported,
        types::ADD_IP_ADDRESS => Param::AddIpAddress(address_request(v)?),
        types::DELETE_IP_ADDRESS => Param::DeleteIpAddress(address_request(v)?),
        types::SET_PRIMARY_ADDRESS => Param::SetPrimaryAddress(address_request(v)?),
        types::ERROR_CAUSE_INDICATION => {
            Param::ErrorCauseIndication { correlation_id: v.u32()?, causes: cause::parse_all(v)? }
        }
        types::SUCCESS_INDICATION => Param::SuccessIndication { correlation_id: v.u32()? },
        types::ADAPTATION_LAYER => Param::AdaptationLayer(v.u32()?),
        types::OUTGOING_SSN_RESET => Param::OutgoingSsnReset(OutgoingSsnReset::parse(v)?),
        types::INCOMING_SSN_RESET => Param::IncomingSsnReset(IncomingSsnReset::parse(v)?),
        types::SSN_TSN_RESET => Param::SsnTsnReset { request_seq: v.u32()? },
        types::RE_CONFIG_RESPONSE => Param::ReConfigResponse(ReConfigResponse::parse(v)?),
        types::ADD_OUTGOING_STREAMS => Param::AddOutgoingStreams(AddStreams::parse(v)?),
        types::ADD_INCOMING_STREAMS => Param::AddIncomingStreams(AddStreams::parse(v)?),
        _ => Param::Unknown(UnknownParam { param_type, value: v.rest() }),
    };
    value.finish()?;
    Ok(param)
}

fn parse_numbers(value: &mut Cursor<'_>) -> Result<SmallVec<[u16; 4]>, ParseError> {
    let mut numbers = SmallVec::new();
    while !value.is_empty() {
        numbers.push(value.u16()?);
    }
    Ok(numbers)
}

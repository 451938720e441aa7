//! Each parameter in the layout of its RFC, inside an INIT.

use bytes::Bytes;
use smallvec::smallvec;

use super::*;
use crate::wire::chunk::testing::{check, parse};
use crate::wire::chunk::{Chunk, Init};
use crate::wire::{ParseError, StreamId, Tsn, VerificationTag, padded};

/// An INIT around a parameter's bytes.
fn init_bytes(param: &[u8]) -> Vec<u8> {
    let mut bytes = vec![1, 0, 0, 20 + param.len() as u8];
    bytes.extend([0; 16]);
    bytes.extend(param);
    bytes.resize(padded(bytes.len()), 0);
    bytes
}

#[track_caller]
fn check_param(bytes: &[u8], param: Param) {
    assert_eq!(param.to_bytes(), bytes);
    assert_eq!(param.len(), bytes.len());
    let init = Init {
        initiate_tag: VerificationTag(0),
        a_rwnd: 0,
        outbound_streams: 0,
        inbound_streams: 0,
        initial_tsn: Tsn(0),
        params: vec![param],
    };
    check(&init_bytes(bytes), init);
}

fn bytes(slice: &'static [u8]) -> Bytes {
    Bytes::from_static(slice)
}

#[test]
fn parameters_of_the_handshake() {
    check_param(&[0, 5, 0, 8, 192, 0, 2, 1], Param::Address([192, 0, 2, 1].into()));
    let v6 = [0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1];
    check_param(&[&[0, 6, 0, 20][..], &v6].concat(), Param::Address(v6.into()));
    check_param(&[0, 7, 0, 7, 1, 2, 3], Param::StateCookie(bytes(&[1, 2, 3])));
    check_param(&[0, 8, 0, 8, 0xc1, 1, 0, 4], Param::UnrecognizedParameter(bytes(&[0xc1, 1, 0, 4])));
    check_param(&[0, 9, 0, 8, 0, 0, 3, 0xe8], Param::CookiePreservative { increment_ms: 1000 });
    check_param(&[0, 11, 0, 6, b'a', 0], Param::HostNameAddress(bytes(b"a\0")));
    check_param(&[0, 12, 0, 8, 0, 5, 0, 6], Param::SupportedAddressTypes(smallvec![5, 6]));
    check_param(&[0x80, 0, 0, 4], Param::EcnCapable);
    check_param(&[0xc0, 0, 0, 4], Param::ForwardTsnSupported);
    check_param(&[0x80, 5, 0, 6, 0, 0], Param::Padding(bytes(&[0, 0])));
    check_param(&[0x80, 8, 0, 6, 0xc0, 0xb1], Param::SupportedExtensions(bytes(&[0xc0, 0xb1])));
    check_param(&[0xb1, 0xc0, 0, 6, 1, 0], Param::Coding(bytes(&[1, 0])));
    check_param(&[0xc0, 6, 0, 8, 1, 2, 3, 4], Param::AdaptationLayer(0x0102_0304));
}

#[test]
fn parameters_of_auth() {
    check_param(&[0x80, 2, 0, 6, 9, 8], Param::Random(bytes(&[9, 8])));
    check_param(&[0x80, 3, 0, 6, 0xc1, 0x80], Param::Chunks(bytes(&[0xc1, 0x80])));
    check_param(&[0x80, 4, 0, 8, 0, 3, 0, 1], Param::HmacAlgo(smallvec![3, 1]));
}

#[test]
fn parameters_of_asconf() {
    let request = AddressRequest { correlation_id: 7, address: [192, 0, 2, 1].into() };
    let layout = |kind| [0xc0, kind, 0, 16, 0, 0, 0, 7, 0, 5, 0, 8, 192, 0, 2, 1];
    check_param(&layout(1), Param::AddIpAddress(request));
    check_param(&layout(2), Param::DeleteIpAddress(request));
    check_param(&layout(4), Param::SetPrimaryAddress(request));
    check_param(
        &[0xc0, 3, 0, 12, 0, 0, 0, 7, 0, 4, 0, 4],
        Param::ErrorCauseIndication { correlation_id: 7, causes: vec![Cause::OutOfResource] },
    );
    check_param(&[0xc0, 5, 0, 8, 0, 0, 0, 7], Param::SuccessIndication { correlation_id: 7 });
}

#[test]
fn parameters_of_re_config() {
    let reset = IncomingSsnReset { request_seq: 3, streams: smallvec![StreamId(1)] };
    check_param(&[0, 14, 0, 10, 0, 0, 0, 3, 0, 1], Param::IncomingSsnReset(reset));
    check_param(&[0, 15, 0, 8, 0, 0, 0, 3], Param::SsnTsnReset { request_seq: 3 });
    let next_tsns = Some((Tsn(5), Tsn(6)));
    check_param(
        &[0, 16, 0, 20, 0, 0, 0, 3, 0, 0, 0, 1, 0, 0, 0, 5, 0, 0, 0, 6],
        Param::ReConfigResponse(ReConfigResponse { response_seq: 3, result: 1, next_tsns }),
    );
    let streams = AddStreams { request_seq: 3, new_streams: 2 };
    check_param(&[0, 17, 0, 12, 0, 0, 0, 3, 0, 2, 0, 0], Param::AddOutgoingStreams(streams));
    check_param(&[0, 18, 0, 12, 0, 0, 0, 3, 0, 2, 0, 0], Param::AddIncomingStreams(streams));
}

#[test]
fn unknown_ones_are_kept_and_tell_the_action() {
    let unknown = |param_type| UnknownParam { param_type, value: bytes(&[1]) };
    check_param(&[0x80, 1, 0, 5, 1], Param::Unknown(unknown(0x8001)));
    assert_eq!(unknown(0x3fff).action(), UnknownAction::Stop);
    assert_eq!(unknown(0x4000).action(), UnknownAction::StopAndReport);
    assert_eq!(unknown(0x8001).action(), UnknownAction::Skip);
    assert_eq!(unknown(0xffff).action(), UnknownAction::SkipAndReport);
    // A receiver without coding skips the parameter without an answer.
    assert_eq!(unknown(types::CODING).action(), UnknownAction::Skip);
    assert!(UnknownAction::StopAndReport.stops() && UnknownAction::StopAndReport.reports());
    assert!(!UnknownAction::Skip.stops() && !UnknownAction::Skip.reports());
}

#[test]
fn a_wrong_length_spoils_the_chunk() {
    let wrong: [(&[u8], ParseError); 8] = [
        (&[0, 5, 0, 6, 192, 0], ParseError::Truncated),
        (&[0, 6, 0, 8, 1, 2, 3, 4], ParseError::Truncated),
        (&[0, 9, 0, 10, 0, 0, 0, 0, 0, 0], ParseError::Excess),
        (&[0xc0, 0, 0, 5, 1], ParseError::Excess),
        (&[0x80, 4, 0, 7, 0, 1, 0], ParseError::Truncated),
        (&[0xc0, 1, 0, 12, 0, 0, 0, 7, 0xc0, 0, 0, 4], ParseError::Forbidden),
        (&[0, 16, 0, 16, 0, 0, 0, 3, 0, 0, 0, 1, 0, 0, 0, 5], ParseError::Truncated),
        (&[0, 7, 0, 3], ParseError::Truncated),
    ];
    for (param, error) in wrong {
        assert_eq!(parse(&init_bytes(param)), Err(error), "{param:?}");
    }
}

#[test]
fn an_init_without_parameters_has_none() {
    assert!(matches!(parse(&init_bytes(&[])), Ok(Chunk::Init(init)) if init.params.is_empty()));
}

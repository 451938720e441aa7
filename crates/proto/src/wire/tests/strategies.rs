//! Any chunk, for property tests.

use core::net::IpAddr;

use bytes::Bytes;
use proptest::collection::vec;
use proptest::prelude::*;

use crate::wire::chunk::i_data::Fragment;
use crate::wire::chunk::i_forward_tsn::SkippedMessage;
use crate::wire::chunk::*;
use crate::wire::param::*;
use crate::wire::*;

fn bytes(max: usize) -> impl Strategy<Value = Bytes> {
    vec(any::<u8>(), 0..=max).prop_map(Bytes::from)
}

fn numbers() -> impl Strategy<Value = Vec<u16>> {
    vec(any::<u16>(), 0..6)
}

fn request() -> impl Strategy<Value = AddressRequest> {
    any::<(u32, IpAddr)>().prop_map(|(correlation_id, address)| AddressRequest { correlation_id, address })
}

fn streams() -> impl Strategy<Value = smallvec::SmallVec<[StreamId; 4]>> {
    numbers().prop_map(|numbers| numbers.into_iter().map(StreamId).collect())
}

fn cause() -> impl Strategy<Value = Cause> {
    prop_oneof![
        any::<u16>().prop_map(|id| Cause::InvalidStreamIdentifier(StreamId(id))),
        numbers().prop_map(|types| Cause::MissingMandatoryParameter(types.into_iter().collect())),
        any::<u32>().prop_map(|staleness_us| Cause::StaleCookie { staleness_us }),
        Just(Cause::OutOfResource),
        any::<u32>().prop_map(|tsn| Cause::NoUserData(Tsn(tsn))),
        any::<u16>().prop_map(Cause::UnsupportedHmac),
        bytes(9).prop_map(Cause::UnrecognizedChunkType),
        bytes(9).prop_map(Cause::ProtocolViolation),
        (0x200u16.., bytes(9)).prop_map(|(code, info)| Cause::Unknown { code, info }),
    ]
}

fn re_config_param() -> impl Strategy<Value = Param> {
    let add =
        || any::<(u32, u16)>().prop_map(|(request_seq, new_streams)| AddStreams { request_seq, new_streams });
    prop_oneof![
        (any::<[u32; 3]>(), streams()).prop_map(|([request_seq, response_seq, tsn], streams)| {
            let last_assigned_tsn = Tsn(tsn);
            Param::OutgoingSsnReset(OutgoingSsnReset {
                request_seq,
                response_seq,
                last_assigned_tsn,
                streams,
            })
        }),
        (any::<u32>(), streams()).prop_map(|(request_seq, streams)| {
            Param::IncomingSsnReset(IncomingSsnReset { request_seq, streams })
        }),
        any::<u32>().prop_map(|request_seq| Param::SsnTsnReset { request_seq }),
        any::<(u32, u32, Option<(u32, u32)>)>().prop_map(|(response_seq, result, next)| {
            let next_tsns = next.map(|(sender, receiver)| (Tsn(sender), Tsn(receiver)));
            Param::ReConfigResponse(ReConfigResponse { response_seq, result, next_tsns })
        }),
        add().prop_map(Param::AddOutgoingStreams),
        add().prop_map(Param::AddIncomingStreams),
    ]
}

fn other_param() -> impl Strategy<Value = Param> {
    prop_oneof![
        any::<IpAddr>().prop_map(Param::Address),
        bytes(40).prop_map(Param::StateCookie),
        bytes(9).prop_map(Param::UnrecognizedParameter),
        any::<u32>().prop_map(|increment_ms| Param::CookiePreservative { increment_ms }),
        bytes(9).prop_map(Param::HostNameAddress),
        numbers().prop_map(|types| Param::SupportedAddressTypes(types.into_iter().collect())),
        Just(Param::EcnCapable),
        bytes(32).prop_map(Param::Random),
        bytes(9).prop_map(Param::Chunks),
        numbers().prop_map(|ids| Param::HmacAlgo(ids.into_iter().collect())),
        bytes(9).prop_map(Param::Padding),
        bytes(9).prop_map(Param::SupportedExtensions),
        bytes(9).prop_map(Param::Coding),
        Just(Param::ForwardTsnSupported),
        request().prop_map(Param::AddIpAddress),
        request().prop_map(Param::DeleteIpAddress),
        request().prop_map(Param::SetPrimaryAddress),
        (any::<u32>(), vec(cause(), 0..3))
            .prop_map(|(correlation_id, causes)| Param::ErrorCauseIndication { correlation_id, causes }),
        any::<u32>().prop_map(|correlation_id| Param::SuccessIndication { correlation_id }),
        any::<u32>().prop_map(Param::AdaptationLayer),
        (0xd000u16.., bytes(9))
            .prop_map(|(param_type, value)| Param::Unknown(UnknownParam { param_type, value })),
    ]
}

fn params() -> impl Strategy<Value = Vec<Param>> {
    vec(prop_oneof![re_config_param(), other_param()], 0..5)
}

fn init() -> impl Strategy<Value = Init> {
    (any::<[u32; 3]>(), any::<[u16; 2]>(), params()).prop_map(
        |([tag, a_rwnd, tsn], [out, inbound], params)| Init {
            initiate_tag: VerificationTag(tag),
            a_rwnd,
            outbound_streams: out,
            inbound_streams: inbound,
            initial_tsn: Tsn(tsn),
            params,
        },
    )
}

fn data() -> impl Strategy<Value = Data> {
    (any::<(u32, u16, u16, u32)>(), any::<[bool; 4]>(), bytes(50)).prop_map(|(numbers, bits, payload)| {
        let (tsn, stream_id, ssn, ppid) = numbers;
        let [immediate, unordered, beginning, ending] = bits;
        let header = DataHeader {
            tsn: Tsn(tsn),
            stream_id: StreamId(stream_id),
            ssn: Ssn(ssn),
            ppid: Ppid(ppid),
            immediate,
            unordered,
            beginning,
            ending,
        };
        Data { header, payload }
    })
}

fn i_data() -> impl Strategy<Value = IData> {
    (any::<(u32, u16, u32, u32)>(), any::<[bool; 4]>(), bytes(50)).prop_map(|(numbers, bits, payload)| {
        let (tsn, stream_id, mid, number) = numbers;
        let [immediate, unordered, beginning, ending] = bits;
        let fragment =
            if beginning { Fragment::Beginning(Ppid(number)) } else { Fragment::Continuation(Fsn(number)) };
        IData {
            tsn: Tsn(tsn),
            stream_id: StreamId(stream_id),
            mid: Mid(mid),
            fragment,
            immediate,
            unordered,
            ending,
            payload,
        }
    })
}

fn sack() -> impl Strategy<Value = Sack> {
    let gaps = vec(any::<(u16, u16)>().prop_map(|(start, end)| GapBlock { start, end }), 0..20);
    let duplicates = vec(any::<u32>().prop_map(Tsn), 0..20);
    (any::<(u32, u32, u8)>(), gaps, duplicates).prop_map(|((tsn, a_rwnd, flags), gaps, duplicates)| {
        Sack::new(SackHeader { cumulative_tsn_ack: Tsn(tsn), a_rwnd, flags }, &gaps, &duplicates)
    })
}

fn report_item() -> impl Strategy<Value = ReportItem> {
    let path = prop::option::of(0..u16::MAX);
    let flavour = any::<(u8, u32)>().prop_map(|(choice, serial)| match choice % 3 {
        0 => ReportItemFlavour::Plain,
        1 => ReportItemFlavour::Reliable(serial),
        _ => ReportItemFlavour::Echo(serial),
    });
    (any::<u16>(), path, flavour, bytes(20)).prop_map(|(kind, path, reliability, payload)| {
        let echo = matches!(reliability, ReportItemFlavour::Echo(_));
        ReportItem { kind, path, reliability, payload: if echo { Bytes::new() } else { payload } }
    })
}

fn forward_tsn() -> impl Strategy<Value = Chunk> {
    let streams = vec(any::<(u16, u16)>(), 0..9);
    let skipped = vec(any::<(u16, bool, u32)>(), 0..5);
    prop_oneof![
        (any::<u32>(), streams).prop_map(|(tsn, streams)| {
            let streams =
                streams.into_iter().map(|(stream_id, ssn)| (StreamId(stream_id), Ssn(ssn))).collect();
            ForwardTsn { new_cumulative_tsn: Tsn(tsn), streams }.into()
        }),
        (any::<u32>(), skipped).prop_map(|(tsn, skipped)| {
            let message = |(stream_id, unordered, mid)| SkippedMessage {
                stream_id: StreamId(stream_id),
                unordered,
                mid: Mid(mid),
            };
            let skipped = skipped.into_iter().map(message).collect();
            IForwardTsn { new_cumulative_tsn: Tsn(tsn), skipped }.into()
        }),
    ]
}

fn control() -> impl Strategy<Value = Chunk> {
    let causes = || vec(cause(), 0..4);
    prop_oneof![
        bytes(40).prop_map(|info| Heartbeat { info }.into()),
        bytes(40).prop_map(|info| HeartbeatAck { info }.into()),
        (any::<bool>(), causes()).prop_map(|(reflected_tag, causes)| Abort { reflected_tag, causes }.into()),
        causes().prop_map(|causes| ErrorChunk { causes }.into()),
        any::<u32>().prop_map(|tsn| Shutdown { cumulative_tsn_ack: Tsn(tsn) }.into()),
        Just(ShutdownAck.into()),
        any::<bool>().prop_map(|reflected_tag| ShutdownComplete { reflected_tag }.into()),
        bytes(90).prop_map(|cookie| CookieEcho { cookie }.into()),
        Just(CookieAck.into()),
        bytes(90).prop_map(|data| Pad { data }.into()),
        (any::<[u16; 2]>(), bytes(40))
            .prop_map(|([key_id, hmac_id], hmac)| Auth { key_id, hmac_id, hmac }.into()),
    ]
}

/// Any chunk.
pub(super) fn chunk() -> impl Strategy<Value = Chunk> {
    prop_oneof![
        data().prop_map(Chunk::from),
        i_data().prop_map(Chunk::from),
        sack().prop_map(Chunk::from),
        init().prop_map(Chunk::from),
        init().prop_map(|init| InitAck(init).into()),
        control(),
        forward_tsn(),
        (any::<u32>(), any::<IpAddr>(), params()).prop_map(|(serial, address, params)| Asconf {
            serial,
            address,
            params
        }
        .into()),
        (any::<u32>(), params()).prop_map(|(serial, params)| AsconfAck { serial, params }.into()),
        params().prop_map(|params| ReConfig { params }.into()),
        vec(report_item(), 0..5).prop_map(|items| Report { items: items.into() }.into()),
        (16..64u8, any::<u8>(), bytes(20))
            .prop_map(|(chunk_type, flags, body)| Chunk::Unknown(UnknownChunk { chunk_type, flags, body })),
    ]
}

//! Acknowledgement, timeouts, probes and giving up of one association, against a peer that the test plays: the words of
//! RFC 9260 §6, §8 and RFC 3758.

use bytes::Bytes;
use strandcast_proto::association::{CloseReason, Event, PathChange, SendError, SendOptions};
use strandcast_proto::config::TransportConfig;
use strandcast_proto::policy::PathState;
use strandcast_proto::wire::chunk::ForwardTsn;
use strandcast_proto::wire::{Cause, Chunk, Param, Ssn, StreamId, Tsn};
use strandcast_testing::raw::*;

fn config() -> TransportConfig {
    TransportConfig::default()
}

/// An established association after the first DATA, which is acknowledged at once.
fn receiving(transport: TransportConfig) -> RawPeer {
    let mut l = RawPeer::accepted(transport, Vec::new());
    let out = l.give(&[data(OUR_TSN, 0, b"first")]);
    assert_eq!(first_sack(&out).expect("§6.2: the first DATA is acknowledged at once").1.header.flags, 0);
    l
}

fn gaps(out: &[SentPacket]) -> Vec<(u16, u16)> {
    first_sack(out).expect("a SACK").1.gap_blocks().map(|b| (b.start, b.end)).collect()
}

fn cum(out: &[SentPacket]) -> u32 {
    first_sack(out).expect("a SACK").1.header.cumulative_tsn_ack.0
}

/// §6.2: within 200 ms, and for every second packet at once.
#[test]
fn a_lone_packet_is_acknowledged_after_200_ms() {
    let mut l = receiving(config());
    let at = l.now;
    assert!(l.give(&[data(OUR_TSN + 1, 1, b"x")]).is_empty());
    let out = l.run(ms(1000));
    assert_eq!(first_sack(&out).map(|(when, _)| when - at), Some(ms(200)));
    assert_eq!((out.len(), cum(&out)), (1, OUR_TSN + 1));
}

#[test]
fn every_second_packet_is_acknowledged_at_once() {
    let mut l = receiving(config());
    for i in (1..20).step_by(2) {
        assert!(l.give(&[data(OUR_TSN + i, i as u16, b"x")]).is_empty());
        let out = l.give(&[data(OUR_TSN + i + 1, i as u16 + 1, b"x")]);
        assert_eq!((out.len(), cum(&out)), (1, OUR_TSN + i + 1));
    }
    assert!(l.run(ms(1000)).is_empty(), "the delayed SACK was taken back");
}

/// §6.2: packets count, not chunks.
#[test]
fn two_chunks_in_one_packet_are_one_packet() {
    let mut l = receiving(config());
    assert!(l.give(&[data(OUR_TSN + 1, 1, b"x"), data(OUR_TSN + 2, 2, b"y")]).is_empty());
}

/// §6.7: a gap, and its end, are reported at once.
#[test]
fn gaps_are_told_at_once() {
    let mut l = receiving(config());
    let out = l.give(&[data(OUR_TSN + 2, 2, b"x")]);
    assert_eq!((cum(&out), gaps(&out)), (OUR_TSN, vec![(2, 2)]));
    let out = l.give(&[data(OUR_TSN + 5, 5, b"x")]);
    assert_eq!(gaps(&out), [(2, 2), (5, 5)]);
    let out = l.give(&[data(OUR_TSN + 4, 4, b"x")]);
    assert_eq!(gaps(&out), [(2, 2), (4, 5)]);
    let out = l.give(&[data(OUR_TSN + 1, 1, b"x")]);
    assert_eq!((cum(&out), gaps(&out)), (OUR_TSN + 2, vec![(2, 3)]));
    let out = l.give(&[data(OUR_TSN + 3, 3, b"x")]);
    assert_eq!((cum(&out), gaps(&out)), (OUR_TSN + 5, vec![]));
}

/// §6.2: a packet with nothing new is acknowledged without delay; §3.3.4: with the duplicates, each time it came.
#[test]
fn duplicates_are_told_at_once() {
    let mut l = receiving(config());
    let out = l.give(&[data(OUR_TSN, 0, b"first")]);
    let duplicates = |out: &[SentPacket]| -> Vec<u32> {
        first_sack(out).expect("a SACK").1.duplicates().map(|t| t.0).collect()
    };
    assert_eq!(duplicates(&out), [OUR_TSN]);
    let out = l.give(&[data(OUR_TSN, 0, b"first"), data(OUR_TSN, 0, b"first")]);
    assert_eq!(duplicates(&out), [OUR_TSN, OUR_TSN], "only those since the last SACK");
}

/// RFC 7053.
#[test]
fn the_i_bit_asks_for_a_sack() {
    let mut l = receiving(config());
    let out = l.give(&[data_with(OUR_TSN + 1, 1, b"x", |h| h.immediate = true)]);
    assert_eq!(cum(&out), OUR_TSN + 1);
}

/// RFC 7053 §4.1: nothing follows the last packet of a burst, so that it asks for its SACK, where silence is probed. Single messages
/// ask for nothing: in a steady stream each would cost a SACK.
#[test]
fn the_end_of_a_burst_asks_for_a_sack() {
    let asked = |tail_probes: bool, messages: &[usize]| -> Vec<bool> {
        let ours = vec![
            Param::ForwardTsnSupported,
            Param::Random(Bytes::from_static(&[7; 32])),
            Param::HmacAlgo([3u16].into_iter().collect()),
            Param::SupportedExtensions(Bytes::from_static(&[0xc0, 0x0f, 0xb1])),
        ];
        let mut l = RawPeer::accepted(TransportConfig { tail_probes, ..config() }, ours);
        let mut asked = Vec::new();
        for len in messages {
            let out = l.send(vec![7; *len], SendOptions::default());
            for chunk in out.iter().flat_map(|o| &o.chunks) {
                if let Chunk::Data(d) = chunk {
                    asked.push(d.header.immediate);
                }
            }
        }
        asked
    };
    assert_eq!(asked(true, &[4000]), [false, false, true]);
    assert_eq!(asked(true, &[100; 4]), [false; 4]);
    assert_eq!(asked(true, &[2000, 100]), [false, true, false]);
    assert_eq!(asked(false, &[4000]), [false; 3], "RFC 9260 asks for nothing");
}

/// §6.9: fragments in one run of TSNs under one SSN, B on the first, E on the last.
#[test]
fn a_long_message_is_cut() {
    let mut l = RawPeer::accepted(config(), Vec::new());
    let message: Vec<u8> = (0..4000u32).map(|i| (i / 3) as u8).collect();
    let out = l.send(message.clone(), SendOptions { stream: 2, ..SendOptions::default() });
    let mut whole = Vec::new();
    let chunks: Vec<_> = out
        .iter()
        .flat_map(|o| &o.chunks)
        .map(|c| if let Chunk::Data(d) = c { d.clone() } else { panic!("{c:?}") })
        .collect();
    for (i, d) in chunks.iter().enumerate() {
        let h = d.header;
        assert_eq!((h.tsn.0, h.ssn, h.stream_id), (l.tsn.wrapping_add(i as u32), Ssn(0), StreamId(2)));
        assert_eq!((h.beginning, h.ending), (i == 0, i + 1 == chunks.len()));
        whole.extend_from_slice(&d.payload);
    }
    assert_eq!(whole, message);
    assert!(out.iter().all(|o| o.len <= 1400 - 28), "IP and UDP headers fit as well");
}

/// §6.10: small messages share a packet.
#[test]
fn small_messages_are_bundled() {
    let mut l = RawPeer::accepted(config(), Vec::new());
    let id = l.id.unwrap();
    for _ in 0..5 {
        l.end.send(l.now, id, Bytes::from_static(b"small"), SendOptions::default()).unwrap();
    }
    let out = l.take();
    assert_eq!(types(&out), [[0; 5]]);
}

/// §6.3.2, §6.3.3, §8.2 with the default parameters: the chunk again after 1, 2, 4, 8, 16, 32, 60, ... s, the path
/// inactive with the sixth timeout, the association dead with the eleventh; the peer is notified.
#[test]
fn nobody_acknowledges() {
    let mut l = RawPeer::accepted(config(), Vec::new());
    let begin = l.now;
    l.send(&b"hello?"[..], SendOptions::default());
    let tsn = l.tsn;
    let out = l.run(ms(62_999));
    assert!(!l.saw(&Event::Path(common_path(), PathChange::State(PathState::Inactive))));
    let mut data = sent_data(&out);
    let out = l.run(ms(1));
    assert!(l.saw(&Event::Path(common_path(), PathChange::State(PathState::Inactive))), "{:?}", l.events);
    data.extend(sent_data(&out));
    let out = l.run(ms(600_000));
    data.extend(sent_data(&out));
    let at: Vec<u64> = data.iter().map(|(at, ..)| (*at - begin).as_millis() as u64).collect();
    assert_eq!(at, [1, 3, 7, 15, 31, 63, 123, 183, 243, 303].map(|s| s * 1000));
    assert!(data.iter().all(|(_, t, _)| *t == tsn));
    let last = out.last().unwrap();
    assert_eq!((last.at - begin, matches!(last.chunks[..], [Chunk::Abort(_)])), (ms(363_000), true));
    assert_eq!(l.events.last(), Some(&Event::Closed(CloseReason::Unreachable)));
}

fn common_path() -> strandcast_proto::policy::PathId {
    strandcast_proto::policy::PathId(0)
}

/// RFC 7829 §4.2: more than PFMR errors make a path potentially failed, and it is probed by HEARTBEAT at once.
#[test]
fn a_path_is_potentially_failed_first() {
    let mut l = RawPeer::accepted(TransportConfig { pf_max_retrans: Some(0), ..config() }, Vec::new());
    l.send(&b"hello?"[..], SendOptions::default());
    let out = l.run(ms(1000));
    let state = PathChange::State(PathState::PotentiallyFailed);
    assert!(l.saw(&Event::Path(common_path(), state)), "{:?}", l.events);
    let probe = out.iter().flat_map(|o| &o.chunks).find_map(|c| match c {
        Chunk::Heartbeat(h) => Some(h.info.clone()),
        _ => None,
    });
    let info = probe.expect("a HEARTBEAT");
    l.give(&[strandcast_proto::wire::chunk::HeartbeatAck { info }.into()]);
    assert_eq!(l.association().paths()[0].state, PathState::Active);
}

/// RFC 7829 §4.2: while a path is potentially failed, HEARTBEATs follow the RTO's back-off; time continues.
#[test]
fn a_potentially_failed_path_is_probed_each_rto() {
    let mut l = RawPeer::accepted(TransportConfig { pf_max_retrans: Some(0), ..config() }, Vec::new());
    l.send(&b"hello?"[..], SendOptions::default());
    let out = l.run(ms(62_000));
    let heartbeats = out.iter().flat_map(|o| &o.chunks).filter(|c| matches!(c, Chunk::Heartbeat(_))).count();
    assert!((5..=20).contains(&heartbeats), "{heartbeats}");
}

/// §6.3.1 C4: SRTT = R, RTTVAR = R/2, RTO = SRTT + 4 * RTTVAR = 1.2 s for R = 400 ms.
#[test]
fn the_rto_follows_the_round_trip() {
    let mut l = RawPeer::accepted(config(), Vec::new());
    l.send(&b"a"[..], SendOptions::default());
    l.run(ms(400));
    let tsn = l.tsn;
    l.give(&[sack(tsn, 100_000, &[])]);
    let at = l.now;
    l.send(&b"b"[..], SendOptions::default());
    let out = l.run(ms(3000));
    assert_eq!(sent_data(&out)[0].0 - at, ms(1200));
}

/// Karn (§6.3.1 C5): the acknowledgement of a chunk sent twice is not a measurement.
#[test]
fn a_retransmission_is_not_timed() {
    let mut l = RawPeer::accepted(config(), Vec::new());
    l.send(&b"a"[..], SendOptions::default());
    l.run(ms(1100));
    let tsn = l.tsn;
    l.give(&[sack(tsn, 100_000, &[])]);
    assert_eq!(l.association().paths()[0].srtt, None);
}

/// §7.2.4: three miss indications and the chunk is sent again, once, without waiting for the timer.
#[test]
fn three_misses_are_a_loss() {
    let mut l = RawPeer::accepted(config(), Vec::new());
    let big = vec![7u8; 1300];
    let tsn = l.tsn;
    let mut all = Vec::new();
    for _ in 0..3 {
        all.extend(sent_data(&l.send(big.clone(), SendOptions::default())));
    }
    l.run(ms(50));
    l.give(&[sack(tsn, 100_000, &[])]);
    for _ in 0..6 {
        all.extend(sent_data(&l.send(big.clone(), SendOptions::default())));
    }
    assert!(all.len() >= 5, "{}", all.len());
    for (i, wanted) in [(3u16, 0), (4, 0), (5, 1)] {
        let out = l.give(&[sack(tsn, 100_000, &[(2, i - 1)])]);
        let again = sent_data(&out).iter().filter(|(_, t, _)| *t == tsn.wrapping_add(1)).count();
        assert_eq!(again, wanted, "miss {}", i - 2);
    }
}

/// §6.3.2 R3: acknowledgements of chunks after the earliest outstanding one do not restart T3-rtx: the timer reveals a
/// retransmission that is lost again, however well everything else arrives.
#[test]
fn a_lost_retransmission_times_out_while_later_chunks_arrive() {
    let mut l = RawPeer::accepted(config(), Vec::new());
    let big = vec![7u8; 1300];
    let (tsn, lost) = (l.tsn, l.tsn.wrapping_add(1));
    for _ in 0..3 {
        l.send(big.clone(), SendOptions::default());
    }
    l.run(ms(50));
    l.give(&[sack(tsn, 100_000, &[])]);
    for _ in 0..6 {
        l.send(big.clone(), SendOptions::default());
    }
    let mut again = Vec::new();
    for last in 2..32 {
        let mut out = l.give(&[sack(tsn, 100_000, &[(2, last)])]);
        out.extend(l.send(big.clone(), SendOptions::default()));
        out.extend(l.run(ms(100)));
        again.extend(sent_data(&out).iter().filter(|(_, t, _)| *t == lost).map(|(at, _, _)| *at));
    }
    assert!(again.len() >= 2, "by misses, then by the timer: {again:?}");
    assert_eq!(again[1] - again[0], ms(1000), "RTO.Min after it was sent again");
}

/// §6.1 A: with the peer's window closed one chunk may be in flight; it is a probe, backed off like any timeout, but
/// answered probes are not errors (§6.1 note, §8.1).
#[test]
fn a_closed_window_is_probed() {
    let mut l = RawPeer::accepted(config(), Vec::new());
    l.send(&b"a"[..], SendOptions::default());
    let tsn = l.tsn;
    l.give(&[sack(tsn, 0, &[])]);
    let begin = l.now;
    let out = l.send(vec![1; 100], SendOptions::default());
    assert_eq!(sent_data(&out).len(), 1, "the probe");
    assert!(sent_data(&l.send(vec![2; 100], SendOptions::default())).is_empty(), "and no more");
    let mut times = Vec::new();
    while l.now - begin < ms(400_000) {
        let out = l.run(ms(500));
        for (at, t, _) in sent_data(&out) {
            times.push((at - begin).as_millis() as u64);
            assert_eq!(t, tsn.wrapping_add(1), "the same chunk");
            l.give(&[sack(tsn, 0, &[])]);
        }
    }
    assert_eq!(times[..6], [1000, 3000, 7000, 15_000, 31_000, 63_000]);
    assert!(times.len() >= 11);
    assert_eq!(l.association().paths()[0].state, PathState::Active, "no answer is missing");
    let out = l.give(&[sack(tsn.wrapping_add(1), 100_000, &[])]);
    assert_eq!(sent_data(&out).len(), 1, "the window is open");
}

/// §6.2: data that do not fit are refused and answered at once; the opening of the window is reported without a
/// request; silly small openings are not (§6.2, receiver side of silly window avoidance).
#[test]
fn a_full_receive_buffer() {
    let mut l = receiving(TransportConfig { receive_buffer: 4200, ..config() });
    l.lazy = true;
    let mut last = u32::MAX;
    let mut sent = 0;
    for i in 1..=5 {
        let out = l.give(&[data_with(OUR_TSN + i, i as u16, &[9; 1000], |h| h.immediate = true)]);
        let a_rwnd = first_sack(&out).expect("I bit").1.header.a_rwnd;
        assert!(a_rwnd < last || a_rwnd == 0, "{a_rwnd} after {last}");
        if cum(&out) == OUR_TSN + i {
            sent += 1;
        } else {
            assert_eq!((cum(&out), a_rwnd), (OUR_TSN + sent, 0), "refused, reported at once");
        }
        last = a_rwnd;
    }
    assert_eq!(last, 0);
    assert_eq!(sent, 4, "4 * 1016 bytes fit 4200");
    l.read();
    let out = l.take();
    let update = first_sack(&out).expect("the window opened").1;
    assert_eq!((update.header.a_rwnd, update.header.cumulative_tsn_ack.0), (4200, OUR_TSN + sent));
    assert_eq!(l.messages.len(), 5);
}

/// §6.2: DATA with no user data ends the association with the cause and the TSN.
#[test]
fn empty_data_are_an_error() {
    let mut l = RawPeer::accepted(config(), Vec::new());
    let out = l.give(&[data(OUR_TSN, 0, b"")]);
    let Some(Chunk::Abort(a)) = out.iter().flat_map(|o| &o.chunks).next_back() else { panic!("{out:?}") };
    assert_eq!(a.causes, [Cause::NoUserData(Tsn(OUR_TSN))]);
}

/// §6.5: DATA for a stream that does not exist are acknowledged and reported, not delivered.
#[test]
fn data_for_no_stream() {
    let mut l = receiving(config());
    let out = l.give(&[data_with(OUR_TSN + 1, 0, b"x", |h| {
        h.stream_id = StreamId(900);
        h.immediate = true;
    })]);
    let all: Vec<&Chunk> = out.iter().flat_map(|o| &o.chunks).collect();
    let reported = |c: &&Chunk| matches!(c, Chunk::Error(e) if e.causes == [Cause::InvalidStreamIdentifier(StreamId(900))]);
    assert!(all.iter().any(reported), "{all:?}");
    assert_eq!((cum(&out), l.messages.len()), (OUR_TSN + 1, 1));
}

#[test]
fn what_the_application_may_not_send() {
    let mut l = RawPeer::accepted(TransportConfig { send_buffer: 3000, ..config() }, Vec::new());
    let id = l.id.unwrap();
    let mut send = |payload: Vec<u8>, stream| {
        let options = SendOptions { stream, ..SendOptions::default() };
        l.end.send(l.now, id, payload.into(), options).map(|_| ())
    };
    assert_eq!(send(vec![], 0), Err(SendError::Empty));
    assert_eq!(send(vec![1], 10), Err(SendError::NoSuchStream(10)), "the peer admits ten");
    assert_eq!(send(vec![1; 5000], 0), Ok(()), "a message larger than the buffer may go alone");
    assert_eq!(send(vec![1], 0), Err(SendError::Full));
    let events = l.events.len();
    let tsn = l.tsn;
    for _ in 0..4 {
        l.run(ms(1));
        l.give(&[sack(tsn.wrapping_add(3), 100_000, &[])]);
    }
    assert!(l.events[events..].contains(&Event::Writable));
}

fn partial() -> RawPeer {
    RawPeer::accepted(config(), vec![Param::ForwardTsnSupported])
}

fn short() -> SendOptions {
    SendOptions { lifetime: Some(ms(100)), stream: 3, ..SendOptions::default() }
}

fn forwards(out: &[SentPacket]) -> Vec<(u128, ForwardTsn)> {
    let mut all = Vec::new();
    for o in out {
        for c in &o.chunks {
            if let Chunk::ForwardTsn(f) = c {
                all.push((u128::from(o.at.as_nanos()) / 1_000_000, f.clone()));
            }
        }
    }
    all
}

/// RFC 3758 §3.1, timed reliability: a message that expires before its first chunk is sent uses no TSN and no SSN.
#[test]
fn a_message_that_expires_unsent() {
    let mut l = partial();
    l.send(&b"a"[..], SendOptions { stream: 3, ..SendOptions::default() });
    let tsn = l.tsn;
    l.give(&[sack(tsn, 0, &[])]);
    l.send(&b"probe"[..], SendOptions { stream: 3, ..SendOptions::default() });
    l.send(&b"late"[..], short());
    l.run(ms(101));
    let out = l.give(&[sack(tsn.wrapping_add(1), 100_000, &[])]);
    assert!(sent_data(&out).is_empty() && forwards(&out).is_empty(), "{out:?}");
    let out = l.send(&b"next"[..], SendOptions { stream: 3, ..SendOptions::default() });
    let Chunk::Data(d) = &out[0].chunks[0] else { panic!("{out:?}") };
    assert_eq!((d.header.tsn.0, d.header.ssn), (tsn.wrapping_add(2), Ssn(2)));
    assert_eq!(l.association().stats().messages_expired(), 1);
}

/// RFC 3758 §3.5: a message that was sent, lost and has expired is given up: FORWARD TSN with stream and SSN, again
/// each RTO until the peer's cumulative TSN has followed.
#[test]
fn a_message_that_expires_after_sending() {
    let mut l = partial();
    let tsn = l.tsn;
    l.send(&b"lost"[..], short());
    let out = l.run(ms(1000));
    let f = &forwards(&out)[..];
    assert_eq!(f.len(), 1, "{out:?}");
    assert_eq!(f[0].1.new_cumulative_tsn, Tsn(tsn));
    assert_eq!(f[0].1.streams[..], [(StreamId(3), Ssn(0))]);
    assert!(sent_data(&out).is_empty(), "not sent again");
    let out = l.run(ms(10_000));
    assert!(!forwards(&out).is_empty(), "repeated: {out:?}");
    l.give(&[sack(tsn, 100_000, &[])]);
    assert!(forwards(&l.run(ms(20_000))).is_empty());
    assert_eq!(l.association().send_buffered(), 0);
}

/// RFC 3758 §3.5: unordered messages are given up without a stream entry.
#[test]
fn an_unordered_message_is_given_up_by_tsn_alone() {
    let mut l = partial();
    l.send(&b"lost"[..], SendOptions { unordered: true, ..short() });
    let f = forwards(&l.run(ms(1000)));
    assert!(f[0].1.streams.is_empty(), "{f:?}");
}

/// RFC 3758 §3.5 A3: a message of which some fragments were sent is given up whole; the unsent rest is never sent.
#[test]
fn a_message_given_up_in_the_middle() {
    let mut l = partial();
    l.send(&b"a"[..], SendOptions::default());
    let tsn = l.tsn;
    // Room for about two fragments.
    l.give(&[sack(tsn, 2800, &[])]);
    let out = l.send(vec![5; 20_000], short());
    let sent = sent_data(&out).len() as u32;
    assert!((1..=3).contains(&sent), "{sent}");
    l.run(ms(150));
    // All that was sent arrives; the rest is too old.
    let out = l.give(&[sack(tsn.wrapping_add(sent), 100_000, &[])]);
    assert!(sent_data(&out).is_empty(), "{out:?}");
    let f = forwards(&out);
    assert_eq!(f.len(), 1, "only a TSN can say that the rest never comes");
    assert_eq!(f[0].1.new_cumulative_tsn, Tsn(tsn.wrapping_add(sent + 1)));
    assert_eq!(f[0].1.streams[..], [(StreamId(3), Ssn(0))]);
}

/// If the peer does not support RFC 3758, a message that was begun may not be given up.
#[test]
fn a_peer_without_partial_reliability_gets_everything() {
    let mut l = RawPeer::accepted(config(), Vec::new());
    l.send(&b"kept"[..], short());
    let out = l.run(ms(1000));
    assert_eq!(sent_data(&out).len(), 1);
    assert!(forwards(&out).is_empty());
}

/// RFC 3758 §3.6: FORWARD TSN moves the cumulative TSN, releases the data that waited, and is acknowledged at once.
#[test]
fn a_forward_tsn_is_followed() {
    let mut l = partial();
    l.give(&[data(OUR_TSN, 0, b"first")]);
    l.give(&[data(OUR_TSN + 2, 2, b"waits")]);
    assert_eq!(l.messages.len(), 1);
    let streams = smallvec::smallvec![(StreamId(0), Ssn(1))];
    let out = l.give(&[ForwardTsn { new_cumulative_tsn: Tsn(OUR_TSN + 1), streams }.into()]);
    assert_eq!((cum(&out), gaps(&out)), (OUR_TSN + 2, vec![]));
    assert_eq!(l.messages[1].payload, &b"waits"[..]);
    let stale = ForwardTsn { new_cumulative_tsn: Tsn(OUR_TSN), streams: smallvec::smallvec![] };
    assert_eq!(cum(&l.give(&[stale.into()])), OUR_TSN + 2, "an old one changes nothing");
}

/// A round trip can still be measured after the chunk that was being timed is given up.
#[test]
fn round_trips_are_measured_after_an_abandoned_message() {
    let mut l = partial();
    l.send(&b"a"[..], SendOptions::default());
    let tsn = l.tsn;
    // The chunk being timed is given up while it is in flight: its message's later fragment is lost.
    l.give(&[sack(tsn, 2800, &[])]);
    let sent = sent_data(&l.send(vec![5; 20_000], short())).len() as u32;
    l.run(ms(150));
    let out = l.send(&b"push"[..], SendOptions::default());
    let _ = out;
    let end = tsn.wrapping_add(sent + 1);
    l.give(&[sack(end, 100_000, &[])]);
    let before = l.association().paths()[0].latest_rtt;
    l.send(&b"timed"[..], SendOptions::default());
    l.run(ms(321));
    let last = l.tsn.wrapping_add(sent + 3);
    l.give(&[sack(last, 100_000, &[])]);
    assert_ne!(l.association().paths()[0].latest_rtt, before);
}

/// RFC 9260 §1.6: TSNs wrap.
#[test]
fn the_peers_tsns_wrap() {
    let mut l = RawPeer::new(config());
    let mut chunk = init(Vec::new());
    chunk.initial_tsn = Tsn(u32::MAX - 2);
    let out = l.give_tagged(0, &[chunk.into()]);
    let Chunk::InitAck(ack) = &out[0].chunks[0] else { panic!("{out:?}") };
    l.tag = ack.0.initiate_tag.0;
    let cookie = ack.state_cookie().unwrap().clone();
    l.give(&[strandcast_proto::wire::chunk::CookieEcho { cookie }.into()]);
    for i in 0..6u32 {
        l.give(&[data((u32::MAX - 2).wrapping_add(i), i as u16, b"x")]);
    }
    assert_eq!(l.messages.len(), 6);
    let out = l.give(&[data(5, 8, b"x")]);
    assert_eq!((cum(&out), gaps(&out)), (2, vec![(3, 3)]));
}

/// A cumulative TSN beyond the sent data: the peer has accepted forged data or a forged FORWARD-TSN, and would take all
/// later data for duplicates. The association ends at once, on both sides, and may be opened anew.
#[test]
fn a_sack_beyond_what_was_sent_ends_the_association() {
    for ahead in [1, 5, 1 << 23] {
        let mut l = RawPeer::accepted(config(), Vec::new());
        l.send(&b"a"[..], SendOptions::default());
        let out = l.give(&[sack(l.tsn.wrapping_add(ahead), 100_000, &[])]);
        let abort = out.iter().flat_map(|o| &o.chunks).find_map(|c| match c {
            Chunk::Abort(a) => Some(a.causes.clone()),
            _ => None,
        });
        assert!(matches!(abort.as_deref(), Some([Cause::ProtocolViolation(_)])), "{out:?}");
        assert!(matches!(l.events.last(), Some(Event::Closed(CloseReason::Protocol(_)))), "{:?}", l.events);
    }
}

/// §6.2.1: gap blocks for data that were never sent are ignored, the rest counts; an old SACK changes nothing.
#[test]
fn impossible_and_old_sacks() {
    let mut l = RawPeer::accepted(config(), Vec::new());
    l.send(&b"a"[..], SendOptions::default());
    let tsn = l.tsn;
    l.give(&[sack(tsn, 100_000, &[(1, 60_000)])]);
    assert_eq!(l.association().send_buffered(), 0);
    l.give(&[sack(tsn.wrapping_sub(1), 0, &[])]);
    assert_eq!(l.association().stats().old_sacks, 1);
    l.association().assert_consistent();
}

/// §6.2.1 D iii: chunks that a SACK no longer covers were reneged: they are sent again after a timeout.
#[test]
fn a_peer_that_reneges() {
    let mut l = RawPeer::accepted(config(), Vec::new());
    let id = l.id.unwrap();
    for _ in 0..3 {
        l.end.send(l.now, id, vec![3; 1000].into(), SendOptions::default()).unwrap();
    }
    l.take();
    let tsn = l.tsn;
    l.give(&[sack(tsn.wrapping_sub(1), 100_000, &[(2, 3)])]);
    l.give(&[sack(tsn.wrapping_sub(1), 100_000, &[])]);
    let mut again = Vec::new();
    for _ in 0..20 {
        let out = l.run(ms(1000));
        again.extend(sent_data(&out).iter().map(|(_, t, _)| t.wrapping_sub(tsn)));
        let next = (0..).find(|n| !again.contains(n)).unwrap();
        l.give(&[sack(tsn.wrapping_add(next).wrapping_sub(1), 100_000, &[])]);
    }
    again.sort_unstable();
    again.dedup();
    assert_eq!(again, [0, 1, 2]);
}

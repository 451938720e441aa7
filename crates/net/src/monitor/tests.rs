use std::future::poll_fn;
use std::sync::{Arc, Mutex};
use std::task::Poll;

use strandcast_proto::policy::LinkId;
use strandcast_proto::seeds::Seeds;
use strandcast_proto::time::Instant;
use strandcast_proto::units::Rate;

use super::reading::LinkCounters;
use super::station::{ATTR_IFINDEX, GET_STATION};
use super::*;
use crate::netlink::message::{self, NLM_F_ACK, NLM_F_DUMP, generic, parse_answer};

/// The family's number and the request's in the answers below.
const FAMILY: u16 = 0x1c;
const SEQUENCE: u32 = 4242;

/// A station as the kernel would report it, and the end of its dump. Packed field by field after the structures of
/// linux/netlink.h and linux/genetlink.h and the numbers of linux/nl80211.h: header (length 196, type 0x1c, flags
/// NLM_F_MULTI, sequence 4242); command 19; IFINDEX 4; MAC; GENERATION; nested STA_INFO of INACTIVE_TIME, RX_BYTES,
/// TX_BYTES, RX_BYTES64, TX_BYTES64, SIGNAL -61 dBm, SIGNAL_AVG -60, nested TX_BITRATE (BITRATE32 and BITRATE 173.3
/// Mbit/s, VHT_MCS, VHT_NSS), RX_PACKETS 700, TX_PACKETS 1000, TX_RETRIES 120, TX_FAILED 3, RX_DROP_MISC 44.
const STATION: &str = "\
    c40000001c00020002000000921000001301000008000300040000000a000600020000000101000008002e0007000000\
    94001580080001000c00000008000200a0bb0d000800030060e316000c001700a0bb0d00000000000c00180060e31600\
    0000000005000700c300000005000d00c40000002400088008000500c506000006000100c50600000500070007000000\
    050008000100000008000900bc02000008000a00e803000008000b007800000008000c00030000000c001c002c000000\
    00000000";
const DONE: &str = "1400000003000200020000009210000000000000";

/// The answers in this machine's sequence, 4242, and byte order; little-endian as they are.
fn bytes(hex: &str) -> Vec<u8> {
    let digits = |i| u8::from_str_radix(&hex[i..i + 2], 16).unwrap();
    let mut bytes: Vec<u8> = (0..hex.len()).step_by(2).map(digits).collect();
    bytes[8..12].copy_from_slice(&SEQUENCE.to_ne_bytes());
    bytes
}

fn stations(datagram: &[u8]) -> (Result<bool, Refusal>, Vec<Station>) {
    let mut found = Vec::new();
    let complete = parse_answer(datagram, SEQUENCE, FAMILY, |payload| {
        found.extend(generic(payload).and_then(|(command, attributes)| Station::parse(command, attributes)));
    });
    (complete, found)
}

fn refused(errno: i32) -> Vec<u8> {
    let mut bytes = bytes(DONE);
    bytes[4] = 2;
    bytes[16..].copy_from_slice(&errno.wrapping_neg().to_ne_bytes());
    bytes
}

fn station(address: u8, packets: u32, retries: u32, failed: u32) -> Station {
    Station {
        address: [2, 0, 0, 0, 0, address],
        tx_packets: Some(packets),
        tx_retries: Some(retries),
        tx_failed: Some(failed),
        ..Station::default()
    }
}

#[cfg(target_endian = "little")]
mod messages {
    use super::*;

    #[test]
    fn a_station_is_read_as_it_was_packed() {
        let all = [bytes(STATION), bytes(DONE)].concat();
        let (complete, found) = stations(&all);
        let expected = Station {
            address: [2, 0, 0, 0, 1, 1],
            tx_bytes: Some(1_500_000),
            rx_frames: Some(700),
            signal_dbm: Some(-61),
            tx_rate: Some(Rate::from_bps(173.3e6)),
            ..station(0, 1000, 120, 3)
        };
        assert_eq!((complete, found), (Ok(true), vec![expected]));
    }

    #[test]
    fn requests_are_laid_out_as_the_headers_say() {
        let hex = |bytes: Vec<u8>| bytes.iter().map(|b| format!("{b:02x}")).collect::<String>();
        let dump = message::request(
            FAMILY,
            NLM_F_DUMP,
            7,
            &[GET_STATION, 1, 0, 0],
            &[(ATTR_IFINDEX, &4u32.to_ne_bytes())],
        );
        assert_eq!(hex(dump), "1c0000001c00010307000000000000001101000008000300 04000000".replace(' ', ""));
        // "nl80211" and its zero fill the attribute; a shorter name is padded.
        let family = message::request(0x10, NLM_F_ACK, 1, &[3, 1, 0, 0], &[(2, b"nl80211\0")]);
        assert_eq!(hex(family), "20000000100005000100000000000000030100000c0002006e6c383032313100");
        let padded = message::request(0x10, NLM_F_ACK, 1, &[3, 1, 0, 0], &[(2, b"ab\0")]);
        assert_eq!(hex(padded)[32..], *"030100000700020061620000");
    }

    #[test]
    fn of_a_message_cut_short_nothing_is_taken() {
        let whole = bytes(STATION);
        assert_eq!(stations(&[]).0, Ok(false));
        for length in 1..whole.len() {
            assert_eq!(stations(&whole[..length]), (Err(Refusal::Malformed), vec![]), "{length} bytes");
        }
        // A second message cut short leaves the first one whole.
        let (complete, found) = stations(&[&whole[..], &whole[..40]].concat());
        assert_eq!((complete, found.len()), (Err(Refusal::Malformed), 1));
    }

    #[test]
    fn lengths_that_lie_end_what_they_are_in() {
        for length in [0u32, 3, 15, 197, 1 << 31, u32::MAX] {
            let mut lies = bytes(STATION);
            lies[..4].copy_from_slice(&length.to_ne_bytes());
            assert_eq!(stations(&lies), (Err(Refusal::Malformed), vec![]), "{length}");
        }
        // The attribute of all counters (at 48): too short, or longer than the message.
        for length in [0u16, 3, 149, u16::MAX] {
            let mut lies = bytes(STATION);
            lies[48..50].copy_from_slice(&length.to_ne_bytes());
            assert_eq!(stations(&lies), (Ok(false), vec![]), "{length}");
        }
        // A number's attribute in it (TX_RETRIES, at 168) has three bytes: it and the following ones are
        // unknown.
        let mut lies = bytes(STATION);
        lies[168..170].copy_from_slice(&7u16.to_ne_bytes());
        let (_, found) = stations(&lies);
        let of = |s: &Station| (s.tx_packets, s.tx_retries, s.tx_failed);
        assert_eq!(found.iter().map(of).collect::<Vec<_>>(), [(Some(1000), None, Some(3))]);
        // The rate's attributes are garbage.
        let mut lies = bytes(STATION);
        lies[116..148].fill(0xff);
        assert_eq!(stations(&lies).1[0].tx_rate, None);
    }

    #[test]
    fn others_answers_are_not_ours() {
        let (whole, mut other) = (bytes(STATION), bytes(STATION));
        other[8] ^= 1;
        assert_eq!(stations(&other), (Ok(false), vec![]));
        // A dump's end in the same datagram belongs to the same request.
        let mut done = bytes(DONE);
        done[8] ^= 1;
        let (complete, found) = stations(&[done, whole.clone()].concat());
        assert_eq!((complete, found.len()), (Ok(false), 1));
        let (mut family, mut command) = (whole.clone(), whole);
        (family[4], command[16]) = (0x1d, 20);
        assert_eq!((stations(&family).1, stations(&command).1), (vec![], vec![]));
    }

    #[test]
    fn garbage_is_survived() {
        for seed in 0..20_000 {
            let mut random = Seeds::new(seed, 0).stream("monitor/garbage");
            let mut datagram = [bytes(STATION), bytes(DONE), bytes(STATION)].concat();
            for _ in 0..=random.below(8) {
                let at = random.below(datagram.len() as u64) as usize;
                datagram[at] = random.u32() as u8;
            }
            datagram.truncate(random.below(datagram.len() as u64 + 1) as usize);
            let (complete, found) = stations(&datagram);
            assert!(found.len() <= 2 || complete.is_err(), "seed {seed}: {found:?}");
            let mut counters = LinkCounters::default();
            let _ = (counters.update(&[]), counters.update(&found), counters.update(&found));
        }
    }
}

#[test]
fn kernel_errors_map_to_refusals() {
    let of = |errno| stations(&refused(errno)).0;
    assert_eq!(of(0), Ok(true), "an acknowledgement");
    assert_eq!(of(libc::ENOENT), Err(Refusal::NoFamily));
    assert_eq!(of(libc::EPERM), Err(Refusal::NotPermitted));
    assert_eq!(of(libc::ENODEV), Err(Refusal::NotWireless));
    assert_eq!(of(libc::EOPNOTSUPP), Err(Refusal::NotWireless));
    assert_eq!(of(libc::ENOMEM), Err(Refusal::System(libc::ENOMEM)));
    // The least number has no opposite.
    assert!(matches!(of(i32::MIN), Err(Refusal::System(_))));
    // A dump may also end with an error.
    let mut done = refused(libc::ENODEV);
    done[4..6].copy_from_slice(&3u16.to_ne_bytes());
    assert_eq!(stations(&done).0, Err(Refusal::NotWireless));
}

#[test]
fn sums_start_with_the_first_query_and_only_grow() {
    let mut counters = LinkCounters::default();
    let mut look = |stations: &[Station]| {
        let reading = counters.update(stations).unwrap()?;
        let sample = reading.sample;
        Some((sample.tx_frames, sample.tx_retries, sample.tx_failed))
    };
    assert_eq!(look(&[station(1, 1000, 50, 2)]), Some((0, 0, 0)), "earlier traffic is not counted");
    // 100 packets: 10 were sent twice, and one was abandoned.
    assert_eq!(look(&[station(1, 1100, 60, 3)]), Some((110, 10, 1)));
    // Another station joins: all its frames were sent since then.
    assert_eq!(look(&[station(1, 1100, 60, 3), station(2, 10, 5, 0)]), Some((125, 15, 1)));
    // The first station leaves and returns: its counters were reset.
    assert_eq!(look(&[station(2, 10, 5, 0)]), Some((125, 15, 1)));
    assert_eq!(look(&[station(1, 5, 0, 0), station(2, 10, 5, 0)]), Some((130, 15, 1)));
    // No station, then the previous one again without a noticed departure.
    assert_eq!(look(&[]), None);
    assert_eq!(look(&[station(1, 7, 0, 0)]), Some((137, 15, 1)));
    assert_eq!(look(&[station(1, 2, 1, 0)]), Some((140, 16, 1)));
}

#[test]
fn counters_of_32_bits_wrap() {
    let mut counters = LinkCounters::default();
    counters.update(&[station(1, u32::MAX - 9, u32::MAX, 0)]).unwrap();
    let sample = counters.update(&[station(1, 10, 4, 0)]).unwrap().unwrap().sample;
    assert_eq!((sample.tx_frames, sample.tx_retries), (20 + 5, 5));
}

#[test]
fn lengths_signal_and_rate_are_those_of_the_only_station() {
    let mut counters = LinkCounters::default();
    let rate = Some(Rate::from_bps(6e6));
    let at = |packets, bytes| Station {
        tx_bytes: Some(bytes),
        signal_dbm: Some(-70),
        tx_rate: rate,
        rx_frames: Some(packets),
        rx_errors: Some(packets / 10),
        ..station(1, packets, 0, 0)
    };
    let first = counters.update(&[at(10, 20_000)]).unwrap().unwrap();
    assert_eq!((first.sample.frame_bytes, first.signal_dbm), (None, Some(-70)));
    let second = counters.update(&[at(20, 35_000)]).unwrap().unwrap();
    assert_eq!((second.sample.frame_bytes, second.sample.phy_rate), (Some(1500.0), rate));
    assert_eq!((second.sample.rx_frames, second.sample.rx_errors), (10, 1));
    assert_eq!(second.sample.snr_db, None, "the noise is not known");
    // Nothing sent: the last length stays. A link with two stations has no signal strength.
    let third = counters.update(&[at(20, 35_000), station(2, 0, 0, 0)]).unwrap().unwrap();
    assert_eq!((third.sample.frame_bytes, third.sample.phy_rate), (Some(1500.0), None));
    assert_eq!(third.signal_dbm, None);
}

#[test]
fn without_error_counters_there_is_no_reading() {
    let mut counters = LinkCounters::default();
    let mute = Station { tx_retries: None, tx_failed: None, ..station(1, 5, 0, 0) };
    assert_eq!(counters.update(std::slice::from_ref(&mute)), Err(Refusal::NoCounters));
    assert_eq!(
        counters.update(&[Station { tx_packets: None, ..station(1, 0, 5, 5) }]),
        Err(Refusal::NoCounters)
    );
    // One kind is enough.
    let enough = Station { tx_failed: Some(0), ..mute };
    assert!(counters.update(&[enough]).unwrap().is_some());
}

/// A radio that sends 100 packets between two queries, and the log of queries; interface 9 refuses.
fn radio() -> (Source, Arc<Mutex<Vec<u32>>>) {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let (log, mut packets) = (Arc::clone(&asked), 0);
    let stations = move |index| {
        log.lock().unwrap().push(index);
        packets += 100;
        if index == 9 { Err(Refusal::NotWireless) } else { Ok(vec![station(1, packets, 0, 0)]) }
    };
    (Source { is_wireless: |name| name.starts_with("wlan"), stations: Box::new(stations) }, asked)
}

/// Polls until a round is complete.
async fn round(monitor: &mut Monitor, now: Instant) -> Vec<(u32, u64)> {
    let mut heard = Vec::new();
    poll_fn(|cx| {
        let report = |reading: Reading| heard.push((reading.sample.link.0, reading.sample.tx_frames));
        if monitor.poll(cx, now, report) { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    heard
}

#[tokio::test]
async fn only_wireless_interfaces_are_queried() {
    let (source, asked) = radio();
    let mut monitor = Monitor::of(source);
    monitor.watch(&[(LinkId(0), Some(("eth0", 2))), (LinkId(1), None)]);
    assert_eq!(monitor.poll_timeout(), None, "nothing to do without wireless interfaces");
    // Two paths over one radio, and one that refuses.
    let links = [
        (LinkId(0), Some(("eth0", 2))),
        (LinkId(1), Some(("wlan0", 4))),
        (LinkId(2), Some(("wlan1", 9))),
        (LinkId(3), Some(("wlan0", 4))),
    ];
    monitor.watch(&links);
    let mut now = Instant::ZERO;
    assert_eq!(round(&mut monitor, now).await, [(1, 0), (3, 0)]);
    now = monitor.poll_timeout().unwrap();
    assert_eq!(now, Instant::from_millis(200));
    // The one that refused is not queried again for five seconds.
    assert_eq!(round(&mut monitor, now).await, [(1, 200), (3, 200)]);
    assert_eq!(*asked.lock().unwrap(), [4, 9, 4]);
    round(&mut monitor, Instant::from_millis(5000)).await;
    assert_eq!(*asked.lock().unwrap(), [4, 9, 4, 4, 9]);
    let stats = MonitorStats { readings: 6, unassociated: 0, refused: 2, last: Some(Refusal::NotWireless) };
    assert_eq!(monitor.stats, stats);
}

#[tokio::test]
async fn counters_of_a_link_continue_after_its_interface_was_away() {
    let (source, _asked) = radio();
    let mut monitor = Monitor::of(source);
    let (here, away) = ([(LinkId(0), Some(("wlan0", 4)))], [(LinkId(0), None)]);
    monitor.watch(&here);
    round(&mut monitor, Instant::ZERO).await;
    assert_eq!(round(&mut monitor, Instant::from_millis(1000)).await, [(0, 100)]);
    monitor.watch(&away);
    assert_eq!(monitor.poll_timeout(), None);
    monitor.watch(&here);
    assert_eq!(round(&mut monitor, Instant::from_millis(2000)).await, [(0, 200)]);
}

/// The loopback is not a radio on any machine, and a refusal breaks nothing.
#[cfg(target_os = "linux")]
#[test]
fn the_kernel_refuses_where_there_is_no_radio() {
    let loopback = crate::interface::interfaces().unwrap().into_iter().find(|i| i.loopback);
    let index = loopback.and_then(|i| i.index).unwrap_or(1);
    let mut kernel = source::Kernel::default();
    for _ in 0..2 {
        let refusal = kernel.stations(index).expect_err("the loopback has no stations");
        assert!(!matches!(refusal, Refusal::Late | Refusal::Malformed), "{refusal}");
    }
    assert!(!(Source::kernel().is_wireless)("lo") && !(Source::kernel().is_wireless)("../net/lo"));
}

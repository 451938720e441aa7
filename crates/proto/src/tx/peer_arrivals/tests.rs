use bytes::Bytes;

use super::*;
use crate::wire::chunk::report::Arrived;

const MS: u32 = 1000;

fn by(path: u16, tsn: u32, age: u32, packets: u32) -> ArrivedBy {
    ArrivedBy { path, tsn: Tsn(tsn), age, packets, bytes: packets.wrapping_mul(1000) }
}

/// Payload of a report.
fn arrived(clock: u32, paths: &[ArrivedBy]) -> Bytes {
    Arrived { clock, paths: paths.iter().copied() }.to_item().payload
}

/// Paths 0 to 3 have the wire ids 100 to 103; TSN n left at n ms.
fn hear<'a>(reports: &'a mut ArrivedReports, ms: u64, said: &Bytes) -> ReceivedReport<'a> {
    let path = |name: u16| (100..104).contains(&name).then(|| PathId((name - 100) as u8));
    let left = |tsn: Tsn, _| (tsn.0 > 0).then(|| Instant::from_millis(u64::from(tsn.0)));
    let said = ArrivedItem::read(said).expect("a report");
    reports.hear(Instant::from_millis(ms), PathId(1), said, path, left)
}

fn news(reports: &mut ArrivedReports, ms: u64, said: &Bytes) -> PeerArrivals {
    match hear(reports, ms, said) {
        ReceivedReport::News(news) => news.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_report_is_made_whole() {
    let mut reports = ArrivedReports::new();
    let first = news(&mut reports, 50, &arrived(7, &[by(102, 5, 20, 3), by(7, 5, 20, 3)]));
    assert_eq!((first.written, first.via), (PeerTime(EPOCH + 7), PathId(1)));
    let path = PathArrivals {
        path: PathId(2),
        tsn: Tsn(5),
        at: PeerTime(EPOCH + 7 - 20),
        sent: Some(Instant::from_millis(5)),
        packets: 3,
        bytes: 3000,
    };
    assert_eq!(first.paths[..], [path], "what is not a path is left out");
}

/// The clock wraps every 71 minutes. The time at which the last packet left stays known until something newer arrives.
#[test]
fn clock_and_counters_go_on_where_they_wrap() {
    let mut reports = ArrivedReports::new();
    let hour = 3_600_000;
    let clock = |h: u32| (h * 3_600_000).wrapping_mul(MS).wrapping_add(u32::MAX - 5);
    let first = news(&mut reports, 0, &arrived(clock(0), &[by(100, 5, 0, u32::MAX - 1)]));
    for h in 1..6 {
        let packets = (u32::MAX - 1).wrapping_add(h);
        let mut path = by(100, 5 + h, 0, packets);
        path.bytes = (u32::MAX - 1).wrapping_mul(1000).wrapping_add(h * 1000);
        let next = news(&mut reports, u64::from(h) * hour, &arrived(clock(h), &[path]));
        let time = next.written.since(first.written);
        assert_eq!(time, Duration::from_millis(u64::from(h) * hour));
        assert_eq!(next.paths[0].packets - first.paths[0].packets, u64::from(h));
        assert_eq!(next.paths[0].bytes - first.paths[0].bytes, u64::from(h) * 1000);
        assert_eq!(next.paths[0].at, next.written);
    }
}

#[test]
fn a_report_that_was_overtaken_tells_its_way_alone() {
    let old = |written: u64| PeerArrivals {
        written: PeerTime(EPOCH + written),
        via: PathId(1),
        paths: Default::default(),
    };
    let mut reports = ArrivedReports::new();
    news(&mut reports, 50, &arrived(2000, &[by(100, 5, 0, 3)]));
    assert_eq!(hear(&mut reports, 51, &arrived(1999, &[by(100, 4, 0, 2)])), ReceivedReport::Old(&old(1999)));
    let at_once = news(&mut reports, 52, &arrived(2000, &[by(100, 6, 0, 4)]));
    assert_eq!(at_once.paths[0].packets, 4);
    assert_eq!(
        hear(&mut reports, 52, &arrived(2000, &[by(100, 5, 0, 3)])),
        ReceivedReport::Old(&old(2000)),
        "the first of these two"
    );
    assert_eq!(
        news(&mut reports, 53, &arrived(2001, &[by(100, 6, 1, 4)])).paths[0].at,
        PeerTime(EPOCH + 2000)
    );
}

#[test]
fn a_peer_that_contradicts_itself_is_not_heard() {
    let before = [by(100, 5, 100, 3), by(101, 6, 100, 3)];
    let fewer_bytes = ArrivedBy { bytes: 2999, ..by(100, 7, 0, 4) };
    for (what, paths) in [
        ("fewer packets", &[by(100, 5, 0, 2)][..]),
        ("fewer bytes", &[fewer_bytes]),
        ("an earlier arrival of a later packet", &[by(100, 7, 200, 4)]),
        ("another packet without one more", &[by(100, 7, 0, 3)]),
        ("a path twice", &[by(101, 7, 0, 4), by(101, 7, 0, 4)]),
    ] {
        let mut reports = ArrivedReports::new();
        news(&mut reports, 50, &arrived(1000, &before));
        assert_eq!(hear(&mut reports, 50, &arrived(1010, paths)), ReceivedReport::Nonsense, "{what}");
        let next = news(&mut reports, 51, &arrived(1020, &[by(100, 8, 0, 5)]));
        assert_eq!(next.paths[0].packets, 5, "after {what} it continues");
    }
}

/// A TSN that has since been acknowledged, or sent again, does not change the entry of a packet that was named before.
#[test]
fn when_a_packet_left_stays_known_while_nothing_newer_arrives() {
    let mut reports = ArrivedReports::new();
    news(&mut reports, 50, &arrived(1000, &[by(100, 5, 0, 3)]));
    let late = Instant::from_millis(49);
    for (name, sent) in [(100, Instant::from_millis(5)), (103, late)] {
        let said = arrived(2000 + u32::from(name), &[by(name, 5, 1000 + u32::from(name), 3)]);
        let said = ArrivedItem::read(&said).expect("a report");
        let received =
            reports.hear(Instant::from_millis(51), PathId(0), said, |_| Some(PathId(0)), |_, _| Some(late));
        let ReceivedReport::News(news) = received else { panic!("{received:?}") };
        assert_eq!(news.paths[0].sent, Some(sent), "another path took the slot, or none did");
    }
}

#[test]
fn return_paths_are_asked_for_at_once_and_changed_rarely() {
    let mut reports = ArrivedReports::new();
    let (none, one) = (PathSet::default(), PathSet::one(PathId(1)));
    let at = Instant::from_millis;
    assert!(!reports.asked() && reports.ask(at(0), none) && reports.asked());
    assert!(!reports.ask(at(99), one) && reports.ask(at(100), one) && !reports.ask(at(500), one));
}

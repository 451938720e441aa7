//! RFC 5681 §4.2, RFC 2018 §4, RFC 7323 §4.

use super::*;

fn receiver(ack_every: u32) -> Receiver {
    let ack_delay = Duration::from_millis(200);
    Receiver::new(Config { ack_every, ack_delay, ..config(Recovery::Sack) })
}

fn take(receiver: &mut Receiver, now: Instant, number: u64) -> Vec<(u64, Vec<(u64, u64)>)> {
    receiver.handle_segment(now, &data(number));
    drain(receiver, now)
}

/// Acknowledgements as the next expected segment and blocks of segments.
fn drain(receiver: &mut Receiver, now: Instant) -> Vec<(u64, Vec<(u64, u64)>)> {
    let blocks = |s: &Segment| s.sack.iter(s.ack.unwrap()).map(|(a, b)| (a / MSS, b / MSS)).collect();
    core::iter::from_fn(|| receiver.poll_output(now)).map(|s| (s.ack.unwrap() / MSS, blocks(&s))).collect()
}

/// An acknowledgement for every second segment, or after the delay.
#[test]
fn acknowledgements_are_delayed() {
    let mut r = receiver(2);
    assert!(take(&mut r, ms(0), 0).is_empty());
    assert_eq!(r.poll_timeout(), Some(ms(200)));
    assert_eq!(take(&mut r, ms(10), 1), [(2, vec![])]);
    assert_eq!(r.poll_timeout(), None);
    assert!(take(&mut r, ms(20), 2).is_empty());
    r.handle_timeout(ms(219));
    assert!(drain(&mut r, ms(219)).is_empty());
    r.handle_timeout(ms(220));
    assert_eq!(drain(&mut r, ms(220)), [(3, vec![])]);
    assert_eq!(r.poll_timeout(), None);
}

/// "A TCP receiver SHOULD send an immediate duplicate ACK when an out-of-order segment arrives", and an immediate one
/// when a segment fills a gap or part of one.
#[test]
fn gaps_and_copies_are_answered_at_once() {
    let mut r = receiver(2);
    assert_eq!(take(&mut r, ms(0), 1).len(), 1);
    assert_eq!(take(&mut r, ms(0), 3), [(0, vec![(3, 4), (1, 2)])]);
    assert_eq!(take(&mut r, ms(0), 0), [(2, vec![(3, 4)])]);
    assert_eq!(take(&mut r, ms(0), 2), [(4, vec![])]);
    // A segment that arrived before is also answered.
    assert_eq!(take(&mut r, ms(0), 1), [(4, vec![])]);
    assert_eq!((r.delivered(), r.held()), (4 * MSS, 0));
    let stats = r.stats(0);
    assert_eq!((stats.segments, stats.duplicates, stats.out_of_order), (5, 1, 2));
}

/// RFC 2018 §4: the first block contains the segment that triggered the acknowledgement, the others repeat
/// the most recently reported ones, up to the number that fits.
#[test]
fn blocks_are_in_the_order_of_their_last_change() {
    let mut r = Receiver::new(Config { sack_blocks: 3, ..config(Recovery::Sack) });
    for n in [2, 4, 6] {
        take(&mut r, ms(0), n);
    }
    assert_eq!(take(&mut r, ms(0), 8), [(0, vec![(8, 9), (6, 7), (4, 5)])]);
    // 3 joins (2, 3) and (4, 5).
    assert_eq!(take(&mut r, ms(0), 3), [(0, vec![(2, 5), (8, 9), (6, 7)])]);
    assert_eq!(take(&mut r, ms(0), 7), [(0, vec![(6, 9), (2, 5)])]);
    assert_eq!(take(&mut r, ms(0), 0), [(1, vec![(6, 9), (2, 5)])]);
    assert_eq!(take(&mut r, ms(0), 1), [(5, vec![(6, 9)])]);
}

/// RFC 7323 §4.3: with a delayed acknowledgement the earlier segment's timestamp is echoed; beyond a gap, that of the
/// last one in order; when a gap is filled, that of the segment that filled it.
#[test]
fn timestamps_echo_the_right_segment() {
    let mut r = Receiver::new(Config { ack_every: 2, timestamps: true, ..config(Recovery::NewReno) });
    let mut take = |number, sent| {
        r.handle_segment(ms(500), &Segment { sent: ms(sent), ..data(number) });
        r.poll_output(ms(500)).map(|s| s.echo.unwrap())
    };
    assert_eq!(take(0, 1), None);
    assert_eq!(take(1, 2), Some(ms(1)));
    assert_eq!(take(3, 4), Some(ms(1)));
    assert_eq!(take(2, 7), Some(ms(7)));
}

#[test]
fn damaged_segments_are_counted_drops() {
    let mut r = receiver(1);
    assert_eq!(r.handle_segment(ms(0), &Segment { damaged: true, ..data(0) }), None);
    assert_eq!((drain(&mut r, ms(0)), r.stats(0).damaged), (vec![], 1));
    let mut s = Script::new(config(Recovery::Sack), 2);
    s.sent();
    s.sender.handle_segment(s.now, &Segment { damaged: true, ..answer(2, &[], 1 << 20) });
    assert!(s.sent().is_empty());
}

/// Header, options and data (RFC 9293, RFC 7323 appendix A, RFC 2018 §3).
#[test]
fn segments_have_their_length_on_the_wire() {
    let rfc = config(Recovery::Sack);
    assert_eq!(data(0).wire_len(&rfc), 1040);
    assert_eq!(answer(0, &[], 0).wire_len(&rfc), 40);
    assert_eq!(answer(0, &[(1, 2), (3, 4)], 0).wire_len(&rfc), 40 + 4 + 16);
    let stamped = Config { timestamps: true, ..rfc.clone() };
    assert_eq!(answer(0, &[(1, 2), (3, 4), (5, 6)], 0).wire_len(&stamped), 40 + 12 + 4 + 24);
    let several = Config { multipath: true, ..rfc };
    assert_eq!((data(0).wire_len(&several), answer(0, &[], 0).wire_len(&several)), (1068, 52));
    let ns2 = Config::from(Profile::Ns2);
    assert_eq!(answer(0, &[(1, 2)], 0).wire_len(&ns2), 40);
}

//! RFC 5681 §3.2, RFC 6582 and RFC 3042.

use super::*;

fn script(recovery: Recovery, window: u64) -> Script {
    let mut script = Script::new(Config { limited_transmit: false, ..config(recovery) }, window);
    assert_eq!(script.sent(), range(0..window));
    script
}

/// RFC 5681 §3.2: the third duplicate acknowledgement retransmits; each further one inflates the window by a segment;
/// the first new acknowledgement deflates it to ssthresh = FlightSize / 2.
#[test]
fn reno_retransmits_at_the_third_duplicate_and_leaves_with_the_first_new_acknowledgement() {
    let mut s = script(Recovery::Reno, 10);
    assert!(s.ack(0).is_empty());
    assert!(s.ack(0).is_empty());
    assert_eq!(s.ack(0), [0]);
    assert_eq!(s.cwnd(), 5);
    // Window 5 + 3 + further duplicates; 10 in flight: the third further one lets a segment out.
    assert!(s.ack(0).is_empty());
    assert!(s.ack(0).is_empty());
    assert_eq!(s.ack(0), [10]);
    assert_eq!(s.ack(0), [11]);
    // 5 in flight after 7 are acknowledged, window 5.
    assert!(s.ack(7).is_empty());
    assert_eq!(s.cwnd(), 5);
    assert_eq!(s.ack(8), [12]);
}

/// RFC 6582 §3.2 step 3: a partial acknowledgement retransmits the next hole, deflates by the acknowledged
/// amount and adds one segment; a full one ends recovery.
#[test]
fn newreno_repairs_a_hole_a_round_trip_until_a_full_acknowledgement() {
    // Segments 0 and 4 of 10 are lost.
    let mut s = script(Recovery::NewReno, 10);
    let sent: Vec<_> = (0..8).flat_map(|_| s.ack(0)).collect();
    // Third duplicate: 0. Window 5 + 8 at the eighth, 10 + 3 in flight.
    assert_eq!(sent, [0, 10, 11, 12]);
    // Partial: 4 acknowledged, 9 in flight, window 13 - 4 + 1 = 10.
    assert_eq!(s.ack(4), [4, 13]);
    assert_eq!(s.sender.stats(0).fast_recoveries, 1);
    // Full: everything sent before recovery; window 5, in flight 10..=13.
    assert_eq!(s.ack(10), [14]);
    assert_eq!(s.cwnd(), 5);
}

/// ns-2 grows the window with the acknowledgement that ends recovery, RFC 6582 §3.2 step 3 only sets it.
#[test]
fn a_key_lets_the_full_acknowledgement_grow_the_window() {
    for full_ack_grows in [false, true] {
        let mut s = Script::new(Config { full_ack_grows, ..config(Recovery::NewReno) }, 10);
        s.sent();
        for _ in 0..3 {
            s.ack(0);
        }
        s.ack(12);
        // Half of ten segments, and a fifth of one for an acknowledgement in congestion avoidance.
        let expected = 5 * MSS + if full_ack_grows { MSS / 5 } else { 0 };
        assert_eq!(s.sender.path(0).limit.cwnd, expected);
    }
}

/// RFC 6582 §3.2 step 1 and §4.1: after recovery, duplicates for data sent before it do not begin another
/// one.
#[test]
fn newreno_recovers_once_a_window() {
    let mut s = script(Recovery::NewReno, 10);
    for _ in 0..3 {
        s.ack(0);
    }
    s.ack(10);
    for _ in 0..3 {
        assert_eq!(s.ack(10).iter().filter(|n| **n == 10).count(), 0);
    }
    assert_eq!(s.sender.stats(0).fast_recoveries, 1);
    // An acknowledgement beyond `recover` allows another one.
    s.ack(11);
    let again: Vec<_> = (0..3).flat_map(|_| s.ack(11)).collect();
    assert_eq!(again, [11]);
    assert_eq!(s.sender.stats(0).fast_recoveries, 2);
}

/// RFC 6582 §3.2 step 3: only the first partial acknowledgement restarts the timer.
#[test]
fn newreno_is_impatient() {
    let mut s = script(Recovery::NewReno, 10);
    for _ in 0..3 {
        s.ack(0);
    }
    s.pass(300);
    s.ack(2);
    let due = s.sender.poll_timeout();
    assert_eq!(due, Some(s.now + s.sender.path(0).rto));
    s.pass(300);
    s.ack(4);
    assert_eq!(s.sender.poll_timeout(), due);
}

/// RFC 3042: the first two duplicates let out a new segment each, and RFC 5681 §3.2 step 2 does not count them as
/// FlightSize.
#[test]
fn limited_transmit_sends_two_segments_that_do_not_count() {
    for recovery in [Recovery::Reno, Recovery::NewReno] {
        let mut s = Script::new(config(recovery), 10);
        s.sent();
        assert_eq!(s.ack(0), [10]);
        assert_eq!(s.ack(0), [11]);
        assert_eq!(s.ack(0), [0]);
        assert_eq!(s.cwnd(), 5);
    }
}

/// RFC 5681 §2: an acknowledgement is a duplicate only while data are outstanding.
#[test]
fn nothing_outstanding_nothing_duplicate() {
    let mut sender = Sender::new(config(Recovery::NewReno), reno(10));
    sender.add_subflow(Instant::ZERO);
    sender.write(2 * MSS);
    let mut s = Script { now: ms(1000), sender };
    assert_eq!(s.sent(), [0, 1]);
    s.ack(2);
    assert!(s.sender.is_done());
    for _ in 0..5 {
        assert!(s.ack(2).is_empty());
    }
    assert_eq!(s.sender.stats(0).fast_recoveries, 0);
}

/// The cap on segments in answer to one acknowledgement.
#[test]
fn a_burst_limit_holds_an_acknowledgement() {
    let mut s = Script::new(Config { max_burst: 3, ..config(Recovery::NewReno) }, 8);
    s.sent();
    assert_eq!(s.ack(8).len(), 3);
    assert_eq!(s.ack(9).len(), 3);
}

//! RFC 6675 §4 and §5.

use super::*;

fn script(window: u64) -> Script {
    let mut script = Script::new(config(Recovery::Sack), window);
    assert_eq!(script.sent(), range(0..window));
    script
}

/// §5 (2), (3), (4): below DupThresh limited transmit, at DupThresh recovery with FlightSize without limited transmit.
#[test]
fn the_third_duplicate_begins_recovery() {
    let mut s = script(10);
    assert_eq!(s.sack(0, &[(1, 2)]), [10]);
    assert_eq!(s.sack(0, &[(1, 3)]), [11]);
    // Pipe: 12 sent, 3 arrived, 0 lost and sent again: 9. Window 5.
    assert_eq!(s.sack(0, &[(1, 4)]), [0]);
    assert_eq!(s.cwnd(), 5);
    assert_eq!(s.sender.path(0).in_flight, 9 * MSS);
    // Each further one removes a segment from the pipe; room is available from 4 on.
    for end in 5..9 {
        assert!(s.sack(0, &[(1, end)]).is_empty(), "{end}");
    }
    assert_eq!(s.sack(0, &[(1, 9)]), [12]);
}

/// §2: an acknowledgement without news is not a duplicate.
#[test]
fn duplicates_need_news() {
    let mut s = script(10);
    for _ in 0..5 {
        s.sack(0, &[(1, 2)]);
    }
    assert_eq!(s.sender.stats(0).fast_recoveries, 0);
}

/// §5 (1.b), IsLost: the bytes of more than two segments above suffice with the first duplicate, as after
/// lost acknowledgements; so do three separate ranges.
#[test]
fn one_acknowledgement_may_show_the_loss() {
    for blocks in [&[(1, 4)][..], &[(5, 6), (3, 4), (1, 2)]] {
        let mut s = script(10);
        assert_eq!(s.sack(0, blocks).first(), Some(&0));
        assert_eq!(s.sender.stats(0).fast_recoveries, 1);
    }
    let mut s = script(10);
    s.sack(0, &[(1, 3)]);
    assert_eq!(s.sender.stats(0).fast_recoveries, 0);
}

/// NextSeg (1): lost segments go first, in order, as the pipe allows; only then (2) new data.
#[test]
fn holes_are_filled_before_new_data() {
    // 0, 1, 4 of 20 are lost; window 10 afterwards.
    let mut s = script(20);
    let mut sent = Vec::new();
    sent.extend(s.sack(0, &[(2, 4)]));
    for end in 6..=20 {
        sent.extend(s.sack(0, &[(5, end), (2, 4)]));
    }
    assert_eq!(sent[..2], [20, 21]);
    assert_eq!(sent[2..], [0, 1, 4, 22, 23, 24, 25, 26]);
    // The pipe: 3 sent again and 7 new ones fill the window of 20 / 2.
    assert_eq!((s.sender.path(0).in_flight, s.cwnd()), (10 * MSS, 10));
}

/// §5 (A): the acknowledgement of RecoveryPoint ends recovery, a lower one does not.
#[test]
fn recovery_lasts_until_the_recovery_point() {
    let mut s = script(10);
    s.sack(0, &[(2, 6)]);
    let point = 11;
    s.sack(1, &[(2, 10)]);
    assert_eq!(s.sender.stats(0).fast_recoveries, 1);
    s.ack(point);
    assert_eq!(s.cwnd(), 5);
    // Growth shows that the window is in congestion avoidance again.
    for next in 12..20 {
        s.ack(next);
    }
    assert!(s.sender.path(0).limit.cwnd > 5 * MSS);
}

/// NextSeg (3): without new data, holes that are not lost yet are filled; (4) once per recovery the last
/// segment is retransmitted when no other can be.
#[test]
fn without_new_data_doubtful_segments_and_a_rescue_leave() {
    let mut sender = Sender::new(config(Recovery::Sack), reno(10));
    sender.add_subflow(Instant::ZERO);
    sender.write(10 * MSS);
    let mut s = Script { now: ms(1000), sender };
    s.sent();
    // 0, 7 and 9 are lost. Recovery begins with 1..4; 7 is not lost by IsLost, since only 8 arrives above.
    assert_eq!(s.sack(0, &[(1, 4)]), [0]);
    assert!(s.sack(0, &[(1, 6)]).is_empty());
    // Pipe: 0 again, 7, 9: 3, and the window 5. Rule 3: 7. Rule 4: 9, the last one.
    assert_eq!(s.sack(0, &[(8, 9), (1, 7)]), [7, 9]);
    // This recovery has no second rescue.
    assert!(s.sack(1, &[(8, 9), (1, 7)]).is_empty());
}

/// §5.1: after a timeout recovery does not begin for data sent before it; selectively acknowledged data are
/// not sent again.
#[test]
fn a_timeout_keeps_the_scoreboard() {
    let mut s = script(6);
    assert_eq!(s.sack(0, &[(2, 3)]), [6]);
    assert_eq!(s.sack(0, &[(2, 4)]), [7]);
    assert_eq!(s.pass(5000), [0]);
    assert_eq!(s.ack(1), [1, 4]);
    assert_eq!(s.ack(4), [5, 6]);
    // 8 is new.
    assert_eq!(s.sack(4, &[(5, 7)]), [7, 8]);
    assert_eq!(s.sender.stats(0).fast_recoveries, 0);
}

/// RFC 8985 §6.2: a retransmission is lost once a segment that left after it arrived; RFC 6675 waits for the
/// timer.
#[test]
fn a_lost_retransmission_is_noticed_with_rack() {
    for (recovery, again) in [(Recovery::Sack, 0), (Recovery::Rack, 1)] {
        let mut s = Script::new(config(recovery), 10);
        s.sent();
        // Segment 0 is lost, and sent again 10 ms later.
        s.now = ms(1010);
        let sent = s.sack(0, &[(1, 4)]);
        assert_eq!(sent, [0]);
        let mut resent = 0;
        for end in 5..=10 {
            s.now = ms(1010 + end);
            resent += s.sack(0, &[(1, end)]).iter().filter(|n| **n == 0).count();
        }
        assert_eq!(resent, 0, "all that arrived so far left before it");
        let new = s.sack(0, &[(1, 11)]);
        resent += new.iter().filter(|n| **n == 0).count();
        s.now = ms(1200);
        resent += s.sack(0, &[(1, 12)]).iter().filter(|n| **n == 0).count();
        assert_eq!(resent, again, "{recovery:?}");
        assert_eq!(s.sender.stats(0).timeouts, 0);
    }
}

/// A congestion control that paces: a segment leaves no earlier than the previous one allows.
#[test]
fn segments_leave_at_the_pacing_rate() {
    let mut sender = Sender::new(config(Recovery::Sack), Box::new(Paced));
    sender.add_subflow(Instant::ZERO);
    sender.write_endless();
    let mut left = Vec::new();
    let mut now = ms(1000);
    while left.len() < 5 {
        while sender.poll_output(now).is_some() {
            left.push(now);
        }
        now = sender.poll_timeout().expect("a segment waits");
        sender.handle_timeout(now);
    }
    assert_eq!(left, [1000, 1010, 1020, 1030, 1040].map(ms));
}

/// 100 segments per second.
#[derive(Debug)]
struct Paced;

impl Policy for Paced {}

impl CongestionControl for Paced {
    fn limit(&self, _: PathId) -> Limit {
        let pacing = Some(strandcast_proto::units::Rate::from_bytes_per_s(100.0 * MSS as f64));
        Limit { cwnd: 100 * MSS, ssthresh: None, pacing }
    }
}

//! RFC 6298 §5, Karn's algorithm, slow start after a timeout, idleness, the handshake.

use super::*;

fn script(window: u64) -> Script {
    let mut script = Script::new(config(Recovery::NewReno), window);
    assert_eq!(script.sent(), range(0..window));
    script
}

/// (5.1), (5.4)–(5.6): the timer runs from the first segment; at expiry the earliest segment is sent again, the RTO
/// doubles and the timer starts with it.
#[test]
fn timeouts_retransmit_the_first_segment_and_back_off() {
    let mut s = script(4);
    let begin = s.now;
    let mut at = Vec::new();
    for _ in 0..8 {
        assert_eq!(s.pass(100_000), [0]);
        at.push((s.now - begin).as_secs());
    }
    // 1, 2, 4 … and the 60 s of rto_max.
    assert_eq!(at, [1, 3, 7, 15, 31, 63, 123, 183]);
    let stats = s.sender.stats(0);
    assert_eq!((stats.timeouts, stats.first_timeouts), (8, 1));
    assert_eq!(stats.mean_first_timeout(), Some(Duration::from_secs(1)));
}

/// (5.3): an acknowledgement of new data restarts the timer; (5.2): of all data, stops it.
#[test]
fn new_data_acknowledged_restart_or_stop_the_timer() {
    let mut sender = Sender::new(config(Recovery::NewReno), reno(4));
    sender.add_subflow(Instant::ZERO);
    sender.write(4 * MSS);
    let mut s = Script { now: ms(1000), sender };
    s.sent();
    s.pass(400);
    s.ack(2);
    assert_eq!(s.sender.poll_timeout(), Some(s.now + s.sender.path(0).rto));
    s.ack(2);
    s.pass(100);
    s.ack(4);
    assert_eq!(s.sender.poll_timeout(), None);
}

/// RFC 5681 §3.1: ssthresh = FlightSize / 2 and one segment of window; slow start resends lost data that no
/// acknowledgement covers; a second timeout of the same segment leaves ssthresh.
#[test]
fn a_timeout_begins_slow_start_from_the_first_segment() {
    let mut s = script(10);
    assert_eq!(s.pass(2000), [0]);
    assert_eq!((s.cwnd(), s.sender.path(0).limit.ssthresh), (1, Some(5 * MSS)));
    assert_eq!(s.pass(3000), [0]);
    assert_eq!(s.sender.path(0).limit.ssthresh, Some(5 * MSS));
    assert_eq!(s.ack(1), [1, 2]);
    // 2..6 had arrived.
    assert_eq!(s.ack(6), [6, 7, 8]);
    // Duplicates of data sent twice do not indicate a loss.
    for _ in 0..4 {
        assert!(s.ack(6).is_empty());
    }
    assert_eq!(s.ack(10), [10, 11, 12, 13]);
    assert_eq!(s.sender.stats(0).fast_recoveries, 0);
    assert_eq!(s.sender.stats(0).timeout_retransmissions, 7);
}

/// ns-2 halves the threshold at each timeout.
#[test]
fn a_key_lets_repeated_timeouts_cut_the_threshold() {
    let mut s = Script::new(Config { backoff_cuts_ssthresh: true, ..config(Recovery::NewReno) }, 10);
    s.sent();
    s.pass(2000);
    s.pass(3000);
    assert_eq!(s.sender.path(0).limit.ssthresh, Some(2 * MSS));
}

/// §3, Karn: segments sent twice give no sample, so the back-off stays until one sent once is acknowledged.
#[test]
fn retransmitted_segments_are_not_timed() {
    let mut s = script(1);
    s.pass(5000);
    assert_eq!(s.sender.path(0).rto, Duration::from_secs(2));
    s.pass(500);
    assert_eq!(s.ack(1), [1, 2]);
    assert_eq!(s.sender.rtt_samples(0), 0);
    assert_eq!(s.sender.path(0).rto, Duration::from_secs(2));
    s.pass(300);
    s.ack(3);
    assert_eq!(s.sender.rtt_samples(0), 1);
    assert_eq!(s.sender.path(0).srtt, Some(Duration::from_millis(300)));
    assert_eq!(s.sender.path(0).rto, Duration::from_secs(1));
}

/// Without timestamps one segment per round trip is timed; with them each acknowledgement of new data is a
/// sample, also for retransmissions (RFC 7323 §4).
#[test]
fn timestamps_time_every_acknowledgement() {
    for (timestamps, samples) in [(false, 1), (true, 4)] {
        let mut s = Script::new(Config { timestamps, ..config(Recovery::NewReno) }, 4);
        s.sent();
        let left = s.now;
        s.pass(100);
        for next in 1..=4 {
            let ack = Segment { echo: Some(left), ..answer(next, &[], 1 << 20) };
            s.sender.handle_segment(s.now, &ack);
        }
        assert_eq!(s.sender.rtt_samples(0), samples);
        assert_eq!(s.sender.path(0).srtt, Some(Duration::from_millis(100)));
    }
}

/// RFC 5681 §4.1: after an RTO of silence the window is at most the restart window, and grows from there.
#[test]
fn idleness_restarts_slow_start() {
    let run = |restart_window| {
        let mut sender = Sender::new(Config { restart_window, ..config(Recovery::NewReno) }, reno(20));
        sender.add_subflow(Instant::ZERO);
        sender.write(5 * MSS);
        let mut s = Script { now: ms(1000), sender };
        assert_eq!(s.sent().len(), 5);
        s.pass(100);
        s.ack(5);
        s.pass(5000);
        s.sender.write(100 * MSS);
        (s.sent().len(), s.ack(8).len())
    };
    // Three segments, then three acknowledged ones and three more.
    assert_eq!(run(3), (3, 6));
    assert_eq!(run(0).0, 21);
}

/// The handshake takes a round trip, which is timed. A lost SYN is sent again after the RTO, makes the first
/// window one segment (RFC 5681 §3.1) and the first RTO at least 3 s (RFC 6298 (5.7)).
#[test]
fn a_handshake_opens() {
    let mut s = Script::new(Config { handshake: true, ..config(Recovery::NewReno) }, 4);
    let syn = s.sender.poll_output(s.now).unwrap();
    assert!(syn.syn && syn.len == 0);
    assert!(s.sent().is_empty());
    s.pass(80);
    let answer = Segment { syn: true, ..answer(0, &[], 1 << 20) };
    s.sender.handle_segment(s.now, &answer);
    assert_eq!(s.sender.path(0).srtt, Some(Duration::from_millis(80)));
    assert_eq!(s.sent(), range(0..4));

    let mut s = Script::new(Config { handshake: true, ..config(Recovery::NewReno) }, 4);
    let first = s.sender.poll_output(s.now).unwrap();
    let begin = s.now;
    assert_eq!(s.pass(2000).len(), 1);
    assert_eq!(s.now - begin, Duration::from_secs(1));
    s.sender.handle_segment(s.now, &answer);
    assert!(first.syn);
    assert_eq!(s.sender.rtt_samples(0), 0);
    assert_eq!(s.sent(), [0]);
    assert_eq!(s.sender.path(0).rto, Duration::from_secs(3));
    assert_eq!(s.ack(1), [1, 2]);
}

/// Nagle's algorithm holds a small segment back while data are unacknowledged.
#[test]
fn nagle_holds_back_small_segments() {
    for nagle in [false, true] {
        let mut sender = Sender::new(Config { nagle, ..config(Recovery::NewReno) }, reno(4));
        sender.add_subflow(Instant::ZERO);
        let mut s = Script { now: ms(1000), sender };
        s.sender.write(300);
        assert_eq!(s.sent().len(), 1);
        s.sender.write(300);
        assert_eq!(s.sent().len(), usize::from(!nagle));
        s.sender.write(2000);
        // 300 + 2000 bytes: two full segments leave, 300 bytes wait; otherwise the 2000 bytes leave.
        assert_eq!(s.sent().len(), 2);
    }
}

/// Time is attributed to the limit that keeps the sender from sending.
#[test]
fn limits_are_told_apart() {
    let mut sender = Sender::new(Config { receive_window: 3 * MSS, ..config(Recovery::NewReno) }, reno(2));
    sender.add_subflow(Instant::ZERO);
    let mut s = Script { now: ms(0), sender };
    assert!(s.sent().is_empty());
    s.now = ms(10);
    s.sender.write_endless();
    assert_eq!(s.sent(), [0, 1]);
    s.now = ms(30);
    assert_eq!(s.ack(1), [2, 3]);
    // The window is now 4 segments; the receiver accepts 3.
    assert_eq!(s.ack(2), [4]);
    s.now = ms(70);
    let limits = s.sender.limits(s.now);
    assert_eq!(limits.application, Duration::from_millis(10));
    assert_eq!(limits.congestion_window, Duration::from_millis(20));
    assert_eq!(limits.receive_window, Duration::from_millis(40));
    assert_eq!(s.sender.drop_backlog(), u64::MAX - 5 * MSS);
    assert_eq!(s.sender.backlog(), 0);
}

//! RFC 8684 §3.3 and the scheduler.

use proptest::prelude::*;
use strandcast_proto::policy::Scheduler;
use strandcast_schemes::schedule::LowestRtt;

use super::stream::transfer;
use super::*;

pub(super) fn several(config: Config) -> Config {
    Config { multipath: true, ..config }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn the_exact_stream_arrives_over_lossy_subflows(
        seed: u64,
        rates in prop::collection::vec(0.0f64..0.4, 1..4),
        recovery in prop::sample::select(vec![Recovery::NewReno, Recovery::Sack]),
        opportunistic: bool,
        window in 1u64..40,
        bytes in 1u64..200_000,
    ) {
        let receive_window = window * MSS;
        let config = several(Config { opportunistic, receive_window, ..config(recovery) });
        transfer(Sender::multipath(config, reno(4), Box::new(LowestRtt)), bytes, &rates, seed)?;
    }
}

/// Two subflows of an endless sender, each with a window of `window` segments and the given round-trip times.
fn two(config: Config, window: u64, rtt_ms: [u64; 2]) -> Script {
    two_by(config, window, rtt_ms, Box::new(LowestRtt))
}

/// Two such subflows with another scheduler.
pub(super) fn two_by(config: Config, window: u64, rtt_ms: [u64; 2], scheduler: Box<dyn Scheduler>) -> Script {
    let mut sender =
        Sender::multipath(several(Config { handshake: true, ..config }), reno(window), scheduler);
    sender.add_subflow(Instant::ZERO);
    sender.add_subflow(Instant::ZERO);
    let mut s = Script { now: ms(1000), sender };
    assert_eq!(s.sent().len(), 2);
    let begin = s.now;
    for (id, rtt) in rtt_ms.into_iter().enumerate() {
        let window = s.sender.config().receive_window;
        let syn = Segment { syn: true, subflow: id as u8, ..answer(0, &[], window) };
        s.sender.handle_segment(begin + Duration::from_millis(rtt), &syn);
    }
    s.now = ms(2000);
    s.sender.write_endless();
    s
}

/// Sends all output and returns subflow and data of each segment.
pub(super) fn sent(s: &mut Script) -> Vec<(u8, u64)> {
    core::iter::from_fn(|| s.sender.poll_output(s.now)).map(|s| (s.subflow, s.data_seq / MSS)).collect()
}

/// Delivers an acknowledgement of subflow `id` below its segment `next`, and of the connection's data below
/// `data`.
pub(super) fn ack(s: &mut Script, id: u8, next: u64, data: u64) -> Vec<(u8, u64)> {
    let window = s.sender.config().receive_window;
    let segment = Segment { subflow: id, data_ack: data * MSS, ..answer(next, &[], window) };
    s.sender.handle_segment(s.now, &segment);
    sent(s)
}

/// The lowest round-trip time first, as long as its window has room.
#[test]
fn the_fastest_subflow_with_room_is_taken() {
    let mut s = two(config(Recovery::Sack), 2, [90, 30]);
    assert_eq!(sent(&mut s), [(1, 0), (1, 1), (0, 2), (0, 3)]);
    assert_eq!(ack(&mut s, 1, 1, 1), [(1, 4), (1, 5)]);
}

/// The data in flight of a subflow at its timeout also leave on the other, once, and as far as they are
/// needed.
#[test]
fn a_timeout_reinjects() {
    let mut s = two(config(Recovery::Sack), 3, [90, 30]);
    assert_eq!(sent(&mut s), [(1, 0), (1, 1), (1, 2), (0, 3), (0, 4), (0, 5)]);
    // Subflow 1 is silent; subflow 0 delivers its data.
    s.now = ms(2100);
    assert_eq!(ack(&mut s, 0, 3, 0).len(), 4);
    let due = s.sender.subflows[1].timer.unwrap();
    s.now = due;
    s.sender.handle_timeout(due);
    // Subflow 1 retransmits its first segment; subflow 0 has no room for the others yet.
    assert_eq!(sent(&mut s), [(1, 0)]);
    assert_eq!(ack(&mut s, 0, 5, 0), [(0, 0), (0, 1), (0, 2)]);
    assert_eq!(s.sender.stats(0).reinjections, 3);
    // New data avoid the silent subflow.
    assert!(ack(&mut s, 0, 10, 6).iter().all(|(id, _)| *id == 0));
    let due = s.sender.subflows[1].timer.unwrap();
    s.now = due;
    s.sender.handle_timeout(due);
    assert_eq!(s.sender.stats(0).reinjections, 3);
}

/// Others send the undelivered data of a subflow that leaves.
#[test]
fn a_removed_subflow_reinjects() {
    let mut s = two(config(Recovery::Sack), 2, [90, 30]);
    sent(&mut s);
    s.sender.remove_subflow(s.now, 1);
    assert!(sent(&mut s).is_empty());
    // Its window is 3 segments now.
    assert_eq!(ack(&mut s, 0, 2, 0), [(0, 0), (0, 1), (0, 4)]);
    // A late acknowledgement of the removed subflow does no harm.
    assert!(ack(&mut s, 1, 2, 4).is_empty());
}

/// One receive window holds for all subflows, in data space (RFC 8684 §3.3.1).
#[test]
fn the_receive_window_is_shared() {
    let mut s = two(Config { receive_window: 3 * MSS, ..config(Recovery::Sack) }, 4, [90, 30]);
    assert_eq!(sent(&mut s), [(1, 0), (1, 1), (1, 2)]);
    assert_eq!(ack(&mut s, 1, 3, 3), [(1, 3), (1, 4), (1, 5)]);
}

/// A full receive window sends the segment at its edge on a much faster subflow, once, and cuts the slow
/// one's window, if the option is on.
#[test]
fn a_full_receive_window_is_an_opportunity() {
    for opportunistic in [false, true] {
        let receive_window = 6 * MSS;
        let mut s = two(Config { opportunistic, receive_window, ..config(Recovery::Sack) }, 3, [400, 30]);
        assert_eq!(sent(&mut s), [(1, 0), (1, 1), (1, 2), (0, 3), (0, 4), (0, 5)]);
        // 6..9 fill the window, 3 is at its edge; there is room for one more segment.
        let answer = ack(&mut s, 1, 3, 3);
        assert_eq!(answer[..3], [(1, 6), (1, 7), (1, 8)]);
        assert_eq!(answer.get(3), opportunistic.then_some(&(1, 3)));
        s.now = ms(2020);
        assert!(ack(&mut s, 1, 6, 3).is_empty());
        assert_eq!(s.sender.stats(0).penalties, u64::from(opportunistic));
        assert_eq!(s.sender.path(0).limit.cwnd, if opportunistic { 2 * MSS } else { 3 * MSS });
    }
}

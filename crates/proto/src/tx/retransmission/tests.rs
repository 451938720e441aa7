//! Scripts from RFC 9260 §6.2.1 and §7.2.4, and any order of calls compared with the plain count.

use proptest::prelude::*;
use smallvec::smallvec;
use strandcast_coding::symbol::Header;

use super::*;
use crate::policy::LossTrigger;
use crate::policy::fixture;
use crate::time::Duration;
use crate::tx::{ArrivalReports, Carries, PathAck};
use crate::wire::chunk::report::TsnRange;
use crate::wire::chunk::{GapBlock, Sack, SackHeader};
use crate::wire::serial::{Ppid, Ssn, StreamId};

const LEN: u64 = 116;

/// A queue with its ledger, and a clock that moves a millisecond with each call.
struct Fixture {
    rq: RetransmissionQueue,
    ledger: PathViews,
    reports: ArrivalReports,
    now: Instant,
}

impl Fixture {
    fn new(paths: u8) -> Self {
        let mut fixture = Fixture {
            rq: RetransmissionQueue::new(Tsn(1), true),
            ledger: PathViews::default(),
            reports: ArrivalReports::default(),
            now: Instant::ZERO,
        };
        for i in 0..paths {
            fixture.ledger.put(fixture::path(i));
            fixture.rq.open(PathId(i));
        }
        fixture
    }

    fn sent(&mut self, path: u8, next_tsn: Tsn) -> Transmission {
        self.now += Duration::from_millis(1);
        Transmission::new(PathId(path), self.now, next_tsn)
    }

    fn send(&mut self, path: u8) -> Tsn {
        let tsn = self.rq.next_tsn();
        let sent = self.sent(path, tsn + 1);
        let info = ChunkInfo {
            tsn,
            len: LEN,
            stream: StreamId(0),
            expires: None,
            importance: Default::default(),
            group: None,
            transmissions: smallvec![sent],
            losses: 0,
            symbol: None,
        };
        let chunk = Outgoing {
            info,
            state: ChunkState::InFlight,
            requeued: None,
            carries: Carries::Message,
            header: None,
            payload: vec![0; 100].into(),
            needless: Default::default(),
            message: u64::from(tsn.0),
            ssn: Ssn(0),
            ppid: Ppid(0),
            unordered: false,
            begin: true,
            end: true,
        };
        self.rq.push(&mut self.ledger, chunk)
    }

    fn lose(&mut self, tsn: u32, path: u8) {
        let declared = DeclaredLost { at: self.now, by: Some(LossTrigger::Timeout) };
        if self.rq.lose(&mut self.ledger, Tsn(tsn), PathId(path), declared).is_some() {
            self.rq.set_cause(Tsn(tsn), PathId(path), LossCause::Congestion);
        }
    }

    fn again(&mut self, tsn: u32, path: u8) {
        let sent = self.sent(path, self.rq.next_tsn());
        self.rq.push_again(&mut self.ledger, Tsn(tsn), sent).expect("it is outstanding");
    }

    fn copy(&mut self, tsn: u32, path: u8) -> Option<bool> {
        let sent = self.sent(path, self.rq.next_tsn());
        self.rq.push_copy(&mut self.ledger, Tsn(tsn), sent)
    }

    /// Delivers a SACK by path 0. Returns its results.
    fn sack(&mut self, cum: u32, blocks: &[(u16, u16)]) -> AckOutcome {
        let header = SackHeader { cumulative_tsn_ack: Tsn(cum), a_rwnd: 1 << 20, flags: 0 };
        let blocks: Vec<_> =
            blocks.iter().map(|(start, end)| GapBlock { start: *start, end: *end }).collect();
        let sack = Sack::new(header, &blocks, &[]);
        let outcome = self.rq.acknowledge(&mut self.ledger, self.now, &sack, PathId(0), &self.reports);
        self.rq.remember(&sack);
        self.reports.forget();
        self.check_names(&outcome);
        outcome
    }

    /// Checks that credited chunks are named, and that each name belongs to an acknowledged chunk.
    fn check_names(&self, outcome: &AckOutcome) {
        let names = &outcome.deliveries;
        for a in &outcome.paths {
            let (here, info) = (Some(a.info.path), &a.info);
            let settled = names.settled.iter().filter(|(p, _)| Some(*p) == here).count();
            let credited = names.credited.iter().filter(|(_, p)| *p == here).count();
            assert_eq!(settled + credited, info.newly_acked_chunks as usize, "{names:?}");
            assert_eq!((settled + credited) as u64 * LEN, info.newly_acked, "{names:?}");
        }
        for (tsn, _) in &names.credited {
            let kept = names.popped(*tsn);
            assert!(kept.is_none_or(|c| c.tsn == *tsn), "{names:?}");
            assert_ne!(kept.is_some(), self.rq.get(*tsn).is_some_and(Outgoing::acked), "{tsn}: {names:?}");
        }
    }

    fn in_flight(&self) -> Vec<u64> {
        self.ledger.paths().iter().map(|v| v.in_flight / LEN).collect()
    }

    fn check(&self) {
        self.rq.assert_consistent(&self.ledger);
    }
}

/// TSNs that a SACK acknowledges cumulatively are newly acknowledged on their path, as TSNs of its gap blocks are. Only
/// the latter count as acknowledged by gap blocks, and each of them once.
#[test]
fn gap_blocks_are_told_from_the_cumulative_tsn() {
    let mut fixture = Fixture::new(2);
    // 1 and 2 on path 0, 3 and 4 on path 1, and so on.
    (0..8).for_each(|i| {
        fixture.send(i / 2 % 2);
    });
    let told = |outcome: &AckOutcome| {
        let its = |a: &PathAck| (a.info.newly_acked_range, a.info.lowest_gap_acked);
        let paths: Vec<_> = outcome.paths.iter().map(its).collect();
        (paths, outcome.paths[0].info.paths_newly_acked, outcome.paths[0].info.paths_gap_acked)
    };
    let range = |low, high| Some((Tsn(low), Tsn(high)));
    let first = fixture.sack(2, &[(2, 2), (4, 4)]);
    assert_eq!(told(&first), (vec![(range(1, 6), Some(Tsn(6))), (range(4, 4), Some(Tsn(4)))], 2, 2));
    let second = fixture.sack(4, &[(2, 3)]);
    assert_eq!(told(&second), (vec![(None, None), (range(3, 7), Some(Tsn(7)))], 1, 1));
    let third = fixture.sack(7, &[]);
    assert_eq!(told(&third), (vec![(range(5, 5), None), (None, None)], 1, 0));
}

/// A symbol that was given up and arrives after all is named once, by the gap block that covers it; not by a cumulative
/// TSN, which a FORWARD-TSN may have moved.
#[test]
fn symbols_given_up_that_arrive_are_named_by_gap_blocks() {
    let mut fixture = Fixture::new(1);
    let header = |number| Header::Repair { block: number, sources: 4, seed: number };
    for number in 1..=4 {
        let tsn = fixture.send(0);
        fixture.rq.outstanding.get_mut(tsn).expect("just sent").header = Some(header(number));
    }
    for tsn in 2..=4 {
        fixture.lose(tsn, 0);
        fixture.rq.abandon(&mut fixture.ledger, Tsn(tsn));
    }
    let named = |outcome: &AckOutcome| outcome.symbols.clone();
    assert_eq!(named(&fixture.sack(0, &[(3, 3)])), [(header(3), None)]);
    assert_eq!(named(&fixture.sack(0, &[(3, 3)])), [], "once");
    assert_eq!(
        named(&fixture.sack(4, &[])),
        [(header(1), Some(PathId(0)))],
        "TSN 2 and 4 may have been skipped"
    );
    fixture.check();
}

fn newly(outcome: &AckOutcome) -> Vec<u32> {
    outcome.paths.iter().map(|a| a.info.newly_acked_chunks).collect()
}

/// RFC 9260 §6.2.1 D: chunks in gap blocks leave the flight once, and stay until the cumulative TSN passes them.
#[test]
fn a_sack_takes_each_chunk_out_of_its_path_s_flight_once() {
    let mut w = Fixture::new(2);
    for path in [0, 1, 0, 1, 0] {
        w.send(path);
    }
    let first = w.sack(1, &[(2, 3)]);
    assert_eq!((newly(&first), w.in_flight(), w.rq.len()), (vec![2, 1], vec![1, 1], 4));
    assert_eq!((first.delivered, first.messages), (100, 1));
    let again = w.sack(1, &[(2, 3)]);
    assert_eq!((newly(&again), w.in_flight()), (vec![0, 0], vec![1, 1]));
    let all = w.sack(5, &[]);
    assert_eq!((newly(&all), w.in_flight(), w.rq.is_empty()), (vec![1, 1], vec![0, 0], true));
    assert_eq!((all.delivered, all.messages), (400, 4));
    assert!(all.paths.iter().all(|a| a.info.all_acked));
    w.check();
}

/// Bytes are proven on the path where they were sent once, wherever they were lost, and where the peer names the path;
/// not where an earlier transmission on another path may have arrived instead.
#[test]
fn what_is_proven_can_only_have_come_by_that_path() {
    let proven = |outcome: &AckOutcome| -> Vec<u64> {
        outcome.paths.iter().map(|a| (a.info.newly_acked / LEN) * 10 + a.info.proven / LEN).collect()
    };
    let mut w = Fixture::new(2);
    for _ in 0..5 {
        w.send(0);
    }
    w.lose(1, 0);
    w.lose(2, 0);
    w.lose(3, 0);
    w.again(2, 0);
    w.again(3, 1);
    assert_eq!(proven(&w.sack(2, &[])), [22, 0], "lost and not sent again; sent twice, both times here");
    assert_eq!(proven(&w.sack(3, &[])), [0, 10], "by this one, or late by the other");
    w.copy(4, 1);
    assert_eq!(proven(&w.sack(4, &[])), [0, 0], "in flight on both");
    w.reports.begin(Instant::ZERO);
    w.copy(5, 1);
    assert!(w.reports.take(PathId(1), TsnRange { first: Tsn(5), last: Tsn(5) }));
    assert_eq!(proven(&w.sack(5, &[])), [0, 11], "the peer names the path");
    w.rq.settle(&mut w.ledger, PathId(0), TsnRange { first: Tsn(5), last: Tsn(5) });
    assert_eq!(proven(&w.sack(5, &[])), [11, 0], "and the other one later");
    w.send(0);
    w.lose(6, 0);
    w.again(6, 1);
    assert!(w.reports.take(PathId(1), TsnRange { first: Tsn(6), last: Tsn(6) }));
    assert_eq!(proven(&w.sack(6, &[])), [0, 11], "named, though lost before elsewhere");
}

/// Iyengar et al. (2006), CUC: the earliest chunk outstanding on a path moves although another path's gap keeps the
/// cumulative TSN.
#[test]
fn progress_is_counted_by_path() {
    let mut w = Fixture::new(2);
    for path in [0, 1, 1] {
        w.send(path);
    }
    let outcome = w.sack(0, &[(2, 2)]);
    let advanced: Vec<_> = outcome.paths.iter().map(|a| a.info.pseudo_cum_advanced).collect();
    assert_eq!((advanced, outcome.paths[1].info.cum_advanced), (vec![false, true], false));
    assert_eq!(outcome.paths[1].info.earliest_outstanding, Some(Tsn(3)));
    w.check();
}

/// RFC 9260 §6.2.1 D iii: a peer may have dropped chunks that a later SACK omits. They are not lost before a timeout,
/// since SACKs of several paths overtake each other.
#[test]
fn what_the_peer_reneges_on_is_lost_at_the_next_timeout() {
    let mut w = Fixture::new(1);
    for _ in 0..3 {
        w.send(0);
    }
    w.sack(0, &[(2, 3)]);
    w.sack(0, &[(2, 2)]);
    assert!(w.rq.get(Tsn(3)).is_some_and(Outgoing::acked), "not yet");
    w.rq.requeue_suspects(false);
    assert_eq!(w.rq.lost().iter().copied().collect::<Vec<_>>(), [Tsn(3)]);
    w.rq.requeue_suspects(true);
    assert_eq!(
        w.rq.lost().iter().copied().collect::<Vec<_>>(),
        [Tsn(2), Tsn(3)],
        "nothing else is left to send"
    );
    w.check();
}

/// A chunk is lost if no transmission of it is in flight any longer. If it is acknowledged after all, it was not lost.
#[test]
fn a_loss_is_of_one_transmission() {
    let mut w = Fixture::new(2);
    w.send(0);
    assert_eq!(w.copy(1, 1), Some(false), "new on its path");
    w.lose(1, 0);
    assert_eq!((w.rq.lost().len(), w.in_flight()), (0, vec![0, 1]));
    w.lose(1, 1);
    assert_eq!((w.rq.lost().len(), w.in_flight()), (1, vec![0, 0]));
    assert_eq!(w.copy(1, 1), None, "what is lost is sent again, not copied");
    let outcome = w.sack(1, &[]);
    assert_eq!((outcome.spurious, w.rq.is_empty()), (1, true));
    w.check();
}

/// Without a report of the copy that arrived, no window grows, the copy that seems to be in flight stays in its path's
/// flight, and the peer's window needs room for the chunk once.
#[test]
fn of_copies_nobody_named_the_later_one_stays_in_flight() {
    let mut w = Fixture::new(2);
    w.send(0);
    w.copy(1, 1);
    let outcome = w.sack(1, &[]);
    assert_eq!((newly(&outcome), w.in_flight(), w.ledger.in_flight()), (vec![0, 0], vec![0, 1], 0));
    assert!(w.rq.is_unsettled(Tsn(1), PathId(1)));
    w.check();
    // The peer names it: it settles, and counts with the next SACK.
    w.send(0);
    w.rq.settle(&mut w.ledger, PathId(1), TsnRange { first: Tsn(1), last: Tsn(1) });
    assert_eq!(newly(&w.sack(2, &[])), [1, 1]);
    assert_eq!(w.in_flight(), [0, 0]);
    w.check();
}

/// With a report, each copy is credited to its own path.
#[test]
fn copies_that_are_named_count_on_their_own_paths() {
    let mut w = Fixture::new(2);
    w.reports.begin(Instant::ZERO);
    w.send(0);
    w.copy(1, 1);
    assert!(w.reports.take(PathId(1), TsnRange { first: Tsn(1), last: Tsn(1) }));
    let outcome = w.sack(1, &[]);
    assert_eq!((newly(&outcome), w.in_flight()), (vec![0, 1], vec![1, 0]));
    // Three reports of later arrivals on path 0: its copy was lost.
    for n in 2..=4 {
        w.send(0);
        assert!(w.reports.take(PathId(0), TsnRange { first: Tsn(n), last: Tsn(n) }));
        let lost = w.rq.take_missed_copies(w.now, PathId(0), &w.reports);
        assert_eq!(lost.len(), usize::from(n == 4), "report {}", n - 1);
        for copy in lost {
            RetransmissionQueue::lose_copy(&mut w.ledger, PathId(0), copy);
        }
        w.reports.forget();
    }
    assert_eq!(w.in_flight(), [3, 0]);
    w.check();
}

/// Returns TSN and path of the chunks that a SACK newly acknowledges.
fn named(outcome: &AckOutcome) -> Vec<(u32, Option<u8>)> {
    outcome.deliveries.credited.iter().map(|(tsn, path)| (tsn.0, path.map(|p| p.0))).collect()
}

/// Each chunk is named once, by cumulative TSN or gap block, by the first that acknowledges it.
#[test]
fn acknowledged_chunks_are_named_once() {
    let mut w = Fixture::new(2);
    for path in [0, 1, 0, 1] {
        w.send(path);
    }
    let first = w.sack(1, &[(2, 2)]);
    assert_eq!(named(&first), [(1, Some(0)), (3, Some(0))]);
    assert_eq!(first.deliveries.popped(Tsn(1)).map(|c| c.path()), Some(PathId(0)));
    assert_eq!(named(&w.sack(1, &[(2, 2)])), []);
    assert_eq!(named(&w.sack(4, &[])), [(2, Some(1)), (4, Some(1))]);
    // The chunk was lost and is acknowledged after all: it counts where it was sent last.
    w.send(1);
    w.lose(5, 1);
    assert_eq!(named(&w.sack(5, &[])), [(5, Some(1))]);
    w.check();
}

/// A chunk is in flight on two paths and lost on one: the transmission on the other path arrives.
#[test]
fn a_copy_that_is_left_is_what_arrives() {
    let mut w = Fixture::new(2);
    w.send(0);
    w.copy(1, 1);
    w.lose(1, 1);
    assert_eq!(named(&w.sack(1, &[])), [(1, Some(0))], "though it was sent last on path 1");
    w.check();
}

/// The peer's report decides which of the copies in flight arrived. A copy that it names later is reported again, as it
/// was sent on its path. Without the report no path is named.
#[test]
fn copies_are_named_by_the_peer_s_word() {
    let mut w = Fixture::new(2);
    w.send(0);
    w.copy(1, 1);
    assert_eq!(named(&w.sack(1, &[])), [(1, None)]);
    w.reports.begin(Instant::ZERO);
    w.send(0);
    w.copy(2, 1);
    assert!(w.reports.take(PathId(1), TsnRange { first: Tsn(2), last: Tsn(2) }));
    let outcome = w.sack(2, &[]);
    assert_eq!(named(&outcome), [(2, Some(1))]);
    w.rq.recycle(outcome);
    w.rq.settle(&mut w.ledger, PathId(0), TsnRange { first: Tsn(2), last: Tsn(2) });
    let later = w.sack(2, &[]);
    let settled = later.deliveries.settled.iter().map(|(path, c)| (*path, c.tsn, c.path(), c.losses));
    assert_eq!(settled.collect::<Vec<_>>(), [(PathId(0), Tsn(2), PathId(0), 0)]);
    w.rq.recycle(later);
    assert!(w.sack(2, &[]).deliveries.settled.is_empty(), "once");
    w.check();
}

/// Nothing is kept for schemes that do not ask.
#[test]
fn nothing_is_named_unless_it_is_wanted() {
    let mut w = Fixture::new(2);
    w.rq.names_deliveries = false;
    w.reports.begin(Instant::ZERO);
    w.send(0);
    w.copy(1, 1);
    w.send(1);
    let header = SackHeader { cumulative_tsn_ack: Tsn(2), a_rwnd: 1 << 20, flags: 0 };
    let sack = Sack::new(header, &[], &[]);
    let outcome = w.rq.acknowledge(&mut w.ledger, w.now, &sack, PathId(0), &w.reports);
    w.rq.settle(&mut w.ledger, PathId(0), TsnRange { first: Tsn(1), last: Tsn(1) });
    assert_eq!((named(&outcome), outcome.deliveries.popped(Tsn(2)).is_none()), (vec![], true));
    assert!(w.rq.outcome.deliveries.settled.is_empty());
}

/// RFC 5682's conclusion: chunks that a spurious timeout declared lost are in flight as before, from the late one on.
#[test]
fn a_spurious_timeout_is_undone() {
    let mut w = Fixture::new(1);
    for _ in 0..4 {
        w.send(0);
    }
    let mut gone = Vec::new();
    w.rq.take_flight(PathId(0), &mut gone);
    gone.iter().for_each(|t| w.lose(t.0, 0));
    w.rq.set_timeout(PathId(0), Some(w.now));
    w.again(1, 0);
    let outcome = w.sack(2, &[]);
    assert_eq!(outcome.paths[0].late, Some(Tsn(2)), "it was not sent again");
    assert_eq!(w.rq.undo_timeout(&mut w.ledger, PathId(0), Tsn(2)), Some(2));
    assert_eq!((w.in_flight(), w.rq.lost().len()), (vec![2], 0));
    let losses = [1, 3, 4].map(|tsn| w.rq.get(Tsn(tsn)).map(|c| c.info.losses));
    assert_eq!(losses, [None, Some(0), Some(0)], "no loss of theirs counts");
    w.check();
    assert_eq!(w.sack(4, &[]).paths[0].info.newly_acked_again, 0, "nothing was sent again");
}

/// RFC 6298's Karn: the round-trip time of a chunk that was sent twice is not used.
#[test]
fn only_what_was_sent_once_is_timed() {
    let mut w = Fixture::new(2);
    for (tsn, copied) in [(1, false), (2, true)] {
        w.send(0);
        w.rq.time(PathId(0), Tsn(tsn));
        if copied {
            w.copy(tsn, 1);
        }
        let sent = w.now;
        w.now += Duration::from_millis(49);
        let rtt = w.sack(tsn, &[]).paths[0].info.rtt;
        assert_eq!(rtt, (!copied).then(|| w.now - sent));
    }
}

#[derive(Clone, Debug)]
enum Step {
    Send(u8),
    Lose(u32, u8),
    Again(u32, u8),
    Copy(u32, u8),
    Abandon(u32),
    Timeout(u8),
    Undo(u8),
    Sack(u32, Vec<(u16, u16)>),
}

fn step() -> impl Strategy<Value = Step> {
    let (tsn, path) = (0..30u32, 0..3u8);
    let blocks = prop::collection::vec((1..20u16, 0..6u16), 0..3);
    prop_oneof![
        4 => path.clone().prop_map(Step::Send),
        2 => (tsn.clone(), path.clone()).prop_map(|(t, p)| Step::Lose(t, p)),
        2 => (tsn.clone(), path.clone()).prop_map(|(t, p)| Step::Again(t, p)),
        2 => (tsn.clone(), path.clone()).prop_map(|(t, p)| Step::Copy(t, p)),
        1 => tsn.clone().prop_map(Step::Abandon),
        1 => path.clone().prop_map(Step::Timeout),
        1 => path.prop_map(Step::Undo),
        3 => (0..4u32, blocks).prop_map(|(cum, blocks)| Step::Sack(cum, blocks)),
    ]
}

proptest! {
    /// For any order of events, ledger and lists agree with the chunks, and each sent byte is in flight, acknowledged,
    /// lost or abandoned.
    #[test]
    fn the_books_agree(steps in prop::collection::vec(step(), 1..200)) {
        let mut w = Fixture::new(3);
        for step in steps {
            let base = w.rq.cum_acked().0 + 1;
            match step {
                Step::Send(path) => {
                    w.send(path);
                }
                Step::Lose(t, path) => w.lose(base + t, path),
                Step::Again(t, path) => {
                    if w.rq.get(Tsn(base + t)).is_some_and(|c| matches!(c.state, ChunkState::Lost(_))) {
                        w.again(base + t, path);
                    }
                }
                Step::Copy(t, path) => drop(w.copy(base + t, path)),
                Step::Abandon(t) => {
                    w.rq.abandon(&mut w.ledger, Tsn(base + t));
                    (0..3).for_each(|p| w.rq.prune(PathId(p)));
                }
                Step::Timeout(path) => {
                    let mut gone = Vec::new();
                    w.rq.take_flight(PathId(path), &mut gone);
                    gone.iter().for_each(|t| w.lose(t.0, path));
                    while let Some(copy) = w.rq.take_copy(PathId(path)) {
                        RetransmissionQueue::lose_copy(&mut w.ledger, PathId(path), copy);
                    }
                    w.rq.set_timeout(PathId(path), Some(w.now));
                    w.rq.requeue_suspects(false);
                }
                Step::Undo(path) => drop(w.rq.undo_timeout(&mut w.ledger, PathId(path), Tsn(base))),
                Step::Sack(cum, blocks) => {
                    let highest = w.rq.next_tsn().0 - 1;
                    let mut end = 1;
                    let blocks: Vec<_> = blocks.iter().map(|(gap, len)| {
                        let start = end + gap;
                        end = start + len;
                        (start, end)
                    }).collect();
                    w.sack((base - 1 + cum).min(highest), &blocks);
                }
            }
            w.check();
        }
    }
}

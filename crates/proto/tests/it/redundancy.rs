//! Data sent in addition to the necessary ones: counted, and capped.

use strandcast_proto::association::{Association, AssociationStats, SendOptions};
use strandcast_proto::coding::{Coding, RepairCode, RepairCoding, RepairWhen};
use strandcast_proto::config::TransportConfig;
use strandcast_proto::path::PathStats;
use strandcast_proto::policy::{
    Act, Assignment, Backlog, ChunkInfo, Flight, LinkId, Parts, PathId, Policy, Scheduler, Signal, Tariff,
    View,
};
use strandcast_proto::time::Duration;
use strandcast_testing::endpoints::*;
use strandcast_testing::plain;

/// Sends everything on all usable paths.
#[derive(Debug)]
struct Everywhere;
impl Policy for Everywhere {}
impl Scheduler for Everywhere {
    fn next(&mut self, view: &View<'_>, _: &Backlog) -> Option<Assignment> {
        view.usable_paths().find(|p| p.has_room())?;
        let paths = view.usable_paths().map(|p| p.id).collect();
        Some(Assignment { paths, chunks: 1, ..Assignment::default() })
    }
}

/// A connected pair; the client sends copies of everything, and may have a cap.
fn connected_pair(delays_ms: &[u64], cap: Option<f64>, seed: u64) -> TestPair {
    let transport = TransportConfig { redundancy: cap, ..config() };
    let mut w = TestPair::new(delays_ms, transport, seed);
    w.connect_with(Box::new(Parts { scheduler: Box::new(Everywhere), ..plain::parts(20_000) }));
    w.run(ms(3000));
    w
}

/// Sends a message of 1000 bytes every 10 ms. Returns the client's counters at the end.
fn play(w: &mut TestPair, messages: usize) -> AssociationStats {
    for n in 0..messages {
        w.send(CLIENT, pattern(n, 1000), SendOptions::default());
        w.run(ms(10));
        w.association(CLIENT).assert_consistent();
    }
    w.run(Duration::from_secs(30));
    assert_eq!(w.apps[SERVER].messages.len(), messages);
    w.association(CLIENT).stats().clone()
}

#[test]
fn a_copy_of_everything_is_as_much_again() {
    let stats = play(&mut connected_pair(&[20, 30], None, 1), 100);
    assert_eq!((stats.media_sent, stats.redundancy_sent), (100_000, 100_000));
    assert_eq!((stats.redundancy(), stats.redundancy_refused), (Some(1.0), 0));
    // Two datagrams with 28 bytes of IP and UDP, 12 and 16 of SCTP for each message, and the bytes that return.
    let overhead = stats.overhead().expect("media were sent");
    assert!((2.112..2.6).contains(&overhead), "{overhead}");
}

#[test]
fn retransmissions_of_what_was_lost_are_needed() {
    let mut w = TestPair::new(&[20], config(), 3);
    w.up();
    w.wires[0].loss = 0.05;
    let stats = play(&mut w, 300);
    let again: u64 = of(&w, 0).retransmissions;
    assert!(again > 5, "{again} retransmissions");
    // Timeouts after a lost SACK are excepted.
    assert!(stats.redundancy_sent <= 3000, "{} of {again} retransmissions", stats.redundancy_sent);
}

/// One packet is delayed until its chunk is sent again: both arrive, and the peer reports it.
#[test]
fn a_needless_retransmission_is_counted_once_the_peer_reports_it() {
    let mut w = TestPair::new(&[20], config(), 3);
    w.up();
    w.wires[0].delay = ms(2500);
    w.send(CLIENT, pattern(0, 1000), SendOptions::default());
    w.wires[0].delay = ms(20);
    w.run(ms(2000));
    assert_eq!(w.association(CLIENT).stats().redundancy_sent, 0, "it is not known yet");
    w.run(ms(5000));
    let stats = w.association(CLIENT).stats();
    assert_eq!((stats.media_sent, stats.redundancy_sent), (1000, 1000));
}

/// No scheme exceeds the cap, whatever it requests and whatever is lost; refused requests are counted.
#[test]
fn no_scheme_exceeds_the_cap() {
    for seed in 0..8 {
        let share = 0.02 * (1 + seed % 4) as f64;
        let mut w = connected_pair(&[20, 30, 60], Some(share), seed);
        w.wires.iter_mut().for_each(|wire| (wire.loss, wire.jitter) = (0.02, ms(20)));
        let stats = play(&mut w, 300);
        let copies: u64 = (0..3).map(|p| of(&w, p).chunks_sent).sum::<u64>() - 300;
        let again: u64 = (0..3).map(|p| of(&w, p).retransmissions).sum();
        assert!((copies - again) as f64 * 1000.0 <= share * 300_000.0, "{copies} copies, {again} again");
        assert!(copies > 0 && stats.redundancy_refused > 300, "{copies}, {}", stats.redundancy_refused);
    }
}

fn of(w: &TestPair, path: u8) -> &PathStats {
    w.association(CLIENT).path_stats(PathId(path)).expect("it is there")
}

/// Uses links of the lowest class that have allowance left; keeps the tariff of a changed path.
#[derive(Debug, Default)]
struct Saver(Option<Tariff>);
impl Policy for Saver {
    fn on_signal(&mut self, view: &View<'_>, signal: &Signal<'_>) {
        if let Signal::PathChanged(path) = signal {
            self.0 = Some(view[*path].tariff);
        }
    }
}
impl Scheduler for Saver {
    fn next(&mut self, view: &View<'_>, _: &Backlog) -> Option<Assignment> {
        let free = view.usable_paths().filter(|p| p.has_room() && p.tariff.left != Some(0));
        free.min_by_key(|p| p.tariff.class).map(|p| Assignment::on(p.id, 1))
    }
}

#[test]
fn what_is_left_of_a_link_is_counted_down_by_all_that_goes_over_it() {
    let mut w = TestPair::new(&[20, 20], config(), 1);
    w.connect_with(Box::new(Parts { scheduler: Box::new(Saver::default()), ..plain::parts(50_000) }));
    w.run(ms(3000));
    let (now, id) = (w.now, w.apps[CLIENT].id.expect("connected"));
    let set = |w: &mut TestPair, link, class, left| {
        let tariff = Tariff { class, left, ..Tariff::default() };
        let say = |a: &mut Association| {
            a.set_tariff(now, LinkId(link), tariff);
            Ok(())
        };
        w.ends[CLIENT].with(id, say).expect("it is there");
    };
    set(&mut w, 0, 0, Some(50_000));
    set(&mut w, 1, 1, None);
    let before = w.association(CLIENT).stats().wire_sent + w.association(CLIENT).stats().wire_received;
    for n in 0..20 {
        w.send(CLIENT, pattern(n, 1000), SendOptions::default());
        w.run(ms(10));
    }
    let stats = w.association(CLIENT).stats();
    let used = stats.wire_sent + stats.wire_received - before;
    let left = |w: &TestPair| w.association(CLIENT).paths()[0].tariff.left.expect("it has a bound");
    assert_eq!((left(&w), of(&w, 1).chunks_sent), (50_000 - used, 0), "nothing went over the other link");
    for n in 20..100 {
        w.send(CLIENT, pattern(n, 1000), SendOptions::default());
        w.run(ms(10));
    }
    w.run(Duration::from_secs(5));
    assert_eq!(left(&w), 0);
    assert!(of(&w, 1).chunks_sent > 40, "the rest took the other link");
    assert_eq!(w.apps[SERVER].messages.len(), 100);
}

/// Sends in order on the first path with room, and copies all chunks that are in flight on one path alone.
#[derive(Debug)]
struct Copies;
impl Policy for Copies {
    fn acts(&self) -> bool {
        true
    }

    fn act(&mut self, view: &View<'_>, flight: &Flight<'_>) -> Option<Act> {
        view.usable_paths().find_map(|path| {
            let alone = |c: &&ChunkInfo| c.transmissions.iter().filter(|t| t.in_flight).count() == 1;
            let to = view.usable_paths().find(|p| p.id != path.id)?.id;
            flight.on(path.id).find(alone).map(|c| Act::Copy { tsn: c.tsn, to })
        })
    }
}
impl Scheduler for Copies {
    fn next(&mut self, view: &View<'_>, _: &Backlog) -> Option<Assignment> {
        view.usable_paths().find(|p| p.has_room()).map(|p| Assignment::on(p.id, 1))
    }
}

#[test]
fn acts_and_repair_symbols_share_the_cap() {
    let code = RepairCode::Rlc;
    let repair = RepairCoding { code, redundancy: 0.5, when: RepairWhen::Always, window: 64 };
    let transport = TransportConfig {
        redundancy: Some(0.04),
        coding: Some(Coding::Repair(repair)),
        decodes: true,
        ..config()
    };
    let mut w = TestPair::new(&[20, 30], transport, 5);
    w.connect_with(Box::new(Parts { scheduler: Box::new(Copies), ..plain::parts(20_000) }));
    w.run(ms(3000));
    for n in 0..400 {
        let options = SendOptions { unordered: true, lifetime: Some(ms(60_000)), ..SendOptions::default() };
        w.send(CLIENT, pattern(n, 1000), options);
        w.run(ms(10));
        w.association(CLIENT).assert_consistent();
    }
    w.run(Duration::from_secs(30));
    assert_eq!(w.apps[SERVER].messages.len(), 400);
    let stats = w.association(CLIENT).stats();
    let copies = of(&w, 0).chunks_sent + of(&w, 1).chunks_sent - 400 - stats.coding.repairs_sent;
    assert!(copies > 0 && stats.coding.repairs_sent > 0, "{copies}, {:?}", stats.coding);
    let sent = stats.coding.repair_bytes + 1000 * copies;
    assert!(sent as f64 <= 0.04 * 400_000.0, "{sent} bytes, {copies} copies, {:?}", stats.coding);
    assert_eq!(stats.media_sent, 400_000);
    assert!(stats.redundancy_refused + stats.refused_acts > 100, "{stats:?}");
}

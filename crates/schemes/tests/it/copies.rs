//! One TSN on several paths: what is reported to each path's window of its copies, towards peers that name the path of
//! each arrival and towards others.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use strandcast_proto::association::SendOptions;
use strandcast_proto::config::TransportConfig;
use strandcast_proto::policy::{
    Estimate, LossTrigger, Parts, PathEstimator, PathId, Policy, Scheme, Signal, View,
};
use strandcast_proto::rfc::{self, Advance, Aimd, Reno, WindowConfig};
use strandcast_proto::seeds::Seeds;
use strandcast_schemes::recovery::{SfrConfig, SplitFastRetransmit};
use strandcast_schemes::schedule::Redundant;
use strandcast_testing::endpoints::*;

const PATHS: [PathId; 2] = [PathId(0), PathId(1)];

/// Reports to the client's scheme.
#[derive(Clone, Debug, Default)]
struct Told {
    /// Size and transmissions on each path, by TSN.
    sent: BTreeMap<u32, (u64, [u32; 2])>,
    /// Bytes acknowledged for each path.
    acked: [u64; 2],
    /// Fast retransmits, timeouts and penalties.
    events: [[u32; 3]; 2],
    /// Transmissions lost on each path.
    lost: [u32; 2],
    /// Chunks named by each path, and by none; their bytes on each path.
    named: [BTreeMap<u32, u32>; 3],
    credit: [u64; 2],
    /// The most that was in flight, against the window then.
    overshoot: [i64; 2],
}

/// The second: asks which chunks arrive.
#[derive(Debug)]
struct Listens(Arc<Mutex<Told>>, bool);

impl Policy for Listens {
    fn on_signal(&mut self, view: &View<'_>, signal: &Signal<'_>) {
        let mut told = self.0.lock().expect("no test panics with it");
        match signal {
            Signal::Sent(chunk) => {
                let path = chunk.path();
                let entry = told.sent.entry(chunk.tsn.0).or_insert((chunk.len, [0; 2]));
                entry.1[path.index()] += 1;
                let beyond = view[path].in_flight as i64 - view[path].limit.cwnd as i64;
                told.overshoot[path.index()] = told.overshoot[path.index()].max(beyond);
            }
            Signal::Acked(ack) => {
                let path = ack.path.index();
                told.acked[path] += ack.newly_acked;
                assert!(!self.1 || told.acked[path] == told.credit[path], "named before it counts: {ack:?}");
            }
            Signal::Lost { chunk, path, .. } => {
                assert!(chunk.on(*path).is_some_and(|t| !t.in_flight), "{chunk:?} on {path:?}");
                told.lost[path.index()] += 1;
            }
            Signal::Delivered { chunk, path } => {
                let by = path.map_or(2, PathId::index);
                *told.named[by].entry(chunk.tsn.0).or_default() += 1;
                if let Some(credit) = told.credit.get_mut(by) {
                    *credit += chunk.len;
                }
            }
            Signal::LossEvent { path, trigger, .. } => {
                let kind = match trigger {
                    LossTrigger::FastRetransmit => 0,
                    LossTrigger::Timeout => 1,
                    LossTrigger::HeadOfLine => 2,
                };
                told.events[path.index()][kind] += 1;
            }
            _ => {}
        }
    }

    fn hears_deliveries(&self) -> bool {
        self.1
    }
}

impl PathEstimator for Listens {
    fn estimate(&self, _: PathId, _: &mut Estimate) {}
}

impl Told {
    /// Bytes sent on `path`, those whose TSN went nowhere else alone, if `alone`.
    fn bytes(&self, path: usize, alone: bool) -> u64 {
        let of = |(len, on): &(u64, [u32; 2])| len * u64::from(on[path]);
        self.sent.values().filter(|(_, on)| !alone || on[1 - path] == 0).map(of).sum()
    }
}

/// A REPORT with an item COPIES (docs/wire-format.md): type 0xB1, kind 6.
fn asks_for_arrivals(bytes: &[u8]) -> bool {
    bytes.windows(6).any(|b| b[0] == 0xb1 && b[4..] == [0, 6])
}

/// A client that sends copies on both paths to a server that names arrivals, or never learns that it should; reports to
/// the client's scheme go to `Told`.
fn connected_pair(delays_ms: &[u64], names: bool) -> (TestPair, Arc<Mutex<Told>>) {
    listening(delays_ms, names, true)
}

/// Client and server over paths with these delays; `hears`: the client's scheme asks which chunks arrive.
fn listening(delays_ms: &[u64], names: bool, hears: bool) -> (TestPair, Arc<Mutex<Told>>) {
    let told = Arc::new(Mutex::new(Told::default()));
    let parts = move |seeds: &Seeds, told: Arc<Mutex<Told>>| -> Box<dyn Scheme> {
        let windows = WindowConfig { advance: Advance::Pseudo, ..WindowConfig::default() };
        Box::new(Parts {
            estimators: vec![Box::new(Listens(told, hears))],
            loss: Box::new(SplitFastRetransmit::new(SfrConfig::default(), seeds.stream("loss"))),
            cc: Box::new(Aimd::new(windows, Reno)),
            scheduler: Box::new(Redundant::new(2)),
            ..rfc::scheme()
        })
    };
    let transport = TransportConfig { send_buffer: 8 << 20, ..TransportConfig::default() };
    let accept = Arc::new(move |seeds: &Seeds| parts(seeds, Arc::default()));
    let mut w = TestPair::with(delays_ms, [transport.clone(), transport], accept, 7);
    w.filter = Box::new(move |_, from, _, bytes| names || from != CLIENT || !asks_for_arrivals(bytes));
    w.connect_with(parts(&Seeds::new(7, 1), Arc::clone(&told)));
    w.run(ms(3000));
    (w, told)
}

/// Sends `n` messages at once and runs until all are there.
fn bulk(w: &mut TestPair, n: usize) {
    let before = w.apps[SERVER].messages.len();
    for i in 0..n {
        w.send(CLIENT, pattern(i * 1000, 1000), SendOptions::default());
    }
    let arrived = |w: &TestPair| w.apps[SERVER].messages.len() - before;
    assert!(w.run_until(ms(120_000), |w| arrived(w) >= n), "{} of {n}", arrived(w));
    w.run(ms(3000));
    w.association(CLIENT).assert_consistent();
}

fn windows(w: &TestPair) -> [u64; 2] {
    PATHS.map(|p| w.association(CLIENT).paths()[p.index()].limit.cwnd)
}

/// Each window grows by what its own path delivered, and by no more, and no path is sent more than its window.
#[test]
fn a_path_is_credited_with_what_came_by_it() {
    let (mut w, told) = connected_pair(&[20, 45], true);
    let before = windows(&w);
    bulk(&mut w, 600);
    let told = told.lock().expect("no test panics with it").clone();
    for path in [0, 1] {
        // For the first chunks the receiver had no report yet that they were copies.
        let (acked, sent) = (told.acked[path], told.bytes(path, false));
        assert!(
            acked <= sent && acked + 20_000 > sent,
            "path {path}: {acked} of {sent}, and nothing was lost"
        );
        assert_eq!(told.events[path], [0; 3], "path {path}");
        assert!(told.overshoot[path] < 1400, "path {path}: {} beyond its window", told.overshoot[path]);
    }
    let copies = told.sent.values().filter(|(_, on)| on[0] > 0 && on[1] > 0).count();
    assert!(copies > 5, "{copies} copies");
    let after = windows(&w);
    assert!(after[0] > before[0] && after[1] > before[1], "{before:?}, {after:?}");
}

/// A copy that is lost is missed on its path, at once, by what came later there; the other path and the data notice
/// nothing.
#[test]
fn a_lost_copy_is_noticed_on_its_own_path() {
    let (mut w, told) = connected_pair(&[20, 45], true);
    bulk(&mut w, 200);
    w.wires[1].loss = 0.05;
    bulk(&mut w, 800);
    let told = told.lock().expect("no test panics with it").clone();
    assert!(told.events[1][0] > 0, "path 1 received {} losses", told.events[1][0]);
    assert_eq!(told.events[0], [0; 3], "path 0 lost nothing");
    assert!(told.lost[0] == 0 && told.lost[1] > 0, "lost {:?}, all where the loss was", told.lost);
    assert!(told.acked[1] < told.bytes(1, false), "what is lost is not credited");
    let stats = |p: usize| w.association(CLIENT).path_stats(PATHS[p]).expect("a path").clone();
    assert!(stats(1).lost_fast > stats(1).lost_timeout, "{:?}", stats(1));
}

/// A path that died while the other brings every copy is found out by its own timer.
#[test]
fn a_dead_path_is_not_hidden_by_copies() {
    let (mut w, told) = connected_pair(&[20, 45], true);
    bulk(&mut w, 200);
    w.wires[1].up = [false; 2];
    bulk(&mut w, 200);
    let told = told.lock().expect("no test panics with it").clone();
    assert!(told.events[1][1] > 0, "no timeout on path 1");
    assert_eq!(told.events[0][1], 0);
}

/// Copies of the slower path arrive after those of the faster one: their arrival restarts its timer nevertheless.
#[test]
fn a_path_that_is_always_second_does_not_time_out() {
    for names in [true, false] {
        let (mut w, told) = connected_pair(&[20, 45], names);
        for _ in 0..1000 {
            w.send(CLIENT, pattern(0, 1000), SendOptions::default());
            w.run(ms(4));
        }
        w.run(ms(3000));
        w.association(CLIENT).assert_consistent();
        let told = told.lock().expect("no test panics with it").clone();
        assert_eq!(told.events, [[0; 3]; 2], "the peer names paths: {names}");
    }
}

/// A chunk for which a path has no room goes there once it has, unless it arrived by then: when the other path dies,
/// nothing waits for its timeout, a second at least.
#[test]
fn a_copy_without_room_leaves_later() {
    let (mut w, _) = connected_pair(&[20, 45], true);
    bulk(&mut w, 200);
    let cwnd = windows(&w);
    assert!(cwnd[0] > cwnd[1] + 3000, "the first path has room for more: {cwnd:?}");
    w.wires[0].up = [false; 2];
    let before = w.apps[SERVER].messages.len();
    for i in 0..60 {
        w.send(CLIENT, pattern(i * 1000, 1000), SendOptions::default());
    }
    let all = w.run_until(ms(900), |w| w.apps[SERVER].messages.len() - before >= 60);
    assert!(all, "{} of 60 after 900 ms", w.apps[SERVER].messages.len() - before);
}

/// A peer that names no paths: no window grows from a TSN that was on both.
#[test]
fn towards_others_copies_let_no_window_grow() {
    let (mut w, told) = connected_pair(&[20, 45], false);
    bulk(&mut w, 300);
    let told = told.lock().expect("no test panics with it").clone();
    let copies = told.sent.values().filter(|(_, on)| on[0] > 0 && on[1] > 0).count();
    assert!(copies > 5, "{copies} copies");
    for path in [0, 1] {
        assert!(told.acked[path] <= told.bytes(path, true), "path {path}: {told:?}", told = told.acked);
        assert_eq!(told.events[path], [0; 3], "path {path}");
    }
}

/// Each chunk that was sent is named when it arrives: at most once per path, and on every path over which its copy
/// arrived, if the peer reports this. With other peers a chunk that was sent on both paths is named for neither.
#[test]
fn chunks_are_named_on_the_paths_they_came_by() {
    for names in [true, false] {
        let (mut w, told) = connected_pair(&[20, 45], names);
        bulk(&mut w, 300);
        let told = told.lock().expect("no test panics with it").clone();
        for (tsn, (_, on)) in &told.sent {
            let named = [0, 1, 2].map(|by| told.named[by].get(tsn).copied().unwrap_or(0));
            assert!(
                named.iter().sum::<u32>() > 0 && named.iter().all(|n| *n <= 1),
                "{tsn} on {on:?}: {named:?}"
            );
            assert!((0..2).all(|p| on[p] > 0 || named[p] == 0), "{tsn} on {on:?}: {named:?}");
            assert!(names || on[0] * on[1] == 0 || named == [0, 0, 1], "{tsn} on {on:?}: {named:?}");
        }
        let twice = told.named[0].keys().filter(|tsn| told.named[1].contains_key(tsn)).count();
        assert_eq!(twice > 5, names, "{twice} copies were named on both paths");
    }
}

/// A scheme that does not ask receives no chunk's name.
#[test]
fn chunks_are_named_to_who_asks() {
    let (mut w, told) = listening(&[20, 45], true, false);
    bulk(&mut w, 100);
    let told = told.lock().expect("no test panics with it").clone();
    assert!(told.acked[0] > 0 && told.named.iter().all(BTreeMap::is_empty));
}

//! Coded presets in whole associations: what is sent where, what it costs, and that the bytes arrive.

#[path = "../../proto/tests/common/mod.rs"]
mod common;

use std::sync::{Arc, Mutex};

use common::*;
use strandcast_proto::association::SendOptions;
use strandcast_proto::coding::CodingStats;
use strandcast_proto::config::TransportConfig;
use strandcast_proto::policy::{
    CongestionControl, Estimate, Feedback, LossPolicy, PathId, Policy, Scheduler, Scheme, Signal, Symbol,
    SymbolKind, View,
};
use strandcast_proto::seeds::Seeds;
use strandcast_proto::time::{Duration, Instant};
use strandcast_schemes::parse_spec;

/// A symbol that left.
#[derive(Copy, Clone, Debug)]
struct Left {
    at: Instant,
    path: PathId,
    symbol: Symbol,
    /// Not for the first time.
    again: bool,
}

/// A scheme, and which symbols it sent where.
#[derive(Debug)]
struct Watched {
    scheme: Box<dyn Scheme>,
    left: Arc<Mutex<Vec<Left>>>,
}

impl Policy for Watched {
    fn poll_timeout(&self) -> Option<Instant> {
        self.scheme.poll_timeout()
    }

    fn hears_deliveries(&self) -> bool {
        self.scheme.hears_deliveries()
    }
}

impl Scheme for Watched {
    fn name(&self) -> &str {
        self.scheme.name()
    }

    fn observe(&mut self, view: &View<'_>, signal: &Signal<'_>) {
        if let Signal::Sent(chunk) = signal
            && let (Some(symbol), Some(t)) = (chunk.symbol, chunk.transmissions.last())
        {
            let again = !chunk.sent_once();
            let left = Left { at: t.at, path: t.path, symbol, again };
            self.left.lock().expect("one thread").push(left);
        }
        self.scheme.observe(view, signal);
    }

    fn estimate(&self, path: PathId, out: &mut Estimate) {
        self.scheme.estimate(path, out);
    }

    fn react(&mut self, view: &View<'_>, signal: &Signal<'_>) {
        self.scheme.react(view, signal);
    }

    fn loss(&mut self) -> &mut dyn LossPolicy {
        self.scheme.loss()
    }

    fn congestion(&self) -> &dyn CongestionControl {
        self.scheme.congestion()
    }

    fn scheduler(&mut self) -> &mut dyn Scheduler {
        self.scheme.scheduler()
    }

    fn feedback(&mut self) -> &mut dyn Feedback {
        self.scheme.feedback()
    }
}

/// Client and server over wires of these delays, the client with this scheme, connected.
struct World {
    pair: TestPair,
    left: Arc<Mutex<Vec<Left>>>,
    sent: usize,
}

impl World {
    fn new(spec: &str, delays_ms: &[u64], receive_buffer: u32) -> Self {
        World::seeded(spec, delays_ms, receive_buffer, 7)
    }

    fn seeded(spec: &str, delays_ms: &[u64], receive_buffer: u32, seed: u64) -> Self {
        let spec = parse_spec(spec).expect("a spec of this test");
        let mut transport =
            TransportConfig { send_buffer: 8 << 20, receive_buffer, ..TransportConfig::default() };
        let server = transport.clone();
        spec.tune(&mut transport);
        let accepted = parse_spec("cmt").expect("a preset");
        let accept = Arc::new(move |seeds: &Seeds| accepted.build(seeds));
        let mut pair = TestPair::with(delays_ms, [transport, server], accept, seed);
        let left = Arc::default();
        let scheme = Box::new(Watched { scheme: spec.build(&Seeds::new(seed, 1)), left: Arc::clone(&left) });
        pair.connect_with(scheme);
        pair.run(ms(3000));
        World { pair, left, sent: 0 }
    }

    /// Sends `bytes` in messages of 1000 and runs until all of them are there, bit by bit; how long that took.
    fn transfer(&mut self, bytes: usize) -> Duration {
        let (began, to) = (self.pair.now, self.sent + bytes);
        while self.sent < to {
            self.pair.send(CLIENT, pattern(self.sent, 1000), SendOptions::default());
            self.sent += 1000;
        }
        let done = self.pair.run_until(ms(600_000), |w| w.received(SERVER).len() >= to);
        let got = self.pair.received(SERVER);
        assert!(done, "{} of {to} bytes; {:?}", got.len(), self.pair.association(CLIENT).stats());
        assert!(got == pattern(0, to), "other bytes");
        self.pair.now - began
    }

    fn coding(&self) -> CodingStats {
        self.pair.association(CLIENT).stats().coding
    }

    fn left(&self) -> Vec<Left> {
        self.left.lock().expect("one thread").clone()
    }
}

const BUFFER: u32 = 256 << 10;

/// Without loss a block of k gets k + 4 symbols, since 2^-4 < 0.1 < 2^-3, before any of them is answered; one that they
/// do not decode, six in a hundred, gets more.
#[test]
fn without_loss_four_symbols_more_than_a_block_has() {
    for (block, buffer) in [(16, BUFFER), (8, 64 << 10)] {
        let mut w = World::new("fmtcp", &[20], buffer);
        w.transfer(2_000_000);
        let left = w.left();
        let blocks = left.iter().map(|l| l.symbol.block).max().expect("some left") + 1;
        assert!(left.iter().all(|l| l.symbol.kind == SymbolKind::Repair && !l.again));
        let mut more = 0;
        for number in 0..blocks {
            let of = left.iter().filter(|l| l.symbol.block == number);
            let (k, n) = (of.clone().map(|l| l.symbol.sources).max().expect("it left"), of.count());
            assert!(k == block || number + 1 == blocks, "{k} sources in block {number}");
            assert!(n >= usize::from(k) + 4 || number + 1 == blocks, "{n} for {k}");
            more += n - (usize::from(k) + 4).min(n);
        }
        let failed = more as f64 / f64::from(blocks);
        assert!(failed < 0.0613 * 5.0 * 2.0, "{failed} more symbols per block of {block}");
        let stats = w.coding();
        eprintln!(
            "block {block}: {blocks} blocks, {} symbols, {failed:.2} more per block, {stats:?}",
            left.len()
        );
    }
}

/// While the fast path sends a block, the slow one sends later ones: mean block number by path of what leaves in the same
/// while.
#[test]
fn a_slow_path_carries_later_blocks() {
    let mut w = World::new("fmtcp", &[10, 60], 1 << 20);
    w.transfer(4_000_000);
    let left = w.left();
    let (begin, end) = (left[left.len() / 4].at, left[left.len() * 3 / 4].at);
    let (mut ahead, mut whiles) = (0.0, 0);
    let mut from = begin;
    while from < end {
        let until = from + ms(20);
        let of = |path| {
            let of = left.iter().filter(move |l| l.path == PathId(path) && l.at >= from && l.at < until);
            let numbers = of.map(|l| f64::from(l.symbol.block));
            let n = numbers.clone().count() as f64;
            (n > 0.0).then(|| numbers.sum::<f64>() / n)
        };
        if let (Some(fast), Some(slow)) = (of(0), of(1)) {
            (ahead, whiles) = (ahead + slow - fast, whiles + 1);
        }
        from = until;
    }
    assert!(whiles > 10, "both paths sent in {whiles} whiles");
    let mean = ahead / f64::from(whiles);
    eprintln!("the slow path is {mean:.1} blocks ahead, {whiles} whiles");
    assert!(mean > 1.0, "{mean} blocks ahead");
}

/// In the worst case about one TCP: no coded packet, and as fast as the same windows without coding but for headers.
#[test]
fn nc_mptcp_on_one_path_is_a_plain_sender() {
    for loss in [0.0, 0.01, 0.05] {
        let time = |spec: &str| {
            let mut w = World::new(spec, &[25], BUFFER);
            w.pair.wires[0].loss = loss;
            let time = w.transfer(3_000_000);
            assert_eq!(w.coding().repairs_sent, 0, "{spec}");
            time.as_secs_f64()
        };
        let (coded, plain) = (time("nc-mptcp"), time("lia,fr-freeze=on,half-floor=2,rtx=same"));
        eprintln!("loss {loss}: {coded:.2} s, plain {plain:.2} s");
        assert!(coded < 1.25 * plain && plain < 1.25 * coded, "{coded} s and {plain} s at loss {loss}");
    }
}

/// Every byte arrives whatever is lost, by one to three paths.
#[test]
fn all_bytes_arrive_through_losses() {
    for spec in [
        "fmtcp",
        "nc-mptcp",
        "fmtcp,mask-losses=on",
        "nc-mptcp,mask-losses=on",
        "fmtcp,fmtcp-count=independent",
    ] {
        for (delays, loss) in [(&[20][..], 0.1), (&[10, 80], 0.02), (&[10, 80], 0.2), (&[30, 35, 90], 0.05)] {
            let mut w = World::new(spec, delays, BUFFER);
            for (i, wire) in w.pair.wires.iter_mut().enumerate() {
                (wire.loss, wire.jitter) = (loss, ms(3 * i as u64));
            }
            let time = w.transfer(600_000);
            let stats = w.coding();
            eprintln!("{spec} {delays:?} {loss}: {:.1} s {stats:?}", time.as_secs_f64());
            if spec.starts_with("fmtcp") {
                assert_eq!(stats.sources_sent, 0, "{spec}");
            }
        }
    }
}

/// A coded packet is not sent again; an original is, by its own path.
#[test]
fn originals_are_sent_again_where_they_were() {
    let mut w = World::new("nc-mptcp", &[10, 60], BUFFER);
    w.transfer(1_000_000);
    w.pair.wires.iter_mut().for_each(|wire| wire.loss = 0.05);
    w.transfer(2_000_000);
    let left = w.left();
    let (again, first): (Vec<&Left>, Vec<&Left>) = left.iter().partition(|l| l.again);
    assert!(again.len() > 20, "{}", again.len());
    assert!(again.iter().all(|l| l.symbol.kind != SymbolKind::Repair));
    let before = |l: &Left| {
        first
            .iter()
            .find(|f| (f.symbol.block, f.symbol.kind) == (l.symbol.block, l.symbol.kind))
            .map(|f| f.path)
    };
    let moved = again.iter().filter(|l| before(l) != Some(l.path)).count();
    assert_eq!(moved, 0, "of {}", again.len());
    let coded = first.iter().filter(|l| l.symbol.kind == SymbolKind::Repair);
    assert!(coded.clone().count() > 50 && coded.clone().all(|l| l.path == PathId(1)), "by the slow path");
}

/// The claim of Xu et al. (2015): with losses hidden from the windows a coded scheme takes more.
#[test]
fn masked_losses_leave_the_windows_alone() {
    let time = |spec: &str| {
        let mut w = World::new(spec, &[30], 1 << 20);
        w.pair.wires[0].loss = 0.02;
        w.transfer(4_000_000).as_secs_f64()
    };
    let (honest, masked) = (time("fmtcp"), time("fmtcp,mask-losses=on"));
    eprintln!("honest {honest:.2} s, masked {masked:.2} s");
    assert!(masked < 0.7 * honest, "{masked} s, {honest} s with every loss told");
}

/// A path that dies takes nothing with it.
#[test]
fn a_dead_path_delays_and_loses_nothing() {
    for spec in ["fmtcp", "nc-mptcp"] {
        let mut w = World::new(spec, &[10, 30], BUFFER);
        w.transfer(500_000);
        w.pair.wires[0].up = [false; 2];
        let time = w.transfer(500_000);
        assert!(time < Duration::from_secs(20), "{spec}: {time:?}");
    }
}

#[test]
fn probe() {
    for loss in [0.02, 0.05, 0.1] {
        for spec in ["fmtcp", "nc-mptcp", "lia,fr-freeze=on,half-floor=2", "fmtcp,pf=off", "nc-mptcp,pf=off"]
        {
            let (mut time, mut t3, mut fast, mut chunks, mut lt) = (0.0, 0, 0, 0, 0);
            for seed in 0..12 {
                let mut w = World::seeded(spec, &[20], BUFFER, seed);
                w.pair.wires[0].loss = loss;
                time += w.transfer(600_000).as_secs_f64();
                let stats = w.pair.association(CLIENT).path_stats(PathId(0)).expect("it").clone();
                t3 += stats.timeouts;
                fast += stats.lost_fast;
                chunks += stats.chunks_sent;
                lt += stats.lost_timeout;
            }
            eprintln!(
                "{spec} {loss}: {:.1} s, timeouts {t3} lost {lt}, fast {fast}, chunks {chunks}",
                time / 12.0
            );
        }
    }
}

//! Coded presets in whole associations: what is sent where, what it costs, and that the bytes arrive.

use std::sync::{Arc, Mutex};

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
use strandcast_testing::endpoints::*;

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
struct Harness {
    pair: TestPair,
    left: Arc<Mutex<Vec<Left>>>,
    sent: usize,
    /// Bytes of a message.
    message: usize,
}

impl Harness {
    fn new(spec: &str, delays_ms: &[u64], receive_buffer: u32) -> Self {
        Harness::seeded(spec, delays_ms, receive_buffer, 7)
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
        Harness { pair, left, sent: 0, message: 1000 }
    }

    /// Sends `bytes`, or up to a message more, and runs until all of them are there, bit by bit; how long that took.
    fn transfer(&mut self, bytes: usize) -> Duration {
        let began = self.pair.now;
        let to = self.sent + bytes.next_multiple_of(self.message);
        while self.sent < to {
            self.pair.send(CLIENT, pattern(self.sent, self.message), SendOptions::default());
            self.sent += self.message;
        }
        let messages = self.pair.apps[SERVER].messages.len() + bytes.div_ceil(self.message);
        let done = self.pair.run_until(ms(600_000), |w| w.apps[SERVER].messages.len() >= messages);
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

/// Without loss a block of k gets k + 4 symbols, since 2^-4 < 0.1 < 2^-3, and no more before they are answered. Six in
/// a hundred blocks are not decoded by them (1 - Π (1 - 2^-i), i from 5, is .0613) and get five more.
#[test]
fn without_loss_four_symbols_more_than_a_block_has() {
    for (block, buffer) in [(16, BUFFER), (8, 64 << 10)] {
        let mut w = Harness::new("fmtcp", &[20], buffer);
        w.transfer(4_000_000);
        let left = w.left();
        assert!(left.iter().all(|l| l.symbol.kind == SymbolKind::Repair && !l.again));
        let blocks = left.iter().map(|l| l.symbol.block).max().expect("some left") + 1;
        let mut more = 0;
        for number in 0..blocks {
            let of: Vec<&Left> = left.iter().filter(|l| l.symbol.block == number).collect();
            let k = of[0].symbol.sources;
            assert!(k == block || number + 1 == blocks, "{k} sources in block {number}");
            let first = usize::from(k) + 4;
            assert!(of.len() >= first, "{} for {k}", of.len());
            if let Some(next) = of.get(first) {
                let answered = of[first - 1].at + ms(40);
                assert!(next.at >= answered, "block {number}: more before all were answered");
                more += of.len() - first;
            }
        }
        let mean = more as f64 / f64::from(blocks);
        // 0.31 is expected; the bound is five standard deviations above it for this number of blocks.
        let bound = 5.0 * (0.0613 + 5.0 * (0.0613 * 0.9387 / f64::from(blocks)).sqrt()) * 1.1;
        assert!(mean < bound, "{mean} symbols beyond k + 4 per block of {block}");
    }
}

/// While the fast path sends a block, the slow one sends later ones: mean block number by path of what leaves in the
/// same while.
#[test]
fn a_slow_path_carries_later_blocks() {
    let mut w = Harness::new("fmtcp", &[10, 60], 1 << 20);
    w.pair.wires.iter_mut().for_each(|wire| wire.loss = 0.01);
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
    assert!(mean > 1.0, "{mean} blocks ahead");
}

/// In the worst case about one TCP: no coded packet, and as fast as the same windows without coding but for headers.
/// Messages fill packets, so that as many packets fit the windows of both.
#[test]
fn nc_mptcp_on_one_path_is_a_plain_sender() {
    for loss in [0.0, 0.02] {
        let time = |spec: &str| {
            let of = |seed| {
                let mut w = Harness::seeded(spec, &[25], 1 << 20, seed);
                (w.pair.wires[0].loss, w.message) = (loss, 1344);
                let time = w.transfer(2_000_000).as_secs_f64();
                assert_eq!(w.coding().repairs_sent, 0, "{spec}");
                time
            };
            (0..12).map(of).sum::<f64>() / 12.0
        };
        let (coded, plain) = (time("nc-mptcp"), time("lia,fr-freeze=on,half-floor=2,rtx=same"));
        assert!(coded < 1.15 * plain && plain < 1.15 * coded, "{coded} s and {plain} s at loss {loss}");
    }
}

/// Two like paths, one of which codes: what comes by it saves originals. Few of those that are sent come too late to be
/// of use.
#[test]
fn coded_packets_save_originals() {
    let mut w = Harness::new("nc-mptcp", &[20, 20], BUFFER);
    // So that windows, and not the receive buffer, bound what each path carries.
    w.pair.wires.iter_mut().for_each(|wire| wire.loss = 0.01);
    w.transfer(6_000_000);
    let coding = w.pair.association(SERVER).stats().coding;
    let (originals, late) = (coding.sources_received + coding.sources_late, coding.sources_late);
    assert!(coding.recovered > 1000, "{coding:?}");
    assert!(10 * late < originals, "{late} of {originals}");
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
            let mut w = Harness::new(spec, delays, BUFFER);
            for (i, wire) in w.pair.wires.iter_mut().enumerate() {
                (wire.loss, wire.jitter) = (loss, ms(3 * i as u64));
            }
            w.transfer(600_000);
            let stats = w.coding();
            if spec.starts_with("fmtcp") {
                assert_eq!(stats.sources_sent, 0, "{spec}");
            }
        }
    }
}

/// A coded packet is not sent again; an original is, by its own path.
#[test]
fn originals_are_sent_again_where_they_were() {
    let mut w = Harness::new("nc-mptcp", &[10, 60], BUFFER);
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
    // A potentially failed path has none.
    let moved = again.iter().filter(|l| before(l) != Some(l.path)).count();
    assert!(10 * moved < again.len(), "{moved} of {}", again.len());
    let coded = first.iter().filter(|l| l.symbol.kind == SymbolKind::Repair);
    assert!(coded.clone().count() > 50 && coded.clone().all(|l| l.path == PathId(1)), "by the slow path");
}

/// The claim of Xu et al. (2015): with losses hidden from the windows a coded scheme takes more.
#[test]
fn masked_losses_leave_the_windows_alone() {
    let time = |spec: &str| {
        let mut w = Harness::new(spec, &[30], 1 << 20);
        w.pair.wires[0].loss = 0.02;
        w.transfer(4_000_000).as_secs_f64()
    };
    let (honest, masked) = (time("fmtcp"), time("fmtcp,mask-losses=on"));
    assert!(masked < 0.7 * honest, "{masked} s, {honest} s with every loss visible");
}

/// A path that dies takes nothing with it.
#[test]
fn a_dead_path_delays_and_loses_nothing() {
    for spec in ["fmtcp", "nc-mptcp"] {
        let mut w = Harness::new(spec, &[10, 30], BUFFER);
        w.transfer(500_000);
        w.pair.wires[0].up = [false; 2];
        let time = w.transfer(500_000);
        assert!(time < Duration::from_secs(20), "{spec}: {time:?}");
    }
}

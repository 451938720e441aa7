//! TCP flows over shared links: all that is needed to look at windows.

use std::collections::VecDeque;
use std::time::Duration;

use strandcast_proto::seeds::{Random, Seeds};
use strandcast_proto::time::Instant;
use strandcast_schemes::{WindowSetup, congestion};
use strandcast_sim::link::{Link, LinkConfig, Payload, Queue, Rate};
use strandcast_sim::tcp::{Config, Receiver, Segment, Sender};

/// A subflow: the link its data cross, and the round-trip time of a packet of 1500 bytes when nothing waits, hosts'
/// own delays apart.
#[derive(Copy, Clone, Debug)]
pub struct Way {
    pub link: usize,
    pub rtt: Duration,
}

/// A link of `mbps` with a queue of so many packets, the one being sent not counted.
#[derive(Copy, Clone, Debug)]
pub struct Bottleneck {
    pub mbps: f64,
    pub queue: usize,
}

/// A segment on a link, and whose it is.
#[derive(Clone)]
pub struct Crossing(usize, Segment);

impl Payload for Crossing {
    fn corrupt(&mut self, random: &mut Random) {
        self.1.corrupt(random);
    }
}

/// Something travelling with a known time of arrival, in order.
type Line = VecDeque<(Instant, Segment)>;

pub struct Flow {
    pub sender: Sender,
    pub receiver: Receiver,
    start: Instant,
    started: bool,
    ways: Vec<Way>,
    /// By subflow: on the way to the link, and acknowledgements on the way back.
    out: Vec<Line>,
    back: Vec<Line>,
    /// The host's own delay, U(0, one serialisation time of the slowest link).
    overhead: Duration,
    random: Random,
}

pub struct Network {
    pub now: Instant,
    pub links: Vec<Link<Crossing>>,
    pub flows: Vec<Flow>,
    /// Data segments that vanish in front of the links, by flow and order of sending.
    pub vanish: Vec<(usize, u64)>,
    sent: Vec<u64>,
    bottlenecks: Vec<Bottleneck>,
    seeds: Seeds,
}

impl Network {
    pub fn new(seed: u64, bottlenecks: &[Bottleneck]) -> Self {
        let seeds = Seeds::new(seed, 0);
        let link = |(i, b): (usize, &Bottleneck)| {
            let config = LinkConfig {
                rate: Rate::Constant((b.mbps * 1e6) as u64),
                queue: Queue::packets(b.queue),
                ..LinkConfig::default()
            };
            Link::new(config, &seeds, &format!("link {i}"))
        };
        Network {
            now: Instant::ZERO,
            links: bottlenecks.iter().enumerate().map(link).collect(),
            flows: Vec::new(),
            vanish: Vec::new(),
            sent: Vec::new(),
            bottlenecks: bottlenecks.to_vec(),
            seeds,
        }
    }

    /// An endless flow that begins at `start`, over one way or, by MPTCP, several.
    pub fn add(&mut self, cc: &str, config: &Config, start: f64, ways: &[Way]) -> usize {
        let setup = WindowSetup {
            initial_window_bytes: config.initial_window_bytes(),
            initial_ssthresh_bytes: config.initial_ssthresh_bytes(),
        };
        // Data of the same length on the wire: a drop-tail queue counted in packets favours the longer ones.
        let mapping = if ways.len() > 1 { config.mapping_bytes } else { 0 };
        let config =
            Config { multipath: ways.len() > 1, segment: config.segment - mapping, ..config.clone() };
        let windows = congestion(cc, setup).expect("a spec of this test");
        let serialisation =
            |w: &Way| Duration::from_secs_f64(1500.0 * 8.0 / (self.bottlenecks[w.link].mbps * 1e6));
        let overhead = ways.iter().map(serialisation).max().expect("a flow has a way");
        let propagation = |w: &Way| Way { rtt: w.rtt - serialisation(w), ..*w };
        let id = self.flows.len();
        self.flows.push(Flow {
            sender: Sender::new(config.clone(), windows),
            receiver: Receiver::new(config),
            start: Instant::from_secs_f64(start),
            started: false,
            ways: ways.iter().map(propagation).collect(),
            out: vec![Line::new(); ways.len()],
            back: vec![Line::new(); ways.len()],
            overhead,
            random: self.seeds.stream(&format!("flow {id}")),
        });
        self.sent.push(0);
        id
    }

    /// A time U(0, `most`) seconds of this network's own.
    pub fn draw(&mut self, label: &str, most: f64) -> f64 {
        self.seeds.stream(label).uniform(0.0, most)
    }

    /// In-order bytes of a flow so far.
    pub fn delivered(&self, flow: usize) -> u64 {
        self.flows[flow].receiver.delivered()
    }

    /// Bytes at IP level that left a link so far.
    pub fn carried(&self, link: usize) -> u64 {
        self.links[link].stats_at(self.now).served.bytes
    }

    pub fn run_until(&mut self, end: f64) {
        let end = Instant::from_secs_f64(end);
        while let Some(at) = self.next().filter(|at| *at <= end) {
            self.now = self.now.max(at);
            self.step();
        }
        self.now = end;
    }

    fn next(&self) -> Option<Instant> {
        let links = self.links.iter().filter_map(Link::poll_timeout);
        links.chain(self.flows.iter().filter_map(Flow::next)).min()
    }

    fn step(&mut self) {
        let now = self.now;
        for link in &mut self.links {
            while let Some(Crossing(flow, segment)) = link.poll(now) {
                let flow = &mut self.flows[flow];
                flow.receiver.handle_segment(now, &segment);
                flow.answer(now);
            }
        }
        for (id, flow) in self.flows.iter_mut().enumerate() {
            if flow.next().is_none_or(|at| at > now) {
                continue;
            }
            flow.run(now);
            for (way, line) in flow.ways.iter().zip(&mut flow.out) {
                while let Some((_, segment)) = line.pop_front_if(|(at, _)| *at <= now) {
                    self.sent[id] += u64::from(segment.len > 0);
                    if segment.len > 0 && self.vanish.contains(&(id, self.sent[id])) {
                        continue;
                    }
                    let len = segment.wire_len(flow.sender.config()) as usize;
                    self.links[way.link].enqueue(now, Crossing(id, segment), len);
                }
            }
        }
    }
}

impl Flow {
    fn next(&self) -> Option<Instant> {
        if !self.started {
            return Some(self.start);
        }
        let timers = self.sender.poll_timeout().into_iter().chain(self.receiver.poll_timeout());
        let lines = self.out.iter().chain(&self.back).filter_map(|l| l.front().map(|(at, _)| *at));
        timers.chain(lines).min()
    }

    fn run(&mut self, now: Instant) {
        if !self.started {
            self.started = true;
            self.sender.write_endless();
            for _ in 0..self.ways.len() {
                self.sender.add_subflow(now);
            }
        }
        for line in &mut self.back {
            while let Some((_, segment)) = line.pop_front_if(|(at, _)| *at <= now) {
                self.sender.handle_segment(now, &segment);
            }
        }
        if self.sender.poll_timeout().is_some_and(|at| at <= now) {
            self.sender.handle_timeout(now);
        }
        if self.receiver.poll_timeout().is_some_and(|at| at <= now) {
            self.receiver.handle_timeout(now);
            self.answer(now);
        }
        while let Some(segment) = self.sender.poll_output(now) {
            let at = now + self.wait();
            let line = &mut self.out[usize::from(segment.subflow)];
            let last = line.back().map_or(at, |(last, _)| *last);
            line.push_back((at.max(last), segment));
        }
    }

    /// Acknowledgements leave the receiver.
    fn answer(&mut self, now: Instant) {
        while let Some(segment) = self.receiver.poll_output(now) {
            let subflow = usize::from(segment.subflow);
            let at = now + self.wait() + self.ways[subflow].rtt;
            let line = &mut self.back[subflow];
            let last = line.back().map_or(at, |(last, _)| *last);
            line.push_back((at.max(last), segment));
        }
    }

    fn wait(&mut self) -> Duration {
        Duration::from_nanos(self.random.below(self.overhead.as_nanos() as u64 + 1))
    }
}

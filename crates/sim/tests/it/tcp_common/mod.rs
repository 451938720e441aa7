//! One TCP connection over a pair of links per subflow, in a separate event loop.

use core::time::Duration;

use strandcast_netem::link::{Link, LinkConfig, Rate};
use strandcast_netem::loss::LossModel;
use strandcast_netem::number::Number;
use strandcast_proto::policy::CongestionControl;
use strandcast_proto::seeds::Seeds;
use strandcast_proto::time::Instant;
use strandcast_schemes::congestion::WindowSetup;
use strandcast_sim::tcp::{Config, Receiver, Segment, Sender};

/// A connection and its links.
pub struct Connection {
    pub now: Instant,
    pub sender: Sender,
    pub receiver: Receiver,
    /// Forward and reverse link of each subflow.
    pub links: Vec<[Link<Segment>; 2]>,
    config: Config,
}

/// The window named `spec`, built with the configuration's initial values.
pub fn window(spec: &str, config: &Config) -> Box<dyn CongestionControl> {
    let setup = WindowSetup {
        initial_window_bytes: config.initial_window_bytes(),
        initial_ssthresh_bytes: config.initial_ssthresh_bytes(),
    };
    strandcast_schemes::congestion::congestion(spec, setup).expect("a window that exists")
}

impl Connection {
    /// A connection with nothing to send, its subflows open from the start.
    pub fn new(config: Config, cc: &str, links: Vec<[LinkConfig; 2]>, seeds: &Seeds) -> Self {
        let scheduler = Box::new(strandcast_schemes::schedule::LowestRtt);
        let mut sender = Sender::multipath(config.clone(), window(cc, &config), scheduler);
        let link = |(i, [forward, reverse]): (usize, [LinkConfig; 2])| {
            sender.add_subflow(Instant::ZERO);
            [
                Link::new(forward, seeds, &format!("{i}/forward")),
                Link::new(reverse, seeds, &format!("{i}/reverse")),
            ]
        };
        let links = links.into_iter().enumerate().map(link).collect();
        Connection { now: Instant::ZERO, receiver: Receiver::new(config.clone()), sender, links, config }
    }

    /// Adds a subflow over a new pair of links.
    pub fn join(&mut self, [forward, reverse]: [LinkConfig; 2]) {
        let id = self.sender.add_subflow(self.now);
        let seeds = Seeds::new(u64::from(id), 0);
        self.links.push([Link::new(forward, &seeds, "forward"), Link::new(reverse, &seeds, "reverse")]);
    }

    /// Runs until `end`, and calls `observer` after each event.
    pub fn run(&mut self, end: Instant, mut observer: impl FnMut(&mut Connection)) {
        loop {
            while let Some(segment) = self.sender.poll_output(self.now) {
                self.enqueue(0, segment);
            }
            while let Some(ack) = self.receiver.poll_output(self.now) {
                self.enqueue(1, ack);
            }
            let timers = [self.sender.poll_timeout(), self.receiver.poll_timeout()];
            let links = self.links.iter().flatten().filter_map(Link::poll_timeout);
            let Some(next) = links.chain(timers.into_iter().flatten()).min().filter(|next| *next <= end)
            else {
                self.now = end;
                return;
            };
            self.now = next;
            self.deliver();
            observer(self);
        }
    }

    fn enqueue(&mut self, direction: usize, segment: Segment) {
        let len = segment.wire_len(&self.config) as usize;
        self.links[usize::from(segment.subflow)][direction].enqueue(self.now, segment, len);
    }

    fn deliver(&mut self) {
        if self.sender.poll_timeout().is_some_and(|due| due <= self.now) {
            self.sender.handle_timeout(self.now);
        }
        self.receiver.handle_timeout(self.now);
        for [forward, reverse] in &mut self.links {
            // One segment at a time in each direction, so that every one is answered before the next arrives.
            if let Some(segment) = forward.poll(self.now) {
                self.receiver.handle_segment(self.now, &segment);
            }
            if let Some(ack) = reverse.poll(self.now) {
                self.sender.handle_segment(self.now, &ack);
            }
        }
    }
}

/// A link with a one-way delay, whose queue never matters.
pub fn wire(delay: Duration, rate: Rate) -> LinkConfig {
    LinkConfig { rate, delay: Number::from(delay), ..LinkConfig::default() }
}

/// Loses each packet with probability `p`.
pub fn loses(p: f64, link: LinkConfig) -> LinkConfig {
    LinkConfig { losses: vec![LossModel::Uniform { p: Number::Constant(p) }], ..link }
}

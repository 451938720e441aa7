//! Windows of all paths against closed forms, without a network: each segment is lost with the probability of its path,
//! independently, and round-trip times stand still.
//!
//! A path with a window of w segments gets one answer each rtt/w seconds: an ACK of one segment, or a loss, which the
//! window receives as a fast retransmission of a full window. Recovery takes no time, so that each loss cuts. This is
//! what the closed forms of the papers balance: increases of the ACKs against the decreases of the losses.

use strandcast_proto::policy::fixture::{MTU, chunk};
use strandcast_proto::policy::{LossCause, LossTrigger, PathId, Signal};
use strandcast_proto::time::{Duration, Instant};
use strandcast_proto::wire::Tsn;

use super::play::Play;

/// A path: round-trip time in seconds, and the share of segments that it loses.
#[derive(Copy, Clone, Debug)]
pub struct Lossy {
    pub rtt: f64,
    pub p: f64,
}

/// Results of a path, on average over time.
#[derive(Copy, Clone, Debug)]
pub struct Mean {
    /// Segments.
    pub window: f64,
    /// Segments per second.
    pub rate: f64,
    /// Counted losses.
    pub losses: u32,
}

/// Losses that a test counts unless it needs more.
pub const LOSSES: u32 = 2000;

/// Means of the paths under `spec`, over `losses` losses after an eighth of them as a start.
pub fn run(spec: &str, paths: &[Lossy], losses: u32, seed: u64) -> Vec<Mean> {
    let mut sender = Sender::new(spec, paths, seed);
    sender.lose(losses / 8);
    sender.reset();
    sender.lose(losses);
    sender.means()
}

/// The mean of one path alone.
pub fn alone(spec: &str, path: Lossy) -> Mean {
    run(spec, &[path], LOSSES, 1)[0]
}

struct Sender {
    play: Play,
    paths: Vec<Lossy>,
    random: fastrand::Rng,
    /// When the next answer arrives, seconds; by path.
    next: Vec<f64>,
    /// The last segment that left; by path.
    sent: Vec<u32>,
    /// Answers and losses since the last reset; by path.
    answers: Vec<(u64, u32)>,
    now: f64,
    since: f64,
}

impl Sender {
    fn new(spec: &str, paths: &[Lossy], seed: u64) -> Self {
        let mut play = Play::new(spec, paths.len() as u8, 10, Some(10));
        for (p, path) in play.picture.paths.iter_mut().zip(paths) {
            let rtt = Duration::from_secs_f64(path.rtt);
            (p.srtt, p.latest_rtt, p.min_rtt) = (Some(rtt), Some(rtt), Some(rtt));
        }
        Sender {
            play,
            paths: paths.to_vec(),
            random: fastrand::Rng::with_seed(seed),
            next: vec![0.0; paths.len()],
            sent: vec![0; paths.len()],
            answers: vec![(0, 0); paths.len()],
            now: 0.0,
            since: 0.0,
        }
    }

    fn reset(&mut self) {
        self.answers.fill((0, 0));
        self.since = self.now;
    }

    /// Continues until `losses` losses are counted.
    fn lose(&mut self, losses: u32) {
        while self.answers.iter().map(|a| a.1).sum::<u32>() < losses {
            self.step();
        }
    }

    /// The next answer of any path.
    fn step(&mut self) {
        let earliest = |a: &usize, b: &usize| self.next[*a].total_cmp(&self.next[*b]);
        let path = (0..self.paths.len()).min_by(earliest).expect("a path");
        self.now = self.next[path];
        self.play.picture.now = Instant::from_millis(1000) + Duration::from_secs_f64(self.now);
        self.send(path);
        let cwnd = self.play.picture.paths[path].limit.cwnd;
        let lost = self.random.f64() < self.paths[path].p;
        if lost {
            let (id, highest) = (PathId(path as u8), Tsn(self.play.acked[path]));
            let (trigger, cause) = (LossTrigger::FastRetransmit, LossCause::Congestion);
            self.play.tell(&Signal::LossEvent { path: id, trigger, highest, cause });
        } else {
            let rtt = Duration::from_secs_f64(self.paths[path].rtt);
            self.play.ack_of(path as u8, 1, cwnd, Some(rtt));
        }
        let (answers, losses) = &mut self.answers[path];
        *answers += 1;
        *losses += u32::from(lost);
        self.next[path] += self.paths[path].rtt / self.play.cwnd_of(path);
    }

    /// Fills the window of `path`.
    fn send(&mut self, path: usize) {
        let cwnd = self.play.picture.paths[path].limit.cwnd;
        let last = self.play.acked[path] + (cwnd / MTU) as u32;
        self.play.picture.paths[path].in_flight = cwnd;
        while self.sent[path] < last {
            self.sent[path] += 1;
            self.play.tell(&Signal::Sent(&chunk(self.sent[path], &[path as u8])));
        }
    }

    fn means(&self) -> Vec<Mean> {
        let time = self.now - self.since;
        let mean = |(path, &(answers, losses)): (&Lossy, &(u64, u32))| {
            let rate = answers as f64 / time;
            Mean { window: rate * path.rtt, rate, losses }
        };
        self.paths.iter().zip(&self.answers).map(mean).collect()
    }
}

/// Reno's window is 1.31/√p segments where losses are independent (T. Ott, J. Kemperman, M. Mathis, "The stationary
/// behavior of ideal TCP congestion avoidance", 1996), whatever the round-trip time.
#[test]
fn reno_is_what_is_known_of_it() {
    for (p, rtt) in [(1e-3, 0.01), (1e-3, 0.1), (4e-4, 0.02)] {
        let mean = alone("reno", Lossy { rtt, p });
        let expected = 1.31 / f64::sqrt(p);
        assert!((mean.window / expected - 1.0).abs() < 0.05, "{mean:?}, expected {expected}");
        assert_eq!(mean.losses, LOSSES);
    }
}

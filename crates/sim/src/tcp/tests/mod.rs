//! Scripts: the agents' actions at each step, as the RFCs define them.

mod multipath;
mod receiver;
mod recovery;
mod sack;
mod scheduler;
mod stream;
mod timer;

use core::time::Duration;
use std::collections::VecDeque;

use strandcast_proto::policy::{CongestionControl, Limit, LossTrigger, PathId, Policy, Signal, View};
use strandcast_proto::time::Instant;
use strandcast_proto::wire::serial::Tsn;

use super::*;

/// Bytes per segment, so that sequence numbers are easy to read.
const MSS: u64 = 1000;

fn ms(ms: u64) -> Instant {
    Instant::from_millis(ms)
}

/// The constants of the scripts, as in the RFCs, but without delayed acknowledgements and handshake.
fn config(recovery: Recovery) -> Config {
    Config { recovery, segment: MSS as u32, handshake: false, ack_every: 1, ..Config::from(Profile::Rfc) }
}

/// RFC 5681's window, with the initial number of segments of the script.
#[derive(Debug)]
struct Reno {
    cwnd: Vec<u64>,
    ssthresh: Vec<u64>,
    recovery: Vec<Option<Tsn>>,
    initial: u64,
}

fn reno(segments: u64) -> Box<dyn CongestionControl> {
    let initial = segments * MSS;
    Box::new(Reno { cwnd: Vec::new(), ssthresh: Vec::new(), recovery: Vec::new(), initial })
}

impl Policy for Reno {
    fn on_signal(&mut self, view: &View<'_>, signal: &Signal<'_>) {
        self.cwnd.resize(view.paths.len(), self.initial);
        self.ssthresh.resize(view.paths.len(), u64::MAX);
        self.recovery.resize(view.paths.len(), None);
        match signal {
            Signal::Acked(ack) => {
                let i = ack.path.index();
                if self.recovery[i].is_some_and(|highest| ack.cum_tsn.is_before(highest)) {
                    return;
                }
                if self.recovery[i].take().is_none() {
                    let slow_start = self.cwnd[i] < self.ssthresh[i];
                    self.cwnd[i] += if slow_start { MSS } else { (MSS * MSS / self.cwnd[i]).max(1) };
                }
            }
            Signal::LossEvent { path, trigger, highest, .. } => {
                let i = path.index();
                self.ssthresh[i] = (view[*path].in_flight / 2).max(2 * MSS);
                match trigger {
                    LossTrigger::FastRetransmit | LossTrigger::HeadOfLine => {
                        self.cwnd[i] = self.ssthresh[i];
                        self.recovery[i] = Some(*highest);
                    }
                    LossTrigger::Timeout => {
                        self.cwnd[i] = MSS;
                        self.recovery[i] = None;
                    }
                }
            }
            _ => {}
        }
    }
}

impl CongestionControl for Reno {
    fn limit(&self, path: PathId) -> Limit {
        let i = path.index();
        Limit { cwnd: self.cwnd[i], ssthresh: Some(self.ssthresh[i]), pacing: None }
    }
}

/// A sender under a script. Segments are named by their number: 0 has bytes 0..1000.
struct Script {
    now: Instant,
    sender: Sender,
}

impl Script {
    /// An endless sender with a window of `window` segments.
    fn new(config: Config, window: u64) -> Self {
        let mut sender = Sender::new(config, reno(window));
        sender.add_subflow(Instant::ZERO);
        sender.write_endless();
        Script { now: ms(1000), sender }
    }

    /// Sends all output and returns the numbers of the segments.
    fn sent(&mut self) -> Vec<u64> {
        core::iter::from_fn(|| self.sender.poll_output(self.now)).map(|s| s.seq / MSS).collect()
    }

    /// Delivers an acknowledgement of everything below segment `next`; returns the segments sent in answer.
    fn ack(&mut self, next: u64) -> Vec<u64> {
        self.sack(next, &[])
    }

    /// Delivers an acknowledgement with SACK blocks, as ranges of segments.
    fn sack(&mut self, next: u64, blocks: &[(u64, u64)]) -> Vec<u64> {
        let segment = answer(next, blocks, self.sender.config().receive_window);
        self.sender.handle_segment(self.now, &segment);
        self.sent()
    }

    /// Lets time pass until the timer expires, within `ms` milliseconds; returns the segments sent then.
    fn pass(&mut self, ms: u64) -> Vec<u64> {
        let until = self.now + Duration::from_millis(ms);
        match self.sender.poll_timeout().filter(|due| *due <= until) {
            Some(due) => {
                self.now = due;
                self.sender.handle_timeout(due);
                self.sent()
            }
            None => {
                self.now = until;
                Vec::new()
            }
        }
    }

    fn cwnd(&self) -> u64 {
        self.sender.path(0).limit.cwnd / MSS
    }
}

/// A receiver's acknowledgement.
fn answer(next: u64, blocks: &[(u64, u64)], window: u64) -> Segment {
    let ack = next * MSS;
    let mut sack = SackBlocks::default();
    for &(start, end) in blocks {
        sack.push(ack, start * MSS, end * MSS);
    }
    Segment {
        subflow: 0,
        seq: 0,
        len: 0,
        ack: Some(ack),
        window,
        sack,
        data_seq: 0,
        data_ack: ack,
        syn: false,
        retransmission: false,
        sent: Instant::ZERO,
        echo: None,
        damaged: false,
    }
}

/// A segment of data.
fn data(number: u64) -> Segment {
    let mut segment = answer(0, &[], 0);
    (segment.seq, segment.data_seq) = (number * MSS, number * MSS);
    Segment { ack: None, len: MSS as u32, ..segment }
}

fn range(numbers: core::ops::Range<u64>) -> Vec<u64> {
    numbers.collect()
}

/// Segments of one direction of a network under the control of a test.
type DirectedLink = VecDeque<(Instant, Segment)>;

//! Flows through one bottleneck with a drop-tail queue, packet by packet: windows that pace receive the signals of a
//! sender.

use std::collections::{BTreeMap, VecDeque};

use smallvec::smallvec;

use strandcast_proto::policy::fixture::{MTU, Picture, ack, chunk};
use strandcast_proto::policy::{
    AckInfo, ChunkInfo, CongestionControl, LossCause, LossTrigger, PathId, Signal, Transmission,
};
use strandcast_proto::time::{Duration, Instant};
use strandcast_proto::wire::Tsn;

const PATH: PathId = PathId(0);

/// A packet that left and of which nothing is known yet.
#[derive(Copy, Clone, Debug)]
struct Sent {
    tsn: u32,
    at: Instant,
    dropped: bool,
}

/// A sender of packets of one MTU.
#[derive(Debug)]
pub struct Flow {
    pub cc: Box<dyn CongestionControl>,
    pub picture: Picture,
    sent: VecDeque<Sent>,
    next_tsn: u32,
    next_at: Instant,
    recovery: u32,
    /// Packets that the application still has to send; the test adds to them.
    pub backlog: u64,
    pub delivered: u64,
    pub lost: u64,
    /// Time in queues of what was delivered, seconds.
    pub queued: Vec<f64>,
}

/// A link with a rate in bytes per second, a queue in bytes, and the round-trip time without it.
#[derive(Debug)]
pub struct Bottleneck {
    pub now: Instant,
    pub rate: f64,
    pub queue: f64,
    pub rtt: Duration,
    /// Probability that a packet is lost behind the queue.
    pub loss: f64,
    pub flows: Vec<Flow>,
    free_at: Instant,
    /// Acknowledgements by their arrival and number: flow, packet, time in the queue.
    acks: BTreeMap<(Instant, u64), (usize, u32, f64)>,
    count: u64,
    random: fastrand::Rng,
}

impl Bottleneck {
    pub fn new(rate: f64, rtt: Duration, queue: f64) -> Self {
        Bottleneck {
            now: Instant::from_millis(1000),
            rate,
            queue,
            rtt,
            loss: 0.0,
            flows: Vec::new(),
            free_at: Instant::ZERO,
            acks: BTreeMap::new(),
            count: 0,
            random: fastrand::Rng::with_seed(1),
        }
    }

    /// One more flow, with data without end.
    pub fn join(&mut self, cc: Box<dyn CongestionControl>) {
        let mut picture = Picture::new(1);
        (picture.paths[0].srtt, picture.paths[0].min_rtt, picture.now) = (None, None, self.now);
        let mut flow = Flow {
            cc,
            picture,
            sent: VecDeque::new(),
            next_tsn: 1,
            next_at: self.now,
            recovery: 0,
            backlog: u64::MAX,
            delivered: 0,
            lost: 0,
            queued: Vec::new(),
        };
        flow.tell(&Signal::PathChanged(PATH));
        self.flows.push(flow);
    }

    /// Runs for `time`.
    pub fn run(&mut self, time: Duration) {
        let end = self.now + time;
        loop {
            let ack = self.acks.first_key_value().map(|(key, _)| key.0);
            let send = self.flows.iter().filter(|f| f.has_room()).map(|f| f.next_at.max(self.now)).min();
            let Some(next) = ack.into_iter().chain(send).min().filter(|next| *next < end) else { break };
            self.now = next;
            if ack == Some(next) {
                self.deliver();
            } else {
                self.send();
            }
        }
        self.now = end;
    }

    fn send(&mut self) {
        let now = self.now;
        let ready = |f: &Flow| f.has_room() && f.next_at <= now;
        let index = self.flows.iter().position(ready).expect("a flow is ready");
        let waits = self.free_at.saturating_since(now).as_secs_f64();
        let full = waits * self.rate + MTU as f64 > self.queue;
        let dropped = full || self.random.f64() < self.loss;
        let tsn = self.flows[index].send(now, dropped);
        if !full {
            self.free_at = self.free_at.max(now) + Duration::from_secs_f64(MTU as f64 / self.rate);
        }
        if !dropped {
            self.count += 1;
            self.acks.insert((self.free_at + self.rtt, self.count), (index, tsn, waits));
        }
    }

    fn deliver(&mut self) {
        let ((now, _), (index, tsn, waits)) = self.acks.pop_first().expect("it is due");
        self.flows[index].queued.push(waits);
        self.flows[index].acked(now, tsn);
    }

    /// Delivered packets of a flow per second, over what the link carries, since `before`.
    pub fn share(&self, flow: usize, before: u64, time: Duration) -> f64 {
        (self.flows[flow].delivered - before) as f64 * MTU as f64 / time.as_secs_f64() / self.rate
    }
}

impl Flow {
    fn has_room(&self) -> bool {
        let path = &self.picture.paths[0];
        self.backlog > 0 && path.in_flight + MTU <= path.limit.cwnd.max(MTU)
    }

    pub fn tell(&mut self, signal: &Signal<'_>) {
        self.cc.on_signal(&self.picture.view(), signal);
        self.picture.paths[0].limit = self.cc.limit(PATH);
    }

    fn send(&mut self, now: Instant, dropped: bool) -> u32 {
        let tsn = self.next_tsn;
        self.next_tsn += 1;
        self.backlog -= 1;
        self.picture.now = now;
        self.sent.push_back(Sent { tsn, at: now, dropped });
        self.picture.paths[0].in_flight += MTU;
        self.picture.paths[0].in_flight_chunks += 1;
        self.tell(&Signal::Sent(&packet(tsn, now)));
        let gap = self.picture.paths[0].limit.pacing.and_then(|rate| rate.time_for(MTU));
        self.next_at = self.next_at.max(now) + gap.unwrap_or_default();
        tsn
    }

    /// The application had nothing to send, and has `packets` now.
    pub fn queue(&mut self, now: Instant, packets: u64) {
        self.picture.now = now;
        if self.backlog == 0 {
            self.tell(&Signal::Queued);
        }
        self.backlog += packets;
    }

    /// Nothing is reordered: what left before and did not arrive is lost.
    fn acked(&mut self, now: Instant, tsn: u32) {
        self.picture.now = now;
        let flight = self.picture.paths[0].in_flight;
        let mut lost = Vec::new();
        let arrived = loop {
            let sent = self.sent.pop_front().expect("it was sent");
            self.picture.paths[0].in_flight -= MTU;
            self.picture.paths[0].in_flight_chunks -= 1;
            if sent.tsn == tsn {
                break sent;
            }
            assert!(sent.dropped, "reordered");
            lost.push(sent);
        };
        let path = &mut self.picture.paths[0];
        let rtt = now.saturating_since(arrived.at);
        path.srtt = Some(path.srtt.map_or(rtt, |srtt| (7 * srtt + rtt) / 8));
        self.delivered += 1;
        self.tell(&Signal::Delivered { chunk: &packet(tsn, arrived.at), path: Some(PATH) });
        let info = AckInfo { rtt: Some(rtt), ..ack(0, tsn, (tsn, tsn), flight) };
        self.tell(&Signal::Acked(&info));
        for sent in &lost {
            self.lost += 1;
            let chunk = packet(sent.tsn, sent.at);
            self.tell(&Signal::Lost { chunk: &chunk, path: PATH, cause: LossCause::Congestion });
            if sent.tsn > self.recovery {
                self.recovery = self.next_tsn - 1;
                let (trigger, highest) = (LossTrigger::FastRetransmit, Tsn(self.recovery));
                self.tell(&Signal::LossEvent { path: PATH, trigger, highest, cause: LossCause::Congestion });
            }
        }
    }

    /// A gauge of the window.
    pub fn gauge(&self, name: &str) -> Option<f64> {
        let mut gauges = Vec::new();
        self.cc.gauges(PATH, &mut gauges);
        gauges.iter().find(|g| g.0 == name).map(|g| g.1)
    }

    /// The window, bytes.
    pub fn cwnd(&self) -> f64 {
        self.picture.paths[0].limit.cwnd as f64
    }

    /// The pacing rate, bytes per second.
    pub fn pacing(&self) -> f64 {
        self.picture.paths[0].limit.pacing.map_or(0.0, |rate| rate.bytes_per_s())
    }
}

fn packet(tsn: u32, at: Instant) -> ChunkInfo {
    let sent = Transmission::new(PATH, at, Tsn(tsn + 1));
    ChunkInfo { transmissions: smallvec![sent], ..chunk(tsn, &[]) }
}

//! A sender that passes the signals of a TCP sender to windows.

use strandcast_proto::policy::fixture::{MTU, Picture, ack, chunk};
use strandcast_proto::policy::{AckInfo, CongestionControl, LossCause, LossTrigger, PathId, Signal};
use strandcast_proto::time::Duration;
use strandcast_proto::wire::Tsn;

use crate::congestion::{WindowSetup, congestion};

/// Windows over paths of 1000-byte segments that are full unless a test says otherwise.
pub struct Play {
    pub cc: Box<dyn CongestionControl>,
    pub picture: Picture,
    /// The last segment acknowledged, by path.
    pub acked: Vec<u32>,
}

impl Play {
    /// `spec` over `paths`, windows of `initial` segments, with an initial threshold in segments.
    pub fn new(spec: &str, paths: u8, initial: u64, ssthresh: Option<u64>) -> Self {
        let setup = WindowSetup {
            initial_window_bytes: initial * MTU,
            initial_ssthresh_bytes: ssthresh.map(|s| s * MTU),
        };
        Play::with(congestion(spec, setup).expect("a spec of this test"), paths)
    }

    pub fn with(cc: Box<dyn CongestionControl>, paths: u8) -> Self {
        let mut play = Play { cc, picture: Picture::new(paths), acked: vec![0; usize::from(paths)] };
        for path in 0..paths {
            play.tell(&Signal::PathChanged(PathId(path)));
        }
        play
    }

    pub fn tell(&mut self, signal: &Signal<'_>) {
        self.cc.on_signal(&self.picture.view(), signal);
        for p in &mut self.picture.paths {
            p.limit = self.cc.limit(p.id);
        }
    }

    /// The window of path 0, segments.
    pub fn cwnd(&self) -> f64 {
        self.cwnd_of(0)
    }

    pub fn cwnd_of(&self, path: usize) -> f64 {
        self.picture.paths[path].limit.cwnd as f64 / MTU as f64
    }

    /// The threshold of path 0, segments.
    pub fn ssthresh(&self) -> Option<f64> {
        self.picture.paths[0].limit.ssthresh.map(|s| s as f64 / MTU as f64)
    }

    /// An ACK of `segments` on `path` that had `flight` bytes under way.
    pub fn ack_of(&mut self, path: u8, segments: u32, flight: u64, rtt: Option<Duration>) {
        let before = self.acked[usize::from(path)];
        let last = before + segments;
        self.acked[usize::from(path)] = last;
        let ack = AckInfo { rtt, ..ack(path, last, (before + 1, last), flight) };
        self.tell(&Signal::Acked(&ack));
    }

    /// An ACK of `segments` on path 0 while the window is full.
    pub fn ack(&mut self, segments: u32) {
        self.ack_of(0, segments, self.picture.paths[0].limit.cwnd, None);
    }

    /// A segment leaves path 0, with `in_flight` bytes under way then.
    pub fn send(&mut self, sequence: u32, in_flight: u64) {
        self.picture.paths[0].in_flight = in_flight;
        self.tell(&Signal::Sent(&chunk(sequence, &[0])));
    }

    /// A congestion event on path 0 with `flight` segments under way.
    pub fn lose(&mut self, trigger: LossTrigger, flight: u64) {
        self.picture.paths[0].in_flight = flight * MTU;
        let (path, highest, cause) = (PathId(0), Tsn(self.acked[0] + flight as u32), LossCause::Congestion);
        self.tell(&Signal::LossEvent { path, trigger, highest, cause });
    }

    /// A fast retransmission of a full window, and its end.
    pub fn recover(&mut self) {
        let flight = self.picture.paths[0].limit.cwnd / MTU;
        self.lose(LossTrigger::FastRetransmit, flight);
        self.ack(flight as u32);
    }

    pub fn wait(&mut self, time: Duration) {
        self.picture.now += time;
    }

    /// Round-trip time of all paths from now on.
    pub fn rtt(&mut self, rtt: Duration) {
        self.picture.paths.iter_mut().for_each(|p| p.srtt = Some(rtt));
    }

    /// A window's worth of ACKs, one a segment, spread over a round trip.
    pub fn round(&mut self, rtt: Duration) {
        let acks = self.cwnd() as u32;
        for _ in 0..acks {
            self.wait(rtt / acks);
            self.ack(1);
        }
    }
}

#[track_caller]
pub fn near(value: f64, expected: f64, tolerance: f64) {
    assert!((value - expected).abs() <= tolerance, "{value}, expected {expected} ± {tolerance}");
}

//! Windows of TCP flows over four paths, driven as an MPTCP sender drives them. A segment is sent for each
//! acknowledgement, round-trip times vary, and windows sometimes have losses. *Shadows* are further windows of the same
//! kind. Shadows receive every call of the windows in use, and their limits are discarded.

use core::hint::black_box;

use strandcast_proto::policy::fixture::{MTU, Picture, ack, chunk};
use strandcast_proto::policy::{
    AckInfo, ChunkInfo, CongestionControl, LossCause, LossTrigger, PathId, Signal,
};
use strandcast_proto::time::Duration;
use strandcast_proto::wire::Tsn;
use strandcast_schemes::{WindowSetup, congestion, congestions};

/// Number of paths of a connection.
pub const PATHS: u8 = 4;
/// Number of acknowledgements on a path between two losses.
const BETWEEN_LOSSES: u32 = 1000;
/// Interval, in losses, between losses that a timeout detects.
const TIMEOUTS: u32 = 7;

/// Returns the specs of all windows that TCP and MPTCP flows can have.
pub fn specs() -> impl Iterator<Item = &'static str> {
    congestions().into_iter().filter(|one| one.not_for_tcp.is_none()).map(|one| one.name)
}

/// Windows of one connection, and the state of its sender.
pub struct Connection {
    cc: Box<dyn CongestionControl>,
    shadows: Vec<Box<dyn CongestionControl>>,
    picture: Picture,
    acked: [u32; PATHS as usize],
    /// Content of a signal. The signal's content is kept so that a signal needs no allocation.
    sent: ChunkInfo,
    next: u8,
}

impl Connection {
    /// Creates the windows of a spec, and `shadows` shadows of them.
    pub fn new(spec: &str, shadows: usize) -> Self {
        let setup = WindowSetup { initial_window_bytes: 10 * MTU, initial_ssthresh_bytes: Some(20 * MTU) };
        let build = || congestion(spec, setup).unwrap_or_else(|e| panic!("{spec}: {e}"));
        let mut it = Connection {
            cc: build(),
            shadows: (0..shadows).map(|_| build()).collect(),
            picture: Picture::new(PATHS),
            acked: [0; PATHS as usize],
            sent: chunk(0, &[0]),
            next: 0,
        };
        (0..PATHS).for_each(|path| it.tell(&Signal::PathChanged(PathId(path))));
        it
    }

    /// Does the work of any sender for a signal: the signal itself, and then the limits of all paths.
    fn tell(&mut self, signal: &Signal<'_>) {
        let view = self.picture.view();
        self.cc.on_signal(&view, signal);
        for shadow in &mut self.shadows {
            shadow.on_signal(&view, signal);
            for path in &self.picture.paths {
                black_box(shadow.limit(path.id));
            }
        }
        for path in &mut self.picture.paths {
            path.limit = self.cc.limit(path.id);
        }
    }

    /// Acknowledges a segment of the next path, whose window is full.
    pub fn ack(&mut self) {
        let (path, index) = (self.next, usize::from(self.next));
        self.next = (self.next + 1) % PATHS;
        let last = self.acked[index] + 1;
        self.acked[index] = last;
        // Round trips of 40, 60, 80 and 100 ms, and up to 30 ms more, as queues grow and drain.
        let swing = u64::from(last % 61).min(u64::from(61 - last % 61));
        let rtt = Duration::from_millis(40 + 20 * u64::from(path) + swing);
        self.picture.now += Duration::from_micros(200);
        let seen = &mut self.picture.paths[index];
        (seen.srtt, seen.latest_rtt, seen.in_flight) = (Some(rtt), Some(rtt), seen.limit.cwnd);
        seen.min_rtt = Some(seen.min_rtt.unwrap_or(rtt).min(rtt));
        let flight = seen.limit.cwnd;
        let info = AckInfo { rtt: Some(rtt), ..ack(path, last, (last, last), flight) };
        self.tell(&Signal::Acked(&info));
        if last.is_multiple_of(BETWEEN_LOSSES) {
            self.lose(path, last);
        }
        if self.cc.poll_timeout().is_some_and(|due| due <= self.picture.now) {
            self.tell(&Signal::Tick);
        }
    }

    /// Sends the segment for which an acknowledgement made room.
    pub fn send(&mut self) {
        let path = (self.next + PATHS - 1) % PATHS;
        self.sent.tsn = Tsn(self.acked[usize::from(path)] + 1);
        self.sent.transmissions[0].path = PathId(path);
        let told = core::mem::replace(&mut self.sent, chunk(0, &[0]));
        self.tell(&Signal::Sent(&told));
        self.sent = told;
    }

    fn lose(&mut self, path: u8, last: u32) {
        let timeout = (last / BETWEEN_LOSSES).is_multiple_of(TIMEOUTS);
        let trigger = if timeout { LossTrigger::Timeout } else { LossTrigger::FastRetransmit };
        let (path, highest) = (PathId(path), Tsn(last + 1));
        self.tell(&Signal::LossEvent { path, trigger, highest, cause: LossCause::Congestion });
    }

    /// Returns the windows of all paths in segments.
    pub fn windows(&self) -> [f64; PATHS as usize] {
        core::array::from_fn(|path| self.picture.paths[path].limit.cwnd as f64 / MTU as f64)
    }
}

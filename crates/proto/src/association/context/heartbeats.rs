//! Times and contents of heartbeats (RFC 9260 §8.3).

use bytes::BufMut as _;

use super::Context;
use crate::policy::{PathId, PathState};
use crate::time::{Duration, Instant};
use crate::wire::chunk::Heartbeat;

impl Context {
    /// Schedules the next heartbeat of the core on `path` (RFC 9260 §8.3): after HB.interval + RTO with ±50 % jitter.
    /// While a path has failed, the interval is at most the configured one.
    pub fn schedule_heartbeat(&mut self, now: Instant, path: PathId) {
        let view = self.paths.view(path.index());
        let jittered = view.rto.mul_f64(0.5 + self.random.unit());
        let mut wait = self.config.heartbeat_interval + jittered;
        match view.state {
            // RFC 7829 §4.2: a HEARTBEAT each RTO. A heartbeat that times out schedules the next one itself.
            PathState::PotentiallyFailed => wait = view.rto,
            PathState::Unconfirmed if self.paths[path.index()].confirmed => wait = view.rto,
            PathState::Unconfirmed | PathState::Closed => wait = Duration::MAX,
            PathState::Active | PathState::Inactive | PathState::Suspended => {}
        }
        if let Some(limit) = self.probe_interval(path)
            && matches!(view.state, PathState::PotentiallyFailed | PathState::Inactive)
        {
            wait = wait.clamp(limit.min(view.rto), limit);
        }
        self.paths[path.index()].heartbeats.next = now + wait;
    }

    /// Returns the maximum interval between heartbeats on `path` while it has failed, if one is configured. The
    /// interval is at least the wait for an answer, because the next heartbeat leaves when the previous one has timed
    /// out.
    fn probe_interval(&self, path: PathId) -> Option<Duration> {
        let answer = self.paths.view(path.index()).rto_raw().unwrap_or_default();
        self.config.failed_probe_interval.map(|limit| limit.max(answer))
    }

    /// Returns a heartbeat for `path` and starts the timeout of its answer.
    pub fn make_heartbeat(&mut self, now: Instant, path: PathId, probe: bool, pad_to: usize) -> Heartbeat {
        let nonce = self.random.u64();
        let view = self.paths.view(path.index());
        let wait = self.answer_wait(path).filter(|_| self.paths[path.index()].confirmed);
        let timeout = match self.probe_interval(path) {
            _ if wait.is_some() => wait.unwrap_or_default(),
            Some(limit) if !matches!(view.state, PathState::Active | PathState::Unconfirmed) => {
                view.rto.min(limit)
            }
            _ => view.rto,
        };
        self.paths[path.index()].heartbeats.sent(now, nonce, timeout, probe);
        self.heartbeat(path, nonce, pad_to)
    }

    /// Returns a heartbeat with `nonce` for `path`. The heartbeat's information field has at least `pad_to` bytes.
    pub fn heartbeat(&mut self, path: PathId, nonce: u64, pad_to: usize) -> Heartbeat {
        let info = &mut self.heartbeat_block;
        info.reserve(pad_to.max(12));
        info.put_u64(nonce);
        info.put_u32(u32::from(path.0));
        info.resize(pad_to.max(12), 0);
        Heartbeat { info: info.split().freeze() }
    }
}

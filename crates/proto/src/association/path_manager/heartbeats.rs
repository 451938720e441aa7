//! HEARTBEAT and its answer (RFC 9260 §8.3).

use bytes::Bytes;

use super::PathManager;
use crate::association::lifecycle::State;
use crate::path::{self, Answer, FourTuple};
use crate::policy::{HeartbeatInfo, PathId, PathState, ReportTrigger, RxInfo, Signal};
use crate::time::{Duration, Instant};
use crate::wire::chunk::{Heartbeat, Report as ReportChunk};

impl PathManager<'_> {
    pub fn on_heartbeat(&mut self, now: Instant, heartbeat: Heartbeat, on: PathId, from: &FourTuple) {
        // A padded probe counts as an arrival of its own. An echo of its padding would double the load.
        let info = heartbeat.info;
        if info.len() > 64 && self.cx.paths.seen().peer_reports() {
            let rx = RxInfo {
                path: on,
                bytes: info.len() as u64,
                tsns: None,
                new: true,
                duplicate: false,
                gap: false,
                filled: false,
                immediate: false,
                packets_since_sack: self.rx.packets_since_sack(),
            };
            self.cx.signal(now, &Signal::Arrived(&rx));
            self.cx.answer_heartbeat(on, from, info.slice(..64));
        } else {
            self.cx.answer_heartbeat(on, from, info);
        }
        if let Some(arrived) = self.rx.arrived_report(self.cx, now).map(|arrived| arrived.to_item()) {
            // Without data there is no SACK that could report it.
            self.cx.push_control(on, ReportChunk { items: smallvec::smallvec![arrived] });
        }
        if let Some(reports) = self.cx.collect_reports(now, ReportTrigger::HeartbeatAck(on)) {
            self.cx.push_control(on, reports);
        }
    }

    pub fn on_heartbeat_ack(&mut self, now: Instant, info: &Bytes) {
        let Some((nonce, slot)) = info.get(..12).map(|b| (u64_at(b), b[11])) else {
            self.cx.stats.bad_chunks += 1;
            return;
        };
        let path = PathId(slot);
        if let Some(rtt) = self.candidate_answered(now, path, nonce) {
            let rtt = rtt.max(Duration::from_nanos(1));
            path::sample(self.cx.paths.view_mut(path.index()), &self.cx.config, rtt);
            return;
        }
        if self.rx.sounded(self.cx, now, path, nonce) || self.mtu_probe_answered(now, path, nonce) {
            return;
        }
        let answer = self.cx.paths.get_mut(path.index()).and_then(|p| p.heartbeats.answered(now, nonce));
        let Some(answer) = answer.filter(|_| self.cx.is_open(path)) else {
            self.cx.stats.bad_chunks += 1;
            return;
        };
        // The data that a link held arrive all at once: among many heartbeats only the last ones measure the round-trip
        // time.
        let Answer { sent, rtt, probe, late } = answer;
        let late = probe && late;
        if !late {
            let rtt = rtt.max(Duration::from_nanos(1));
            path::sample(self.cx.paths.view_mut(path.index()), &self.cx.config, rtt);
        }
        let confirmed = self.cx.paths[path.index()].confirmed;
        let resumed = self.cx.paths.view(path.index()).state == PathState::Unconfirmed;
        self.cx.path_answered(now, path);
        if !confirmed || resumed {
            self.cx.confirm(now, path);
        }
        let info = HeartbeatInfo { path, rtt: Some(rtt), probe, sent, late };
        self.cx.signal(now, &Signal::Heartbeat(&info));
        if !probe {
            self.cx.schedule_heartbeat(now, path);
        }
        self.tx.resume(self.cx, now, path, sent);
    }

    /// Handles a heartbeat that the peer did not answer within the RTO (RFC 9260 §8.3).
    pub fn on_heartbeat_timeout(&mut self, now: Instant, path: PathId) {
        while let Some((sent, probe)) = self.cx.paths[path.index()].heartbeats.expire(now) {
            self.cx.paths[path.index()].stats.heartbeats_lost += 1;
            self.cx.signal(
                now,
                &Signal::Heartbeat(&HeartbeatInfo { path, rtt: None, probe, sent, late: false }),
            );
            if probe {
                self.judge_idle(path);
                continue;
            }
            if self.cx.config.failed_after.is_none() || !self.cx.paths[path.index()].confirmed {
                path::back_off(self.cx.paths.view_mut(path.index()), &self.cx.config);
            }
            if self.cx.paths.view(path.index()).state == PathState::Unconfirmed
                && !self.cx.paths[path.index()].confirmed
            {
                self.retry_unconfirmed(now, path);
            } else {
                self.cx.path_error(now, path);
                self.cx.schedule_heartbeat(now, path);
            }
            if self.cx.state == State::Closed {
                return;
            }
        }
    }

    /// Handles an unanswered probe that the scheme requested, if paths fail by time. If the scheme sends no data on a
    /// path, no retransmission timer counts errors there. A heartbeat of the core then has to count them.
    fn judge_idle(&mut self, path: PathId) {
        let view = self.cx.paths.view(path.index());
        let idle =
            view.state == PathState::Active && view.in_flight == 0 && self.cx.config.failed_after.is_some();
        let heartbeats = &mut self.cx.paths[path.index()].heartbeats;
        if idle && !heartbeats.judges() {
            heartbeats.want();
        }
    }

    /// Handles an unconfirmed path: it was never confirmed, or not since it moved. The path is probed several times and
    /// then dropped. The last path that might carry data is probed until the association ends.
    fn retry_unconfirmed(&mut self, now: Instant, path: PathId) {
        self.cx.paths.view_mut(path.index()).error_count += 1;
        let mute = self.cx.paths.usable().is_empty();
        let given_up = self.cx.paths.view(path.index()).error_count > self.cx.config.path_max_retrans;
        if given_up && !(mute && self.cx.paths.seen().primary() == path) && !self.cx.silence.lasts() {
            self.close_path(now, path);
            return;
        }
        self.cx.paths[path.index()].heartbeats.want();
        if mute {
            self.cx.association_error(now);
        }
    }

    /// Sends heartbeats that are due and heartbeats that the scheme requests. Also sends the scheme's request for
    /// reports of arrivals.
    pub fn probe_and_ask(&mut self, now: Instant) {
        if !self.cx.state.is_open() {
            return;
        }
        for i in 0..self.cx.paths.len() {
            let path = PathId(i as u8);
            let idle_since = self.cx.paths.view(i).last_sent;
            if self.cx.paths[i].heartbeats.next > now || !self.cx.is_open(path) {
                continue;
            }
            // RFC 9260 §8.3: only idle paths are probed. The SACKs of a path that carries data prove that it works.
            let busy = self.cx.paths.view(i).state == PathState::Active
                && self.tx.times(path)
                && idle_since.is_some_and(|t| now - t < self.cx.config.heartbeat_interval);
            if !busy && !self.cx.paths[i].heartbeats.awaiting() {
                self.cx.paths[i].heartbeats.want();
            }
            if !busy {
                self.shrink();
            }
            self.cx.schedule_heartbeat(now, path);
        }
        while let Some(probe) =
            self.cx.ask(now, |scheme, view| scheme.feedback().probe(view)).filter(|p| self.cx.is_open(p.path))
        {
            if self.cx.unproven(probe.path) {
                continue;
            }
            for _ in 0..probe.count.min(8) {
                self.cx.paths[probe.path.index()].heartbeats.want_probe(probe.padded);
            }
        }
        self.tx.want_arrived(self.cx, now);
    }

    /// Handles a nonce that the peer returned. If the nonce was sent to the candidate address of `path`, the path moves
    /// to this address.
    pub fn candidate_answered(&mut self, now: Instant, path: PathId, nonce: u64) -> Option<Duration> {
        let candidate = self.cx.take_answered_candidate(path, nonce)?;
        if !self.cx.is_open(path) || self.cx.path_of(&candidate.tuple).is_some() {
            return None;
        }
        if candidate.serial.is_some() {
            self.cx.paths[path.index()].news.0 = candidate.serial;
        }
        let sent = candidate.sent(nonce)?;
        self.retarget(now, path, candidate.tuple);
        self.cx.paths[path.index()].credit = None;
        self.cx.paths[path.index()].heartbeats.excuse();
        self.cx.confirm(now, path);
        Some(now - sent)
    }
}

fn u64_at(b: &[u8]) -> u64 {
    b.iter().take(8).fold(0, |n, x| (n << 8) | u64::from(*x))
}

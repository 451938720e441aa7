//! Paths: slots, states, heartbeats, MTU.

use bytes::{BufMut as _, Bytes, BytesMut};

use super::event::{Event, PathChange};
use super::state::{Association, AssociationError, State};
use super::tail::Tail;
use crate::path::{self, FourTuple, MAX_PATHS, Path};
use crate::policy::{HeartbeatInfo, LossTrigger, PathId, PathState, Signal};
use crate::time::{Duration, Instant};
use crate::wire::chunk::Heartbeat;

/// The least IP-level MTU a path is lowered to.
const LEAST_MTU: u16 = 576;

impl Association {
    /// A slot for `tuple`: a closed one, or one more. The caller has checked that there is room.
    pub(super) fn new_path(&mut self, now: Instant, tuple: FourTuple, mtu: Option<u16>) -> PathId {
        let ip_mtu = mtu.unwrap_or(self.config.mtu).max(LEAST_MTU);
        let path = Path::new(tuple, ip_mtu, &self.config, Instant::MAX);
        let id = self.paths.free_slot();
        self.paths.put(path, path::new_view(id, &tuple, &self.config, ip_mtu));
        self.paths_moved = true;
        self.fit_payload();
        self.driver.signal(self.paths.seen_mut(), now, &Signal::PathChanged(id));
        id
    }

    pub(super) fn room_for_a_path(&self) -> Result<(), AssociationError> {
        let open = self.paths.views().iter().filter(|v| v.state != PathState::Closed).count();
        if open < MAX_PATHS { Ok(()) } else { Err(AssociationError::TooManyPaths) }
    }

    /// Largest payload that fits one packet on every path, room for reports included.
    pub(super) fn fit_payload(&mut self) {
        let open = self.paths.views().iter().filter(|v| v.state != PathState::Closed);
        let least = open.map(|v| v.mtu).min().unwrap_or(512);
        self.tx.max_payload =
            (least as usize).saturating_sub(16 + self.driver.scheme().overhead()).max(256) & !3;
        self.tx.pick = None;
    }

    /// The open path of a 4-tuple.
    pub(crate) fn path_of(&self, tuple: &FourTuple) -> Option<PathId> {
        let open = |i: &usize| self.paths.view(*i).state != PathState::Closed;
        (0..self.paths.len()).filter(open).find(|i| self.paths[*i].tuple == *tuple).map(|i| PathId(i as u8))
    }

    pub(super) fn path_by_wire_id(&self, wire_id: u16) -> Option<PathId> {
        let at = self.paths.iter().position(|p| p.wire_id == Some(wire_id))?;
        Some(PathId(at as u8)).filter(|p| self.is_open(*p))
    }

    pub(super) fn set_path_state(&mut self, now: Instant, path: PathId, state: PathState) {
        let i = path.index();
        if self.paths.view(i).state == state {
            return;
        }
        self.paths.view_mut(i).state = state;
        let down = matches!(state, PathState::PotentiallyFailed | PathState::Inactive);
        let stats = &mut self.paths[i].stats;
        match (down, stats.down_since) {
            (true, None) => stats.down_since = Some(now),
            (false, Some(since)) => {
                stats.down += now - since;
                stats.down_since = None;
            }
            _ => {}
        }
        if down {
            self.paths[i].heartbeats.want();
        }
        self.tx.assignment = None;
        self.tx.pick = None;
        self.driver.signal(self.paths.seen_mut(), now, &Signal::PathChanged(path));
        self.events.push_back(Event::Path(path, PathChange::State(state)));
        self.offer_burst(now);
    }

    /// The peer answered from there: data may flow (RFC 9260 §5.4).
    pub(super) fn confirm(&mut self, now: Instant, path: PathId) {
        let p = &mut self.paths[path.index()];
        p.confirmed = true;
        p.answered = Some(now);
        self.paths_moved |= p.credit.take().is_some();
        let state = if p.suspended.0 || p.suspended.1 { PathState::Suspended } else { PathState::Active };
        self.paths.view_mut(path.index()).error_count = 0;
        self.set_path_state(now, path, state);
        self.schedule_heartbeat(now, path);
    }

    /// Ends a path without telling the peer.
    pub(super) fn close_path(&mut self, now: Instant, path: PathId) {
        if !self.is_open(path) {
            return;
        }
        self.lose_all(now, path, LossTrigger::Timeout);
        let i = path.index();
        self.paths[i].t3 = None;
        // What is acknowledged late, or again, puts nothing back in flight here: no timer would ever take it out.
        (self.paths[i].tail, self.paths[i].undo) = (Tail::default(), None);
        self.paths[i].candidate = None;
        self.paths[i].heartbeats = path::Heartbeats::new(Instant::MAX);
        self.paths[i].free_retransmit = false;
        self.set_path_state(now, path, PathState::Closed);
        self.control.drop_on(path, |_| false);
        self.tx.copies.retain(|(_, p)| *p != path);
        self.paths[i].owed.clear();
        self.reports.drop_via(path);
        self.paths_moved = true;
        self.fit_payload();
        self.events.push_back(Event::Path(path, PathChange::Closed));
        let next = self.paths.views().iter().find(|v| v.state != PathState::Closed).map(|v| v.id);
        if let Some(next) = next.filter(|_| self.paths.seen().primary() == path) {
            self.paths.seen_mut().set_primary(next);
        }
        self.keep_a_timer(now);
    }

    /// Packets of the path's size did not fit (EMSGSIZE): its IP-level MTU is `mtu` at most.
    pub(crate) fn lower_mtu(&mut self, now: Instant, path: PathId, mtu: u16) {
        let mtu = mtu.max(LEAST_MTU);
        if !self.is_open(path) || mtu >= self.paths[path.index()].ip_mtu {
            return;
        }
        let p = &mut self.paths[path.index()];
        p.ip_mtu = mtu;
        self.paths.view_mut(path.index()).mtu = p.packet_size(&self.config) as u64 - 12;
        self.fit_payload();
        self.driver.signal(self.paths.seen_mut(), now, &Signal::PathChanged(path));
        self.events.push_back(Event::Path(path, PathChange::Mtu(mtu)));
    }

    /// When the core probes `path` by itself next (RFC 9260 §8.3): HB.interval + RTO with ±50 % jitter; failed paths
    /// at least as often as configured.
    pub(super) fn schedule_heartbeat(&mut self, now: Instant, path: PathId) {
        let view = self.paths.view(path.index());
        let jittered = view.rto.mul_f64(0.5 + self.random.unit());
        let mut wait = self.config.heartbeat_interval + jittered;
        match view.state {
            // RFC 7829 §4.2: a HEARTBEAT each RTO; those that time out bring the next one themselves.
            PathState::PotentiallyFailed => wait = view.rto,
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

    /// How often `path` is probed at least while failed, if that is configured: not before an answer can be expected,
    /// for the next probe starts when the last one timed out.
    fn probe_interval(&self, path: PathId) -> Option<Duration> {
        let answer = self.paths.view(path.index()).rto_raw().unwrap_or_default();
        self.config.failed_probe_interval.map(|limit| limit.max(answer))
    }

    /// A heartbeat of this path's own, with its timeout started.
    pub(super) fn make_heartbeat(
        &mut self,
        now: Instant,
        path: PathId,
        probe: bool,
        pad_to: usize,
    ) -> Heartbeat {
        let nonce = self.random.u64();
        let view = self.paths.view(path.index());
        let evidence = self.evidence_wait(path).filter(|_| self.paths[path.index()].confirmed);
        let timeout = match self.probe_interval(path) {
            _ if evidence.is_some() => evidence.unwrap_or_default(),
            Some(limit) if !matches!(view.state, PathState::Active | PathState::Unconfirmed) => {
                view.rto.min(limit)
            }
            _ => view.rto,
        };
        self.paths[path.index()].heartbeats.sent(now, nonce, timeout, probe);
        let mut info = BytesMut::with_capacity(pad_to.max(12));
        info.put_u64(nonce);
        info.put_u32(u32::from(path.0));
        info.resize(pad_to.max(12), 0);
        Heartbeat { info: info.freeze() }
    }

    pub(super) fn on_heartbeat(&mut self, now: Instant, heartbeat: Heartbeat, on: PathId, from: &FourTuple) {
        // A padded probe is an arrival of its own; echoing its padding would double the load.
        let info = heartbeat.info;
        if info.len() > 64 && self.paths.seen().peer_reports() {
            let rx = crate::policy::RxInfo {
                path: on,
                bytes: info.len() as u64,
                tsns: None,
                new: true,
                duplicate: false,
                gap: false,
                filled: false,
                immediate: false,
                packets_since_sack: self.rx.acks.packets(),
            };
            self.driver.signal(self.paths.seen_mut(), now, &Signal::Arrived(&rx));
            self.answer_heartbeat(on, from, info.slice(..64));
        } else {
            self.answer_heartbeat(on, from, info);
        }
        if let Some(reports) = self.collect_reports(now, crate::policy::Occasion::HeartbeatAck(on)) {
            self.push_control(on, reports);
        }
    }

    pub(super) fn on_heartbeat_ack(&mut self, now: Instant, info: &Bytes) {
        let Some((nonce, slot)) = info.get(..12).map(|b| (u64_at(b), b[11])) else {
            self.stats.bad_chunks += 1;
            return;
        };
        let path = PathId(slot);
        if let Some(rtt) = self.candidate_answered(now, path, nonce) {
            let rtt = rtt.max(Duration::from_nanos(1));
            path::sample(self.paths.view_mut(path.index()), &self.config, rtt);
            return;
        }
        if self.sounded(now, path, nonce) {
            return;
        }
        let answer = self.paths.get_mut(path.index()).and_then(|p| p.heartbeats.answered(now, nonce));
        let Some(answer) = answer.filter(|_| self.is_open(path)) else {
            self.stats.bad_chunks += 1;
            return;
        };
        path::sample(
            self.paths.view_mut(path.index()),
            &self.config,
            answer.rtt.max(Duration::from_nanos(1)),
        );
        let confirmed = self.paths[path.index()].confirmed;
        self.path_answered(now, path);
        if !confirmed {
            self.confirm(now, path);
        }
        let info = HeartbeatInfo { path, rtt: Some(answer.rtt), probe: answer.probe, sent: answer.sent };
        self.driver.signal(self.paths.seen_mut(), now, &Signal::Heartbeat(&info));
        if !answer.probe {
            self.schedule_heartbeat(now, path);
        }
        self.resume(now, path, answer.sent);
    }

    /// A heartbeat was not answered within the RTO (RFC 9260 §8.3).
    pub(super) fn on_heartbeat_timeout(&mut self, now: Instant, path: PathId) {
        while let Some((sent, probe)) = self.paths[path.index()].heartbeats.expire(now) {
            self.paths[path.index()].stats.heartbeats_lost += 1;
            self.driver.signal(
                self.paths.seen_mut(),
                now,
                &Signal::Heartbeat(&HeartbeatInfo { path, rtt: None, probe, sent }),
            );
            if probe {
                continue;
            }
            if self.config.failed_after.is_none() || !self.paths[path.index()].confirmed {
                path::back_off(self.paths.view_mut(path.index()), &self.config);
            }
            if self.paths.view(path.index()).state == PathState::Unconfirmed {
                self.retry_unconfirmed(now, path);
            } else {
                self.path_error(now, path);
                self.schedule_heartbeat(now, path);
            }
        }
    }

    /// A path that was never confirmed, or not since it moved, is probed a few times and then dropped; the last one
    /// that could carry anything is probed as long as the association may live.
    fn retry_unconfirmed(&mut self, now: Instant, path: PathId) {
        self.paths.view_mut(path.index()).error_count += 1;
        let mute = self.paths.usable().is_empty();
        let given_up = self.paths.view(path.index()).error_count > self.config.path_max_retrans;
        if given_up && !(mute && self.paths.seen().primary() == path) && !self.silence.lasts() {
            self.close_path(now, path);
            return;
        }
        self.paths[path.index()].heartbeats.want();
        if mute {
            self.association_error(now);
        }
    }

    /// Sends the heartbeats that are due, and those the scheme asks for.
    pub(super) fn maybe_heartbeat(&mut self, now: Instant) {
        if !self.speaks() {
            return;
        }
        for i in 0..self.paths.len() {
            let path = PathId(i as u8);
            let idle_since = self.paths.view(i).last_sent;
            if self.paths[i].heartbeats.next > now || !self.is_open(path) {
                continue;
            }
            // RFC 9260 §8.3: only idle paths are probed; one that carries data proves itself by its SACKs.
            let busy = self.paths.view(i).state == PathState::Active
                && self.paths[i].timed.is_some()
                && idle_since.is_some_and(|t| now - t < self.config.heartbeat_interval);
            if !busy && !self.paths[i].heartbeats.awaiting() {
                self.paths[i].heartbeats.want();
            }
            if !busy {
                self.give_back();
            }
            self.schedule_heartbeat(now, path);
        }
        while let Some(probe) = self
            .driver
            .ask(self.paths.seen(), now, |scheme, view| scheme.probe(view))
            .filter(|p| self.is_open(p.path))
        {
            if self.unproven(probe.path) {
                continue;
            }
            for _ in 0..probe.count.min(8) {
                self.paths[probe.path.index()].heartbeats.want_probe(probe.padded);
            }
        }
    }

    /// Whether control chunks make sense in this state.
    pub(super) fn speaks(&self) -> bool {
        use State::{Established, ShutdownPending, ShutdownReceived};
        matches!(self.state, Established | ShutdownPending | ShutdownReceived)
    }
}

fn u64_at(b: &[u8]) -> u64 {
    b.iter().take(8).fold(0, |n, x| (n << 8) | u64::from(*x))
}

//! Nothing is heard from the peer on any path: how long that is endured, how it is looked for meanwhile, and how data go
//! on when it answers ([`crate::config::TransportConfig::endured_silence`]).

use super::Association;
use super::event::CloseReason;
use crate::path;
use crate::policy::{LossTrigger, PathId, PathState};
use crate::time::{Duration, Instant};

/// In a total silence each path is probed this often: the answer comes within a second of a path's return, at round-trip
/// times up to 350 ms.
const PROBE: Duration = Duration::from_millis(300);

/// A total silence.
#[derive(Debug, Default)]
pub(super) struct Silence {
    /// The first timeout since the peer was last heard, and when all paths are probed next.
    spell: Option<(Instant, Instant)>,
    /// The peer was heard again; what was in flight meanwhile is lost once a path has answered.
    ended: bool,
}

impl Silence {
    pub fn timeout(&self) -> Option<Instant> {
        self.spell.map(|(_, probe)| probe)
    }

    pub fn lasts(&self) -> bool {
        self.spell.is_some()
    }
}

impl Association {
    fn endured(&self) -> Option<Duration> {
        self.config.endured_silence
    }

    /// A timeout on a path that carries data: whether time decides over the end of the association, not the number of errors.
    pub(super) fn silence_begins(&mut self, now: Instant) -> bool {
        let endures = self.endured().is_some();
        if endures && self.silence.spell.is_none() {
            self.silence.spell = Some((now, now + PROBE));
        }
        endures
    }

    /// All paths are probed, whatever their state; or the silence lasted too long.
    pub(super) fn on_silence(&mut self, now: Instant) {
        let Some((since, _)) = self.silence.spell.filter(|(_, probe)| *probe <= now) else { return };
        let limit = self.endured().filter(|_| self.speaks());
        if limit.is_some_and(|limit| now - since >= limit) {
            self.abort_for(CloseReason::Unreachable);
        }
        self.silence.spell = limit.map(|_| (since, now + PROBE));
        if limit.is_some() {
            self.probe_all(|_| true);
        }
    }

    fn probe_all(&mut self, which: impl Fn(&crate::policy::PathView) -> bool) {
        for i in 0..self.paths.len() {
            let view = self.paths.view(i);
            // Those that were never confirmed have their own number of tries.
            let known = !matches!(view.state, PathState::Closed | PathState::Unconfirmed);
            if known && which(view) && !self.unproven(view.id) {
                self.paths[i].heartbeats.want();
            }
        }
    }

    /// The peer was heard, on whichever path.
    #[inline]
    pub(super) fn silence_ends(&mut self) {
        if let Some(spell) = self.silence.spell.take() {
            self.spell_ends(spell);
        }
    }

    #[cold]
    fn spell_ends(&mut self, (since, probe): (Instant, Instant)) {
        // Where another path is heard at once, only the one that timed out was silent.
        self.silence.ended |= probe > since + PROBE;
        self.tx.errors = 0;
        self.probe_all(|v| v.error_count > 0);
    }

    /// The first answer on a path after a total silence. What left before `sent` is lost: on the other paths no timer of
    /// theirs, backed off as it is, is waited for. Timeouts begin with the round-trip time again.
    pub(super) fn resume(&mut self, now: Instant, path: PathId, sent: Instant) {
        if !core::mem::take(&mut self.silence.ended) {
            return;
        }
        for i in 0..self.paths.len() {
            let other = PathId(i as u8);
            if !self.is_open(other) {
                continue;
            }
            path::forget_back_off(self.paths.view_mut(i), &self.config);
            self.lose_older(now, other, if other == path { sent } else { now });
            let rto = self.paths.view(i).rto;
            self.paths[i].t3 = (self.paths.view(i).in_flight > 0).then_some(now + rto);
            // It failed when this one did; whether it is back too its heartbeats tell.
            let view = self.paths.view(i);
            if other != path && view.error_count > 0 && view.state == PathState::Active {
                self.set_path_state(now, other, PathState::PotentiallyFailed);
            }
        }
        self.keep_a_timer(now);
        self.offer_burst(now);
    }

    /// What left on `path` before `sent` is lost; nobody is told of congestion.
    fn lose_older(&mut self, now: Instant, path: PathId, sent: Instant) {
        for tsn in self.sent_before(path, sent) {
            if self.lose(now, tsn, path, LossTrigger::Timeout).is_some() {
                self.paths[path.index()].stats.lost_timeout += 1;
            }
        }
        self.prune(path);
    }
}

//! Nothing is heard from the peer on any path: how long that is tolerated, how the peer is probed meanwhile, and how
//! data go on when it answers ([`crate::config::TransportConfig::silence_timeout`]).

use super::Context;
use crate::association::event::CloseReason;
use crate::policy::PathState;
use crate::time::{Duration, Instant};

/// In a total silence each path is probed this often: the answer comes within a second of a path's return, at round-trip
/// times up to 350 ms.
const PROBE: Duration = Duration::from_millis(300);

/// A total silence.
#[derive(Debug, Default)]
pub(in crate::association) struct Silence {
    /// The first timeout since the peer was last heard, and when all paths are probed next.
    ongoing: Option<(Instant, Instant)>,
    /// The peer was heard again; what was in flight meanwhile is lost once a path has answered.
    ended: bool,
}

impl Silence {
    pub fn timeout(&self) -> Option<Instant> {
        self.ongoing.map(|(_, probe)| probe)
    }

    pub fn lasts(&self) -> bool {
        self.ongoing.is_some()
    }

    /// Whether a silence ended since this was last asked.
    pub fn take_ended(&mut self) -> bool {
        core::mem::take(&mut self.ended)
    }
}

impl Context {
    fn silence_timeout(&self) -> Option<Duration> {
        self.config.silence_timeout
    }

    /// A timeout on a path that carries data: whether time decides over the end of the association, not the number of errors.
    pub fn silence_begins(&mut self, now: Instant) -> bool {
        let tolerates = self.silence_timeout().is_some();
        if tolerates && self.silence.ongoing.is_none() {
            self.silence.ongoing = Some((now, now + PROBE));
        }
        tolerates
    }

    /// All paths are probed, whatever their state; or the silence lasted too long.
    pub fn on_silence(&mut self, now: Instant) {
        let Some((since, _)) = self.silence.ongoing.filter(|(_, probe)| *probe <= now) else { return };
        let limit = self.silence_timeout().filter(|_| self.state.is_open());
        if limit.is_some_and(|limit| now - since >= limit) {
            self.abort_for(CloseReason::Unreachable);
        }
        self.silence.ongoing = limit.map(|_| (since, now + PROBE));
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
    pub fn silence_ends(&mut self) {
        if let Some(ongoing) = self.silence.ongoing.take() {
            self.finish_silence(ongoing);
        }
    }

    #[cold]
    fn finish_silence(&mut self, (since, probe): (Instant, Instant)) {
        // Where another path is heard at once, only the one that timed out was silent.
        self.silence.ended |= probe > since + PROBE;
        self.errors = 0;
        self.probe_all(|v| v.error_count > 0);
    }
}

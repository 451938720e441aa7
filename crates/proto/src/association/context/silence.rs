//! Total silence: a time in which no path receives a packet from the peer. This module has the tolerated duration, the
//! probes during a silence, and the restart of data after it ([`crate::config::TransportConfig::silence_timeout`]).

use super::Context;
use crate::association::event::CloseReason;
use crate::policy::PathState;
use crate::time::{Duration, Instant};

/// Interval of probes on each path in a total silence. With this interval, an answer arrives within a second after a
/// path works again, at round-trip times up to 350 ms.
const PROBE: Duration = Duration::from_millis(300);

/// State of a total silence.
#[derive(Debug, Default)]
pub(in crate::association) struct Silence {
    /// Two times of an ongoing silence: the first timeout after the peer's last packet, and the next probe on all
    /// paths.
    ongoing: Option<(Instant, Instant)>,
    /// True if packets arrive again after a silence. Data in flight during the silence count as lost once a path has
    /// answered.
    ended: bool,
}

impl Silence {
    pub fn timeout(&self) -> Option<Instant> {
        self.ongoing.map(|(_, probe)| probe)
    }

    pub fn lasts(&self) -> bool {
        self.ongoing.is_some()
    }

    /// Returns whether a silence ended since the last call.
    pub fn take_ended(&mut self) -> bool {
        core::mem::take(&mut self.ended)
    }
}

impl Context {
    fn silence_timeout(&self) -> Option<Duration> {
        self.config.silence_timeout
    }

    /// Handles a timeout on a path that carries data. Returns true if the duration of a silence ends the association.
    /// Returns false if the number of errors ends it.
    pub fn silence_begins(&mut self, now: Instant) -> bool {
        let tolerates = self.silence_timeout().is_some();
        if tolerates && self.silence.ongoing.is_none() {
            self.silence.ongoing = Some((now, now + PROBE));
        }
        tolerates
    }

    /// Handles the timer of a silence. Probes all paths regardless of their states, or ends the association if the
    /// silence lasted too long.
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
            // Paths that were never confirmed have their own number of attempts.
            let known = !matches!(view.state, PathState::Closed | PathState::Unconfirmed);
            if known && which(view) && !self.unproven(view.id) {
                self.paths[i].heartbeats.want();
            }
        }
    }

    /// Ends an ongoing silence. The caller has received a packet from the peer on any path.
    #[inline]
    pub fn silence_ends(&mut self) {
        if let Some(ongoing) = self.silence.ongoing.take() {
            self.finish_silence(ongoing);
        }
    }

    #[cold]
    fn finish_silence(&mut self, (since, probe): (Instant, Instant)) {
        // If another path receives something at once, only the path that timed out was silent.
        self.silence.ended |= probe > since + PROBE;
        self.errors = 0;
        self.probe_all(|v| v.error_count > 0);
    }
}

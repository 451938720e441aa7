//! MTUs of paths: limits reported by the driver, and results of path MTU discovery (RFC 8899).

use super::PathManager;
use crate::association::{Event, PathChange};
use crate::path::{self, MIN_PLPMTU};
use crate::policy::{PathId, Signal};
use crate::time::Instant;

impl PathManager<'_> {
    /// Limits the IP packets of `path` to `mtu` bytes, which the driver reported for the interface and the route.
    pub fn limit_mtu(&mut self, now: Instant, path: PathId, mtu: u16) {
        if !self.cx.is_open(path) {
            return;
        }
        let p = &mut self.cx.paths[path.index()];
        match &mut p.discovery {
            Some(discovery) => discovery.told(now, mtu),
            None => p.ip_mtu = p.ip_mtu.min(mtu.max(MIN_PLPMTU)),
        }
        self.follow_mtu(now, path);
    }

    /// Handles a datagram with `size` bytes of UDP payload that could not be sent (EMSGSIZE). The datagram carried data
    /// or was a probe of path MTU discovery.
    pub fn too_big(&mut self, now: Instant, path: PathId, size: usize) {
        if !self.cx.is_open(path) {
            return;
        }
        let p = &mut self.cx.paths[path.index()];
        let ip_size = size + p.tuple.headers();
        // The limit below the present size is unknown. A few steps of one or two encapsulating headers find it.
        let most = if ip_size > usize::from(p.ip_mtu) { ip_size - 1 } else { ip_size.saturating_sub(60) };
        let most = u16::try_from(most).unwrap_or(u16::MAX);
        match &mut p.discovery {
            Some(discovery) => discovery.limit(now, most),
            None => p.ip_mtu = p.ip_mtu.min(most.max(MIN_PLPMTU)),
        }
        self.follow_mtu(now, path);
    }

    /// Handles the answer to a probe of path MTU discovery. Returns false if `nonce` does not belong to such a probe.
    pub fn mtu_probe_answered(&mut self, now: Instant, path: PathId, nonce: u64) -> bool {
        let discovery = self.cx.paths.get_mut(path.index()).and_then(|p| p.discovery.as_mut());
        let answered = discovery.is_some_and(|d| d.answered(now, nonce)) && self.cx.is_open(path);
        if answered {
            self.cx.path_answered(now, path);
            self.follow_mtu(now, path);
        }
        answered
    }

    /// Runs the timers PROBE_TIMER and PMTU_RAISE_TIMER (RFC 8899).
    pub fn on_mtu_timer(&mut self, now: Instant, path: PathId) {
        let (p, view) = self.cx.paths.row_mut(path.index());
        let Some(discovery) = p.discovery.as_mut().filter(|d| d.timeout().is_some_and(|at| at <= now)) else {
            return;
        };
        let trip = view.srtt.unwrap_or_default();
        let arrived = |sent| p.answered.is_some_and(|at| at >= sent + trip);
        if discovery.on_timer(now, view.rto, arrived) {
            p.heartbeats.want();
        }
        self.follow_mtu(now, path);
    }

    /// Sets the packet size of `path` to the largest size that is known to fit.
    fn follow_mtu(&mut self, now: Instant, path: PathId) {
        let (p, view) = self.cx.paths.row_mut(path.index());
        p.ip_mtu = p.discovery.as_ref().map_or(p.ip_mtu, path::Discovery::plpmtu);
        let mtu = p.packet_size(&self.cx.config) as u64 - 12;
        if core::mem::replace(&mut view.mtu, mtu) == mtu {
            return;
        }
        let ip_mtu = p.ip_mtu;
        self.tx.fit_payload(self.cx);
        self.cx.signal(now, &Signal::PathChanged(path));
        self.cx.events.push_back(Event::Path(path, PathChange::Mtu(ip_mtu)));
    }
}

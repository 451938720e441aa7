//! Receiving half: it computes a rate for each path, and orders switches.

use bytes::BytesMut;
use smallvec::SmallVec;
use strandcast_proto::policy::{PathId, PathState, Report, RxInfo, View};
use strandcast_proto::time::{Duration, Instant};
use strandcast_proto::wire::Tsn;

use super::choice::{Standing, Trigger, new_rate};
use super::config::RoundsConfig;
use super::notice::{BLOCK, Notice, whole};
use super::timeout::earlier;
use crate::estimate::PathRate;

/// Times without arrivals after which a path is not chosen. They are an absolute time, and a number of round trips.
const FRESH: (Duration, f64) = (Duration::from_secs(1), 4.0);
/// Times without effect after which an order is taken back. They are an absolute time, and a number of round trips.
const ORDER_TIMEOUT: (Duration, f64) = (Duration::from_millis(300), 5.0);
/// Greatest number of reports that wait.
const OUTBOX: usize = 8;

/// Order for a path on which no data have arrived yet.
#[derive(Copy, Clone, Debug)]
struct Ordered {
    path: PathId,
    /// Rate_new in bytes per second. `None` stands for the path's own rate.
    rate: Option<f64>,
    at: Instant,
    until: Instant,
}

/// Receiver of arrivals, path by path.
#[derive(Debug)]
pub(super) struct Receiver {
    config: RoundsConfig,
    /// Rates by path slot.
    paths: Vec<Option<Box<PathRate>>>,
    /// d_cp: path on which the newest data arrived.
    current: Option<PathId>,
    newest: Option<Tsn>,
    trigger: Trigger,
    ordered: Option<Ordered>,
    serial: u32,
    /// Time at which the current path counts as dead. The time is set while the path is silent.
    dead_at: Option<Instant>,
    outbox: SmallVec<[Report; 2]>,
    /// Block from which payloads are cut.
    block: BytesMut,
    orders: u64,
    recalls: u64,
    timeouts: u64,
}

impl Receiver {
    pub fn new(config: RoundsConfig) -> Self {
        Receiver {
            config,
            paths: Vec::new(),
            current: None,
            newest: None,
            trigger: Trigger::new(config.hysteresis),
            ordered: None,
            serial: 0,
            dead_at: None,
            outbox: SmallVec::new(),
            block: BytesMut::with_capacity(BLOCK),
            orders: 0,
            recalls: 0,
            timeouts: 0,
        }
    }

    fn get(&self, path: PathId) -> Option<&PathRate> {
        self.paths.get(path.index())?.as_deref()
    }

    fn path(&mut self, path: PathId) -> &mut PathRate {
        if self.paths.len() <= path.index() {
            self.paths.resize_with(path.index() + 1, || None);
        }
        let config = self.config.rates;
        self.paths[path.index()].get_or_insert_with(|| Box::new(PathRate::new(config)))
    }

    /// Removes a closed path, because another path may take its slot.
    pub fn forget(&mut self, path: PathId) {
        if let Some(slot) = self.paths.get_mut(path.index()) {
            *slot = None;
        }
        if self.current == Some(path) {
            (self.current, self.dead_at) = (None, None);
        }
        self.ordered = self.ordered.filter(|o| o.path != path);
    }

    /// Processes the label of a packet that arrived by `path`.
    pub fn label(&mut self, view: &View<'_>, path: PathId, round: u32, number: u32) {
        let first = self.path(path).label(view.now, round, number);
        let silent = self.current.and_then(|c| self.get(c)).is_some_and(PathRate::is_silent);
        if first && (self.current == Some(path) || silent) {
            self.compare(view);
        }
    }

    /// Records that a packet arrived.
    pub fn arrived(&mut self, view: &View<'_>, rx: &RxInfo) {
        if let Some((_, highest)) = rx.tsns
            && self.newest.is_none_or(|t| highest.is_after(t))
        {
            self.newest = Some(highest);
            if self.current != Some(rx.path) {
                self.follow(view.now, rx.path);
            }
            self.ordered = self.ordered.filter(|o| o.path != rx.path);
        }
        self.path(rx.path).arrived(view.now, rx.bytes, rx.tsns.is_none());
        if self.current == Some(rx.path) {
            self.dead_at = None;
        }
    }

    /// Records that the sender uses another path.
    fn follow(&mut self, now: Instant, path: PathId) {
        if let Some(old) = self.current.replace(path) {
            self.path(old).step_down(now);
        }
        let rate = self.ordered.take().filter(|o| o.path == path).and_then(|o| o.rate);
        self.path(path).take_over(rate);
    }

    /// Records that the sender has no data to send. If the report is about the ordered path, it shows that the sender
    /// uses that path.
    pub fn quiet(&mut self, now: Instant, path: PathId) {
        if self.ordered.is_some_and(|o| o.path == path) && self.current != Some(path) {
            self.follow(now, path);
        }
        self.ordered = self.ordered.filter(|o| o.path != path);
        self.path(path).quiet();
        if self.current == Some(path) {
            self.dead_at = None;
        }
    }

    /// Algorithm 1, called once per round. Decides whether another path is better than the current path.
    fn compare(&mut self, view: &View<'_>) {
        let Some(current) = self.current.filter(|_| self.ordered.is_none()) else { return };
        let Some(cp) = self.get(current) else { return };
        let dead = cp.is_silent() && cp.dead_at().is_none_or(|t| t <= view.now);
        let Some((best, ap)) = self.best(view, current) else { return };
        // If the current path has no rate of its own, it is still in slow start.
        let none = Standing { rate: 0.0, ..ap };
        let Some(cp) = Standing::of(cp).or(dead.then_some(none)) else { return };
        if dead || self.trigger.fires(view.now, &cp, (best, &ap)) {
            self.order(view, (current, &cp), (best, &ap), dead);
        }
    }

    /// Eq. 10: the active path with the highest rate except `current`. A path does not count if data left it because of
    /// its silence. The sender may not have detected this silence yet.
    fn best(&self, view: &View<'_>, current: PathId) -> Option<(PathId, Standing)> {
        let fresh = |p: &PathRate| {
            if p.is_lost() {
                return false;
            }
            let age = p.last_received().map(|t| (view.now - t).as_secs_f64());
            let limit = FRESH.0.max(2 * self.config.train).as_secs_f64();
            age.is_some_and(|age| age <= limit.max(FRESH.1 * p.trip().rtt().unwrap_or(0.0)))
        };
        let others = view.paths.iter().filter(|p| p.id != current && p.state == PathState::Active);
        let standing = |id| Some((id, Standing::of(self.get(id).filter(|p| fresh(p))?)?));
        others.filter_map(|p| standing(p.id)).reduce(|a, b| if b.1.rate > a.1.rate { b } else { a })
    }

    fn order(&mut self, view: &View<'_>, cp: (PathId, &Standing), ap: (PathId, &Standing), dead: bool) {
        if dead {
            self.path(cp.0).lose();
        }
        self.trigger.switched(view.now);
        self.orders += 1;
        self.command(view, ap.0, Some(new_rate(cp.1, ap.1)));
    }

    /// Orders the sender to use `path`. Each order has a new serial, and therefore replaces all earlier orders.
    fn command(&mut self, view: &View<'_>, path: PathId, rate: Option<f64>) {
        let rtt = self.get(path).and_then(|p| p.trip().rtt()).unwrap_or(0.0);
        let timeout = ORDER_TIMEOUT.0.as_secs_f64().max(ORDER_TIMEOUT.1 * rtt);
        let until = view.now + Duration::try_from_secs_f64(timeout).unwrap_or(Duration::MAX);
        self.ordered = Some(Ordered { path, rate, at: view.now, until });
        self.serial = self.serial.wrapping_add(1);
        let notice = Notice::Switch { rate: rate.map(whole), serial: self.serial };
        let via = self.fastest_back(view, None);
        let report = notice.report_from(Some(path), &mut self.block);
        self.say(Report { via, ..report });
    }

    /// Handles an ordered switch if no data arrived on the new path. Either the order or the new path may be lost. If
    /// the former path delivers, a new order names it. This covers two cases: a sender that follows the first order
    /// late, and packets that do not arrive on the new path.
    fn take_back(&mut self, view: &View<'_>, order: Ordered) {
        let since = |p: Option<&PathRate>| p.and_then(PathRate::last_received).is_some_and(|t| t > order.at);
        if !since(self.get(order.path)) {
            self.path(order.path).lose();
        }
        let Some(current) = self.current else { return };
        if current != order.path && since(self.get(current)) {
            self.recalls += 1;
            let rate = self.get(current).and_then(PathRate::rate);
            self.command(view, current, rate);
        } else {
            self.compare(view);
        }
    }

    /// Returns the reverse path with the lowest round-trip time. A silent path is returned only if all paths are
    /// silent.
    fn fastest_back(&self, view: &View<'_>, not: Option<PathId>) -> Option<PathId> {
        let rank = |p: PathId| {
            let path = self.get(p);
            let silent = path.is_some_and(|r| r.is_silent() || r.is_lost());
            let by_rounds = path.and_then(|r| r.trip().rtt());
            let rtt = by_rounds.or(view[p].srtt.map(|s| s.as_secs_f64())).unwrap_or(f64::INFINITY);
            (silent, rtt)
        };
        let usable = view.usable().iter().filter(|p| Some(*p) != not);
        usable.map(|p| (p, rank(p))).reduce(|a, b| if b.1 < a.1 { b } else { a }).map(|(p, _)| p)
    }

    fn say(&mut self, report: Report) {
        if self.outbox.len() < OUTBOX {
            self.outbox.push(report);
        }
    }

    /// Returns the report that accompanies a SACK. With `path`, returns the report that accompanies a HEARTBEAT ACK.
    pub fn rate(&mut self, view: &View<'_>, path: Option<PathId>) -> Option<Report> {
        let path = path.or(self.current)?;
        let grant = self.paths.get_mut(path.index())?.as_mut()?.grant(view.now)?;
        let notice = Notice::Rate { rate: grant.rate.map(whole), round: grant.round };
        Some(notice.report_from(Some(path), &mut self.block))
    }

    pub fn counters(&self, out: &mut Vec<(&'static str, u64)>) {
        out.extend([
            ("path_switches_ordered", self.orders),
            ("path_switches_recalled", self.recalls),
            ("receiver_timeouts", self.timeouts),
        ]);
    }

    /// Moves the reports that need a separate packet to `out`.
    pub fn take_reports(&mut self, out: &mut Vec<Report>) {
        // This function is called with every packet. Draining an empty list takes more time than checking it.
        if !self.outbox.is_empty() {
            out.extend(self.outbox.drain(..));
        }
    }

    pub fn poll_timeout(&self) -> Option<Instant> {
        let current = self.current.and_then(|c| self.get(c));
        let silence = self.dead_at.or_else(|| current?.deadline());
        earlier(silence, self.ordered.map(|o| o.until))
    }

    /// Handles expired timers: the delayed response timer, and the time limit of an order without effect.
    pub fn tick(&mut self, view: &View<'_>) {
        if let Some(order) = self.ordered.take_if(|o| o.until <= view.now) {
            self.take_back(view, order);
        }
        let Some(path) = self.current else { return };
        if self.dead_at.take_if(|t| *t <= view.now).is_some() {
            self.compare(view);
        } else if self.path(path).deadline().is_some_and(|t| t <= view.now) {
            self.path(path).timed_out();
            self.timeouts += 1;
            self.dead_at = self.path(path).dead_at().filter(|t| *t > view.now);
            let via = self.fastest_back(view, Some(path)).or(Some(path));
            if let Some(report) = self.rate(view, Some(path)) {
                self.say(Report { via, ..report });
            }
            if self.dead_at.is_none() {
                self.compare(view);
            }
        }
    }

    #[cfg(test)]
    pub fn current(&self) -> Option<(PathId, &PathRate)> {
        let current = self.current?;
        Some((current, self.get(current)?))
    }
}

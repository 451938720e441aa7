//! A scheme in which Python makes some of the decisions.

use std::collections::BTreeMap;
use std::sync::Arc;

use pyo3::prelude::*;
use strandcast_proto::policy as proto;
use strandcast_proto::policy::{
    Assignment, CongestionControl, Estimate, Limit, PathId, PathState, Policy, Scheduler, Scheme,
};
use strandcast_proto::seeds::Seeds;
use strandcast_proto::time::Instant;

use super::act::{Act, Flight};
use super::answer;
use super::backlog::Backlog;
use super::failure::Failure;
use super::signal::Signal;
use super::view::{RepairOffer, View};

/// Makes the policies of one class.
#[derive(Debug)]
pub(crate) struct Factory {
    /// Name for people.
    pub(crate) name: String,
    /// Base scheme. Python replaces some of its decisions, and all others stay.
    pub(crate) base: String,
    /// Function that makes the callbacks of a new policy for a seed, and returns them by name.
    pub(crate) make: Py<PyAny>,
}

/// A base scheme, and the decisions that a policy in Python makes in its place. After the first failure
/// of the policy, the base makes all decisions.
#[derive(Debug)]
pub(crate) struct PythonScheme {
    base: Box<dyn Scheme>,
    name: String,
    /// Names of the paths. Each path has the name of its link.
    names: Arc<[String]>,
    calls: Calls,
    failure: Arc<Failure>,
    /// The last time that the policy has returned for its timeout.
    timeout: Option<Instant>,
    limits: Vec<Option<Limit>>,
    aggregate: Option<Option<u64>>,
}

/// Callbacks that the class of the policy defines. Other callbacks are never called.
#[derive(Debug, Default)]
struct Calls {
    on_signal: Option<Py<PyAny>>,
    next: Option<Py<PyAny>>,
    penalise: Option<Py<PyAny>>,
    next_symbol: Option<Py<PyAny>>,
    next_repair: Option<Py<PyAny>>,
    limit: Option<Py<PyAny>>,
    aggregate: Option<Py<PyAny>>,
    timeout: Option<Py<PyAny>>,
    act: Option<Py<PyAny>>,
    advice: Option<Py<PyAny>>,
    /// The answer of `hears_deliveries` when the policy was made.
    hears_deliveries: bool,
    hears_arrivals: bool,
}

impl Calls {
    fn new(py: Python<'_>, make: &Py<PyAny>, seed: u64) -> PyResult<Self> {
        let mut calls: BTreeMap<String, Py<PyAny>> = make.call1(py, (seed,))?.extract(py)?;
        let mut take = |name: &str| calls.remove(name);
        let mut hears = |name: &str| -> PyResult<bool> {
            take(name).map_or(Ok(false), |call| call.bind(py).call0()?.extract())
        };
        let (hears_deliveries, hears_arrivals) = (hears("hears_deliveries")?, hears("hears_arrivals")?);
        Ok(Calls {
            hears_deliveries,
            hears_arrivals,
            act: take("act"),
            on_signal: take("on_signal"),
            next: take("next"),
            penalise: take("penalise"),
            next_symbol: take("next_symbol"),
            next_repair: take("next_repair"),
            limit: take("limit"),
            aggregate: take("aggregate"),
            timeout: take("timeout"),
            advice: take("advice"),
        })
    }
}

impl PythonScheme {
    /// Makes a policy over `base` for one end of an association. The policy draws random numbers from
    /// `seeds`, and its draws do not change the draws of `base`.
    pub(crate) fn new(
        factory: &Factory,
        names: &Arc<[String]>,
        base: Box<dyn Scheme>,
        seeds: &Seeds,
        failure: &Arc<Failure>,
    ) -> Self {
        let mut scheme = PythonScheme {
            base,
            name: factory.name.clone(),
            names: Arc::clone(names),
            calls: Calls::default(),
            failure: failure.of_association(),
            timeout: None,
            limits: Vec::new(),
            aggregate: None,
        };
        let seed = seeds.stream("policy in Python").u64();
        let made = scheme.ask(|py| Calls::new(py, &factory.make, seed), || "when it was made".to_owned());
        scheme.calls = made.unwrap_or_default();
        scheme
    }

    /// Calls a function of the policy. Returns `None` if this call fails, or if an earlier call has
    /// failed.
    fn ask<R>(
        &self,
        question: impl FnOnce(Python<'_>) -> PyResult<R>,
        place: impl FnOnce() -> String,
    ) -> Option<R> {
        if self.failure.is_set() {
            return None;
        }
        Python::attach(|py| {
            let answer = question(py);
            answer.map_err(|error| self.failure.set(py, error, &format!("{}, {}", self.name, place()))).ok()
        })
    }

    /// If the policy needs a signal, passes the signal to the policy. Then asks the policy for changes.
    fn tell(&mut self, view: &proto::View<'_>, signal: &proto::Signal<'_>) {
        // The base may have requested this timeout.
        let unasked = match signal {
            proto::Signal::Delivered { .. } => !self.calls.hears_deliveries,
            proto::Signal::PeerArrivals(_) => !self.calls.hears_arrivals,
            _ => false,
        };
        if unasked {
            return;
        }
        if let Some(call) = &self.calls.on_signal {
            let told = self.ask(
                |py| call.call1(py, (View::of(view, &self.names), Signal::of(view, signal))).map(drop),
                || format!("on_signal at {:?}", view.now),
            );
            if told.is_none() {
                return;
            }
        }
        let new = matches!(signal, proto::Signal::PathChanged(_)) || self.limits.len() < view.paths.len();
        let ticks = matches!(signal, proto::Signal::Tick);
        if self.calls.on_signal.is_some() || new {
            self.ask_limits(view);
        }
        if self.calls.on_signal.is_some() || new || ticks {
            self.ask_timeout(view.now, ticks);
        }
    }

    fn ask_limits(&mut self, view: &proto::View<'_>) {
        self.limits.resize(view.paths.len(), None);
        if let Some(call) = &self.calls.limit {
            let open = view.paths.iter().filter(|path| path.state != PathState::Closed);
            let ids: Vec<PathId> = open.map(|path| path.id).collect();
            let asked = self.ask(
                |py| {
                    let limit = |id: &PathId| answer::limit(&call.bind(py).call1((id.0,))?);
                    ids.iter().map(limit).collect::<PyResult<Vec<_>>>()
                },
                || format!("limit at {:?}", view.now),
            );
            for (id, limit) in ids.iter().zip(asked.into_iter().flatten()) {
                self.limits[id.index()] = limit;
            }
        }
        if let Some(call) = &self.calls.aggregate {
            self.aggregate = self.ask(
                |py| answer::aggregate(&call.bind(py).call0()?),
                || format!("aggregate at {:?}", view.now),
            );
        }
    }

    /// Asks the policy for the time of the next Tick. After a Tick this time must be later than the
    /// present, or time would stand still.
    fn ask_timeout(&mut self, now: Instant, ticked: bool) {
        let Some(call) = &self.calls.timeout else { return };
        let asked = self.ask(
            |py| {
                let at = answer::timeout(&call.bind(py).call0()?)?;
                match at {
                    Some(at) if ticked && at <= now => {
                        let what =
                            format!("after the Tick of {now:?} comes {at:?}: it must be later, or None");
                        Err(crate::error::policy(py, &what))
                    }
                    _ => Ok(at),
                }
            },
            || format!("timeout at {now:?}"),
        );
        self.timeout = asked.flatten();
    }

    /// Returns whether the policy can still be called, because no call has failed.
    fn works(&self) -> bool {
        !self.failure.is_set()
    }
}

impl Scheme for PythonScheme {
    fn name(&self) -> &str {
        &self.name
    }

    fn observe(&mut self, view: &proto::View<'_>, signal: &proto::Signal<'_>) {
        self.base.observe(view, signal);
    }

    fn estimate(&self, path: PathId, out: &mut Estimate) {
        self.base.estimate(path, out);
    }

    fn react(&mut self, view: &proto::View<'_>, signal: &proto::Signal<'_>) {
        self.base.react(view, signal);
        self.tell(view, signal);
    }

    fn loss(&mut self) -> &mut dyn proto::LossPolicy {
        self.base.loss()
    }

    fn congestion(&self) -> &dyn CongestionControl {
        self
    }

    fn scheduler(&mut self) -> &mut dyn Scheduler {
        self
    }

    fn feedback(&mut self) -> &mut dyn proto::Feedback {
        self.base.feedback()
    }
}

impl CongestionControl for PythonScheme {
    fn limit(&self, path: PathId) -> Limit {
        let own = self.limits.get(path.index()).copied().flatten().filter(|_| self.works());
        own.unwrap_or_else(|| self.base.congestion().limit(path))
    }

    fn aggregate(&self) -> Option<u64> {
        self.aggregate.filter(|_| self.works()).unwrap_or_else(|| self.base.congestion().aggregate())
    }
}

impl Scheduler for PythonScheme {
    fn next(&mut self, view: &proto::View<'_>, backlog: &proto::Backlog) -> Option<Assignment> {
        let Some(call) = &self.calls.next else { return self.base.scheduler().next(view, backlog) };
        let answer = self.ask(
            |py| {
                answer::assignment(
                    &call.bind(py).call1((View::of(view, &self.names), Backlog::from(backlog)))?,
                    view,
                )
            },
            || format!("next at {:?}", view.now),
        );
        let Some(answer) = answer else { return self.base.scheduler().next(view, backlog) };
        self.ask_limits(view);
        self.ask_timeout(view.now, false);
        answer
    }

    fn penalise(&mut self, view: &proto::View<'_>) -> Option<PathId> {
        let Some(call) = &self.calls.penalise else {
            // If the scheduler of the base does not make the decisions, the base must not penalise a
            // path.
            let own = self.calls.next.is_some() && self.works();
            return if own { None } else { self.base.scheduler().penalise(view) };
        };
        let answer = self.ask(
            |py| answer::path(&call.bind(py).call1((View::of(view, &self.names),))?, view),
            || format!("penalise at {:?}", view.now),
        );
        answer.unwrap_or_else(|| self.base.scheduler().penalise(view))
    }

    fn next_symbol(
        &mut self,
        view: &proto::View<'_>,
        backlog: &proto::Backlog,
    ) -> Option<proto::SymbolAssignment> {
        let Some(call) = &self.calls.next_symbol else {
            let own = self.calls.next.is_some() && self.works();
            return if own {
                ByNext(self).next_symbol(view, backlog)
            } else {
                self.base.scheduler().next_symbol(view, backlog)
            };
        };
        let answer = self.ask(
            |py| {
                let asked = (View::of(view, &self.names), Backlog::from(backlog));
                answer::symbol(&call.bind(py).call1(asked)?, view)
            },
            || format!("next_symbol at {:?}", view.now),
        );
        let Some(answer) = answer else { return self.base.scheduler().next_symbol(view, backlog) };
        self.ask_limits(view);
        self.ask_timeout(view.now, false);
        answer
    }

    fn next_repair(&mut self, view: &proto::View<'_>, offer: &proto::RepairOffer) -> Option<PathId> {
        let Some(call) = &self.calls.next_repair else {
            let own = self.calls.next.is_some() && self.works();
            return if own {
                ByNext(self).next_repair(view, offer)
            } else {
                self.base.scheduler().next_repair(view, offer)
            };
        };
        let answer = self.ask(
            |py| {
                let asked = (View::of(view, &self.names), RepairOffer::from(offer));
                answer::path(&call.bind(py).call1(asked)?, view)
            },
            || format!("next_repair at {:?}", view.now),
        );
        answer.unwrap_or_else(|| self.base.scheduler().next_repair(view, offer))
    }
}

/// Passes the base scheduler only what concerns messages.
#[derive(Debug)]
struct ByNext<'a>(&'a mut PythonScheme);

impl Policy for ByNext<'_> {}

impl Scheduler for ByNext<'_> {
    fn next(&mut self, view: &proto::View<'_>, backlog: &proto::Backlog) -> Option<Assignment> {
        self.0.next(view, backlog)
    }
}

impl Policy for PythonScheme {
    fn poll_timeout(&self) -> Option<Instant> {
        let own = self.timeout.filter(|_| self.works());
        own.into_iter().chain(self.base.poll_timeout()).min()
    }

    fn hears_deliveries(&self) -> bool {
        self.calls.hears_deliveries || self.base.hears_deliveries()
    }

    fn hears_arrivals(&self) -> bool {
        self.calls.hears_arrivals || self.base.hears_arrivals()
    }

    fn acts(&self) -> bool {
        self.calls.act.is_some() || self.base.acts()
    }

    /// Asks the policy for an action first, and then the base.
    fn act(&mut self, view: &proto::View<'_>, flight: &proto::Flight<'_>) -> Option<proto::Act> {
        let asked = self.calls.act.as_ref().and_then(|call| {
            self.ask(
                |py| {
                    let shown = (View::of(view, &self.names), Flight::of(view, flight));
                    Act::answered(&call.bind(py).call1(shown)?)
                },
                || format!("act at {:?}", view.now),
            )
        });
        asked.flatten().or_else(|| self.base.act(view, flight))
    }

    fn advice(&self, view: &proto::View<'_>) -> Option<proto::Advice> {
        let Some(call) = &self.calls.advice else { return self.base.advice(view) };
        let answer = self.ask(
            |py| answer::advice(&call.bind(py).call1((View::of(view, &self.names),))?),
            || format!("advice at {:?}", view.now),
        );
        answer.unwrap_or_else(|| self.base.advice(view))
    }

    fn diagnostics(&self, view: &proto::View<'_>, out: &mut Vec<&'static str>) {
        self.base.diagnostics(view, out);
    }

    fn counters(&self, out: &mut Vec<(&'static str, u64)>) {
        self.base.counters(out);
    }
}

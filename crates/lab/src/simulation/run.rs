//! The run of a simulation. The run carries out planned events in the order of their times.

use core::ops::ControlFlow;
use core::time::Duration;
use std::collections::VecDeque;

use strandcast_proto::time::Instant;
use strandcast_sim::net::AgentId;

use super::plan::{DirectedLinkInfo, ScheduledEvent};
use super::radios::RadioInfo;
use super::{Recorder, Simulation};
use crate::result::meter::{LinkReading, RadioReading, link_metrics, radio_metrics};
use crate::result::{Diagnostic, Frame, Metric, RunResult, Subject};

/// Simulated time between two calls of [`Control::progress`].
const CHUNK: Duration = Duration::from_secs(1);
/// Greatest number of events between two calls, even if they take little simulated time. A scheme may be slow, or may
/// set timeouts without end.
const EVENTS: usize = 1 << 16;

/// Caller of a run.
pub trait Control {
    /// Receives the completed part of the run, 0 to 1. `Break` ends the run without a result.
    fn progress(&mut self, _done: f64) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    /// Receives a sample of a time series. `time_s` is in seconds since the flows' time 0.
    fn point(&mut self, _time_s: f64, _subject: &Subject, _metric: &'static str, _value: f64) {}
}

/// Ignores progress.
impl Control for () {}

/// Optional outputs of a run.
#[derive(Debug, Default)]
pub struct RunOptions {
    /// Step of time series. `None`: there are no time series.
    pub series: Option<Duration>,
    /// Recorder of all events.
    pub recorder: Option<Box<dyn Recorder>>,
}

/// Planned events, in order of time. If an event repeats, only its next time is planned. A long run therefore needs
/// no more memory.
#[derive(Debug)]
struct Timeline {
    once: VecDeque<(Instant, ScheduledEvent)>,
    progress_check: Instant,
    point: Option<(Instant, Duration)>,
}

impl Timeline {
    fn new(simulation: &Simulation, series: Option<Duration>) -> Self {
        let mut once = simulation.outages.clone();
        once.push((simulation.warm, ScheduledEvent::Warm));
        once.sort();
        let step = series.filter(|step| !step.is_zero());
        let point = step.map(|step| (simulation.origin + step, step));
        Timeline { once: once.into(), progress_check: Instant::ZERO + CHUNK, point }
    }

    /// Next event up to and including `end`.
    fn next(&mut self, end: Instant) -> Option<(Instant, ScheduledEvent)> {
        let once = self.once.front().copied();
        let point = self.point.map(|(at, _)| (at, ScheduledEvent::Point));
        let next = once
            .into_iter()
            .chain(point)
            .chain([(self.progress_check, ScheduledEvent::ProgressCheck)])
            .min()?;
        match next.1 {
            ScheduledEvent::ProgressCheck => self.progress_check += CHUNK,
            ScheduledEvent::Point => self.point = self.point.map(|(at, step)| (at + step, step)),
            ScheduledEvent::Warm | ScheduledEvent::Outage { .. } => {
                self.once.pop_front();
            }
        }
        (next.0 <= end).then_some(next)
    }
}

impl Simulation {
    /// Runs to the end. Returns `None` if `control` ended the run early.
    pub fn run(&mut self, options: RunOptions, control: &mut impl Control) -> Option<RunResult> {
        if options.recorder.is_some() {
            self.network.report_frames();
        }
        self.network.observer_mut().recorder = options.recorder;
        // The recorder is started only now, so that it also records events at time 0.
        self.network.wake_all();
        let mut timeline = Timeline::new(self, options.series);
        while let Some((at, due)) = timeline.next(self.end) {
            if self.advance(at, control).is_break() {
                return None;
            }
            match due {
                ScheduledEvent::Warm => self.begin(at),
                ScheduledEvent::Outage { wire, down, notify } => self.network.set_down(wire, down, notify),
                ScheduledEvent::Point => self.points(at, control),
                ScheduledEvent::ProgressCheck => {
                    if self.progress_check(at, control).is_break() {
                        return None;
                    }
                }
            }
        }
        let ended = self.advance(self.end, control);
        ended.is_continue().then(|| self.result())
    }

    /// Simulates all events up to and including `at`.
    fn advance(&mut self, at: Instant, control: &mut impl Control) -> ControlFlow<()> {
        while !self.network.run_within(at, EVENTS) {
            self.progress_check(self.network.now(), control)?;
        }
        ControlFlow::Continue(())
    }

    /// Reports the progress of the run.
    fn progress_check(&self, now: Instant, control: &mut impl Control) -> ControlFlow<()> {
        control.progress(now.as_secs_f64() / self.end.as_secs_f64())
    }

    /// Removes the recorder and returns it.
    pub fn take_recorder(&mut self) -> Option<Box<dyn Recorder>> {
        self.network.observer_mut().recorder.take()
    }

    /// Starts the time in which results count.
    fn begin(&mut self, now: Instant) {
        self.counters(now);
        let network = &self.network;
        let read = |wire: &DirectedLinkInfo| LinkReading::of(&network.wire(wire.id).link, now);
        self.first_stats = self.wires.iter().map(read).collect();
        let read = |radio: &RadioInfo| RadioReading::of(self.network.air(radio.id), now);
        self.first_radio = self.radios.iter().map(read).collect();
    }

    /// Passes the counters of each transport to its meter.
    fn counters(&mut self, now: Instant) {
        for (index, flow) in self.flows.iter().enumerate() {
            let mut told = Vec::new();
            for agent in [flow.sender, flow.receiver] {
                let report = &mut |path, name, total| told.push((path, name, total));
                self.network.any_agent(agent).counters(now, report);
            }
            let meter = &mut self.network.observer_mut().flows[index].meter;
            for (path, name, total) in told {
                meter.count(now, path, name, total);
            }
        }
    }

    fn points(&mut self, now: Instant, control: &mut impl Control) {
        let time_s = (now - self.origin).as_secs_f64();
        for (flow, metered) in self.flows.iter().zip(&self.network.observer().flows) {
            let subject = Subject::Flow(flow.name.clone());
            control.point(time_s, &subject, "delivered_bytes", metered.delivered as f64);
            self.network.any_agent(flow.sender).gauges(now, &mut |path, name, value| {
                let subject = match path.and_then(|p| flow.paths.get(usize::from(p))) {
                    Some(path) => Subject::Path { flow: flow.name.clone(), path: path.clone() },
                    None => subject.clone(),
                };
                control.point(time_s, &subject, name, value);
            });
            for (path, lost) in flow.paths.iter().zip(&metered.lost) {
                let subject = Subject::Path { flow: flow.name.clone(), path: path.clone() };
                control.point(time_s, &subject, "lost_packets", *lost as f64);
            }
            self.symbol_points(now, [flow.sender, flow.receiver], &mut |name, value| {
                control.point(time_s, &subject, name, value)
            });
            if let Some(bytes) = self.network.any_agent(flow.receiver).receive_buffered() {
                control.point(time_s, &subject, "receive_buffered_bytes", bytes as f64);
            }
        }
        for wire in &self.wires {
            let link = &self.network.wire(wire.id).link;
            let subject = Subject::Link { link: wire.link.clone(), direction: wire.direction.to_owned() };
            control.point(time_s, &subject, "queue_packets", link.waiting(now) as f64);
            control.point(time_s, &subject, "served_bytes", link.stats_at(now).served.bytes as f64);
        }
        for radio in &self.radios {
            let reading = RadioReading::of(self.network.air(radio.id), now);
            let subject = Subject::Radio(radio.name.clone());
            for name in ["frames", "frame_retries", "link_failures", "routing_messages"] {
                control.point(time_s, &subject, name, reading.count(name) as f64);
            }
        }
    }

    /// Samples of the symbol counts since the start, for a flow that codes. They are the symbols that the sender sent,
    /// and the symbols that the receiver recovered.
    fn symbol_points(
        &self,
        now: Instant,
        [sender, receiver]: [AgentId; 2],
        report: &mut dyn FnMut(&'static str, f64),
    ) {
        for (agent, wanted) in [(sender, "repairs_sent"), (receiver, "recovered")] {
            self.network.any_agent(agent).counters(now, &mut |_, name, total| {
                if name == wanted {
                    report(name, total);
                }
            });
        }
    }

    /// Diagnostics of the senders' schemes at the end. The instances of a flow are merged.
    fn diagnostics(&self) -> Vec<Diagnostic> {
        let mut all: Vec<Diagnostic> = Vec::new();
        for flow in &self.flows {
            let name = flow.name.split_once('#').map_or(&*flow.name, |(base, _)| base);
            self.network.any_agent(flow.sender).diagnostics(self.end, &mut |scheme, text| {
                let diagnostic = Diagnostic { flow: name.into(), scheme: scheme.into(), text: text.into() };
                if !all.contains(&diagnostic) {
                    all.push(diagnostic);
                }
            });
        }
        all
    }

    /// Outcomes of the frames of flows that carry a video.
    fn frames(&self) -> Vec<(String, Vec<Frame>)> {
        let metered = self.flows.iter().zip(&self.network.observer().flows);
        let frames = metered.map(|(flow, metered)| (flow.name.clone(), metered.meter.frames(self.origin)));
        frames.filter(|(_, frames)| !frames.is_empty()).collect()
    }

    fn result(&mut self) -> RunResult {
        self.counters(self.end);
        let mut metrics: Vec<Metric> = Vec::new();
        let observer = self.network.observer();
        observer.flows.iter().for_each(|flow| flow.meter.metrics(&mut metrics));
        for (wire, first) in self.wires.iter().zip(&self.first_stats) {
            let last = LinkReading::of(&self.network.wire(wire.id).link, self.end);
            link_metrics((&wire.link, wire.direction), first, &last, &mut metrics);
        }
        for (radio, first) in self.radios.iter().zip(&self.first_radio) {
            let last = RadioReading::of(self.network.air(radio.id), self.end);
            radio_metrics(&radio.name, first, &last, &mut metrics);
        }
        observer.shares.iter().for_each(|shares| shares.metrics(&mut metrics));
        observer.background.iter().for_each(|background| background.metrics(&mut metrics));
        let mut result = RunResult {
            seed: self.seed,
            scheme: self.scheme.clone(),
            fingerprint: self.network.fingerprint(),
            metrics,
            frames: self.frames(),
            topology: self.topology(),
            diagnostics: self.diagnostics(),
            packet_hops: self.network.packet_hops(),
            simulated: self.end - self.origin,
        };
        let metered = self.flows.iter().zip(&self.network.observer().flows);
        let lives = metered.map(|(flow, metered)| (flow.name.clone(), metered.meter.window()));
        result.add_aggregates(&lives.collect());
        result
    }
}

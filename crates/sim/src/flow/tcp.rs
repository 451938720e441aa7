//! The two ends of a TCP or MPTCP flow.

use std::collections::VecDeque;

use strandcast_proto::policy::PathView;
use strandcast_proto::time::Instant;

use super::Feed;
use crate::net::{
    Agent, AgentOutput, Body, Framing, Held, Outgoing, Packet, Paths, RouteId, Standing, TraceEvent,
};
use crate::tcp::{Config, Receiver, Segment, Sender};

/// Plan for a subflow that joins or leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SubflowPlan {
    /// Path of the flow on which the subflow runs.
    pub path: u8,
    /// Time at which the subflow joins or leaves.
    pub at: Instant,
    /// True if the subflow joins, false if it leaves.
    pub joins: bool,
}

/// The sending end of a TCP or MPTCP flow.
#[derive(Debug)]
pub struct TcpSender {
    sender: Sender,
    feed: Feed,
    start: Instant,
    stop: Option<Instant>,
    /// Routes, by path.
    routes: Vec<RouteId>,
    /// Path of each subflow, in the order in which the subflows joined.
    paths: Vec<u8>,
    plan: VecDeque<SubflowPlan>,
    message: u64,
    begun: bool,
}

impl TcpSender {
    /// Creates an end that opens and closes subflows by `plan`, which is in order of time. The end sends data from
    /// `start` on.
    pub fn new(
        sender: Sender,
        feed: Feed,
        (start, stop): (Instant, Option<Instant>),
        routes: Vec<RouteId>,
        plan: Vec<SubflowPlan>,
    ) -> Self {
        let plan = plan.into();
        TcpSender { sender, feed, start, stop, routes, paths: Vec::new(), plan, message: 0, begun: false }
    }

    /// Returns the sending side of the connection.
    pub fn connection(&self) -> &Sender {
        &self.sender
    }

    fn follow_plan(&mut self, now: Instant) {
        while let Some(change) = self.plan.pop_front_if(|change| change.at <= now) {
            if change.joins {
                self.sender.add_subflow(now);
                self.paths.push(change.path);
            } else if let Some(subflow) = self.paths.iter().rposition(|path| *path == change.path) {
                self.sender.remove_subflow(now, subflow as u8);
            }
        }
    }

    fn write(&mut self, now: Instant, out: &mut AgentOutput) {
        if !core::mem::replace(&mut self.begun, true) {
            match self.feed {
                Feed::Endless { .. } => self.sender.write_endless(),
                Feed::Finite { left, .. } => self.sender.write(left),
                Feed::Timed { .. } => {}
            }
        }
        let Feed::Timed { .. } = self.feed else { return };
        while let Some(emission) = self.feed.peek(now) {
            out.events.push(TraceEvent::Submitted { message: self.message, bytes: emission.bytes });
            self.sender.write(u64::from(emission.bytes));
            self.message += 1;
            self.feed.take();
        }
    }
}

impl Agent for TcpSender {
    fn handle_packet(&mut self, now: Instant, packet: &mut Packet, _: &mut AgentOutput) {
        if let Body::Tcp(segment) = &packet.body {
            self.sender.handle_segment(now, segment);
        }
    }

    fn run(&mut self, now: Instant, out: &mut AgentOutput) {
        if now < self.start {
            return;
        }
        self.follow_plan(now);
        if self.stop.take_if(|stop| *stop <= now).is_some() {
            self.feed = Feed::Finite { size: 0, left: 0 };
            self.sender.drop_backlog();
        }
        self.write(now, out);
        if self.sender.poll_timeout().is_some_and(|at| at <= now) {
            self.sender.handle_timeout(now);
        }
        while let Some(segment) = self.sender.poll_output(now) {
            let path = self.paths[usize::from(segment.subflow)];
            out.packets.push(outgoing(self.routes[usize::from(path)], segment, self.sender.config()));
        }
    }

    fn poll_timeout(&self) -> Option<Instant> {
        let plan = self.plan.front().map(|change| change.at);
        let start = (!self.begun).then_some(self.start);
        if start.is_some() {
            return start;
        }
        let feed = self.feed.next_at();
        plan.into_iter().chain(feed).chain(self.stop).chain(self.sender.poll_timeout()).min()
    }

    fn counters(&self, now: Instant, report: &mut dyn FnMut(Option<u8>, &'static str, f64)) {
        for (subflow, path) in self.paths.iter().enumerate() {
            let stats = self.sender.stats(subflow as u8);
            report(Some(*path), "retransmitted_fast", stats.fast_retransmissions as f64);
            report(Some(*path), "retransmitted_timeout", stats.timeout_retransmissions as f64);
            report(Some(*path), "timeouts", stats.timeouts as f64);
            report(Some(*path), "loss_events", stats.loss_events() as f64);
            if self.paths.len() > 1 && self.sender.head_of_line().is_some() {
                report(Some(*path), "opportunistic_resends", stats.opportunistic as f64);
                report(Some(*path), "head_of_line_penalties", stats.penalties as f64);
            }
        }
        let limits = self.sender.limits(now);
        report(None, "rwnd_blocked_s", limits.receive_window.as_secs_f64());
        report(None, "cwnd_limited_s", limits.congestion_window.as_secs_f64());
        report(None, "app_limited_s", limits.application.as_secs_f64());
    }

    fn gauges(&self, _: Instant, report: &mut dyn FnMut(Option<u8>, &'static str, f64)) {
        for (subflow, path) in self.paths.iter().enumerate() {
            let view = self.sender.path(subflow as u8);
            report(Some(*path), "cwnd_bytes", view.limit.cwnd as f64);
            if let Some(ssthresh) = view.limit.ssthresh {
                report(Some(*path), "ssthresh_bytes", ssthresh as f64);
            }
            if let Some(srtt) = view.srtt {
                report(Some(*path), "srtt_ms", srtt.as_secs_f64() * 1e3);
            }
            report(Some(*path), "in_flight_bytes", view.in_flight as f64);
            for (name, value) in self.sender.gauges(subflow as u8) {
                report(Some(*path), name, value);
            }
        }
        report(None, "rwnd_bytes", self.sender.rwnd() as f64);
    }

    fn standing(&self, _: Instant) -> Option<Standing> {
        let subflows = || self.paths.iter().enumerate().map(|(i, path)| (*path, self.sender.path(i as u8)));
        let full: fn(&PathView) -> bool = |view| view.in_flight + view.mtu > view.limit.cwnd;
        let with = |want: bool| subflows().filter(|(_, v)| full(v) == want).map(|(path, _)| path).collect();
        let held = self.sender.held_back().map(|by| Held { by, full: with(true), open: with(false) });
        let unacknowledged = Some(self.sender.unacknowledged());
        Some(Standing { held, unacknowledged, inactive: Paths::NONE })
    }
}

/// The receiving end of a TCP or MPTCP flow.
#[derive(Debug)]
pub struct TcpReceiver {
    receiver: Receiver,
    config: Config,
    /// Routes, by path.
    routes: Vec<RouteId>,
    /// Path on which the segments of each subflow arrived.
    paths: Vec<u8>,
    delivered: u64,
}

impl TcpReceiver {
    /// Creates an end that sends each answer on the path of the segment that it answers.
    pub fn new(config: Config, routes: Vec<RouteId>) -> Self {
        TcpReceiver {
            receiver: Receiver::new(config.clone()),
            config,
            routes,
            paths: Vec::new(),
            delivered: 0,
        }
    }
}

impl Agent for TcpReceiver {
    fn handle_packet(&mut self, now: Instant, packet: &mut Packet, out: &mut AgentOutput) {
        let Packet { meta, body: Body::Tcp(segment) } = &*packet else { return };
        let subflow = usize::from(segment.subflow);
        if self.paths.len() <= subflow {
            self.paths.resize(subflow + 1, meta.path);
        }
        self.paths[subflow] = meta.path;
        let Some(arrival) = self.receiver.handle_segment(now, segment) else { return };
        out.events.push(TraceEvent::Arrived {
            path: meta.path,
            sent: meta.sent,
            wire: meta.len,
            payload: arrival.len,
            sequence: Some((arrival.data_seq / u64::from(self.config.segment.max(1))) as u32),
            new: arrival.new,
        });
        let delivered = self.receiver.delivered();
        if delivered > self.delivered {
            out.events.push(TraceEvent::Progress { bytes: delivered - self.delivered });
            self.delivered = delivered;
        }
    }

    fn run(&mut self, now: Instant, out: &mut AgentOutput) {
        if self.receiver.poll_timeout().is_some_and(|at| at <= now) {
            self.receiver.handle_timeout(now);
        }
        while let Some(segment) = self.receiver.poll_output(now) {
            let path = self.paths[usize::from(segment.subflow)];
            out.packets.push(outgoing(self.routes[usize::from(path)], segment, &self.config));
        }
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.receiver.poll_timeout()
    }

    fn counters(&self, _: Instant, report: &mut dyn FnMut(Option<u8>, &'static str, f64)) {
        let spurious = (0..self.paths.len()).map(|s| self.receiver.stats(s as u8).duplicates);
        report(None, "spurious", spurious.sum::<u64>() as f64);
    }

    fn receive_buffered(&self) -> Option<u64> {
        Some(self.receiver.held())
    }
}

pub(super) fn outgoing(route: RouteId, segment: Segment, config: &Config) -> Outgoing {
    Outgoing {
        route,
        len: segment.wire_len(config),
        payload: segment.len,
        retransmission: segment.retransmission,
        framing: Framing::default(),
        body: Body::Tcp(segment),
    }
}

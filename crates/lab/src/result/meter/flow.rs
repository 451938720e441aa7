//! Meter of one flow.

use core::time::Duration;

use strandcast_proto::time::Instant;
use strandcast_sim::net::Framing;

use super::order::{FirstSent, InOrder, Message};
use super::tally::{Disorder, Jitter, Tally, put_delays};
use super::video::VideoMeter;
use super::{LossPlace, VideoSpec, Window};
use crate::result::Frame;
use crate::result::histogram::Histogram;
use crate::result::{Metric, Subject};

/// Facts about a flow that are known before a run.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowSpec {
    /// Name of the flow in results.
    pub name: String,
    /// The names of the flow's paths by number.
    pub paths: Vec<String>,
    /// Time that counts for results. Rates are means over this time. If a flow begins later or ends earlier, it is the
    /// flow's own time.
    pub window: Window,
    /// Video that the flow carries.
    pub video: Option<VideoSpec>,
}

/// Measures one flow, packet by packet. Only events in the window count. The state before the window is also tracked,
/// such as the player's buffer and messages that wait for earlier ones.
///
/// Times of the calls must not decrease. Memory does not grow with time, because percentiles come from a histogram with
/// an error of at most 0.8 %.
#[derive(Debug)]
pub struct FlowMeter {
    spec: FlowSpec,
    paths: Vec<Tally>,
    jitter: Jitter,
    disorder: Disorder,
    order: InOrder,
    message_delay: Histogram,
    first_sent: FirstSent,
    delivery_delay: Histogram,
    delivered_bytes: u64,
    gap: Gap,
    /// Path of the last new data, and number of changes of this path.
    last_path: Option<u8>,
    path_changes: u64,
    counters: Vec<Counter>,
    framing: Framing,
    video: Option<VideoMeter>,
}

/// The longest time in which nothing was delivered.
#[derive(Debug, Default)]
struct Gap {
    /// Time of the last delivery. Before the first delivery, the time of the first sending.
    since: Option<Instant>,
    longest: Duration,
    /// Total amount of new payload that was sent.
    sent: u64,
    /// Total amount of payload that was delivered.
    delivered: u64,
    /// Bytes that the application submitted.
    submitted: u64,
}

/// A counter of the transport.
#[derive(Debug)]
struct Counter {
    path: Option<u8>,
    name: &'static str,
    /// Count at the start of the window.
    base: f64,
    last: f64,
    /// Time of the last report.
    at: Instant,
}

impl Counter {
    /// Increase of the count within the window. If the counter is a maximum, its value.
    fn in_window(&self) -> f64 {
        if self.name.ends_with("_most_bytes") { self.last } else { self.last - self.base }
    }
}

impl FlowMeter {
    /// Creates a meter of a flow that has not begun yet.
    pub fn new(spec: FlowSpec) -> Self {
        FlowMeter {
            paths: vec![Tally::default(); spec.paths.len()],
            video: spec.video.clone().map(|video| VideoMeter::new(video, spec.window)),
            spec,
            jitter: Jitter::default(),
            disorder: Disorder::default(),
            order: InOrder::default(),
            message_delay: Histogram::default(),
            first_sent: FirstSent::default(),
            delivery_delay: Histogram::default(),
            delivered_bytes: 0,
            gap: Gap::default(),
            last_path: None,
            path_changes: 0,
            counters: Vec::new(),
            framing: Framing::default(),
        }
    }

    /// The time over which the meter measures.
    pub fn window(&self) -> Window {
        self.spec.window
    }

    /// Records a packet of the flow's sender that entered the network. `wire` is its size at IP level. `payload` is the
    /// number of application bytes in it. It is 0 for a control packet or an acknowledgement. `again` is true if the
    /// packet carries data that were sent before.
    ///
    /// # Panics
    /// Panics if the flow has no such path. Other methods with a path also panic.
    pub fn sent(&mut self, now: Instant, path: u8, wire: u32, payload: u32, again: bool) {
        if payload > 0 {
            self.gap.since.get_or_insert(now);
            self.gap.sent += if again { 0 } else { u64::from(payload) };
        }
        let new = payload > 0 && !again;
        let switched = new && self.last_path.replace(path).is_some_and(|last| last != path);
        if !self.spec.window.contains(now) {
            return;
        }
        self.path_changes += u64::from(switched);
        let tally = &mut self.paths[usize::from(path)];
        tally.sent_wire += u64::from(wire);
        if payload == 0 {
            tally.control += 1;
        } else {
            tally.sent += 1;
            tally.again += u64::from(again);
        }
    }

    /// Records a message that the application submitted. Only some transports report submissions.
    pub fn submitted(&mut self, bytes: u32) {
        self.gap.submitted += u64::from(bytes);
    }

    /// Sets the format of the user data in the flow's packets. The caller calls it after a packet was sent.
    pub fn framed(&mut self, framing: Framing) {
        self.framing = framing;
    }

    /// Records that a packet with the first bytes of a message entered the network. Messages are sent in order. A
    /// message may be sent several times or never. If a transport does not call this method, its results have no
    /// delivery delay.
    pub fn message_sent(&mut self, now: Instant, number: u64) {
        self.first_sent.add(now, number);
    }

    /// Records a packet with data that reached the flow's receiver. `sent` is the time at which this copy left the
    /// sender. `sequence` is its TSN, or the sequence number of another protocol. `new` is true if a part of its data
    /// had not arrived before.
    pub fn arrived(
        &mut self,
        now: Instant,
        path: u8,
        sent: Instant,
        payload: u32,
        sequence: Option<u32>,
        new: bool,
    ) {
        if !self.spec.window.contains(now) {
            return;
        }
        let tally = &mut self.paths[usize::from(path)];
        if new {
            tally.arrived_new += 1;
            tally.new_payload += u64::from(payload);
        } else {
            tally.arrived_old += 1;
        }
        let transit = now - sent;
        tally.delay.record(u64::try_from(transit.as_nanos()).unwrap_or(u64::MAX));
        self.jitter.add(transit);
        if let Some(tsn) = sequence {
            self.disorder.add(tsn);
        }
    }

    /// Records further data of the packet that has just arrived.
    pub fn bundled(&mut self, now: Instant, path: u8, payload: u32, new: bool) {
        if new && self.spec.window.contains(now) {
            self.paths[usize::from(path)].new_payload += u64::from(payload);
        }
    }

    /// Records a packet with data that reached the flow's receiver. If the receiver accepts the packet, a call of
    /// [`arrived`](Self::arrived) follows.
    pub fn received(&mut self, now: Instant, path: u8, damaged: bool) {
        if self.spec.window.contains(now) {
            let tally = &mut self.paths[usize::from(path)];
            tally.received += 1;
            tally.damaged += u64::from(damaged);
        }
    }

    /// Records that the path leads over a radio.
    pub fn over_radio(&mut self, path: u8) {
        self.paths[usize::from(path)].over_radio = Some([0; 2]);
    }

    /// Records a packet with data that left a radio after `hops` hops.
    pub fn hopped(&mut self, now: Instant, path: u8, hops: u8) {
        if self.spec.window.contains(now)
            && let Some([packets, all]) = &mut self.paths[usize::from(path)].over_radio
        {
            *packets += 1;
            *all += u64::from(hops);
        }
    }

    /// Records a packet with data that was lost in the network.
    pub fn lost(&mut self, now: Instant, path: u8, place: LossPlace) {
        if self.spec.window.contains(now) {
            self.paths[usize::from(path)].lose(place);
        }
    }

    /// Records a message that the receiving application received. Messages are numbered from 0 in the order of
    /// submission. `in_order` is true if earlier messages that have not arrived will never arrive. This is so with
    /// ordered delivery, and with a transport that keeps no order. Otherwise, the delay of the message and of its bytes
    /// ends when all earlier messages have arrived.
    pub fn delivered(&mut self, now: Instant, number: u64, bytes: u32, submitted: Instant, in_order: bool) {
        self.count_delivered(now, u64::from(bytes));
        let message = Message { number, bytes, submitted };
        if let Some(video) = &mut self.video {
            video.delivered(now, number);
        }
        let counts = self.spec.window.contains(now);
        let (delay, video) = (&mut self.message_delay, &mut self.video);
        let (first_sent, delivery_delay) = (&mut self.first_sent, &mut self.delivery_delay);
        self.order.deliver(message, in_order, |message| {
            let sent = first_sent.take(message.number);
            if counts {
                delay.record((now - message.submitted).as_nanos() as u64);
                sent.inspect(|&at| delivery_delay.record((now - at).as_nanos() as u64));
            }
            if let Some(video) = video {
                video.in_order(now, message);
            }
        });
    }

    /// Returns the outcome of each frame of the flow's video, if the video has frames. Times are seconds since
    /// `origin`.
    pub fn frames(&self, origin: Instant) -> Vec<Frame> {
        self.video.as_ref().map_or_else(Vec::new, |video| video.frames(origin))
    }

    /// Records further bytes that the receiving application received. They belong to a stream without message
    /// boundaries. Sizes identify the frames of a video.
    pub fn progressed(&mut self, now: Instant, bytes: u64) {
        self.count_delivered(now, bytes);
        let counts = self.spec.window.contains(now);
        if let Some(video) = &mut self.video {
            video.progressed(now, bytes);
            while let Some(message) = video.next_in_stream() {
                if counts {
                    self.message_delay.record((now - message.submitted).as_nanos() as u64);
                }
                video.delivered(now, message.number);
                video.in_order(now, message);
            }
        }
    }

    /// Records the current value of a counter of the transport. The counter belongs to a path, or to the whole flow
    /// (`None`). Both ends of the flow may have a counter called `name`. Both values must then be recorded at the same
    /// time, and they are added. The metric is the increase within the measured window. The counter must therefore be
    /// recorded when the window begins and when it ends. If it is 0 at the beginning, that record is not needed.
    pub fn count(&mut self, now: Instant, path: Option<u8>, name: &'static str, total: f64) {
        let counter = match self.counters.iter_mut().find(|c| c.path == path && c.name == name) {
            Some(counter) => counter,
            None => {
                self.counters.push(Counter { path, name, base: 0.0, last: 0.0, at: now });
                self.counters.last_mut().expect("one was pushed")
            }
        };
        counter.last = if counter.at == now { counter.last + total } else { total };
        counter.at = now;
        if now <= self.spec.window.from {
            counter.base = counter.last;
        }
    }

    /// Appends the metrics to `out`. The caller calls it after the end of the window.
    pub fn metrics(&self, out: &mut Vec<Metric>) {
        let seconds = self.spec.window.seconds();
        let mut flow = Tally::default();
        self.paths.iter().for_each(|path| flow.merge(path));
        for (number, path) in self.paths.iter().enumerate() {
            let subject =
                Subject::Path { flow: self.spec.name.clone(), path: self.spec.paths[number].clone() };
            let mut put = sink(subject, out);
            put("goodput_bps", path.new_payload as f64 * 8.0 / seconds);
            put("share", path.new_payload as f64 / flow.new_payload as f64);
            path.put(seconds, &mut put);
            for counter in self.counters.iter().filter(|c| c.path.map(usize::from) == Some(number)) {
                put(metric_of(counter.name), counter.last - counter.base);
            }
        }
        let mut put = sink(Subject::Flow(self.spec.name.clone()), out);
        put("goodput_bps", self.delivered_bytes as f64 * 8.0 / seconds);
        put("delivered_bytes", self.delivered_bytes as f64);
        flow.put(seconds, &mut put);
        put("path_changes", self.path_changes as f64);
        self.put_messages(&mut put);
        self.jitter.put(&mut put);
        self.disorder.put(&mut put);
        self.put_counters(&mut put);
        self.put_symbols(&mut put);
        for (name, ratio) in
            [("rwnd_blocked_s", "rwnd_blocked_ratio"), ("send_buffer_blocked_s", "send_buffer_blocked_ratio")]
        {
            if let Some(blocked) = self.counters.iter().find(|c| c.name == name && c.path.is_none()) {
                put(ratio, (blocked.last - blocked.base) / seconds);
            }
        }
        if let Some(video) = &self.video {
            video.put(&mut put);
        }
    }

    fn put_messages(&self, put: &mut dyn FnMut(&'static str, f64)) {
        let names = [
            "message_delay_mean_ms",
            "message_delay_p50_ms",
            "message_delay_p95_ms",
            "message_delay_p99_ms",
            "message_delay_max_ms",
        ];
        put_delays(&self.message_delay, names, put);
        let names = [
            "delivery_delay_mean_ms",
            "delivery_delay_p50_ms",
            "delivery_delay_p95_ms",
            "delivery_delay_p99_ms",
            "delivery_delay_max_ms",
        ];
        put_delays(&self.delivery_delay, names, put);
        if let Some(since) = self.gap.since.filter(|&since| since < self.spec.window.to) {
            // If a flow has delivered all data that it sent, nothing is missing.
            let sent = match self.framing {
                Framing::Messages => self.gap.sent,
                // The symbols that were sent do not show which messages are missing.
                Framing::Repair | Framing::Blocks => self.gap.submitted,
            };
            let open = sent > self.gap.delivered;
            let last = if open { self.spec.window.clip(since, self.spec.window.to) } else { Duration::ZERO };
            put("longest_gap_ms", self.gap.longest.max(last).as_secs_f64() * 1e3);
        } else if self.gap.since.is_some() {
            put("longest_gap_ms", self.gap.longest.as_secs_f64() * 1e3);
        }
    }

    /// Adds the counters of the flow. For a counter that exists only for each path, adds the sum over the paths.
    fn put_counters(&self, put: &mut dyn FnMut(&'static str, f64)) {
        for (i, counter) in self.counters.iter().enumerate() {
            let same = |c: &&Counter| c.name == counter.name;
            let of_flow = self.counters.iter().any(|c| same(&c) && c.path.is_none());
            let first = !self.counters[..i].iter().any(|c| same(&c));
            if counter.path.is_none() {
                put(metric_of(counter.name), counter.in_window());
            } else if !of_flow && first {
                let sum = self.counters.iter().filter(same).map(|c| c.last - c.base).sum();
                put(metric_of(counter.name), sum);
            }
        }
    }

    /// Adds the shares of the sent bytes that were symbols.
    fn put_symbols(&self, put: &mut dyn FnMut(&'static str, f64)) {
        let counted = |name| self.counters.iter().find(|c| c.name == name).map(Counter::in_window);
        let (Some(source), Some(repair)) = (counted("source_bytes"), counted("repair_bytes")) else { return };
        put("redundancy", repair / source);
        if self.framing == Framing::Blocks {
            let delivered = self.delivered_bytes as f64;
            put("symbol_overhead", (source + repair - delivered) / delivered);
        }
    }

    fn count_delivered(&mut self, now: Instant, bytes: u64) {
        let window = self.spec.window;
        self.gap.delivered += bytes;
        if let Some(since) = self.gap.since.replace(now) {
            self.gap.longest = self.gap.longest.max(window.clip(since, now));
        }
        if window.contains(now) {
            self.delivered_bytes += bytes;
        }
    }
}

/// Returns a function that appends metrics of `subject` to `out`. The function leaves out values that are not numbers,
/// for example a mean without samples.
pub(super) fn sink(subject: Subject, out: &mut Vec<Metric>) -> impl FnMut(&'static str, f64) {
    move |name, value| {
        if value.is_finite() {
            out.push(Metric { subject: subject.clone(), name, value });
        }
    }
}

/// Name of the metric for a counter of the transport.
fn metric_of(counter: &'static str) -> &'static str {
    match counter {
        "retransmitted_fast" => "retransmitted_fast_packets",
        "retransmitted_timeout" => "retransmitted_timeout_packets",
        "spurious" => "spurious_packets",
        other => other,
    }
}

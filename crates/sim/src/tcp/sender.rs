//! The sending end: data of one application over one subflow (TCP) or several subflows (MPTCP).

use core::time::Duration;

use strandcast_proto::association::HeldBy;
use strandcast_proto::policy::{
    CongestionControl, HeadOfLineConfig, LossTrigger, PathSet, PathView, Scheduler,
};
use strandcast_proto::time::Instant;

use super::config::Config;
use super::schedule::{Scene, Scheduling};
use super::scoreboard::{News, Record};
use super::segment::{SackBlocks, Segment};
use super::shared::Shared;
use super::stats::{Limits, SubflowStats};
use super::subflow::{Acked, LossEvent, Phase, Progress, Retransmission, Subflow};
use super::window::Windows;

/// The sending end of a TCP or MPTCP connection.
///
/// The caller calls `add_subflow` (once for TCP) and `write`. After each of these calls, and after `handle_segment` and
/// `handle_timeout`, the caller calls `poll_output` until it returns `None`. The caller then sleeps until
/// `poll_timeout`.
///
/// The caller passes in a [`CongestionControl`], created with the initial window and threshold of the configuration.
/// The congestion control has the congestion windows, and sees one path per subflow. The MTU of such a path is the
/// segment size, and bytes count payload. The [`Scheduler`] that the caller passes in chooses among several subflows.
#[derive(Debug)]
pub struct Sender {
    pub(super) config: Config,
    pub(super) subflows: Vec<Subflow>,
    pub(super) windows: Windows,
    /// Number of bytes that the application has written. The number of bytes is `u64::MAX` for an endless stream.
    written: u64,
    /// Next byte of the connection that was never sent.
    pub(super) data_nxt: u64,
    /// Next byte of the connection that the receiver expects.
    pub(super) data_una: u64,
    /// Edge of the receive window: the receiver accepts bytes below it.
    edge: u64,
    /// State of the subflows that is not part of their windows.
    pub(super) shared: Shared,
    /// True if data were queued while no data waited, and the congestion control was not notified yet.
    queued: bool,
    limit: Option<(Limit, Instant)>,
    limits: Limits,
}

/// Reason for which new data are not sent.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Limit {
    Application,
    CongestionWindow,
    ReceiveWindow,
    Scheduler,
}

impl Sender {
    /// Creates the sending end of a connection with the constants `config`. Its only subflow is added later.
    pub fn new(config: Config, congestion: Box<dyn CongestionControl>) -> Self {
        Sender::with(config, congestion, None)
    }

    /// Creates the sending end of a connection with several subflows.
    pub fn multipath(
        config: Config,
        congestion: Box<dyn CongestionControl>,
        scheduler: Box<dyn Scheduler>,
    ) -> Self {
        Sender::with(config, congestion, Some(Scheduling::new(scheduler)))
    }

    /// Replaces the configured remedy for data that block the receive window. `None` turns the remedy off.
    pub fn with_head_of_line(mut self, remedy: Option<HeadOfLineConfig>) -> Self {
        self.shared = Shared::new(remedy);
        self
    }

    /// Returns the remedy for data that block the receive window.
    pub fn head_of_line(&self) -> Option<HeadOfLineConfig> {
        self.shared.remedy
    }

    fn with(config: Config, congestion: Box<dyn CongestionControl>, scheduling: Option<Scheduling>) -> Self {
        Sender {
            subflows: Vec::new(),
            windows: Windows::new(congestion, scheduling),
            written: 0,
            data_nxt: 0,
            data_una: 0,
            // A receiver with the same configuration will announce this window; by TCP's rules the handshake
            // does.
            edge: config.receive_window,
            shared: Shared::new(config.opportunistic.then_some(HeadOfLineConfig::LINUX)),
            queued: false,
            limit: None,
            limits: Limits::default(),
            config,
        }
    }

    /// Opens a subflow. Returns its number: 0, 1, 2 … Numbers are not reused.
    ///
    /// # Panics
    /// Panics beyond 32 subflows. Without a scheduler, it panics beyond one subflow.
    pub fn add_subflow(&mut self, now: Instant) -> u8 {
        let id = self.subflows.len() as u8;
        assert!(id < 32, "a connection has at most 32 subflows");
        assert!(id < 1 || self.windows.scheduling.is_some(), "several subflows need a scheduler");
        let mut subflow = Subflow::new(&self.config);
        subflow.board.news = self.windows.hears_deliveries().then(News::default);
        self.subflows.push(subflow);
        self.shared.add();
        let (windows, at) = self.scene(now);
        windows.add(&at);
        id
    }

    /// Closes a subflow. Other subflows then send its undelivered data.
    pub fn remove_subflow(&mut self, now: Instant, subflow: u8) {
        let Some(slot) = self.subflows.get_mut(usize::from(subflow)) else { return };
        let shared = &mut self.shared;
        slot.close(|data_seq, len| shared.again(data_seq, len, subflow));
        shared.remove(subflow);
        let (windows, at) = self.scene(now);
        windows.remove(&at, subflow);
    }

    /// Returns the windows, and the state of the sender for a signal to them.
    pub(super) fn scene(&mut self, now: Instant) -> (&mut Windows, Scene<'_>) {
        let (rwnd, admits) = (self.edge - self.data_una, self.edge.saturating_sub(self.data_nxt));
        (&mut self.windows, Scene { now, config: &self.config, subflows: &self.subflows, rwnd, admits })
    }

    /// Ensures that the scheduler decides again.
    fn wake(&mut self) {
        if let Some(scheduling) = &mut self.windows.scheduling {
            scheduling.wake();
        }
    }

    /// Adds `bytes` bytes from the application.
    pub fn write(&mut self, bytes: u64) {
        self.wake();
        self.queued |= bytes > 0 && self.backlog() == 0;
        self.written = self.written.saturating_add(bytes);
    }

    /// Makes the data of the application endless.
    pub fn write_endless(&mut self) {
        self.write(u64::MAX);
    }

    /// Drops data that the application wrote and that were not sent yet. Returns the number of dropped bytes.
    pub fn drop_backlog(&mut self) -> u64 {
        let dropped = self.backlog();
        self.written = self.data_nxt;
        dropped
    }

    /// Returns the number of bytes that were written and never sent.
    pub fn backlog(&self) -> u64 {
        self.written - self.data_nxt
    }

    /// Returns whether all written bytes are acknowledged.
    pub fn is_done(&self) -> bool {
        self.data_una == self.written
    }

    /// Handles a segment from the receiver.
    pub fn handle_segment(&mut self, now: Instant, segment: &Segment) {
        let Some(ack) = segment.ack.filter(|_| !segment.damaged) else { return };
        self.wake();
        let index = usize::from(segment.subflow);
        let Some(subflow) = self.subflows.get_mut(index) else { return };
        self.data_una = self.data_una.max(segment.data_ack.min(self.data_nxt));
        self.edge = self.edge.max(segment.data_ack.saturating_add(segment.window));
        if segment.syn {
            subflow.on_syn_answered(now, &self.config);
            self.windows.measure(segment.subflow, subflow, &self.config);
            return;
        }
        if subflow.phase != Phase::Open {
            return;
        }
        let flight_before = subflow.in_flight(&self.config);
        let acked = subflow.on_ack(now, segment, ack, &self.config);
        self.windows.measure(segment.subflow, subflow, &self.config);
        if self.windows.hears_deliveries() {
            self.tell_news(now, segment.subflow, &acked, flight_before);
            return;
        }
        if let Some(progress) = acked.progress {
            self.tell_acked(now, segment.subflow, &progress);
        }
        if let Some(event) = acked.recovery {
            self.tell_loss(now, segment.subflow, event, LossTrigger::FastRetransmit);
        }
    }

    /// Returns the next segment to be sent.
    pub fn poll_output(&mut self, now: Instant) -> Option<Segment> {
        for subflow in &mut self.subflows {
            subflow.held = subflow.pace > now;
        }
        if core::mem::take(&mut self.queued) {
            let (windows, at) = self.scene(now);
            windows.tell_queued(&at);
        }
        let segment = self.next_segment(now);
        if segment.is_some()
            && let Some((limit, since)) = self.limit.take()
        {
            self.limits.add(limit, now - since);
        }
        segment
    }

    fn next_segment(&mut self, now: Instant) -> Option<Segment> {
        if let Some(subflow) = self.subflows.iter().position(|s| s.phase == Phase::Opening) {
            self.subflows[subflow].on_syn_sent(now);
            return Some(Segment { syn: true, ..self.blank(now, subflow as u8) });
        }
        let repair =
            self.retransmission(now, false).or_else(|| self.copy(now)).or_else(|| self.reinjection(now));
        if repair.is_some() {
            return repair;
        }
        match self.new_data(now) {
            Ok(segment) => Some(segment),
            Err(limit) => {
                let rescue = self.retransmission(now, true).or_else(|| self.opportunity(now, limit));
                if rescue.is_none() && self.limit.is_none_or(|(old, _)| old != limit) {
                    self.note_limit(now, limit);
                }
                rescue
            }
        }
    }

    /// Returns the next segment that a subflow must retransmit.
    fn retransmission(&mut self, now: Instant, starved: bool) -> Option<Segment> {
        for id in 0..self.subflows.len() {
            let subflow = &mut self.subflows[id];
            let Some(what) = subflow.next_retransmission(starved, &self.config) else { continue };
            let len = subflow.board.record(what.ordinal).len;
            if what.forced || subflow.has_room(len, self.windows.cwnd(id), &self.config) {
                return Some(self.retransmit(now, id as u8, what));
            }
        }
        None
    }

    fn retransmit(&mut self, now: Instant, id: u8, what: Retransmission) -> Segment {
        let subflow = &mut self.subflows[usize::from(id)];
        let record = subflow.on_retransmitted(now, what);
        self.windows.measure(id, subflow, &self.config);
        let (windows, at) = self.scene(now);
        windows.tell_sent(&at, id, what.ordinal);
        self.pace_sent(now, id, record.len);
        let Record { seq, len, data_seq, .. } = record;
        Segment { seq, len, data_seq, retransmission: true, ..self.blank(now, id) }
    }

    /// Returns the next segment with data that were never sent. The scheduler chooses its subflow.
    fn new_data(&mut self, now: Instant) -> Result<Segment, Limit> {
        let len = u64::from(self.config.segment).min(self.backlog()) as u32;
        let limit = self.limit_of_new(len);
        self.note_blocked(now, limit);
        if let Some(limit) = limit {
            if limit == Limit::ReceiveWindow {
                self.ask_for_penalty(now);
            }
            return Err(limit);
        }
        let mut choice = self.choose(now, len, PathSet::default());
        if choice.is_none() && self.ask_for_penalty(now) {
            choice = self.choose(now, len, PathSet::default());
        }
        let choice = choice.ok_or(Limit::Scheduler)?;
        let data_seq = self.data_nxt;
        self.data_nxt += u64::from(len);
        self.shared.owe(choice.copies, data_seq, len);
        Ok(self.send(now, choice.subflow, data_seq, len))
    }

    /// Returns the reason for which `len` bytes of new data cannot be sent. The scheduler is not asked.
    fn limit_of_new(&self, len: u32) -> Option<Limit> {
        if len == 0 {
            return Some(Limit::Application);
        }
        if self.with_room(len, PathSet::default()).next().is_none() {
            return Some(Limit::CongestionWindow);
        }
        if self.data_nxt + u64::from(len) > self.edge {
            return Some(Limit::ReceiveWindow);
        }
        let waits = || self.subflows.iter().any(|s| !s.board.is_empty());
        let nagle = self.config.nagle && len < self.config.segment && waits();
        nagle.then_some(Limit::Application)
    }

    /// Sends bytes of the connection as a new segment on a subflow.
    pub(super) fn send(&mut self, now: Instant, id: u8, data_seq: u64, len: u32) -> Segment {
        let subflow = &mut self.subflows[usize::from(id)];
        let seq = subflow.board.nxt;
        let ordinal = subflow.board.next();
        if self.windows.path(id).limit.pacing.is_none() {
            subflow.restart_after_idle(now, &self.config);
        }
        subflow.on_sent(now, data_seq, len);
        self.windows.measure(id, subflow, &self.config);
        let (windows, at) = self.scene(now);
        windows.tell_sent(&at, id, ordinal);
        self.pace_sent(now, id, len);
        Segment { seq, len, data_seq, ..self.blank(now, id) }
    }

    /// Returns the time of the next call of `handle_timeout`.
    pub fn poll_timeout(&self) -> Option<Instant> {
        let timers = self.subflows.iter().filter_map(|s| s.timer);
        let paced = self.subflows.iter().filter(|s| s.held).map(|s| s.pace);
        timers.chain(paced).chain(self.windows.poll_timeout()).min()
    }

    /// Handles the expiry of timers.
    pub fn handle_timeout(&mut self, now: Instant) {
        self.wake();
        let (windows, at) = self.scene(now);
        windows.tick(&at);
        for id in 0..self.subflows.len() {
            let subflow = &mut self.subflows[id];
            if subflow.timer.is_none_or(|timer| timer > now) {
                continue;
            }
            let event = subflow.on_timeout(now, &self.config);
            self.windows.measure(id as u8, subflow, &self.config);
            self.tell_lost(now, id as u8);
            if let Some(event) = event {
                self.tell_loss(now, id as u8, event, LossTrigger::Timeout);
            }
            self.reinject(id as u8);
        }
    }

    /// Applies the pacing rate of the congestion control to a segment that is sent.
    fn pace_sent(&mut self, now: Instant, id: u8, len: u32) {
        let rate = self.windows.path(id).limit.pacing;
        self.subflows[usize::from(id)].pace_sent(now, len, rate);
    }

    /// Reports lost segments to the congestion control, if it requests them.
    fn tell_lost(&mut self, now: Instant, id: u8) {
        let Some(mut news) = self.subflows[usize::from(id)].board.news.take() else { return };
        let (windows, at) = self.scene(now);
        windows.tell_lost(&at, id, &news.lost);
        news.lost.clear();
        self.subflows[usize::from(id)].board.news = Some(news);
    }

    /// Reports lost and arrived segments to the congestion control, if it requests them. Counts the arrived segments.
    fn tell_news(&mut self, now: Instant, id: u8, acked: &Acked, flight_before: u64) {
        self.tell_lost(now, id);
        if let Some(event) = acked.recovery {
            self.tell_loss(now, id, event, LossTrigger::FastRetransmit);
        }
        let Some(mut news) = self.subflows[usize::from(id)].board.news.take() else { return };
        let (windows, at) = self.scene(now);
        windows.tell_delivered(&at, id, &news.delivered, acked.progress.as_ref(), flight_before);
        news.clear();
        self.subflows[usize::from(id)].board.news = Some(news);
        self.lift_cap(id);
    }

    fn tell_acked(&mut self, now: Instant, id: u8, progress: &Progress) {
        let grows = progress.recovered && self.config.full_ack_grows;
        let (windows, at) = self.scene(now);
        windows.tell_acked(&at, id, progress, grows);
        self.lift_cap(id);
    }

    /// Removes a cap on the window if the window no longer exceeds the cap.
    fn lift_cap(&mut self, id: u8) {
        let cwnd = self.windows.cwnd(usize::from(id));
        let subflow = &mut self.subflows[usize::from(id)];
        subflow.cap = subflow.cap.filter(|cap| *cap < cwnd);
    }

    pub(super) fn tell_loss(&mut self, now: Instant, id: u8, event: LossEvent, trigger: LossTrigger) {
        let (windows, at) = self.scene(now);
        windows.tell_loss(&at, id, event, trigger);
        self.windows.measure(id, &self.subflows[usize::from(id)], &self.config);
    }

    /// Returns the receive window: the number of bytes that the receiver accepts, starting at the first unacknowledged
    /// byte.
    pub fn rwnd(&self) -> u64 {
        self.edge - self.data_una
    }

    /// Returns the reason for which new data are not sent, after all possible output. Returns `None` if no data wait,
    /// or if Nagle's algorithm waits for more data.
    pub fn held_back(&self) -> Option<HeldBy> {
        match self.limit?.0 {
            Limit::Application => None,
            Limit::ReceiveWindow => Some(HeldBy::ReceiveWindow),
            Limit::Scheduler => Some(HeldBy::Scheduler),
            Limit::CongestionWindow if self.subflows.iter().any(|s| s.phase == Phase::Open) => {
                Some(HeldBy::CongestionWindow)
            }
            Limit::CongestionWindow => Some(HeldBy::Handshake),
        }
    }

    /// Returns the first byte that the receiver still expects.
    pub fn unacknowledged(&self) -> u64 {
        self.data_una
    }

    fn blank(&self, now: Instant, subflow: u8) -> Segment {
        Segment {
            subflow,
            seq: 0,
            len: 0,
            ack: None,
            window: 0,
            sack: SackBlocks::default(),
            data_seq: 0,
            data_ack: 0,
            syn: false,
            retransmission: false,
            sent: now,
            echo: None,
            damaged: false,
        }
    }

    fn note_limit(&mut self, now: Instant, limit: Limit) {
        if let Some((old, since)) = self.limit.replace((limit, now)) {
            self.limits.add(old, now - since);
        }
    }

    /// Returns the times until `now` for which each limit prevented the sender from sending more.
    pub fn limits(&self, now: Instant) -> Limits {
        let mut limits = self.limits;
        if let Some((limit, since)) = self.limit {
            limits.add(limit, now - since);
        }
        limits
    }

    /// Returns the constants of the connection.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Returns the number of subflows, including closed ones.
    pub fn subflows(&self) -> u8 {
        self.subflows.len() as u8
    }

    /// Returns window, threshold, round-trip time and data in flight of a subflow, as the congestion control sees them.
    /// Bytes count payload.
    ///
    /// # Panics
    /// Panics if the subflow does not exist.
    pub fn path(&self, subflow: u8) -> &PathView {
        self.windows.path(subflow)
    }

    /// Returns names and values that the congestion control reports for a subflow in addition to its window.
    pub fn gauges(&self, subflow: u8) -> Vec<(&'static str, f64)> {
        self.windows.gauges(subflow)
    }

    /// Returns the number of round-trip times measured on a subflow.
    pub fn rtt_samples(&self, subflow: u8) -> u64 {
        self.subflows.get(usize::from(subflow)).map_or(0, |s| s.rto.samples)
    }

    /// Returns the counters of a subflow.
    pub fn stats(&self, subflow: u8) -> SubflowStats {
        self.subflows.get(usize::from(subflow)).map(|s| s.stats).unwrap_or_default()
    }
}

impl Limits {
    fn add(&mut self, limit: Limit, time: Duration) {
        *match limit {
            Limit::Application => &mut self.application,
            Limit::CongestionWindow => &mut self.congestion_window,
            Limit::ReceiveWindow => &mut self.receive_window,
            Limit::Scheduler => &mut self.scheduler,
        } += time;
    }
}

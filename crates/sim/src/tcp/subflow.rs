//! The sending half of one subflow: timer, loss detection, and loss recovery. Plain TCP has one subflow, and MPTCP has
//! several.
//!
//! | words of the RFC | here |
//! |---|---|
//! | RFC 6298 §5, the timer | [`Subflow::on_timeout`], [`Subflow::acknowledge`] |
//! | RFC 5681 §3.2, RFC 6582 §3.2, fast retransmit and recovery | [`Subflow::on_duplicate`], [`Subflow::on_progress`] |
//! | RFC 3042, limited transmit | [`Subflow::on_duplicate`], without SACK a temporary window increase |
//! | RFC 6675 §5, with SACK | [`Subflow::on_duplicate`], [`Subflow::next_retransmission`], the scoreboard |
//!
//! The "cwnd" of the RFCs is the window of the congestion control plus `inflation`. The inflation is part of recovery
//! without SACK. At a loss, the congestion control gets FlightSize without the data sent by limited transmit.

use core::time::Duration;

use strandcast_proto::time::Instant;
use strandcast_proto::units::Rate;

use super::config::{Config, Recovery};
use super::rto::Rto;
use super::scoreboard::{Record, Scoreboard, Taken};
use super::segment::Segment;
use super::stats::SubflowStats;

/// Phase of a subflow.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// A SYN must be sent, for the first time or again.
    Opening,
    /// The SYN is in transit.
    SynSent,
    /// Data may be sent.
    Open,
    /// The subflow is closed.
    Closed,
}

/// State of loss recovery.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// There is no recovery.
    Open,
    /// Fast recovery.
    Recovery,
    /// Slow start after a timeout. Slow start lasts until all data sent before the timeout are acknowledged.
    Loss,
}

/// A segment that the subflow must retransmit.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct Retransmission {
    pub(super) ordinal: u64,
    /// True if the retransmission is sent regardless of the window.
    pub(super) forced: bool,
    /// True for the rescue retransmission of RFC 6675.
    rescue: bool,
}

/// Effect of an acknowledgement on a subflow.
#[derive(Debug, Default)]
pub(super) struct Acked {
    /// Progress of the cumulative acknowledgement, if there was any.
    pub(super) progress: Option<Progress>,
    /// Loss event, if fast recovery began.
    pub(super) recovery: Option<LossEvent>,
}

/// Progress of the cumulative acknowledgement, with its effects.
#[derive(Copy, Clone, Debug)]
pub(super) struct Progress {
    pub(super) taken: Taken,
    pub(super) flight_before: u64,
    pub(super) rtt: Option<Duration>,
    /// True if fast recovery ended with this progress.
    pub(super) recovered: bool,
}

/// Data about a loss, for the congestion control.
#[derive(Copy, Clone, Debug)]
pub(super) struct LossEvent {
    /// FlightSize at the loss.
    pub(super) flight: u64,
    /// Ordinal of the segment whose acknowledgement ends the recovery.
    pub(super) highest: u64,
}

/// State of the sending half of one subflow.
#[derive(Debug)]
pub(super) struct Subflow {
    pub(super) phase: Phase,
    pub(super) mode: Mode,
    pub(super) board: Scoreboard,
    pub(super) rto: Rto,
    pub(super) timer: Option<Instant>,
    pub(super) last_sent: Option<Instant>,
    /// Limit of the window in addition to that of the congestion control. This limit applies after an idle time, or
    /// after a lost SYN.
    pub(super) cap: Option<u64>,
    /// Number of segments that may still be sent in answer to this acknowledgement.
    pub(super) budget: u32,
    /// Earliest time of the next segment by pacing; `held` is true if a segment waits for this time.
    pub(super) pace: Instant,
    pub(super) held: bool,
    pub(super) stats: SubflowStats,
    dupacks: u32,
    /// Change of the window by recovery without SACK.
    inflation: i64,
    /// Number of bytes sent in answer to duplicate acknowledgements before recovery (limited transmit).
    limited: u64,
    /// True if one retransmission may be sent regardless of the window.
    force: bool,
    /// SND.NXT at the last loss. Recovery ends when this byte is reached. No other recovery begins before.
    recover: Option<u64>,
    /// True if a timeout detected the last loss.
    after_timeout: bool,
    /// True if a partial acknowledgement has restarted the timer (the "impatient" variant of RFC 6582).
    partial: bool,
    /// RescueRxt of RFC 6675: true if the rescue retransmission of this recovery was sent.
    rescued: bool,
    /// Number of timeouts since the last progress.
    repeats: u32,
    /// Segment whose round-trip time is measured if timestamps are not used.
    timed: Option<(u64, Instant)>,
    syn_sent: Option<Instant>,
    syn_lost: bool,
}

impl Subflow {
    pub(super) fn new(config: &Config) -> Self {
        Subflow {
            phase: if config.handshake { Phase::Opening } else { Phase::Open },
            mode: Mode::Open,
            board: Scoreboard::default(),
            rto: Rto::new(config),
            timer: None,
            last_sent: None,
            cap: None,
            budget: u32::MAX,
            pace: Instant::ZERO,
            held: false,
            stats: SubflowStats::default(),
            dupacks: 0,
            inflation: 0,
            limited: 0,
            force: false,
            recover: None,
            after_timeout: false,
            partial: false,
            rescued: false,
            repeats: 0,
            timed: None,
            syn_sent: None,
            syn_lost: false,
        }
    }

    /// Records that a SYN was sent.
    pub(super) fn on_syn_sent(&mut self, now: Instant) {
        self.phase = Phase::SynSent;
        self.syn_lost |= self.syn_sent.is_some();
        self.syn_sent = Some(now);
        self.timer = Some(now + self.rto.value());
    }

    /// Handles the peer's answer to the SYN.
    pub(super) fn on_syn_answered(&mut self, now: Instant, config: &Config) {
        if !matches!(self.phase, Phase::Opening | Phase::SynSent) {
            return;
        }
        self.phase = Phase::Open;
        self.timer = None;
        match self.syn_sent {
            Some(sent) if !self.syn_lost => self.rto.sample(now, sent, config),
            _ => {
                self.rto.restart_after_syn_loss();
                // RFC 5681 §3.1: a lost SYN makes the initial window one segment.
                self.cap = Some(u64::from(config.segment));
            }
        }
    }

    /// Returns the window in bytes, after all adjustments of the congestion control's `cwnd`.
    pub(super) fn window(&self, cwnd: u64, config: &Config) -> u64 {
        let capped = self.cap.map_or(cwnd, |cap| cap.min(cwnd));
        let inflated = capped.saturating_add_signed(self.inflation);
        inflated.max(u64::from(config.segment))
    }

    /// Returns the bytes that count against the window.
    pub(super) fn in_flight(&self, config: &Config) -> u64 {
        let early = self.mode == Mode::Open && !config.limited_transmit;
        if early { self.board.outstanding() } else { self.board.pipe }
    }

    /// Returns whether `len` more bytes fit into the window. If no data are in flight, one segment may always be sent.
    pub(super) fn has_room(&self, len: u32, cwnd: u64, config: &Config) -> bool {
        let flight = self.in_flight(config);
        self.phase == Phase::Open
            && self.budget > 0
            && !self.held
            && flight.saturating_add(u64::from(len)) <= self.window(cwnd, config)
    }

    /// Records that `len` bytes are sent at the pacing rate.
    pub(super) fn pace_sent(&mut self, now: Instant, len: u32, rate: Option<Rate>) {
        let gap = rate.and_then(|rate| rate.time_for(u64::from(len)));
        self.pace = gap.map_or(now, |gap| self.pace.max(now) + gap);
        self.held = self.pace > now;
    }

    /// Sets the restart window if nothing was sent for an RTO (RFC 5681 §4.1).
    pub(super) fn restart_after_idle(&mut self, now: Instant, config: &Config) {
        let idle = self.last_sent.is_some_and(|sent| now - sent > self.rto.value());
        if idle && config.restart_window > 0 && self.board.is_empty() {
            self.cap = Some(u64::from(config.restart_window) * u64::from(config.segment));
        }
    }

    /// Records that a new segment is sent.
    pub(super) fn on_sent(&mut self, now: Instant, data_seq: u64, len: u32) {
        if self.timed.is_none() {
            self.timed = Some((self.board.next(), now));
        }
        if self.dupacks > 0 && self.mode == Mode::Open {
            self.limited += u64::from(len);
        }
        self.board.push(now, data_seq, len);
        self.count_sent(now, len);
    }

    /// Returns the next retransmission of the subflow. The caller checks whether the window has room. `starved` is true
    /// if there are no new data to send. In recovery, rules 3 and 4 of RFC 6675 then also apply.
    pub(super) fn next_retransmission(&mut self, starved: bool, config: &Config) -> Option<Retransmission> {
        if self.mode == Mode::Open || self.phase != Phase::Open {
            return None;
        }
        if let Some(ordinal) = self.board.next_lost() {
            return Some(Retransmission { ordinal, forced: self.force, rescue: false });
        }
        if !starved || !config.recovery.is_selective() || self.mode != Mode::Recovery {
            return None;
        }
        if let Some(ordinal) = self.board.next_below_sacked() {
            return Some(Retransmission { ordinal, forced: false, rescue: false });
        }
        let ordinal = (!self.rescued).then(|| self.board.last_unacknowledged()).flatten()?;
        Some(Retransmission { ordinal, forced: false, rescue: true })
    }

    /// Records that a segment is retransmitted.
    pub(super) fn on_retransmitted(&mut self, now: Instant, what: Retransmission) -> Record {
        self.force = false;
        self.rescued |= what.rescue;
        // Karn: a retransmitted segment cannot be timed.
        self.timed = self.timed.filter(|(ordinal, _)| *ordinal != what.ordinal);
        match self.mode {
            Mode::Loss => self.stats.timeout_retransmissions += 1,
            _ => self.stats.fast_retransmissions += 1,
        }
        let record = self.board.resend(what.ordinal, now).clone();
        self.count_sent(now, record.len);
        record
    }

    fn count_sent(&mut self, now: Instant, len: u32) {
        self.budget = self.budget.saturating_sub(1);
        self.last_sent = Some(now);
        self.stats.segments_sent += 1;
        self.stats.bytes_sent += u64::from(len);
        if self.timer.is_none() {
            self.timer = Some(now + self.rto.value());
        }
    }

    /// Handles an acknowledgement.
    pub(super) fn on_ack(&mut self, now: Instant, segment: &Segment, ack: u64, config: &Config) -> Acked {
        let mut news = 0;
        let trusted = now - self.rto.least.unwrap_or_default();
        if config.recovery.is_selective() {
            for (start, end) in segment.sack.iter(ack) {
                news += self.board.sack(start, end, trusted);
            }
        }
        let mut acked = Acked::default();
        if ack > self.board.una {
            acked.progress = Some(self.acknowledge(now, segment, ack.min(self.board.nxt), config));
        } else if ack == self.board.una && !self.board.is_empty() {
            // Only news count as a duplicate with SACK (RFC 6675 §2), and any repetition without it (RFC 5681
            // §2).
            if !config.recovery.is_selective() || news > 0 {
                acked.recovery = self.on_duplicate(now, config);
            }
        }
        if config.recovery == Recovery::Rack {
            self.board.mark_resent_lost();
        }
        let burst = if self.mode == Mode::Recovery { config.recovery_burst } else { config.max_burst };
        self.budget = if burst == 0 { u32::MAX } else { burst };
        acked
    }

    /// Advances the cumulative acknowledgement to `ack`.
    fn acknowledge(&mut self, now: Instant, segment: &Segment, ack: u64, config: &Config) -> Progress {
        let flight_before = self.in_flight(config);
        let taken = self.board.acknowledge(ack, now - self.rto.least.unwrap_or_default());
        self.stats.bytes_acked += taken.bytes;
        let sample = if config.timestamps { segment.echo } else { self.timed_sample() };
        if let Some(sent) = sample {
            self.rto.sample(now, sent, config);
        }
        (self.dupacks, self.limited, self.repeats) = (0, 0, 0);
        if let Some(cap) = &mut self.cap {
            *cap += taken.bytes;
        }
        let before = self.mode;
        let restart = self.on_progress(taken, config);
        let recovered = before == Mode::Recovery && self.mode == Mode::Open;
        if self.board.is_empty() {
            self.timer = None;
        } else if restart {
            self.timer = Some(now + self.rto.value());
        }
        Progress { taken, flight_before, rtt: sample.and(self.rto.latest), recovered }
    }

    /// Returns the time at which the timed segment was sent, if it is now acknowledged.
    fn timed_sample(&mut self) -> Option<Instant> {
        let (ordinal, sent) = self.timed?;
        let done = ordinal < self.board.first();
        if done {
            self.timed = None;
        }
        done.then_some(sent)
    }

    /// Continues recovery after new data were acknowledged. Returns whether the timer restarts.
    fn on_progress(&mut self, taken: Taken, config: &Config) -> bool {
        let complete = self.recover.is_none_or(|recover| self.board.una >= recover);
        match self.mode {
            Mode::Open => {
                self.inflation = 0;
                true
            }
            Mode::Loss => {
                if complete {
                    self.mode = Mode::Open;
                }
                true
            }
            Mode::Recovery if complete || config.recovery == Recovery::Reno => {
                self.mode = Mode::Open;
                self.inflation = 0;
                self.force = false;
                true
            }
            Mode::Recovery if config.recovery.is_selective() => {
                self.board.mark_lost(config.dup_threshold, config.segment);
                true
            }
            Mode::Recovery => {
                // A partial acknowledgement (RFC 6582 §3.2, step 3).
                self.board.mark_first_lost();
                self.force = true;
                let segment = i64::from(config.segment);
                let bytes = taken.bytes as i64;
                self.inflation -= if bytes >= segment { bytes - segment } else { bytes };
                !core::mem::replace(&mut self.partial, true)
            }
        }
    }

    /// Handles a duplicate acknowledgement. Returns a loss event if fast recovery begins.
    fn on_duplicate(&mut self, now: Instant, config: &Config) -> Option<LossEvent> {
        self.dupacks += 1;
        let sack = config.recovery.is_selective();
        match self.mode {
            Mode::Loss => None,
            Mode::Recovery if sack => {
                self.board.mark_lost(config.dup_threshold, config.segment);
                None
            }
            Mode::Recovery => {
                self.inflation += i64::from(config.segment);
                None
            }
            Mode::Open => {
                let enough = self.dupacks >= config.dup_threshold;
                let lost = if sack {
                    enough || self.first_is_lost(config)
                } else {
                    self.dupacks == config.dup_threshold
                };
                if lost && self.may_recover(config) {
                    return Some(self.begin_recovery(now, config));
                }
                let lend = config.limited_transmit && !sack && !enough;
                self.inflation = if lend { i64::from(self.dupacks.min(2) * config.segment) } else { 0 };
                None
            }
        }
    }

    /// Applies rule (2) of RFC 6675 §5. The method does not mark losses, because recovery may not begin yet.
    fn first_is_lost(&mut self, config: &Config) -> bool {
        self.may_recover(config) && self.board.mark_lost(config.dup_threshold, config.segment)
    }

    /// Returns whether fast recovery may begin. Fast recovery may not begin for data sent before the last loss (RFC
    /// 6582 §3.2 step 1, RFC 6675 §5.1). For plain Reno, this restriction applies only after a timeout.
    fn may_recover(&self, config: &Config) -> bool {
        match config.recovery {
            // Only news count with SACK, so data sent before `recover` cannot be mistaken.
            Recovery::Sack | Recovery::Rack => self.recover.is_none_or(|recover| self.board.una >= recover),
            Recovery::Reno if !self.after_timeout => true,
            _ => self.recover.is_none_or(|recover| self.board.una > recover),
        }
    }

    fn begin_recovery(&mut self, now: Instant, config: &Config) -> LossEvent {
        let flight = self.board.outstanding() - self.limited;
        self.mode = Mode::Recovery;
        self.stats.fast_recoveries += 1;
        self.board.begin_recovery();
        self.board.mark_first_lost();
        self.inflation = match config.recovery {
            Recovery::Sack | Recovery::Rack => 0,
            _ => i64::from(config.dup_threshold) * i64::from(config.segment),
        };
        if config.fast_retransmit_restarts_timer {
            self.timer = Some(now + self.rto.value());
        }
        self.note_loss(false);
        // Reno's recovery ends with the first new acknowledgement.
        let highest = match config.recovery {
            Recovery::Reno => self.board.first(),
            _ => self.board.next() - 1,
        };
        LossEvent { flight, highest }
    }

    fn note_loss(&mut self, timeout: bool) {
        self.recover = Some(self.board.nxt);
        self.after_timeout = timeout;
        (self.partial, self.rescued, self.force) = (false, false, true);
        self.limited = 0;
        self.timed = None;
    }

    /// Handles the expiry of the retransmission timer. Returns a loss event if the window must shrink.
    pub(super) fn on_timeout(&mut self, now: Instant, config: &Config) -> Option<LossEvent> {
        self.timer = None;
        if self.phase == Phase::SynSent {
            self.phase = Phase::Opening;
            self.rto.back_off();
            return None;
        }
        if self.board.is_empty() {
            return None;
        }
        self.stats.timeouts += 1;
        if self.repeats == 0 {
            self.stats.first_timeouts += 1;
            self.stats.first_timeout_total += self.rto.value();
        }
        // Within slow start after a timeout only data sent since then are in flight.
        let flight = match self.mode {
            Mode::Loss => self.board.pipe,
            _ => self.board.outstanding() - self.limited,
        };
        // RFC 5681 §3.1: the threshold stays when the same segment times out again, and the window is already
        // one segment.
        let shrinks = self.repeats == 0 || config.backoff_cuts_ssthresh;
        self.repeats += 1;
        self.mode = Mode::Loss;
        (self.dupacks, self.inflation) = (0, 0);
        self.budget = u32::MAX;
        self.note_loss(true);
        self.board.mark_all_lost();
        self.rto.back_off();
        self.timer = Some(now + self.rto.value());
        shrinks.then(|| LossEvent { flight, highest: self.board.next() - 1 })
    }

    /// Closes the subflow. Calls the function `lost` with the data sequence number and length of undelivered data.
    pub(super) fn close(&mut self, mut lost: impl FnMut(u64, u32)) {
        for record in self.board.iter_mut().filter(|r| !r.reinjected) {
            lost(record.data_seq, record.len);
        }
        self.phase = Phase::Closed;
        self.timer = None;
        self.board = Scoreboard::default();
    }
}

//! Congestion window of one path (RFC 9260 §7.2): slow start, congestion avoidance, fast recovery, timeout, and decay
//! when idle.
//!
//! | words of the RFC | here |
//! |---|---|
//! | initial cwnd, §7.2.1 | [`Window::new`] |
//! | slow start, §7.2.1; congestion avoidance, §7.2.2 | [`Window::on_acked`] |
//! | ssthresh = max(cwnd/2, 4·MTU), §7.2.3 | [`Window::ssthresh_after_loss`] |
//! | ssthresh, cwnd = ssthresh, §7.2.3, and fast recovery of §7.2.4 | [`Window::on_fast_retransmit`] |
//! | a path that holds others up: no rule of the RFC | [`Window::on_penalty`] |
//! | T3-rtx: ssthresh, cwnd = 1·MTU, §7.2.3 | [`Window::on_timeout`] |
//! | idle path, §7.2.1 | [`Window::decay`] |
//! | losses that were none: RFC 4015 §3.2 | [`Window::undo`] |
//!
//! Schemes with other rules choose whether to change cwnd, ssthresh or both. After a timeout or an idle time, cwnd is
//! below ssthresh. The following choices then differ:
//!
//! | ssthresh becomes | cwnd becomes | |
//! |---|---|---|
//! | s | s | [`Window::set_ssthresh_and_cwnd`], as in §7.2.3: a window below s is raised |
//! | s | at most s | [`Window::cap_at_ssthresh`]: no window is raised |
//! | s | what it was | [`Window::set_ssthresh`] |
//! | what it was | w | [`Window::set_cwnd`] |
//!
//! "MTU" is the largest DATA chunk that fits a packet (PMDCS). The window counts as fully used if less than one MTU of
//! it was free, because a sender may leave this remainder unused.

use crate::policy::{AckInfo, Limit};
use crate::time::{Duration, Instant};
use crate::wire::serial::Tsn;

/// Value of ssthresh that no window reaches: "arbitrarily high" (RFC 9260 §7.2.1).
const NO_SSTHRESH: u64 = u64::MAX;
/// Smallest RTO that is used to count RTOs without a transmission.
const LEAST_RTO: Duration = Duration::from_millis(1);

/// Rule for the SACKs that count as progress and let a window grow.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Advance {
    /// Rule of RFC 9260: in slow start the cumulative TSN must advance (§7.2.1), and in congestion avoidance every SACK
    /// counts (§7.2.2).
    Cumulative,
    /// Rule of RFC 4960 §7.2: the cumulative TSN must advance in both phases.
    CumulativeAlways,
    /// Rule of CUC (cwnd update for CMT): in both phases the path's own earliest outstanding TSN must advance. This TSN
    /// may be an original or a retransmission.
    Pseudo,
}

/// Parameters of a congestion window. The defaults are those of RFC 9260.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct WindowConfig {
    /// Initial window in MTU. `None` means min(4·MTU, max(2·MTU, 4404 bytes)).
    pub initial_mtus: Option<u32>,
    /// Initial slow-start threshold in bytes. `None` means arbitrarily high.
    pub initial_ssthresh: Option<u64>,
    /// Minimum slow-start threshold in MTU after a halving.
    pub half_floor_mtus: u32,
    /// Rule for the SACKs that let the window grow.
    pub advance: Advance,
    /// If true, the window neither grows nor shrinks again during fast recovery.
    pub freeze_in_recovery: bool,
    /// If true, the limit L of growth per SACK in slow start is 1, for any number of bytes that a SACK acknowledges. If
    /// false, a SACK that acknowledges n packets counts as n/2 SACKs, because it replaces one SACK for every second
    /// packet. RFC 9260 §7.2.1 permits a larger L (see RFC 3465).
    pub strict: bool,
    /// If true, all acknowledged bytes count in slow start until a loss ends it. A fully used window then doubles in
    /// each round trip (RFC 3465 §2.2 without its limit L).
    pub doubles: bool,
}

impl Default for WindowConfig {
    fn default() -> Self {
        WindowConfig {
            initial_mtus: None,
            initial_ssthresh: None,
            half_floor_mtus: 4,
            advance: Advance::Cumulative,
            freeze_in_recovery: true,
            strict: false,
            doubles: false,
        }
    }
}

/// The congestion window of one path.
#[derive(Clone, PartialEq, Debug)]
pub struct Window {
    config: WindowConfig,
    mtu: u64,
    cwnd: u64,
    ssthresh: u64,
    /// The variable partial_bytes_acked of RFC 9260.
    acked: u64,
    /// TSN whose acknowledgement ends fast recovery.
    recovery: Option<Tsn>,
    /// Time of the last transmission, or the end of the last RTO for which the window was halved because nothing was
    /// sent.
    quiet_since: Option<Instant>,
    /// True if the window was halved since the last transmission.
    decaying: bool,
    /// True if a loss ended the first slow start. Later slow starts do not double the window.
    lost: bool,
}

impl Window {
    /// Creates the window of a path on which nothing was sent yet.
    pub fn new(config: WindowConfig, mtu: u64) -> Self {
        let mut window = Window {
            config,
            mtu,
            cwnd: 0,
            ssthresh: config.initial_ssthresh.unwrap_or(NO_SSTHRESH),
            acked: 0,
            recovery: None,
            quiet_since: None,
            decaying: false,
            lost: false,
        };
        window.cwnd = window.initial();
        window
    }

    fn initial(&self) -> u64 {
        match self.config.initial_mtus {
            Some(n) => u64::from(n.max(1)) * self.mtu,
            None => (4 * self.mtu).min((2 * self.mtu).max(4404)),
        }
    }

    /// Returns the slow-start threshold in bytes after a loss. The part `left` of the window remains. With `left` one
    /// half, this is RFC 9260 §7.2.3. The configured minimum applies.
    pub fn ssthresh_after_loss(&self, left: f64) -> u64 {
        let left = (self.cwnd as f64 * left.clamp(0.0, 1.0)) as u64;
        left.max(u64::from(self.config.half_floor_mtus) * self.mtu)
    }

    /// Returns whether a loss found by miss indications shrinks the window now. Such losses shrink the window once per
    /// round trip. If windows are not frozen in fast recovery, every such loss shrinks the window.
    #[inline]
    pub fn counts_loss(&self) -> bool {
        !(self.config.freeze_in_recovery && self.recovery.is_some())
    }

    /// Returns the congestion window in bytes.
    #[inline]
    pub fn cwnd(&self) -> u64 {
        self.cwnd
    }

    /// Returns the limits of the path for policies and the core.
    #[inline]
    pub fn limit(&self) -> Limit {
        let ssthresh = Some(self.ssthresh).filter(|s| *s != NO_SSTHRESH);
        Limit { cwnd: self.cwnd, ssthresh, pacing: None }
    }

    /// Returns whether the window is in fast recovery.
    #[inline]
    pub fn in_recovery(&self) -> bool {
        self.recovery.is_some()
    }

    /// Sets the path's MTU. A window that was never used is adapted to the new MTU.
    pub fn set_mtu(&mut self, mtu: u64) {
        if mtu != self.mtu {
            self.mtu = mtu;
            if self.quiet_since.is_none() {
                self.cwnd = self.initial();
            }
        }
    }

    /// Records that a packet was sent.
    #[inline]
    pub fn on_sent(&mut self, now: Instant, rto: Duration) {
        self.decay(now, rto);
        self.quiet_since = Some(now);
        self.decaying = false;
    }

    /// Applies the bytes of this path that a SACK acknowledged. `step` returns the bytes by which congestion avoidance
    /// grows the window once a whole window is acknowledged. In the RFC, they are one MTU. After a negative result of
    /// `step`, the window has at least one MTU.
    pub fn on_acked(&mut self, ack: &AckInfo, step: impl FnOnce() -> f64) {
        if ack.newly_acked > 0 && self.counts_loss() {
            self.grow(ack, step);
        }
        if ack.all_acked {
            self.acked = 0;
        }
        self.maybe_leave_recovery(ack, true);
    }

    /// Applies a SACK for another path, which may end fast recovery of this window.
    #[inline]
    pub fn on_acked_elsewhere(&mut self, ack: &AckInfo) {
        self.maybe_leave_recovery(ack, false);
    }

    fn grow(&mut self, ack: &AckInfo, step: impl FnOnce() -> f64) {
        let full = ack.flight_before.saturating_add(self.mtu) > self.cwnd;
        let pseudo = ack.pseudo_cum_advanced || ack.rtx_pseudo_cum_advanced;
        let (start, avoid) = match self.config.advance {
            Advance::Cumulative => (ack.cum_advanced, true),
            Advance::CumulativeAlways => (ack.cum_advanced, ack.cum_advanced),
            Advance::Pseudo => (pseudo, pseudo),
        };
        let overtaking = !ack.lateness.is_zero();
        let (start, avoid) = (start || overtaking, avoid || overtaking);
        if self.cwnd <= self.ssthresh {
            if full && start {
                let sacks = if self.config.strict { 1 } else { ack.newly_acked_chunks.div_ceil(2).max(1) };
                let most =
                    if self.config.doubles && !self.lost { u64::MAX } else { u64::from(sacks) * self.mtu };
                self.cwnd = self.cwnd.saturating_add(ack.newly_acked.min(most));
            }
        } else if avoid {
            self.acked = self.acked.saturating_add(ack.newly_acked);
            if !full {
                self.acked = self.acked.min(self.cwnd);
            } else if self.acked >= self.cwnd {
                // The window that was filled is the one before the growth.
                self.acked -= self.cwnd;
                let bytes = libm::floor(step() + 0.5) as i64;
                self.cwnd = self.cwnd.saturating_add_signed(bytes).max(self.mtu.min(self.cwnd));
            }
        }
    }

    fn maybe_leave_recovery(&mut self, ack: &AckInfo, own: bool) {
        let Some(exit) = self.recovery else { return };
        // With several paths, another path's gap must not keep this one in recovery.
        let passed = own
            && self.config.advance == Advance::Pseudo
            && ack.earliest_outstanding.is_none_or(|t| t.is_after(exit));
        if passed || !ack.cum_tsn.is_before(exit) {
            self.recovery = None;
        }
    }

    /// Handles a loss found by miss indications. The lost chunk is the first of a new window. `ssthresh` is usually
    /// [`Window::ssthresh_after_loss`]. `highest` is the highest TSN in flight on the path. Fast recovery lasts until
    /// this TSN is acknowledged. The call has no effect while losses do not count ([`Window::counts_loss`]).
    pub fn on_fast_retransmit(&mut self, ssthresh: u64, highest: Tsn) {
        if self.counts_loss() {
            self.set_ssthresh_and_cwnd(ssthresh);
            self.enter_recovery(highest);
        }
    }

    /// Handles a penalty: data in flight on the path prevent a faster path from sending. The window is then at most
    /// `ssthresh`, which is usually [`Window::ssthresh_after_loss`]. The reduced window does not grow until the highest
    /// TSN in flight is acknowledged. The call has no effect while losses do not count ([`Window::counts_loss`]).
    pub fn on_penalty(&mut self, ssthresh: u64, highest: Tsn) {
        if self.counts_loss() {
            self.cap_at_ssthresh(ssthresh);
            self.enter_recovery(highest);
        }
    }

    /// Handles the expiry of T3-rtx. The window becomes one MTU. Slow start lasts until it reaches `ssthresh`, which is
    /// usually [`Window::ssthresh_after_loss`].
    pub fn on_timeout(&mut self, ssthresh: u64) {
        self.set_ssthresh_and_cwnd(ssthresh);
        self.cwnd = self.mtu;
        self.recovery = None;
    }

    /// Reverses the effect of spurious losses. Threshold and window become at least as large as `before` the losses,
    /// and fast recovery ends (RFC 4015 §3.2).
    pub fn undo(&mut self, before: &Limit) {
        self.ssthresh = self.ssthresh.max(before.ssthresh.unwrap_or(NO_SSTHRESH));
        self.cwnd = self.cwnd.max(before.cwnd);
        (self.recovery, self.lost) = (None, self.ssthresh < NO_SSTHRESH);
    }

    /// Sets threshold and window to `ssthresh`, even if the window was smaller (RFC 9260 §7.2.3). Resets the count of
    /// acknowledged bytes for growth.
    pub fn set_ssthresh_and_cwnd(&mut self, ssthresh: u64) {
        (self.ssthresh, self.cwnd, self.acked) = (ssthresh, ssthresh, 0);
        self.lost = true;
    }

    /// Sets the threshold to `ssthresh`. A larger window is reduced to it. Resets the count of acknowledged bytes for
    /// growth.
    pub fn cap_at_ssthresh(&mut self, ssthresh: u64) {
        self.set_ssthresh_and_cwnd(ssthresh.min(self.cwnd));
        self.ssthresh = ssthresh;
    }

    /// Sets the slow-start threshold. The window does not change.
    pub fn set_ssthresh(&mut self, ssthresh: u64) {
        self.ssthresh = ssthresh;
    }

    /// Sets the congestion window. The threshold, and the count of acknowledged bytes for growth, do not change.
    pub fn set_cwnd(&mut self, cwnd: u64) {
        self.cwnd = cwnd;
    }

    /// Begins fast recovery, which lasts until TSN `highest` is acknowledged.
    pub fn enter_recovery(&mut self, highest: Tsn) {
        self.recovery = Some(highest);
    }

    /// Handles a path that is active again after it was inactive or potentially failed. The window becomes two MTU, so
    /// that the peer acknowledges immediately. RFC 7829 §4.2 permits one or two MTU.
    pub fn restart(&mut self) {
        self.cwnd = 2 * self.mtu;
        self.acked = 0;
        self.recovery = None;
    }

    /// Halves the window for each RTO in which nothing was sent, to no less than 4 MTU (RFC 9260 §7.2.1).
    #[inline]
    pub fn decay(&mut self, now: Instant, rto: Duration) {
        if let Some(since) = self.quiet_since.filter(|_| self.decays(now, rto)) {
            self.halve(now, since, rto.max(LEAST_RTO));
        }
    }

    /// Returns whether an idle time of at least one RTO has passed. The idle time is measured from the last
    /// transmission, or from the last RTO for which [`Window::decay`] has already halved the window. [`Window::decay`]
    /// then halves the window.
    #[inline]
    pub fn decays(&self, now: Instant, rto: Duration) -> bool {
        self.quiet_since.is_some_and(|since| now - since >= rto.max(LEAST_RTO))
    }

    /// Halves the window, because nothing was sent for at least `rto`.
    fn halve(&mut self, now: Instant, since: Instant, rto: Duration) {
        let silences = ((now - since).as_nanos() / rto.as_nanos()).min(64) as u32;
        if !self.decaying {
            // Slow start ends at the window that the path has carried. The initial window shows nothing about a path.
            if self.cwnd > self.initial() || self.ssthresh != NO_SSTHRESH {
                self.ssthresh = self.cwnd;
            }
            (self.decaying, self.lost) = (true, false);
        }
        for _ in 0..silences {
            self.cwnd = self.cwnd.min((self.cwnd / 2).max(4 * self.mtu));
        }
        self.quiet_since = Some(if silences == 64 { now } else { since + rto * silences });
    }
}

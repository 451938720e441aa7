//! HyStart++ (RFC 9406): the first slow start ends when round-trip times rise. It thus ends before a burst of losses.
//!
//! | RFC 9406 | here |
//! |---|---|
//! | §4.2 rounds, windowEnd, lastRoundMinRTT, currentRoundMinRTT | [`HyStart::count`] |
//! | §4.2 exit to conservative slow start (CSS), return to slow start | [`HyStart::judge`] |
//! | §4.2 growth in CSS divided by CSS_GROWTH_DIVISOR | [`HyStart::pace`] |
//! | §4.3 constants | below |

use strandcast_proto::policy::AckInfo;
use strandcast_proto::time::Duration;
use strandcast_proto::wire::Tsn;

const MIN_RTT_THRESH: Duration = Duration::from_millis(4);
const MAX_RTT_THRESH: Duration = Duration::from_millis(16);
const MIN_RTT_DIVISOR: u32 = 8;
const N_RTT_SAMPLE: u32 = 8;
const CSS_GROWTH_DIVISOR: f64 = 4.0;
const CSS_ROUNDS: u32 = 5;

/// Watches the first slow start of a path.
#[derive(Clone, Debug, Default)]
pub(super) struct HyStart {
    /// SND.NXT.
    next: Option<Tsn>,
    /// Sequence number whose acknowledgement ends the round.
    window_end: Option<Tsn>,
    last_min: Option<Duration>,
    current_min: Option<Duration>,
    samples: u32,
    css: Option<Css>,
}

#[derive(Clone, Debug)]
struct Css {
    /// cssBaselineMinRtt.
    baseline: Duration,
    /// Number of rounds that ended in conservative slow start (CSS).
    rounds: u32,
}

impl HyStart {
    pub fn on_sent(&mut self, sequence: Tsn) {
        if self.next.is_none_or(|n| !sequence.is_before(n)) {
            self.next = Some(sequence.next());
            self.window_end = self.window_end.or(self.next);
        }
    }

    /// Handles an ACK in slow start. Returns the share of the window's growth that HyStart++ allows.
    pub fn pace(&mut self, ack: &AckInfo) -> f64 {
        self.count(ack);
        self.judge();
        if self.css.is_some() { 1.0 / CSS_GROWTH_DIVISOR } else { 1.0 }
    }

    /// Returns whether conservative slow start has lasted long enough. Congestion avoidance then begins.
    pub fn over(&self) -> bool {
        self.css.as_ref().is_some_and(|css| css.rounds >= CSS_ROUNDS)
    }

    fn count(&mut self, ack: &AckInfo) {
        let highest = ack.newly_acked_range.map(|(_, high)| high);
        let ended = self.window_end.is_some_and(|end| highest.is_some_and(|h| !h.next().is_before(end)));
        if ended {
            self.last_min = self.current_min;
            (self.current_min, self.samples) = (None, 0);
            self.window_end = self.next;
            if let Some(css) = &mut self.css {
                css.rounds += 1;
            }
        }
        if let Some(rtt) = ack.rtt {
            self.current_min = Some(self.current_min.map_or(rtt, |m| m.min(rtt)));
            self.samples += 1;
        }
    }

    fn judge(&mut self) {
        let Some(current) = self.current_min.filter(|_| self.samples >= N_RTT_SAMPLE) else { return };
        if let Some(css) = &self.css {
            if current < css.baseline {
                self.css = None;
            }
        } else if let Some(last) = self.last_min
            && current >= last + (last / MIN_RTT_DIVISOR).clamp(MIN_RTT_THRESH, MAX_RTT_THRESH)
        {
            self.css = Some(Css { baseline: current, rounds: 0 });
        }
    }
}

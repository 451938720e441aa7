//! State of one path at its receiver: rounds, and the rate that follows from them.

use strandcast_proto::time::{Duration, Instant};

use super::equations::{Most, RateConfig, Round, RoundTrip, STEP, Smoothed};
use crate::estimate::tear::{Sequence, SequencePosition, Tear};

/// Least time between two feedbacks.
const MIN_PAUSE: Duration = Duration::from_millis(10);
/// Time in seconds after which a feedback without effect is repeated. The time applies while no round-trip time is
/// known, and is RTO.Initial.
const INITIAL_RTO: f64 = 1.0;
/// Least share of the requested rate that must arrive. If less arrives, the application had no more data.
const USED: f64 = 0.7;
/// Share of the capacity that two probes have measured. The product of this share and the capacity counts as the rate
/// of the path.
const OF_CAPACITY: f64 = 0.8;
/// Largest rate of a path as a multiple of its last rate as primary path. Also the time for which that last rate
/// counts.
const OF_FORMER: (f64, Duration) = (1.5, Duration::from_secs(10));
/// Greatest requested rate of a path, as a multiple of the greatest rate received lately.
const OF_RECEIVED: f64 = 2.0;
/// Spacing of packets in seconds. A shorter spacing is caused by the host and not by the path.
const MIN_SPACING: f64 = 1e-6;
/// Least rate in bytes per second.
const MIN_RATE: f64 = 1.0;
/// Least round-trip time in seconds.
const MIN_RTT: f64 = 1e-6;

/// Report to the sender. The report contains the rate, and the round that begins when the sender uses this rate.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct Grant {
    /// Round that begins with the report.
    pub round: u32,
    /// Rate in bytes per second. `None` if it is unknown.
    pub rate: Option<f64>,
}

/// Grant that was reported.
#[derive(Copy, Clone, Debug)]
struct Given {
    round: u32,
    at: Instant,
    asked: Option<f64>,
    /// True if the time until the round begins counts as a round trip.
    sample: bool,
}

/// Arrivals in the round so far.
#[derive(Copy, Clone, Default, Debug)]
struct Counts {
    packets: u32,
    bytes: u64,
    missing: u32,
    /// True if the delayed response timer expired.
    timed_out: bool,
    /// True if the sender had no data to send for a while.
    quiet: bool,
}

/// Times between packets with data, seconds.
#[derive(Copy, Clone, Default, Debug)]
struct Spacing {
    mean: f64,
    deviation: f64,
}

impl Spacing {
    fn push(&mut self, gap: f64) {
        if self.mean <= 0.0 {
            *self = Spacing { mean: gap, deviation: gap / 2.0 };
            return;
        }
        self.deviation += ((gap - self.mean).abs() - self.deviation) / 4.0;
        self.mean += (gap - self.mean) / 8.0;
    }
}

/// The receiver's rate of one path.
#[derive(Clone, Debug)]
pub struct PathRate {
    config: RateConfig,
    /// True if the path carries the data.
    primary: bool,
    sequence: Sequence,
    tear: Tear,
    trip: RoundTrip,
    /// Rate of eq. 4 in bytes per second.
    rate: Option<f64>,
    smoothed: Smoothed,
    most: Most,
    /// Average loss rate.
    loss: f64,
    round: Option<u32>,
    began: Instant,
    counts: Counts,
    /// Number of packets in the last round, and their mean size in bytes.
    last_packets: u32,
    packet_bytes: f64,
    given: Option<Given>,
    wanted: bool,
    last_received: Option<Instant>,
    data_at: Option<Instant>,
    deadline: Option<Instant>,
    spacing: Spacing,
    /// True if the sender reported that it has no data to send.
    quiet: bool,
    /// True if the delayed response timer expired and no packet has arrived since.
    silent: bool,
    /// True if data left the path because of its silence, and no packet has arrived on it since.
    lost: bool,
    /// Number of the last packet. If it was a probe, also its time of arrival.
    probe: (u32, Option<Instant>),
    capacity: Option<f64>,
    /// Rate at which the path last carried the data, and the time at which it stopped.
    former: Option<(f64, Instant)>,
}

impl PathRate {
    /// Makes the state of a path on which nothing has arrived.
    pub fn new(config: RateConfig) -> Self {
        PathRate {
            config,
            primary: false,
            sequence: Sequence::default(),
            tear: Tear::default(),
            trip: RoundTrip::default(),
            rate: None,
            smoothed: Smoothed::new(config.history),
            most: Most::default(),
            loss: 0.0,
            round: None,
            began: Instant::ZERO,
            counts: Counts::default(),
            last_packets: 1,
            packet_bytes: 0.0,
            given: None,
            wanted: false,
            last_received: None,
            data_at: None,
            deadline: None,
            spacing: Spacing::default(),
            quiet: false,
            silent: false,
            lost: false,
            probe: (0, None),
            capacity: None,
            former: None,
        }
    }

    /// Rate_e: the smoothed rate, bytes per second.
    pub fn rate(&self) -> Option<f64> {
        self.smoothed.value()
    }

    /// Round-trip times, measured by rounds.
    pub fn trip(&self) -> &RoundTrip {
        &self.trip
    }

    /// State of TEAR on the path.
    pub fn tear(&self) -> &Tear {
        &self.tear
    }

    /// Mean size of the last packets, bytes.
    pub fn packet_bytes(&self) -> f64 {
        self.packet_bytes
    }

    /// Last arrival of a packet with a label.
    pub fn last_received(&self) -> Option<Instant> {
        self.last_received
    }

    /// Returns whether the path timed out and no packet has arrived since.
    pub fn is_silent(&self) -> bool {
        self.silent
    }

    /// Returns whether data left the path because of its silence, which still lasts.
    pub fn is_lost(&self) -> bool {
        self.lost
    }

    /// Marks the path as lost until a packet arrives. Data take other paths because nothing arrives by this path.
    pub fn lose(&mut self) {
        self.lost = true;
    }

    /// Records that a packet with this round and number arrived. If the packet had data or padding, a call of
    /// [`PathRate::arrived`] follows. Returns true if the packet is the first one of its round.
    pub fn label(&mut self, now: Instant, round: u32, number: u32) -> bool {
        let first = self.round.is_none_or(|r| round.wrapping_sub(r) as i32 > 0);
        // Packets that are missing before the first packet of a round belong to the previous round.
        let place = self.sequence.place(number);
        match place {
            SequencePosition::Next => {}
            SequencePosition::Beyond(missing) => {
                self.counts.missing = self.counts.missing.saturating_add(missing)
            }
            SequencePosition::Late => self.counts.missing = self.counts.missing.saturating_sub(1),
        }
        if first {
            self.begin(now, round);
        }
        self.tear.arrived(place);
        if number != self.probe.0.wrapping_add(1) || first {
            self.probe.1 = None;
        }
        self.probe.0 = number;
        self.last_received = Some(now);
        self.lost = false;
        first
    }

    /// Records that `bytes` of data or padding arrived.
    pub fn arrived(&mut self, now: Instant, bytes: u64, probe: bool) {
        self.counts.packets = self.counts.packets.saturating_add(1);
        self.counts.bytes = self.counts.bytes.saturating_add(bytes);
        if probe {
            let spacing = self.probe.1.map(|t| (now - t).as_secs_f64());
            let half_trip = self.trip.rtt().map_or(INITIAL_RTO, |r| r / 2.0);
            if let Some(s) = spacing.filter(|s| (MIN_SPACING..half_trip).contains(s)) {
                let shown = bytes as f64 / s;
                self.capacity = Some(self.capacity.map_or(shown, |c| c + (shown - c) / 4.0));
            }
            self.probe.1 = Some(now);
        } else {
            if let Some(last) = self.data_at.filter(|_| !self.quiet && !self.silent) {
                self.spacing.push((now - last).as_secs_f64());
            }
            self.data_at = Some(now);
            (self.quiet, self.silent) = (false, false);
            self.deadline = self.silence_limit().map(|d| now + d);
        }
    }

    /// Begins a round with its first packet. The previous round ends, and the round-trip time is measured.
    fn begin(&mut self, now: Instant, round: u32) {
        if let Some(given) = self.given.filter(|g| g.round == round && g.sample) {
            let sample = (now - given.at).as_secs_f64();
            // Before they are sent, data wait for half a pause on average. Probes are sent at once.
            let pause = given.asked.filter(|_| self.primary).map_or(0.0, |rate| self.packet_bytes / rate);
            self.trip.sample((sample - pause.min(sample) / 2.0).max(MIN_RTT));
        }
        if self.round.is_some() {
            self.close(now);
        }
        self.tear.round();
        self.round = Some(round);
        self.began = now;
        self.counts = Counts::default();
        self.wanted = true;
    }

    fn close(&mut self, now: Instant) {
        let Counts { packets, bytes, missing, timed_out, quiet } = self.counts;
        if packets > 0 {
            (self.last_packets, self.packet_bytes) = (packets, bytes as f64 / f64::from(packets));
        }
        let Some(rtt) = self.trip.rtt().filter(|_| packets > 0) else { return };
        let sent = f64::from(packets) + f64::from(missing);
        self.loss += self.config.loss_gain * (f64::from(missing) / sent - self.loss);
        let congested = missing > 0 && self.loss >= self.config.threshold;
        if timed_out {
            return;
        }
        let packet_bytes = self.packet_bytes;
        let next = if self.primary {
            // The round may have lasted longer than a round trip, because feedback waits for a SACK.
            let lasted = (now - self.began).as_secs_f64().max(rtt / 2.0);
            let packets = f64::from(packets) * rtt / lasted;
            let growth = if self.tear.slow_start() { packets } else { STEP };
            let round = Round { packets, packet_bytes, rtt, growth, congested };
            if !quiet || round.received() > self.most.get() {
                self.most.push(now, round.received());
            }
            self.carried(&round, missing, quiet)
        } else {
            let round = Round { packets: self.tear.window(), packet_bytes, rtt, growth: 0.0, congested };
            Some(self.trusted(now, self.rate.map_or(round.received(), |before| round.rate(before))))
        };
        if let Some(rate) = next {
            self.push(rate.max(packet_bytes / rtt));
        }
    }

    /// Rate after a round with data. `None` if the rate does not change.
    fn carried(&self, round: &Round, missing: u32, quiet: bool) -> Option<f64> {
        let Some(before) = self.rate else {
            return (!quiet && !self.tear.slow_start()).then(|| round.received());
        };
        let asked = self.given.and_then(|g| g.asked).unwrap_or(0.0);
        if missing == 0 && round.received() < USED * asked {
            return None;
        }
        let next = round.rate(before);
        let most = OF_RECEIVED * self.most.get();
        match quiet {
            // If the source limits the sender, the received rate is not an upper bound. A loss halves the rate in any
            // case.
            true if round.congested => Some(next),
            true => Some(next.min(most)).filter(|next| *next > before),
            false => Some(next.min(most)),
        }
    }

    /// Limits a rate of a path without data to the part that counts.
    fn trusted(&self, now: Instant, rate: f64) -> f64 {
        let capacity = self.capacity.map(|c| OF_CAPACITY * c);
        let recent = self.former.filter(|(_, at)| now - *at < OF_FORMER.1);
        let former = recent.map(|(rate, _)| OF_FORMER.0 * rate);
        [capacity, former].into_iter().flatten().fold(rate, f64::min)
    }

    fn push(&mut self, rate: f64) {
        let rate = rate.max(MIN_RATE);
        self.rate = Some(rate);
        self.smoothed.push(rate);
    }

    /// Returns the grant to send now, if one is due. A grant is due once per round, and again if it had no effect.
    pub fn grant(&mut self, now: Instant) -> Option<Grant> {
        let round = self.round?.wrapping_add(1);
        let since = self.given.map(|g| (now - g.at).as_secs_f64());
        let overdue = self.given.is_some_and(|g| g.round == round)
            && since.is_some_and(|s| s > self.trip.rto().unwrap_or(INITIAL_RTO));
        let early = since.is_some_and(|s| s < MIN_PAUSE.as_secs_f64());
        if early || !(self.wanted || overdue) {
            return None;
        }
        let again = self.given.is_some_and(|g| g.round == round);
        let rate = self.rate();
        // After a silence, an arrival does not answer this grant.
        let sample = !again && !self.quiet;
        self.given = Some(Given { round, at: now, asked: rate, sample });
        self.wanted = false;
        Some(Grant { round, rate })
    }

    /// Time at which a silence becomes a timeout. The delayed response timer determines it.
    pub fn deadline(&self) -> Option<Instant> {
        self.deadline.filter(|_| self.primary && !self.quiet && !self.silent)
    }

    /// Longest time for which silence may last after this packet.
    fn silence_limit(&self) -> Option<Duration> {
        let window = 2.0 * f64::from(self.last_packets) * self.spacing.mean + 4.0 * self.spacing.deviation;
        Some(seconds(window.max(self.trip.rtt()?)))
    }

    /// Time at which the path counts as dead if nothing arrives. The time is two round trips.
    pub fn dead_at(&self) -> Option<Instant> {
        Some(self.data_at? + seconds(2.0 * self.trip.rtt()?))
    }

    /// Records that nothing arrived before [`PathRate::deadline`].
    pub fn timed_out(&mut self) {
        self.tear.timed_out();
        (self.counts.timed_out, self.silent) = (true, true);
        self.wanted = true;
        self.spoil();
        if let (Some(before), Some(rtt)) = (self.rate, self.trip.rtt()) {
            let (packets, packet_bytes) = (f64::from(self.counts.packets), self.packet_bytes);
            let round = Round { packets, packet_bytes, rtt, growth: 0.0, congested: true };
            self.push(round.rate(before).max(packet_bytes / rtt));
        }
    }

    /// Records that the sender has no data to send. Silence then shows nothing about the path, and the received rate is
    /// not the path's capacity. Probes still arrive on a path that carries no data.
    pub fn quiet(&mut self) {
        (self.quiet, self.counts.quiet) = (self.primary, self.primary);
        self.spoil();
    }

    fn spoil(&mut self) {
        if let Some(given) = &mut self.given {
            given.sample = false;
        }
    }

    /// Records that the path carries the data from now on. If the order to the sender contained a rate, `rate` is that
    /// rate.
    pub fn take_over(&mut self, rate: Option<f64>) {
        self.primary = true;
        (self.quiet, self.silent) = (false, false);
        (self.counts.timed_out, self.counts.quiet) = (false, false);
        (self.data_at, self.deadline) = (None, None);
        if let Some(rate) = rate {
            self.smoothed.clear();
            self.push(rate);
            if let Some(given) = &mut self.given {
                given.asked = Some(rate);
            }
        }
        if let (Some(rate), Some(rtt)) = (self.rate(), self.trip.rtt())
            && self.packet_bytes > 0.0
        {
            let pause = self.packet_bytes / rate;
            self.spacing = Spacing { mean: pause, deviation: pause / 2.0 };
            self.last_packets = (rtt / pause.max(MIN_SPACING)).clamp(1.0, 1e6) as u32;
            self.tear.resume(rtt / pause.max(MIN_SPACING));
        }
    }

    /// Records that data now take another path.
    pub fn step_down(&mut self, now: Instant) {
        self.primary = false;
        self.lost |= self.silent;
        (self.quiet, self.silent) = (false, false);
        self.counts = Counts::default();
        self.former = self.rate().map(|rate| (rate, now));
        if let (Some(rate), Some(rtt)) = (self.rate(), self.trip.rtt())
            && self.packet_bytes > 0.0
        {
            self.tear.resume(rate * rtt / self.packet_bytes);
        }
    }
}

/// Duration of `s` seconds. If `s` is invalid, the longest duration.
fn seconds(s: f64) -> Duration {
    Duration::try_from_secs_f64(s).unwrap_or(Duration::MAX)
}

//! Background load: Pareto on/off sources that send packets by TCP and UDP.

use core::time::Duration;

use strandcast_netem::link::Count;
use strandcast_proto::seeds::{Random, Seeds};
use strandcast_proto::time::Instant;

use super::Level;
use super::law::Pareto;

const BITS_PER_BYTE: f64 = 8.0;
const NANOS_PER_S: f64 = 1e9;

/// Pareto on/off sources that share a load.
#[derive(Clone, Debug, PartialEq)]
pub struct BackgroundLoad {
    /// Fraction of packets sent by TCP; the others leave by UDP.
    pub tcp_share: f64,
    /// Packet sizes. Their order affects the random draws.
    pub sizes: Vec<PacketSize>,
    /// Mean time on.
    pub on: Duration,
    /// Mean time off.
    pub off: Duration,
    /// Pareto shape.
    pub shape: f64,
    /// Independent sources that share the load.
    pub sources: u32,
}

/// A packet size of background load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PacketSize {
    /// Bytes at IP level.
    pub bytes: u32,
    /// Fraction of packets; fractions are scaled to add up to 1.
    pub share: f64,
}

/// An event of background load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BackgroundEvent {
    /// A packet is offered.
    Packet {
        /// Time.
        at: Instant,
        /// Bytes at IP level.
        bytes: u32,
        /// Protocol.
        via: Via,
    },
    /// The load is redrawn: unsent TCP data must be dropped. The first event of all is such a draw.
    Redraw {
        /// Time.
        at: Instant,
        /// Mean load from now on, as a fraction of the link's rate.
        load: f64,
    },
}

/// Carrier of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Via {
    /// The TCP connection.
    Tcp,
    /// Datagrams.
    Udp,
}

/// Packets offered since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Offered {
    /// Packets offered to TCP.
    pub tcp: Count,
    /// Packets offered to UDP.
    pub udp: Count,
}

/// Iterator over the packets of on/off sources with Pareto times, in order of time. The sources share a load, which is
/// redrawn from time to time.
///
/// During a burst, a source sends packets at equal intervals, each with a drawn size. Its rate during a burst is (on +
/// off)/on times its fraction of the load. On and off times do not depend on the load. A change of the load does not
/// interrupt these times, nor the remainder of an interval. At the start, a source is in the state of a source that has
/// always run. The expected bytes between any two times therefore equal the load exactly, for small and large loads:
/// bursts are not rounded to whole packets, the scale of the distribution compensates for the cut of long times, and no
/// warm-up is needed.
#[derive(Debug)]
pub struct BackgroundSource {
    load: Box<dyn Level>,
    /// Rate of one source during a burst at a load of 1, bit/s.
    peak_bps: f64,
    sizes: Sizes,
    tcp_share: f64,
    bursts: Vec<Burst>,
    size_draws: Random,
    via_draws: Random,
    /// True if a new draw of the load is due.
    redraw: bool,
    /// End of the present load, and end of all loads.
    until: Instant,
    stop: Instant,
    /// Interval between packets of a source that is on.
    interval_ns: f64,
    offered: Offered,
}

impl BackgroundSource {
    /// Creates the source that `background` describes, for a link of `link_rate_bps`, from `start` on and before
    /// `stop`. `load` is its fraction of the link's rate, at the start and at every change. All other numbers are drawn
    /// from streams of `seeds`.
    ///
    /// # Panics
    /// If the Pareto shape is not above 1.
    pub fn new(
        background: &BackgroundLoad,
        load: Box<dyn Level>,
        link_rate_bps: f64,
        seeds: &Seeds,
        start: Instant,
        stop: Instant,
    ) -> Self {
        let (on, off) = (background.on.as_nanos() as f64, background.off.as_nanos() as f64);
        let sources = background.sources.max(1);
        // A source without on times or off times never changes its state: such sources are always on.
        let law = (on > 0.0 && off > 0.0).then(|| {
            let [on_law, off_law] = [on, off].map(|mean| Pareto::new(mean, background.shape));
            OnOffLaw { on: on_law, off: off_law, share: on / (on + off) }
        });
        let share_on = law.map_or(1.0, |law| law.share);
        BackgroundSource {
            load,
            peak_bps: link_rate_bps / share_on / f64::from(sources),
            sizes: Sizes::new(&background.sizes),
            tcp_share: background.tcp_share,
            bursts: (0..sources)
                .map(|i| Burst::new(law, seeds.stream(&format!("burst/{i}")), start))
                .collect(),
            size_draws: seeds.stream("size"),
            via_draws: seeds.stream("via"),
            redraw: true,
            until: start,
            stop,
            interval_ns: f64::INFINITY,
            offered: Offered::default(),
        }
    }

    /// Number of packets offered.
    pub fn offered(&self) -> Offered {
        self.offered
    }

    fn redraw(&mut self) -> BackgroundEvent {
        let at = self.until;
        let load = self.load.at(at);
        let packet_bits = BITS_PER_BYTE * self.sizes.mean();
        let interval_ns = packet_bits * NANOS_PER_S / (load * self.peak_bps);
        // A load of zero or an invalid load gives no packets.
        self.interval_ns = if interval_ns > 0.0 { interval_ns } else { f64::INFINITY };
        self.until =
            self.load.next_change(at).filter(|&change| change > at).unwrap_or(self.stop).min(self.stop);
        for burst in &mut self.bursts {
            burst.advance(self.interval_ns, self.until);
        }
        self.redraw = false;
        BackgroundEvent::Redraw { at, load }
    }

    fn packet(&mut self, at: Instant) -> BackgroundEvent {
        let bytes = self.sizes.sample(&mut self.size_draws);
        let via = if self.via_draws.chance(self.tcp_share) { Via::Tcp } else { Via::Udp };
        let count = match via {
            Via::Tcp => &mut self.offered.tcp,
            Via::Udp => &mut self.offered.udp,
        };
        *count += Count { packets: 1, bytes: u64::from(bytes) };
        BackgroundEvent::Packet { at, bytes, via }
    }
}

impl Iterator for BackgroundSource {
    type Item = BackgroundEvent;

    fn next(&mut self) -> Option<BackgroundEvent> {
        if self.redraw {
            return (self.until < self.stop).then(|| self.redraw());
        }
        let first =
            self.bursts.iter_mut().filter(|burst| burst.packet.is_some()).min_by_key(|burst| burst.packet);
        let Some((at, burst)) = first.and_then(|burst| Some((burst.packet?, burst))) else {
            self.redraw = true;
            return self.next();
        };
        burst.advance(self.interval_ns, self.until);
        Some(self.packet(at))
    }
}

/// Distributions of one source's times, in nanoseconds.
#[derive(Clone, Copy, Debug)]
struct OnOffLaw {
    on: Pareto,
    off: Pareto,
    /// Fraction of time for which the source is on.
    share: f64,
}

/// One on/off source.
#[derive(Debug)]
struct Burst {
    /// Distribution of its times; `None` for a source that is always on.
    law: Option<OnOffLaw>,
    random: Random,
    on: bool,
    /// Time up to which the source has advanced.
    at: Instant,
    /// Time at which the source changes between burst and silence next.
    turn: Instant,
    /// Burst time until the next packet, in intervals.
    need: f64,
    /// Time of the next packet, if the load does not change before.
    packet: Option<Instant>,
}

impl Burst {
    fn new(law: Option<OnOffLaw>, mut random: Random, start: Instant) -> Self {
        let need = random.unit();
        let (on, turn) = match law {
            None => (true, Instant::MAX),
            Some(law) => {
                let on = random.chance(law.share);
                let left_ns = if on { law.on } else { law.off }.residual(&mut random);
                (on, start + nanos(left_ns))
            }
        };
        Burst { law, random, on, at: start, turn, need, packet: None }
    }

    /// Advances to the next packet, but not to `until`.
    fn advance(&mut self, interval_ns: f64, until: Instant) {
        self.packet = None;
        loop {
            let end = self.turn.min(until);
            if self.on {
                let (need_ns, left_ns) = (self.need * interval_ns, (end - self.at).as_nanos() as f64);
                if need_ns < left_ns {
                    let whole_ns = need_ns.floor();
                    self.at += nanos(whole_ns);
                    self.need = 1.0 + (need_ns - whole_ns) / interval_ns;
                    self.packet = Some(self.at);
                    return;
                }
                self.need = (self.need - left_ns / interval_ns).max(0.0);
            }
            self.at = end;
            if end >= until {
                return;
            }
            if let Some(law) = &self.law {
                self.on = !self.on;
                self.turn = end + nanos(if self.on { law.on } else { law.off }.sample(&mut self.random));
            }
        }
    }
}

fn nanos(ns: f64) -> Duration {
    // Casts saturate.
    Duration::from_nanos(ns as u64)
}

/// Packet sizes with their frequencies.
#[derive(Debug)]
struct Sizes {
    /// Bytes, and the cumulative fraction up to this size.
    sizes: Vec<(u32, f64)>,
    total: f64,
}

impl Sizes {
    fn new(sizes: &[PacketSize]) -> Self {
        let mut total = 0.0;
        let add = |size: &PacketSize| {
            total += size.share;
            (size.bytes, total)
        };
        let sizes = sizes.iter().map(add).collect();
        Sizes { sizes, total }
    }

    /// Mean bytes of a packet.
    fn mean(&self) -> f64 {
        let mut below = 0.0;
        let weigh = |&(bytes, up_to): &(u32, f64)| {
            let share = up_to - core::mem::replace(&mut below, up_to);
            f64::from(bytes) * share
        };
        self.sizes.iter().map(weigh).sum::<f64>() / self.total
    }

    fn sample(&self, random: &mut Random) -> u32 {
        let point = random.unit() * self.total;
        let size = self.sizes.iter().find(|(_, up_to)| point < *up_to).or(self.sizes.last());
        size.map_or(0, |&(bytes, _)| bytes)
    }
}

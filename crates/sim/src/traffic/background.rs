//! Background load: on/off sources with Pareto times, which send packets by TCP and UDP.

use core::time::Duration;

use strandcast_netem::link::Count;
use strandcast_proto::seeds::{Random, Seeds};
use strandcast_proto::time::Instant;

use super::Level;
use super::law::Pareto;

const BITS_PER_BYTE: f64 = 8.0;
const NANOS_PER_S: f64 = 1e9;

/// On/off sources with Pareto times that share a load.
#[derive(Clone, Debug, PartialEq)]
pub struct BackgroundLoad {
    /// Fraction of packets sent by TCP. The other packets are sent by UDP.
    pub tcp_share: f64,
    /// Sizes of packets. The order of the sizes affects the random numbers.
    pub sizes: Vec<PacketSize>,
    /// Mean on time of a source.
    pub on: Duration,
    /// Mean off time of a source.
    pub off: Duration,
    /// Shape of the Pareto distribution.
    pub shape: f64,
    /// Number of independent sources that share the load.
    pub sources: u32,
}

/// A size of background packets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PacketSize {
    /// Bytes at IP level.
    pub bytes: u32,
    /// Fraction of packets with this size. The fractions are scaled so that their sum is 1.
    pub share: f64,
}

/// An event of background load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BackgroundEvent {
    /// A packet is offered to a transport.
    Packet {
        /// Time at which the packet is offered.
        at: Instant,
        /// Bytes at IP level.
        bytes: u32,
        /// Protocol that carries the packet.
        via: Via,
    },
    /// The load is drawn again. Unsent TCP data must be dropped. The first event of a source is such a draw.
    Redraw {
        /// Time of the draw.
        at: Instant,
        /// Mean load from now on, as a fraction of the link's rate.
        load: f64,
    },
}

/// Protocol that carries a background packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Via {
    /// The packet is sent on the TCP connection.
    Tcp,
    /// The packet is sent as a UDP datagram.
    Udp,
}

/// Numbers of packets that were offered since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Offered {
    /// Packets that were offered to TCP.
    pub tcp: Count,
    /// Packets that were offered to UDP.
    pub udp: Count,
}

/// Iterator over the packets of on/off sources with Pareto times, in order of time. The sources share a load, which is
/// drawn again from time to time.
///
/// During a burst, a source sends packets at equal intervals. The size of each packet is drawn. The rate of a source
/// during a burst is (on + off)/on times its fraction of the load. On times and off times do not depend on the load. A
/// change of the load interrupts neither these times nor the remainder of an interval between packets. At the start, a
/// source has the state of a source that has always been running. The expected bytes between any two times therefore
/// equal the load exactly, for small and large loads. Bursts are not rounded to whole packets. The scale of the
/// distribution compensates for the cut of long times. No warm-up is needed.
#[derive(Debug)]
pub struct BackgroundSource {
    load: Box<dyn Level>,
    /// Rate in bit/s of one source during a burst, at a load of 1.
    peak_bps: f64,
    sizes: Sizes,
    tcp_share: f64,
    bursts: Vec<Burst>,
    size_draws: Random,
    via_draws: Random,
    /// True if the load must be drawn again.
    redraw: bool,
    /// Time at which the present load ends; `stop` is the time at which the source ends.
    until: Instant,
    stop: Instant,
    /// Interval in nanoseconds between packets of a source that is on.
    interval_ns: f64,
    offered: Offered,
}

impl BackgroundSource {
    /// Creates the source that `background` describes, for a link of `link_rate_bps`. The source runs from `start`
    /// until before `stop`. `load` is the source's fraction of the link's rate, at the start and at each change. All
    /// other numbers are drawn from streams of `seeds`.
    ///
    /// # Panics
    /// Panics if the shape of the Pareto distribution is not above 1.
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

    /// Returns the numbers of packets offered.
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

/// Distributions of the on and off times of one source, in nanoseconds.
#[derive(Clone, Copy, Debug)]
struct OnOffLaw {
    on: Pareto,
    off: Pareto,
    /// Fraction of the time for which the source is on.
    share: f64,
}

/// One on/off source.
#[derive(Debug)]
struct Burst {
    /// Distributions of the source's times; `None` for a source that is always on.
    law: Option<OnOffLaw>,
    random: Random,
    on: bool,
    /// Time up to which the source has advanced.
    at: Instant,
    /// Time of the source's next change between burst and silence.
    turn: Instant,
    /// Time of burst that is left until the next packet, in units of the interval.
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

    /// Advances to the next packet, if it is before `until`.
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

/// Sizes of packets with their frequencies.
#[derive(Debug)]
struct Sizes {
    /// Size of each packet in bytes, and the cumulative fraction of packets up to this size.
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

    /// Returns the mean size of a packet in bytes.
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

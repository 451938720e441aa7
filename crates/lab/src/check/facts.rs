//! Routes through the network and their capacities.

use std::collections::BTreeMap;
use std::time::Duration;

use strandcast_keys::catalog::Catalog;
use strandcast_netem::link::LinkConfig;
use strandcast_sim::tcp::Recovery;

use super::coding::{CodingFacts, Load};
use super::losses::Losses;
use super::mean::{mean, video_bps};
use super::pftk::Repair;
use crate::scenario::{self, App, Direction, Flow, Hop, LinkRate, Scenario, Sctp, Transport};
use crate::simulation::{BuildError, RadioSurvey, Simulation};

/// Length in bytes of an SCTP packet that contains only a SACK (RFC 9260 §3, §3.3.4), without outer headers.
const SACK: u32 = 12 + 16;
/// Bytes of SCTP headers before the user data of a packet's only chunk (RFC 9260 §3, §3.3.1).
const DATA: u32 = 12 + 16;

/// The properties of a flow that are known before a run.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct FlowFacts {
    /// Name of the flow.
    pub(super) name: String,
    /// `sctp`, `tcp`, `mptcp` or `udp`.
    pub(super) transport: &'static str,
    /// Scheme or congestion control. The text is empty if the flow has neither.
    pub(super) scheme: String,
    /// Number of identical flows.
    pub(super) count: u32,
    /// Length at IP level in bytes of a full data packet, and of an acknowledgement.
    pub(super) packet: u32,
    pub(super) ack: u32,
    /// Bytes of user data in a full data packet.
    pub(super) payload: u32,
    /// Length of a message in bytes. `None` if the flow sends a stream of bytes.
    pub(super) message: Option<u32>,
    /// Load that the application offers, in bit/s of messages. `None` if it sends as much as the network takes.
    pub(super) offered_bps: Option<f64>,
    /// Total number of bytes, if it is limited.
    pub(super) total_bytes: Option<u64>,
    /// Receive buffer or window, bytes.
    pub(super) receive_buffer: Option<u64>,
    /// Send buffer in bytes. `None` for the TCP of the simulator, which has no send buffer.
    pub(super) send_buffer: Option<u64>,
    /// Minimum and maximum of the retransmission timeout. The flag is true if the minimum is added to the round-trip
    /// time.
    pub(super) rto_min: Duration,
    pub(super) rto_max: Duration,
    pub(super) rto_above_srtt: bool,
    /// Number of packets for one increase of the window. In TCP, it is the number of packets that one acknowledgement
    /// covers. SCTP counts bytes instead.
    pub(super) acked: u32,
    /// Packets per acknowledgement.
    pub(super) ack_every: u32,
    /// The losses that the flow repairs without a timeout.
    pub(super) repair: Repair,
    /// Start and end.
    pub(super) from: Duration,
    pub(super) to: Duration,
    /// Coding of the flow, if it codes.
    pub(super) coding: Option<CodingFacts>,
    /// Paths of the flow.
    pub(super) paths: Vec<PathFacts>,
}

/// A path of a flow.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PathFacts {
    /// Name of the path.
    pub(super) name: String,
    /// Links in forward and reverse direction, in order.
    pub(super) out: Vec<LinkFacts>,
    pub(super) back: Vec<LinkFacts>,
    /// Propagation delay of a packet and of its acknowledgement, plus the serialisation times of both on every link.
    pub(super) base_rtt: Duration,
    /// Share of packets that loss models drop in the forward direction.
    pub(super) loss: f64,
    /// Loss models.
    pub(super) losses: Losses,
    /// True if the path is idle as long as the flow's primary path works.
    pub(super) spare: bool,
}

/// One direction of a link, with its properties for the packets of a flow.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct LinkFacts {
    /// Name of the link and its direction: `b`, or `b.reverse`.
    pub(super) name: String,
    /// Mean rate in bit/s. `None` if it is infinite.
    pub(super) rate_bps: Option<f64>,
    /// Number of full packets that fit the queue of the link. `None` if there is no limit.
    pub(super) queue_packets: Option<f64>,
    /// Time in which a full queue becomes empty. `None` if the queue has no limit or the rate is infinite.
    pub(super) queue: Option<Duration>,
    /// Facts about the hops of a link that is a radio.
    pub(super) radio: Option<RadioHops>,
}

/// Properties of a radio for the packets of a flow.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct RadioHops {
    /// Number of hops of the shortest route. It is a mean over the instances of the flow.
    pub(super) hops: f64,
    /// Least and greatest number of hops over all instances of the flow.
    pub(super) range: (u32, u32),
    /// Sources and destinations of instances that have no route at the start of the run.
    pub(super) apart: Vec<[String; 2]>,
    /// Frames per packet and hop.
    pub(super) frames: u32,
    /// Time in seconds for which a hop of a packet occupies the channel.
    pub(super) hop_s: f64,
}

impl LinkFacts {
    /// Number of hops over the link.
    pub(super) fn hops(&self) -> f64 {
        self.radio.as_ref().map_or(1.0, |radio| radio.hops)
    }

    /// Number of frames that a packet needs on the link.
    pub(super) fn frames(&self) -> f64 {
        self.radio.as_ref().map_or(0.0, |radio| radio.hops * f64::from(radio.frames))
    }

    /// Time in seconds for which a packet occupies the channel of the link.
    pub(super) fn channel_s(&self) -> f64 {
        self.radio.as_ref().map_or(0.0, |radio| radio.hops * radio.hop_s)
    }
}

/// A radio.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct RadioFacts {
    pub(super) name: String,
    pub(super) routing: String,
    pub(super) stations: usize,
    pub(super) connected: bool,
    pub(super) mean_degree: f64,
    /// Number of stations that can transmit at the same time.
    pub(super) reuse: f64,
}

impl FlowFacts {
    /// Load of the flow, and the distance that its data travel.
    pub(super) fn load(&self) -> Load {
        let way = self.used().map(|path| path.base_rtt / 2).min().unwrap_or_default();
        Load { offered_bps: self.offered_bps, message: self.message, way }
    }

    /// Paths that are used while all paths work.
    pub(super) fn used(&self) -> impl Iterator<Item = &PathFacts> {
        self.paths.iter().filter(|path| !path.spare)
    }
}

impl PathFacts {
    /// Slowest link of the path.
    pub(super) fn bottleneck(&self) -> Option<&LinkFacts> {
        let rated = self.out.iter().filter_map(|link| Some((link.rate_bps?, link)));
        rated.min_by(|(a, _), (b, _)| a.total_cmp(b)).map(|(_, link)| link)
    }

    /// Rate of the slowest link, bit/s.
    pub(super) fn rate_bps(&self) -> Option<f64> {
        self.bottleneck().and_then(|link| link.rate_bps)
    }

    /// Returns whether no instance of the flow has a route over one of its radios at the start of the run.
    pub(super) fn is_cut(&self) -> bool {
        let apart = |link: &LinkFacts| link.radio.as_ref().is_some_and(|radio| radio.range.1 == 0);
        self.out.iter().chain(&self.back).any(apart)
    }

    /// Bandwidth-delay product, bytes.
    pub(super) fn bdp_bytes(&self) -> Option<f64> {
        Some(self.rate_bps()? * self.base_rtt.as_secs_f64() / 8.0)
    }
}

/// Background load.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct BackgroundFacts {
    /// Names of the background load's links.
    pub(super) links: Vec<String>,
    /// Offered load, bit/s at IP level.
    pub(super) rate_bps: f64,
    /// Mean size of the background load's packets, bytes.
    pub(super) packet: f64,
    /// Duration.
    pub(super) time: Duration,
}

/// The properties of a scenario that are known before a run.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Facts {
    pub(super) flows: Vec<FlowFacts>,
    pub(super) background: Vec<BackgroundFacts>,
    pub(super) radios: Vec<RadioFacts>,
    /// Mean rates of all link directions with a finite rate, bit/s.
    pub(super) capacity_bps: BTreeMap<String, f64>,
}

/// Analyses a scenario. The scheme `with` replaces the scheme of the compared flows.
///
/// # Errors
/// The scenario cannot be built.
pub(super) fn facts(all: &Scenario, catalog: &dyn Catalog, with: Option<&str>) -> Result<Facts, BuildError> {
    let simulation = Simulation::new(all, catalog, all.run.seed, with)?;
    let scenario = &all.with_scheme(with);
    let survey = |name: &String| Some((name.clone(), simulation.survey(scenario, name)?));
    let surveys: BTreeMap<String, RadioSurvey> = scenario.radio.keys().filter_map(survey).collect();
    let network = Network { scenario, simulation: &simulation, catalog, surveys };
    let mut capacity_bps = BTreeMap::new();
    for link in scenario.links.keys() {
        for reverse in [false, true] {
            let hop = Hop::Link { link: link.clone(), reverse };
            capacity_bps.extend(network.rate_bps(&hop).map(|rate| (name(&hop), rate)));
        }
    }
    Ok(Facts {
        flows: scenario.flows.iter().map(|(name, flow)| network.flow(name, flow)).collect(),
        radios: network.surveys.iter().map(|(name, survey)| network.radio(name, survey)).collect(),
        background: scenario.cross.values().filter_map(|cross| network.background(cross)).collect(),
        capacity_bps,
    })
}

fn name(hop: &Hop) -> String {
    match hop {
        Hop::Link { link, reverse } => format!("{link}{}", if *reverse { ".reverse" } else { "" }),
        Hop::Radio { radio, .. } => radio.clone(),
    }
}

struct Network<'a> {
    scenario: &'a Scenario,
    simulation: &'a Simulation,
    catalog: &'a dyn Catalog,
    /// Radios by name.
    surveys: BTreeMap<String, RadioSurvey>,
}

impl Network<'_> {
    fn radio(&self, name: &str, survey: &RadioSurvey) -> RadioFacts {
        RadioFacts {
            name: name.to_owned(),
            routing: self.scenario.radio[name].routing.clone(),
            stations: survey.stations(),
            connected: survey.is_connected(),
            mean_degree: survey.mean_degree(),
            reuse: survey.reuse(),
        }
    }

    fn flow(&self, name: &str, flow: &Flow) -> FlowFacts {
        let run = self.scenario.run.time;
        let (offered_bps, total_bytes, size) = offered(&flow.app, run);
        let wire = Wire::of(&flow.transport, size);
        let ends = self.simulation.ends(name);
        let one_path =
            matches!(&flow.transport, Transport::Sctp { scheme, .. } if self.catalog.primary_only(scheme));
        let primary = flow.primary.as_ref().or(flow.paths.keys().next()).filter(|_| one_path);
        let paths = flow.paths.iter().map(|(name, path)| PathFacts {
            spare: primary.is_some_and(|primary| primary != name),
            ..self.path(name, &ends, path, &wire)
        });
        FlowFacts {
            name: name.to_owned(),
            transport: wire.transport,
            scheme: wire.scheme.clone(),
            count: flow.count,
            packet: wire.packet,
            ack: wire.ack,
            payload: wire.payload,
            message: (wire.transport == "sctp").then_some(size),
            offered_bps,
            total_bytes,
            receive_buffer: wire.receive_buffer,
            send_buffer: wire.send_buffer,
            rto_min: wire.rto.0,
            rto_max: wire.rto.1,
            rto_above_srtt: wire.rto_above_srtt,
            acked: wire.acked,
            ack_every: wire.ack_every,
            repair: wire.repair,
            from: Duration::from_secs_f64(mean(&flow.start, run).clamp(0.0, 1e9)),
            to: flow.stop.unwrap_or(run).min(run),
            coding: CodingFacts::of(self.scenario, name, self.catalog),
            paths: paths.collect(),
        }
    }

    fn path(&self, name: &str, ends: &[[&str; 2]], path: &scenario::Path, wire: &Wire) -> PathFacts {
        let turned: Vec<[&str; 2]> = ends.iter().map(|[from, to]| [*to, *from]).collect();
        let (there, mut rtt_s, losses) = self.route(ends, &path.via, wire.packet);
        let (back, back_s, _) = self.route(&turned, &path.back, wire.ack);
        rtt_s += back_s;
        let base_rtt = Duration::from_secs_f64(rtt_s.clamp(0.0, 1e9));
        PathFacts {
            name: name.to_owned(),
            out: there,
            back,
            base_rtt,
            loss: losses.mean(),
            losses,
            spare: false,
        }
    }

    fn background(&self, cross: &scenario::Cross) -> Option<BackgroundFacts> {
        let (_, hops) = self.scenario.cross_way(cross).ok()?;
        let shares: f64 = cross.sizes.values().map(|size| size.share).sum();
        let bytes = cross.sizes.values().map(|size| f64::from(size.bytes) * size.share);
        let run = self.scenario.run.time;
        Some(BackgroundFacts {
            // The load is a share of the link's current nominal rate.
            rate_bps: mean(&cross.load, run) * self.config(hops.first()?)?.rate.mean_bps()?,
            links: hops.iter().map(name).collect(),
            packet: (bytes.sum::<f64>() / shares).max(1.0),
            time: run + cross.lead,
        })
    }

    /// Configuration of the link. `None` if the hop is over a radio.
    fn config(&self, hop: &Hop) -> Option<&LinkConfig> {
        match hop {
            Hop::Link { link, reverse } => self.simulation.link(link, *reverse),
            Hop::Radio { .. } => None,
        }
    }

    /// Mean rate of a link over the run.
    fn rate_bps(&self, hop: &Hop) -> Option<f64> {
        let Direction { rate, policer, .. } = self.scenario.direction(hop)?;
        let rate = match rate {
            LinkRate::Number(number) => Some(mean(number, self.scenario.run.time)),
            _ => self.config(hop)?.rate.mean_bps(),
        };
        rate.into_iter().chain(policer.map(|policer| policer.rate)).min_by(f64::total_cmp)
    }

    /// Links of a route, transit time of a packet if all queues are empty, and loss models.
    fn route(&self, ends: &[[&str; 2]], via: &[String], bytes: u32) -> (Vec<LinkFacts>, f64, Losses) {
        let way = |[from, to]: &[&str; 2]| {
            self.scenario.way(from, to, via).expect("paths are checked when a scenario is built")
        };
        let ways: Vec<Vec<Hop>> = ends.iter().map(way).collect();
        let (mut links, mut seconds, mut losses) = (Vec::new(), 0.0, Losses::default());
        // Routes over the same links and radios differ only in the stations.
        for (at, hop) in ways.first().into_iter().flatten().enumerate() {
            if let Hop::Radio { radio, .. } = hop {
                let link = self.over_radio(radio, ways.iter().map(|way| &way[at]), bytes);
                seconds += link.channel_s();
                links.push(link);
                continue;
            }
            let Some((config, direction)) = self.config(hop).zip(self.scenario.direction(hop)) else {
                continue;
            };
            let rate_bps = self.rate_bps(hop);
            let bits = f64::from(bytes) * 8.0;
            seconds +=
                mean(&direction.delay, self.scenario.run.time) + rate_bps.map_or(0.0, |rate| bits / rate);
            losses.add(config);
            links.push(link(name(hop), config, rate_bps, bytes));
        }
        (links, seconds, losses)
    }

    /// Properties of a radio. `hops` are the pairs of stations at which the flow's instances enter and leave the radio.
    fn over_radio<'h>(&self, name: &str, hops: impl Iterator<Item = &'h Hop>, bytes: u32) -> LinkFacts {
        let survey = &self.surveys[name];
        let (mut counts, mut apart) = (Vec::new(), Vec::new());
        for hop in hops {
            let Hop::Radio { from, to, .. } = hop else { continue };
            match survey.hops(from, to) {
                Some(count) => counts.push(count),
                None => apart.push([from.clone(), to.clone()]),
            }
        }
        let mean = f64::from(counts.iter().sum::<u32>()) / counts.len().max(1) as f64;
        let range = (counts.iter().min().copied().unwrap_or(0), counts.iter().max().copied().unwrap_or(0));
        let hop_s = survey.hop_time(bytes).as_secs_f64();
        // On a route of up to four hops, only one frame at a time is on the air (Li et al. 2001).
        let rate = f64::from(bytes) * 8.0 / hop_s / mean.clamp(1.0, 4.0);
        let radio = RadioHops { hops: mean, range, apart, frames: survey.frames(bytes), hop_s };
        let rate_bps = Some(if counts.is_empty() { 0.0 } else { rate });
        LinkFacts { name: name.to_owned(), rate_bps, queue_packets: None, queue: None, radio: Some(radio) }
    }
}

fn link(name: String, config: &LinkConfig, rate_bps: Option<f64>, bytes: u32) -> LinkFacts {
    let queue_packets = config.queue.limit.packets_of(bytes);
    let full = queue_packets.zip(rate_bps).map(|(n, rate)| n * f64::from(bytes) * 8.0 / rate);
    // Managed queues let a burst wait, but do not let a queue last.
    let stands = config.queue.discipline.interval().map(|interval| interval.as_secs_f64());
    let seconds = full.into_iter().chain(stands).min_by(f64::total_cmp);
    let queue = seconds.map(|s| Duration::from_secs_f64(s.clamp(0.0, 1e9)));
    LinkFacts { name, rate_bps, queue_packets, queue, radio: None }
}

/// Packet sizes and constants of a transport.
struct Wire {
    transport: &'static str,
    scheme: String,
    packet: u32,
    ack: u32,
    payload: u32,
    receive_buffer: Option<u64>,
    send_buffer: Option<u64>,
    rto: (Duration, Duration),
    rto_above_srtt: bool,
    acked: u32,
    ack_every: u32,
    repair: Repair,
}

impl Wire {
    fn of(transport: &Transport, size: u32) -> Self {
        match transport {
            Transport::Sctp { scheme, sctp } => Wire::sctp(scheme, sctp, size),
            Transport::Tcp { tcp, .. } | Transport::Mptcp { tcp, .. } => {
                let config = tcp.config().expect("its constants were checked when it was built");
                let options = if config.timestamps { config.timestamp_bytes } else { 0 };
                let header = config.header + options;
                let mptcp = matches!(transport, Transport::Mptcp { .. });
                Wire {
                    transport: if mptcp { "mptcp" } else { "tcp" },
                    scheme: transport.spec(),
                    packet: header + config.segment + if mptcp { config.mapping_bytes } else { 0 },
                    ack: header + if mptcp { config.data_ack_bytes } else { 0 },
                    payload: config.segment,
                    receive_buffer: Some(config.receive_window),
                    send_buffer: None,
                    rto: (config.rto_min, config.rto_max),
                    rto_above_srtt: config.rto_min_above_srtt,
                    acked: config.ack_every,
                    ack_every: config.ack_every,
                    repair: if config.recovery == Recovery::Sack { Repair::Sack } else { Repair::Reno },
                }
            }
            Transport::Udp { header } => Wire {
                transport: "udp",
                scheme: String::new(),
                packet: header + size,
                ack: 0,
                payload: size,
                receive_buffer: None,
                send_buffer: None,
                rto: (Duration::ZERO, Duration::ZERO),
                rto_above_srtt: false,
                acked: 1,
                ack_every: 1,
                repair: Repair::Reno,
            },
        }
    }

    fn sctp(scheme: &str, sctp: &Sctp, size: u32) -> Self {
        let headers = sctp.headers() + DATA;
        let most = u32::from(sctp.mtu).saturating_sub(headers).max(1);
        // Large messages are cut into full packets. The last part of each message is ignored.
        let payload = size.clamp(1, most);
        // The maximum size of a buffer that grows.
        let most = |buffer: u32| u64::from(sctp.buffer_limit.map_or(buffer, |limit| limit.max(buffer)));
        Wire {
            transport: "sctp",
            scheme: scheme.to_owned(),
            packet: headers + payload.next_multiple_of(4),
            ack: sctp.headers() + SACK,
            payload,
            receive_buffer: Some(most(sctp.receive_buffer)),
            send_buffer: Some(most(sctp.send_buffer)),
            rto: (sctp.rto_min_strandcast.unwrap_or(sctp.rto_min), sctp.rto_max),
            rto_above_srtt: false,
            acked: 1,
            ack_every: sctp.sack_frequency,
            repair: Repair::SackAgain,
        }
    }
}

/// Load that an application offers in bit/s, its total number of bytes, and the size of its messages.
fn offered(app: &App, run: Duration) -> (Option<f64>, Option<u64>, u32) {
    match app {
        App::Bulk { size } => (None, None, *size),
        App::Finite { size, bytes } => (None, Some(*bytes), *size),
        App::Cbr { size, rate } | App::Poisson { size, rate } => (Some(mean(rate, run)), None, *size),
        App::OnOff { size, rate, on, off, .. } => {
            let (on, off) = (on.as_secs_f64(), off.as_secs_f64());
            (Some(mean(rate, run) * on / (on + off)), None, *size)
        }
        App::Video(video) => (Some(video_bps(video)), None, video.size),
    }
}

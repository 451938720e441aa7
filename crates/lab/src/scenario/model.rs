//! Content of a scenario: every field of the file, with defaults filled in and units converted to SI.

use core::time::Duration;
use std::collections::BTreeMap;

use serde::Serialize;
use strandcast_keys::words;

pub use super::app::{App, Burst, Frames, KeyFrames, OnOffLaw, Pause, Video};
use super::keys::sctp::Sctp;
use super::radio::Radio;
use super::value::{LinkRate, Named, Number, QueueLimit, TcpValue, TraceFile};
pub use strandcast_netem::loss::Modulation;

/// A whole scenario.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Scenario {
    /// Purpose of the scenario. Only people read it.
    pub title: String,
    /// Duration and number of runs, and the time from which results count.
    pub run: Run,
    /// Delays that hosts add to the network.
    pub host: Host,
    /// Hosts and routers.
    pub nodes: Named<Node>,
    /// Links between nodes.
    pub links: Named<Link>,
    /// Shared radio channels. The field is left out if it is empty, so that hashes of older scenarios do not change.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub radio: Named<Radio>,
    /// Flows that are measured.
    pub flows: Named<Flow>,
    /// Background load.
    pub cross: Named<Cross>,
}

/// `[run]`
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Run {
    /// Simulated time from the flows' time 0.
    pub time: Duration,
    /// Time from which events count in the results. Profile P0 discards the first 10 s.
    pub warmup: Duration,
    /// Seed of run 0. Run n has the seed plus n. The command line overrides it.
    pub seed: u64,
    /// Number of runs, unless the command line sets it.
    pub runs: u32,
    /// Step of time series. `None`: no time series are written.
    pub series: Option<Duration>,
}

/// `[host]`
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Host {
    /// True if hosts delay packets. Each packet waits before it leaves its host, without reordering. The wait is U(0,
    /// serialisation time of one full packet on the route's slowest link). Without this delay, a deterministic
    /// simulator would lock the phases of drop-tail queues.
    pub overhead: bool,
}

/// `[nodes.NAME]`
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Node {
    /// Position in metres to the east and to the north. `None`: the node has no position.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<[f64; 2]>,
}

/// `[links.NAME]`
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Link {
    /// Node at which the link begins.
    pub from: String,
    /// Node at which the link ends.
    pub to: String,
    /// Direction from `from` to `to`.
    pub forward: Direction,
    /// Direction from `to` to `from`: `links.NAME.reverse.*`. By default it equals `forward`, but without loss.
    pub reverse: Direction,
    /// True for a wireless access link. Such a link counts frames and frame errors and reports them to the senders at
    /// its ends.
    pub wireless: bool,
    /// True if random loss drops no packets of background load.
    pub spares_background: bool,
}

/// One direction of a link.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Direction {
    /// Rate of the transmitter, bit/s.
    pub rate: LinkRate,
    /// Propagation delay, seconds.
    pub delay: Number,
    /// True if packets keep their order when the delay changes. The value is serialised only if it is false, so that
    /// other links keep their hash.
    #[serde(skip_serializing_if = "is_true")]
    pub keep_order: bool,
    /// Token bucket before the queue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policer: Option<Policer>,
    /// Queue before the transmitter.
    pub queue: Queue,
    /// Loss models by name. Each packet passes all of them.
    pub loss: Named<Loss>,
    /// Retransmission by the link itself. If it is absent, the hash leaves it out: older scenarios keep their hash.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arq: Option<Arq>,
    /// Random delays, by which later packets may overtake earlier ones.
    pub reorder: Option<Reorder>,
    /// Probability that a packet arrives twice.
    pub duplicate: f64,
    /// Probability that a packet arrives damaged.
    pub corrupt: f64,
    /// Outages by name.
    pub down: Named<Down>,
}

/// `queue = { kind = "drop-tail", limit = "50 packets", in_service = false }`
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Queue {
    /// Discipline.
    pub kind: QueueKind,
    /// Capacity.
    pub limit: QueueLimit,
    /// True if the packet that is being sent counts towards the limit (as in ns-2).
    pub in_service: bool,
    /// Constants of `codel` and `fq-codel`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub codel: Option<Codel>,
    /// Constants of `fq-codel`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turns: Option<Turns>,
}

impl Queue {
    /// A drop-tail queue.
    pub fn drop_tail(limit: QueueLimit) -> Self {
        Queue { kind: QueueKind::DropTail, limit, in_service: false, codel: None, turns: None }
    }
}

/// `target = "5 ms", interval = "100 ms"`
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Codel {
    /// Queueing delay that the queue tolerates permanently.
    pub target: Duration,
    /// Time for which the target must be exceeded before a packet is dropped.
    pub interval: Duration,
}

/// `quantum = 1514, flows = 1024`
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Turns {
    /// Bytes that a flow may send in its turn.
    pub quantum: u32,
    /// Number of queues to which flows are assigned by a hash.
    pub flows: u32,
}

/// `policer = { rate = "5 Mbit/s", burst = "64 KiB" }`
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Policer {
    /// Rate of the traffic that passes, in bit/s.
    pub rate: f64,
    /// Number of bytes that may pass at once after a pause.
    pub burst: u64,
}

words! {
    /// Queue disciplines.
    #[derive(Serialize)]
    pub enum QueueKind {
        /// Packets that arrive at a full queue are dropped.
        DropTail = "drop-tail",
        /// Packets are dropped when they wait too long.
        Codel = "codel",
        /// Flows take turns, each with a queue of kind `codel`.
        FqCodel = "fq-codel",
    }
}

/// `[links.NAME.loss.NAME2]`: NAME2 or the key `model` selects the model (`uniform`, `markov`, `snr`, `list`).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub enum Loss {
    /// Each packet is lost independently with probability `rate`.
    Uniform {
        /// Probability.
        rate: Number,
    },
    /// Two states, Good and Bad, that may change at each packet: `rate` and `burst`, or the four probabilities.
    MarkovByPacket {
        /// Probability of a change from Good to Bad, per packet.
        p_good_to_bad: f64,
        /// Probability of a change from Bad to Good, per packet.
        p_bad_to_good: f64,
        /// Probability that a packet in Good is lost.
        loss_good: f64,
        /// Probability that a packet in Bad is lost.
        loss_bad: f64,
    },
    /// Two states, Good and Bad, whose durations are exponentially distributed: `good = "10 s"`, `bad = "100 ms"`.
    MarkovByTime {
        /// Mean time in Good.
        mean_good: Duration,
        /// Mean time in Bad.
        mean_bad: Duration,
        /// Probability that a packet in Good is lost.
        loss_good: f64,
        /// Probability that a packet in Bad is lost.
        loss_bad: f64,
    },
    /// Bit errors from white Gaussian noise at a signal-to-noise ratio.
    Snr {
        /// Modulation, which determines the number of bits per symbol.
        #[serde(with = "ModulationWritten")]
        modulation: Modulation,
        /// Signal-to-noise ratio per symbol, dB.
        snr: Number,
    },
    /// `file = "…"`, `loop`: recorded losses, by the ordinals of the packets.
    List {
        /// The file.
        file: TraceFile,
        /// True if the list begins again after its last entry.
        repeat: bool,
    },
}

/// Serialised form of [`Modulation`], for the hash of a scenario and for the file to which a scenario is written.
#[derive(Serialize)]
#[serde(remote = "Modulation")]
enum ModulationWritten {
    Bpsk,
    Qpsk,
    Qam16,
    Qam64,
    Dbpsk,
    Dqpsk,
}

/// `arq = { retries = 4 }`
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Arq {
    /// Maximum number of times that the link repeats a packet which a loss model dropped. At least 1.
    pub retries: u8,
}

/// `reorder = { probability = 0.01, extra = "20 ms" }`
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Reorder {
    /// Probability that a packet is held up.
    pub probability: f64,
    /// Additional delay.
    pub extra: Duration,
}

/// `down = { from = "10 s", to = "20 s", mode = "silent" }`, or several outages by name: `[links.NAME.down.first]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Down {
    /// Start of the outage.
    pub from: Duration,
    /// End of the outage. `None`: the outage does not end.
    pub to: Option<Duration>,
    /// Notice that the hosts at the link's ends get.
    pub mode: DownMode,
    /// Repetition of the outage.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub again: Option<Again>,
}

/// `every = "15 s", law = "constant", cause = "rain"`
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Again {
    /// Time from one start to the next, or the mean of this time.
    pub every: Duration,
    /// Distribution of the times up and down.
    pub law: OutageLaw,
    /// Name of the cause. The random draws of this cause determine the outages.
    pub cause: Option<String>,
}

words! {
    /// Distribution of the times up and of the times down of recurring outages.
    #[derive(Serialize)]
    pub enum OutageLaw {
        /// All times up are equal, and all times down are equal.
        Constant = "constant",
        /// The times up and the times down are exponentially distributed.
        Exponential = "exponential",
    }
}

words! {
    /// Notice of an outage to the hosts at the link's ends.
    #[derive(Serialize)]
    pub enum DownMode {
        /// Hosts get no notice.
        Silent = "silent",
        /// The interface disappears and returns.
        Notify = "notify",
    }
}

/// `[flows.NAME]`
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Flow {
    /// Choice of the flow's ends: given by the file, or drawn for each run. The hash leaves the default out, so that
    /// the hashes of older scenarios do not change.
    #[serde(skip_serializing_if = "Ends::are_given")]
    pub ends: Ends,
    /// The sending node. Empty if the node is drawn.
    pub from: String,
    /// The receiving node. Empty if the node is drawn.
    pub to: String,
    /// The protocol and its constants.
    pub transport: Transport,
    /// Application.
    pub app: App,
    /// True if the file gives no message size. Each message then fills a packet, less the bytes that the scheme of an
    /// SCTP flow inserts before DATA.
    pub fits: bool,
    /// Start of the flow in seconds. If it is a distribution, the start of each of the `count` flows is drawn
    /// separately.
    pub start: Number,
    /// Time at which the flow ends. `None`: it ends with the run.
    pub stop: Option<Duration>,
    /// Number of equal flows, each with its own random draws.
    pub count: u32,
    /// True if `--scheme` replaces the scheme of the flow.
    pub compare: bool,
    /// Paths of the flow through the network. If the list is empty, the flow has one path called `default`. It uses the
    /// radio of both ends, or if there is no such radio, the route with the fewest links.
    pub paths: Named<Path>,
    /// Path that an SCTP flow prefers. The path becomes the primary path once it is confirmed. Without this setting,
    /// the path of the handshake remains the primary path. INIT is tried on the paths in the order of their names.
    pub primary: Option<String>,
}

words! {
    /// Ends of a flow.
    #[derive(Serialize)]
    pub enum Ends {
        /// The nodes `from` and `to`.
        Given = "given",
        /// Two stations, drawn for each run. No two flows whose ends are drawn have the same pair.
        Random = "random",
    }
}

impl Ends {
    fn are_given(&self) -> bool {
        *self == Ends::Given
    }
}

/// `[flows.NAME.paths.NAME2]`
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Path {
    /// Links and radios from sender to receiver, by name, in order.
    pub via: Vec<String>,
    /// Links and radios of the return path, in order. If the list is empty, they are those of `via` in reverse order.
    pub back: Vec<String>,
    /// Time at which the path joins. `None`: it exists from the start.
    pub join: Option<Duration>,
    /// Time at which the path leaves. `None`: it never leaves.
    pub leave: Option<Duration>,
}

/// A flow's protocol.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub enum Transport {
    /// SCTP of this project.
    Sctp {
        /// Preset: its name and its parameters (`cmt,rtx=cwnd`).
        scheme: String,
        /// Constants.
        sctp: Sctp,
    },
    /// TCP over one path.
    Tcp {
        /// Window: its name and its parameters (`cubic,beta=0.7`).
        cc: String,
        /// Constants.
        tcp: Tcp,
    },
    /// MPTCP, with one subflow per path.
    Mptcp {
        /// Coupled window of all subflows: its name and its parameters (`lia`).
        cc: String,
        /// Scheduler: its name and its parameters (`redundant,copies=2`). The default is left out of the hash, so that
        /// older scenarios keep their hash.
        #[serde(skip_serializing_if = "is_lowest_rtt")]
        scheduler: String,
        /// Constants.
        tcp: Tcp,
    },
    /// Datagrams that are never retransmitted.
    Udp {
        /// Bytes of header before each message: IP and UDP.
        header: u32,
    },
}

/// Default scheduler of an MPTCP flow.
pub const MPTCP_SCHEDULER: &str = "lowest-rtt";

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands fields over by reference")]
fn is_true(flag: &bool) -> bool {
    *flag
}

fn is_lowest_rtt(scheduler: &str) -> bool {
    scheduler == MPTCP_SCHEDULER
}

impl Transport {
    /// Value of `--scheme` for this transport: a scheme, a window, or a window with a scheduler.
    pub fn spec(&self) -> String {
        match self {
            Transport::Sctp { scheme, .. } => scheme.clone(),
            Transport::Tcp { cc, .. } => cc.clone(),
            Transport::Mptcp { cc, scheduler, .. } if is_lowest_rtt(scheduler) => cc.clone(),
            Transport::Mptcp { cc, scheduler, .. } => format!("{cc},scheduler={scheduler}"),
            Transport::Udp { .. } => "udp".to_owned(),
        }
    }

    /// Returns the transport with this value of `--scheme`: a scheme, a window, or a window with a scheduler.
    fn with_spec(&self, spec: &str) -> Transport {
        let mut other = self.clone();
        match &mut other {
            Transport::Sctp { scheme, .. } => *scheme = spec.to_owned(),
            Transport::Tcp { cc, .. } => *cc = spec.to_owned(),
            Transport::Mptcp { cc, scheduler, .. } => {
                (*cc, *scheduler) = (spec.to_owned(), MPTCP_SCHEDULER.to_owned());
            }
            Transport::Udp { .. } => {}
        }
        other
    }
}

impl Scenario {
    /// Returns the scenario with another scheme for the compared flows. Without a scheme, the scenario does not change.
    pub(crate) fn with_scheme(&self, scheme: Option<&str>) -> Scenario {
        let mut other = self.clone();
        for flow in other.flows.values_mut().filter(|flow| flow.compare) {
            flow.transport =
                scheme.map_or_else(|| flow.transport.clone(), |spec| flow.transport.with_spec(spec));
        }
        other
    }
}

/// `profile = "rfc" | "ns2" | "ns3" | "linux"` of a TCP or MPTCP flow. Single constants can be replaced:
/// `tcp.segment = 1000`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Tcp {
    /// The profile's name.
    pub profile: String,
    /// Constants that the scenario replaces, by key, as the file writes them. When the flow is built, they are checked
    /// against the constants of [`strandcast_sim::tcp`].
    pub set: Named<TcpValue>,
}

/// `[cross.NAME]`: Pareto on/off load as in the papers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cross {
    /// Links of the traffic, by name and in order. Acknowledgements return over these links in reverse order.
    pub via: Vec<String>,
    /// Offered load in bytes, as a share of the rate of the first link in `via`. If the share is a number that changes,
    /// it is drawn again whenever that number is.
    pub load: Number,
    /// Share of the packets that use TCP (NewReno). The other packets use UDP. At each new draw of the load, TCP's
    /// backlog is dropped.
    pub tcp_share: f64,
    /// Packet sizes at IP level, by name. Each size has a share of the number of packets.
    pub sizes: Named<PacketSize>,
    /// Mean length of a burst.
    pub on: Duration,
    /// Mean time between two bursts.
    pub off: Duration,
    /// Pareto shape.
    pub shape: f64,
    /// Number of independent sources that share the load.
    pub sources: u32,
    /// Time from the start of the background load to the flows' time 0.
    pub lead: Duration,
    /// Constants of the background load's TCP.
    pub tcp: Tcp,
}

/// A packet size of cross traffic.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PacketSize {
    /// Bytes at IP level.
    pub bytes: u32,
    /// Share of packets. The shares are scaled so that their sum is 1.
    pub share: f64,
}

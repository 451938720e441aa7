//! Results of a run.

use core::time::Duration;
use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use strandcast_media::ts::FrameType;
use strandcast_netem::engine::Fingerprint;

use super::meter::Window;
use super::names::{Across, definition};
use super::topology::Topology;

/// A number of a run about one subject.
#[derive(Clone, Debug, PartialEq)]
pub struct Metric {
    /// Flow, path, link or radio that the metric describes.
    pub subject: Subject,
    /// Name of the metric, including its unit. The name is one of [`DEFINITIONS`](super::DEFINITIONS), or the name of a
    /// transport's own counter.
    pub name: &'static str,
    /// Value of the metric.
    pub value: f64,
}

/// Subject of a metric.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Subject {
    /// A flow. Equal flows are `NAME#1`, `NAME#2` and so on, and `NAME` stands for all of them together.
    Flow(String),
    /// A path of a flow.
    Path {
        /// The flow.
        flow: String,
        /// The path.
        path: String,
    },
    /// One direction of a link.
    Link {
        /// The link.
        link: String,
        /// `forward` or `reverse`.
        direction: String,
    },
    /// Share of a flow in the traffic of one direction of a link.
    Share {
        /// The link.
        link: String,
        /// `forward` or `reverse`.
        direction: String,
        /// The flow.
        flow: String,
    },
    /// Cross traffic.
    Cross(String),
    /// A radio. The metric covers all its stations and their routers.
    Radio(String),
}

impl Subject {
    /// Words for the subject in files: kind (`flow`, `path`, `link`, `share`, `cross`, `radio`), name and part. The
    /// part is a path, the direction of a link, or the direction and flow of a share. For other kinds, the part is
    /// empty.
    pub fn words(&self) -> [Cow<'_, str>; 3] {
        let (kind, name, part) = match self {
            Subject::Flow(name) => ("flow", name, "".into()),
            Subject::Path { flow, path } => ("path", flow, path.into()),
            Subject::Link { link, direction } => ("link", link, direction.into()),
            Subject::Share { link, direction, flow } => ("share", link, format!("{direction}/{flow}").into()),
            Subject::Cross(name) => ("cross", name, "".into()),
            Subject::Radio(name) => ("radio", name, "".into()),
        };
        [kind.into(), name.into(), part]
    }

    /// Returns the flow that is the subject. If the subject is a path, returns the flow of the path.
    fn flow(&self) -> Option<&str> {
        match self {
            Subject::Flow(flow) | Subject::Path { flow, .. } => Some(flow),
            _ => None,
        }
    }

    /// Returns the subject that stands for all instances of this flow or path, for example `tcp` for `tcp#2`.
    fn together(&self) -> Option<Subject> {
        let base = |name: &str| {
            let (base, number) = name.rsplit_once('#')?;
            number.parse::<u32>().ok().map(|_| base.to_owned())
        };
        match self {
            Subject::Flow(name) => base(name).map(Subject::Flow),
            Subject::Path { flow, path } => base(flow).map(|flow| Subject::Path { flow, path: path.clone() }),
            Subject::Share { link, direction, flow } => base(flow).map(|flow| Subject::Share {
                link: link.clone(),
                direction: direction.clone(),
                flow,
            }),
            Subject::Link { .. } | Subject::Cross(_) | Subject::Radio(_) => None,
        }
    }
}

/// A diagnostic of a scheme.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diagnostic {
    /// Flow whose scheme reported it.
    pub flow: String,
    /// Name of the scheme.
    pub scheme: String,
    /// Text of the diagnostic, one sentence.
    pub text: String,
}

/// The outcome of a frame of a video.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Frame {
    /// Type of the frame. `None` for a header.
    pub kind: Option<FrameType>,
    /// Time of capture, in seconds since the flows' time 0.
    pub captured_s: f64,
    /// Time at which the frame is shown.
    pub due_s: f64,
    /// Time at which the whole frame had been delivered.
    pub whole_s: Option<f64>,
}

/// A finished run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunResult {
    /// Seed of the run.
    pub seed: u64,
    /// Scheme of the compared flows.
    pub scheme: String,
    /// Hash over the packets of the run.
    pub fingerprint: Fingerprint,
    /// Measured numbers.
    pub metrics: Vec<Metric>,
    /// Flows with a video that has frames. The outcomes of the frames are in the order of sending.
    pub frames: Vec<(String, Vec<Frame>)>,
    /// Positions of the stations of radios, and routes of flows. `None` if there are no radios.
    pub topology: Option<Topology>,
    /// Reports of schemes about their state at the end of the run.
    pub diagnostics: Vec<Diagnostic>,
    /// Number of packets that left a link. A packet counts once for each link.
    pub packet_hops: u64,
    /// Simulated time.
    pub simulated: Duration,
}

impl RunResult {
    /// Adds metrics for all instances of a flow together. For `tcp#1`, `tcp#2` and so on, it combines each of their
    /// metrics by its [definition](super::DEFINITIONS): as a sum, a mean or a maximum. A transport's own counters are
    /// summed. It also adds `jain`, which is the fairness of their goodput. `lives` has the measured time of each flow.
    /// A common rate covers the time from the start of the first flow to the end of the last flow. It therefore cannot
    /// exceed the capacity of links. The caller calls it once, when all metrics are present.
    pub fn add_aggregates(&mut self, lives: &BTreeMap<String, Window>) {
        let mut groups: BTreeMap<(Subject, &'static str), Vec<Lived>> = BTreeMap::new();
        for metric in &self.metrics {
            if let Some(together) = metric.subject.together() {
                let life = metric.subject.flow().and_then(|flow| lives.get(flow)).copied();
                groups.entry((together, metric.name)).or_default().push((life, metric.value));
            }
        }
        for ((subject, name), values) in groups {
            let own: Vec<f64> = values.iter().map(|(_, value)| *value).collect();
            if name == "goodput_bps" && matches!(subject, Subject::Flow(_)) {
                self.metrics.push(Metric { subject: subject.clone(), name: "jain", value: jain(&own) });
            }
            let is_rate = matches!(name, "goodput_bps" | "throughput_bps");
            let values = if is_rate { over_all_time(&values) } else { own };
            let sum: f64 = values.iter().sum();
            let value = match definition(name).map_or(Across::Sum, |definition| definition.across) {
                Across::Sum => sum,
                Across::Mean => sum / values.len() as f64,
                Across::Max => values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            };
            self.metrics.push(Metric { subject, name, value });
        }
    }
}

/// Value of a flow, and the time in which the flow was measured, if that time is known.
type Lived = (Option<Window>, f64);

/// Converts rates. Each of them covers its own time, and the results cover the time of all of them.
fn over_all_time(rates: &[Lived]) -> Vec<f64> {
    let lives = || rates.iter().filter_map(|(life, _)| *life);
    let all = lives().reduce(|a, b| Window { from: a.from.min(b.from), to: a.to.max(b.to) });
    let part = |life: Option<Window>| match (life, all) {
        (Some(life), Some(all)) if all.seconds() > 0.0 => life.seconds() / all.seconds(),
        _ => 1.0,
    };
    // A flow that did not run in the measured time has no rate, and adds nothing.
    rates.iter().map(|&(life, rate)| rate * part(life)).collect()
}

/// Jain's fairness index: (Σx)² / (n·Σx²). The index is 1 if all values are equal (also if all are 0), and 1/n if only
/// one value is not 0.
pub fn jain(values: &[f64]) -> f64 {
    let sum: f64 = values.iter().sum();
    let squares: f64 = values.iter().map(|x| x * x).sum();
    if squares == 0.0 { 1.0 } else { sum * sum / (values.len() as f64 * squares) }
}

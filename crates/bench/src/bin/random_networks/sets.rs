//! Networks that are files: rate traces, reverse paths that fail, a shared bottleneck, and those of the bench over real
//! sockets.

use std::path::{Path, PathBuf};

use strandcast_lab::scenario::{self, Scenario};

/// Requirement on a network's results.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Measure {
    /// Goodput, at least this share of the best path alone and of all of them added.
    Bulk { of_best: Option<f64>, of_sum: Option<f64> },
    /// Goodput, at most this many times that of flow `tcp`.
    Beside { most: f64 },
    /// Greatest share of a stream that may come too late or not at all.
    Live { most: Option<f64> },
}

impl Measure {
    /// Returns this measure without a bound.
    pub fn unbarred(self) -> Measure {
        match self {
            Measure::Bulk { .. } => Measure::Bulk { of_best: None, of_sum: None },
            Measure::Beside { .. } => Measure::Beside { most: f64::INFINITY },
            Measure::Live { .. } => Measure::Live { most: None },
        }
    }
}

/// A scheme and what is asked of it.
pub type Bar = (&'static str, Measure);

/// A network of a set.
pub struct Entry {
    /// Name in tables.
    pub name: String,
    /// Path of the file, from the root of the repository.
    pub file: String,
    /// Changes to the file, as `key=value`.
    pub sets: Vec<String>,
    /// The flow that is looked at.
    pub flow: &'static str,
    pub bars: Vec<Bar>,
}

/// All sets, by name.
pub const NAMES: [&str; 3] = ["traces", "links", "live"];

/// The networks of a set.
pub fn set(name: &str) -> Option<Vec<Entry>> {
    Some(match name {
        "traces" => traces(),
        "links" => links(),
        "live" => live(),
        _ => return None,
    })
}

impl Entry {
    /// Reads the file.
    pub fn load(&self) -> Result<Scenario, String> {
        let path: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(&self.file);
        scenario::load(&path, &self.sets).map_err(|error| error.to_string())
    }
}

const fn bulk(of_best: f64) -> Measure {
    Measure::Bulk { of_best: Some(of_best), of_sum: None }
}

/// Rates like those of LTE and Wi-Fi, with stalls; reverse paths that are dead or lossy; two uplinks that meet.
fn traces() -> Vec<Entry> {
    let good = [("bond", bulk(0.95)), ("cmt", Measure::Bulk { of_best: None, of_sum: None })];
    let files = ["lte-wifi", "lte-lte", "lte-lte-wifi", "dead-reverse", "lossy-reverse"];
    let of = |name: &str, bars: &[Bar]| Entry {
        name: name.into(),
        file: format!("scenarios/real-paths/{name}.toml"),
        sets: Vec::new(),
        flow: "ours",
        bars: bars.to_vec(),
    };
    let shared = [("bond", Measure::Beside { most: 1.5 }), ("cmt", Measure::Beside { most: f64::INFINITY })];
    files.iter().map(|name| of(name, &good)).chain([of("shared-bottleneck", &shared)]).collect()
}

/// A network of the bench over real sockets.
fn bench(name: &str, network: &str, sets: Vec<String>, bars: &[Bar]) -> Entry {
    let file = format!("bench/links/networks/{network}.toml");
    Entry { name: name.into(), file, sets, flow: "ours", bars: bars.to_vec() }
}

/// The same random loss on both links, in both directions.
fn lossy(rate: &str) -> Vec<String> {
    let way = |link: &'static str| {
        ["", ".reverse"].map(|way| format!("links.{link}{way}.loss.uniform.rate={rate}"))
    };
    ["p1", "p2"].into_iter().flat_map(way).collect()
}

/// Bulk over two links.
fn links() -> Vec<Entry> {
    let none = Measure::Bulk { of_best: None, of_sum: None };
    let both = |of_best, of_sum| Measure::Bulk { of_best, of_sum };
    // Copies on every path deliver what the best path does.
    let bars = |main: Measure, lia: Measure, copies: Measure| {
        [("cmt", main), ("bond", main), ("lia", lia), ("redundant", copies)]
    };
    let uneven = bars(bulk(0.98), bulk(0.98), bulk(0.97));
    let pair = bars(both(None, Some(0.9)), bulk(0.98), bulk(0.97));
    let long = bars(both(Some(0.98), Some(0.7)), bulk(0.98), bulk(0.97));
    vec![
        bench("20 + 10", "pair", Vec::new(), &pair),
        bench("20 + 1, 1 s queue", "uneven-deep", Vec::new(), &uneven),
        bench("20 + 1, 100 ms queue", "uneven-shallow", Vec::new(), &uneven),
        bench("20 + 20 at 300 ms", "long", Vec::new(), &long),
        bench("20 + 10, 1 % loss", "pair", lossy("0.01"), &bars(none, none, none)),
    ]
}

/// A stream of 4 Mbit/s, dropped at its deadline; its first second does not count.
fn stream(latency_ms: u32, time_s: u32) -> Vec<String> {
    let app = format!(
        "flows.ours.app={{ kind = \"video\", trace = \"../../../../scenarios/real-paths/stream.txt\", loop = true, \
         deadline = \"{latency_ms} ms\", expire = true }}"
    );
    vec![app, format!("run.time={time_s} s"), "run.warmup=1 s".into()]
}

/// Live streams over a fast and a slow link, and while the first link is dark from 12 s to 17 s.
fn live() -> Vec<Entry> {
    // The first one has a bar.
    let schemes = ["bond", "cmt", "lia", "redundant"];
    let told = |most: Option<f64>| {
        schemes.map(|scheme| (scheme, Measure::Live { most: most.filter(|_| scheme == schemes[0]) }))
    };
    let mut all = vec![
        bench("20 + 1, 1 s queue, 500 ms", "uneven-deep", stream(500, 60), &told(Some(0.0))),
        bench("20 + 1, 100 ms queue, 500 ms", "uneven-shallow", stream(500, 60), &told(Some(0.0))),
    ];
    for (percent, rate) in [("0", "0"), ("0.1", "0.001"), ("1", "0.01")] {
        for latency_ms in [500, 1000, 2000] {
            let mut sets = [lossy(rate), stream(latency_ms, 30)].concat();
            sets.push("links.p1.down={ from = \"12 s\", to = \"17 s\" }".into());
            all.push(bench(&format!("black hole, {percent} %, {latency_ms} ms"), "hole", sets, &told(None)));
        }
    }
    all
}

//! Comparison of docs/scenarios.md and of the project's scenarios with the reader and the schema.

use std::fs;
use std::path::{Path, PathBuf};

use strandcast_lab::scenario::{self, Scenario};
use strandcast_sim::tcp::{Config, Profile};

use crate::schema_check::Schema;

/// Scenario into which fragments of the documentation are inserted.
const BASE: &str = r#"
[nodes.a]
[nodes.b]
[links.wifi]
from = "a"
to = "b"
rate = "2 Mbit/s"
[flows.bulk]
from = "a"
to = "b"
"#;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the workspace is there")
}

/// Scenario files below `scenarios/` and `experiments/`, in order.
fn files() -> Vec<PathBuf> {
    let mut files = Vec::new();
    let inside = |folder: PathBuf| {
        let entries = fs::read_dir(folder).expect("it is a folder");
        entries.map(|entry| entry.expect("it can be listed").path()).collect::<Vec<_>>()
    };
    for root in ["scenarios", "experiments"].map(|folder| root().join(folder)) {
        files.extend(inside(root).into_iter().filter(|path| path.is_dir()).flat_map(inside));
    }
    files.retain(|file| file.extension().is_some_and(|ext| ext == "toml"));
    files.sort();
    files
}

fn as_json(text: &str) -> serde_json::Value {
    let table: toml::Table = text.parse().expect("the reader took it");
    serde_json::to_value(table).expect("TOML is JSON, but for dates")
}

/// The blocks of a Markdown text that begin with exactly this line.
fn blocks(text: &str, fence: &str) -> Vec<String> {
    let mut blocks = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line == fence {
            let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
            blocks.push(block.join("\n") + "\n");
        }
    }
    blocks
}

/// A scenario that is written out and read again is the same, in its hash and in all values.
fn is_read_as_written(scenario: &Scenario, schema: &Schema) {
    let written = scenario::written(scenario);
    schema.check(&written).unwrap_or_else(|wrong| panic!("{wrong}\n{written:#}"));
    let text = toml::to_string(&written).expect("it is TOML");
    let again = scenario::parse(&text, "written", Path::new("/"), &[]);
    let again = again.unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(&again, scenario, "{text}");
    assert_eq!(scenario::hash(&again), scenario::hash(scenario), "{text}");
}

/// Keys that the project's scenarios and those of the documentation do not use.
const RARE: &str = r#"
title = "Rare \"words\""
run = { time = "90.000000007 s", warmup = "0.1 s", seed = 9223372036854775801, runs = 7 }
host.overhead = false
nodes = { a = {}, "b c" = {}, d = {}, e = { x = "1.5 km", y = 3 }, f = { x = 1, y = "2 m" } }
[radio.made]
profile = "ns3"
routing = "aomdv,split=even"
place = { kind = "uniform", prefix = "m", count = 3, width = "100 m", height = 50 }
medium = { propagation = "free-space", reception_range = "0.3 km", capture = "7 dB" }
dcf = { data_rate = "5.5 Mbit/s", rts_threshold = "2 kB", queue = 17, slot = "9 us", inclusive_draw = false }
mobility = { speed_max = "9 km/h", pause = "3 s" }
[radio.grid]
place = { prefix = "g", columns = 2, rows = 3, spacing = 70 }
[radio.listed]
stations = ["f", "e"]
[flows.drawn]
transport = "udp"
ends = "random"
app = { kind = "cbr", rate = "1 kbit/s" }
paths.p = { via = ["grid"] }
[links."x.y"]
from = "a"
to = "b c"
rate = { uniform = ["1 Mbit/s", "3 Mbit/s"], every = "run" }
delay = { steps = [[0, "10 ms"], ["0.3 s", "7 ms"]] }
keep_order = false
queue = { limit = "64 KiB", in_service = true }
policer = { rate = "2 Mbit/s", burst = "20 kB" }
loss = { first = { model = "markov", by = "time", good = "3 s", bad = "7 ms", loss_good = 0.001 }, second = { model = "markov", p_good_to_bad = 0.1, p_bad_to_good = 0.3, loss_bad = 0.7 }, snr = { modulation = "16qam", snr = "21 dB" } }
arq.retries = 3
reorder = { probability = "1 %", extra = "3 ms" }
duplicate = 0.01
corrupt = "0.3 %"
down = { one = { from = "3 s", to = "4 s" }, two = { from = "5 s", mode = "notify" } }
wireless = true
loss_takes = "flows"
reverse = { rate = "infinite", arq.retries = 0, queue.limit = "unlimited", down = {}, loss.uniform.rate = { uniform = [0, 0.1], every = "packet" } }
[links.z]
from = "b c"
to = "d"
rate = "5 Mbit/s"
queue = { kind = "fq-codel", target = "7 ms", flows = 64 }
delay = { lognormal = ["20 ms", "5 ms"], within = ["5 ms", "80 ms"], correlation = 0.9, every = "packet", cause = "sky" }
loss.uniform.rate = { uniform = [0, "2 %"], every = "1 s", cause = "sky" }
down = { rain = { from = 0, to = "2 s", every = "30 s", law = "exponential", cause = "sky" }, handover = { from = "15 s", to = "15.1 s", every = "15 s" } }
reverse = { delay = { normal = [0.02, 0.003], every = "1 s" }, policer = { rate = "1 Mbit/s", burst = 9000 }, queue.quantum = 300 }
[links.heavy]
from = "b c"
to = "d"
rate = { pareto = ["5 Mbit/s", 1.7], every = "2 s" }
[flows.video]
from = "a"
to = "d"
count = 2
compare = true
seal = true
primary = "first"
profile = "ns2"
sctp = { mtu = 1000, rto_min = "0.3 s", encapsulation = "udp", scheme_defaults = "initial-cwnd=2" }
start = { uniform = [0, "1 s"] }
stop = "80 s"
app = { kind = "video", rate = "1 Mbit/s", size = 500, expire = true, deadline = "0.7 s" }
paths.first = { via = ["x.y", "z"] }
paths.later = { via = ["x.y", "z"], back = ["z", "x.y"], join = "1 s", leave = "7.3 s" }
[flows.live]
from = "a"
to = "d"
app = { kind = "video", rate = "4 Mbit/s", size = 1316, burst = "40 ms", spacing = { uniform = ["0 us", "50 us"], every = "packet" }, key_frames = { every = 50, times = 7.5 }, pause = { first = { from = 0, to = "3 s" }, probe = { from = "5 s", to = "5.5 s", keep = true } }, keep_alive = "1 s" }
paths.first = { via = ["x.y", "z"] }
[flows.piped]
from = "a"
to = "d"
app = { kind = "video", rate = "4 Mbit/s", burst = "32 KiB", pause = { from = "1 s", to = "2 s" } }
paths.first = { via = ["x.y", "z"] }
[flows.whole]
from = "a"
to = "d"
app = { kind = "finite", bytes = "1 GB" }
[flows.tcp]
transport = "tcp"
from = "d"
to = "a"
cc = "cubic,beta=0.7"
profile = "linux"
tcp = { recovery = "sack", rto_min = "0.1 s", nagle = true, initial_ssthresh = "unbounded" }
app = { kind = "onoff", rate = "1 Mbit/s", on = "1 s", off = "2 s", law = "pareto", shape = 1.3 }
[flows.mptcp]
transport = "mptcp"
from = "a"
to = "d"
app = { kind = "poisson", rate = "1 Mbit/s" }
[flows.udp]
transport = "udp"
from = "a"
to = "d"
header = 40
app = { kind = "onoff", rate = { uniform = [1000, 2000], every = "3 s" }, on = "1 s", off = "2 s", law = "exponential" }
[cross.load]
via = ["z"]
load = { uniform = [0, "50 %"], every = "10 s" }
sizes.small = { bytes = 44, share = 0.5 }
tcp.segment = 700
"#;

#[test]
fn rare_keys_are_read_as_written() {
    let scenario =
        scenario::parse(RARE, "rare", Path::new("/"), &[]).unwrap_or_else(|error| panic!("{error}"));
    is_read_as_written(&scenario, &Schema::new(scenario::schema()));
}

#[test]
fn every_scenario_is_read_and_fits_the_schema() {
    let schema = Schema::new(scenario::schema());
    let files = files();
    assert!(files.len() >= 7, "{files:?}");
    for file in files {
        let scenario = scenario::load(&file, &[]).unwrap_or_else(|error| panic!("{error}"));
        is_read_as_written(&scenario, &schema);
        let text = fs::read_to_string(&file).expect("it was just read");
        schema.check(&as_json(&text)).unwrap_or_else(|wrong| panic!("{}: {wrong}", file.display()));
    }
}

#[test]
fn every_example_of_the_documentation_is_read_and_fits_the_schema() {
    let text = fs::read_to_string(root().join("docs/scenarios.md")).expect("it is there");
    let schema = Schema::new(scenario::schema());
    let whole = blocks(&text, "```toml");
    let fragments: Vec<_> =
        blocks(&text, "```toml fragment").iter().map(|block| format!("{BASE}{block}")).collect();
    assert!(whole.len() == 2 && fragments.len() >= 5, "{} {}", whole.len(), fragments.len());
    for text in whole.iter().chain(&fragments) {
        let mut folder = root().join("scenarios/examples");
        if text.contains("losses.txt") {
            folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/scenario");
        }
        let scenario = scenario::parse(text, "docs", &folder, &[]);
        is_read_as_written(&scenario.unwrap_or_else(|error| panic!("{error}\n{text}")), &schema);
        schema.check(&as_json(text)).unwrap_or_else(|wrong| panic!("{wrong}\n{text}"));
    }
}

/// `UPDATE_DOCS=1` updates the page.
#[test]
fn the_documentation_has_all_keys() {
    let file = root().join("docs/scenarios.md");
    let text = fs::read_to_string(&file).expect("it is there");
    let tables = scenario::reference();
    let mut used = Vec::new();
    let expected = expand(&text, |kind, name| {
        used.push(format!("{kind}: {name}"));
        match kind {
            "table" => {
                let table = tables.iter().find(|(table, _)| *table == name);
                table.unwrap_or_else(|| panic!("no table {name}")).1.clone()
            }
            "file" => {
                let text = fs::read_to_string(root().join(name)).expect("the file is there");
                format!("```toml\n{text}```\n")
            }
            _ if name == "sctp" => sctp_profiles(),
            _ => tcp_profiles(),
        }
    });
    for (name, _) in &tables {
        assert!(used.contains(&format!("table: {name}")), "the documentation has no table {name}");
    }
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&file, &expected).expect("it can be written");
    } else {
        for (line, (is, should)) in (1..).zip(text.lines().zip(expected.lines())) {
            assert_eq!(is, should, "docs/scenarios.md:{line}; UPDATE_DOCS=1 mends it");
        }
        assert_eq!(text.len(), expected.len(), "docs/scenarios.md; UPDATE_DOCS=1 mends it");
    }
}

/// The text with the content that belongs after each `<!-- kind: name -->`, in place of the block of lines that is
/// there.
fn expand(text: &str, mut content: impl FnMut(&str, &str) -> String) -> String {
    let mut out = String::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        out += line;
        out.push('\n');
        let marker = line.strip_prefix("<!-- ").and_then(|rest| rest.strip_suffix(" -->"));
        let Some((kind, name)) = marker.and_then(|marker| marker.split_once(": ")) else { continue };
        out += &format!("\n{}", content(kind, name));
        lines.next_if(|line| line.is_empty());
        if kind == "file" && lines.peek().is_some_and(|line| line.starts_with("```")) {
            lines.next();
            for _ in lines.by_ref().take_while(|line| *line != "```") {}
        } else {
            while lines.next_if(|line| line.starts_with('|')).is_some() {}
        }
        if lines.peek().is_some_and(|line| !line.is_empty()) {
            out.push('\n');
        }
    }
    out
}

fn table(heads: &[&str], rows: Vec<Vec<String>>) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let mut text = line(&heads.iter().map(|meta| meta.to_string()).collect::<Vec<_>>());
    text += &format!("|{}\n", "---|".repeat(heads.len()));
    rows.iter().for_each(|row| text += &line(row));
    text
}

fn sctp_profiles() -> String {
    let names = ["rfc", "live", "ns2"];
    let profiles = names.map(|name| scenario::sctp_profile(name).expect("it is a profile"));
    let cell = |value: serde_json::Value| match &value {
        serde_json::Value::Object(time) => {
            let whole = time["secs"].as_f64().unwrap_or_default();
            format!("{} s", whole + time["nanos"].as_f64().unwrap_or_default() / 1e9)
        }
        serde_json::Value::Null => "none".into(),
        serde_json::Value::String(text) if text.is_empty() => "none".into(),
        serde_json::Value::String(text) => format!("`{text}`"),
        other => other.to_string(),
    };
    let profiles = profiles.map(|sctp| serde_json::to_value(sctp).expect("it is a table of constants"));
    // The profile `live` has every constant.
    let keys = profiles[1].as_object().expect("it is a table").keys().filter(|key| *key != "profile");
    let cell = |key: &str, profile: &serde_json::Value| match &profile[key] {
        bytes if key == "encapsulation" => if *bytes == 28 { "`\"udp\"`" } else { "`\"none\"`" }.into(),
        value => cell(value.clone()),
    };
    let row = |key: &String| {
        let cells = profiles.iter().map(|profile| cell(key, profile));
        std::iter::once(format!("`{key}`")).chain(cells).collect()
    };
    let heads = names.map(|name| format!("`{name}`"));
    let heads: Vec<&str> = std::iter::once("key").chain(heads.iter().map(String::as_str)).collect();
    table(&heads, keys.map(row).collect())
}

fn tcp_profiles() -> String {
    let columns = Profile::ALL.map(|(_, profile)| {
        let text = format!("{:#?}", Config::from(profile));
        let fields = text.lines().filter_map(|line| line.trim().trim_end_matches(',').split_once(": "));
        let own = |(key, value): (&str, &str)| {
            let value = match value {
                "Unbounded" => "unbounded".into(),
                "ReceiveWindow" => "receive-window".into(),
                value if key == "recovery" => value.to_lowercase(),
                value => value.to_string(),
            };
            (key.to_string(), value)
        };
        fields.map(own).collect::<std::collections::BTreeMap<_, _>>()
    });
    let heads: Vec<String> = Profile::ALL.iter().map(|(name, _)| format!("`{name}`")).collect();
    let heads: Vec<&str> = std::iter::once("key").chain(heads.iter().map(String::as_str)).collect();
    let row = |key: &str| {
        let values = columns.iter().map(|column| column[key].clone());
        std::iter::once(format!("`{key}`")).chain(values).collect()
    };
    table(&heads, Config::keys().map(row).collect())
}

#[test]
fn every_key_of_the_schema_is_known_to_the_reader() {
    let schema = scenario::schema();
    let documented: String = scenario::reference().into_iter().map(|(_, table)| table).collect();
    let mut keys = Vec::new();
    let defs = schema["$defs"].as_object().expect("the schema has definitions");
    for def in defs.values().chain([&schema]) {
        let properties = def["properties"].as_object();
        keys.extend(properties.into_iter().flat_map(|properties| properties.keys()));
    }
    assert!(keys.len() > 100, "{}", keys.len());
    for key in keys {
        let known = documented.contains(&format!("| `{key}` |")) || Config::keys().any(|tcp| tcp == key);
        assert!(known, "{key}");
    }
}

/// Each table with a key it does not have: neither the schema nor the reader takes it.
#[test]
fn schema_and_reader_refuse_the_same_keys() {
    let schema = Schema::new(scenario::schema());
    let text =
        fs::read_to_string(root().join("scenarios/examples/shared-bottleneck.toml")).expect("it is there");
    let folder = root().join("scenarios/examples");
    for table in [
        "",
        "run.",
        "host.",
        "nodes.van.",
        "links.wifi.",
        "links.wifi.reverse.",
        "links.wifi.queue.",
        "links.wifi.loss.markov.",
        "links.satellite.down.",
        "flows.live.",
        "flows.live.paths.wifi.",
        "flows.live.app.",
        "flows.live.sctp.",
        "flows.upload.",
        "flows.burst.",
        "flows.upload.tcp.",
    ] {
        let set = format!("{table}strange=1");
        let said =
            scenario::parse(&text, "f", &folder, std::slice::from_ref(&set)).expect_err(&set).to_string();
        assert!(said.contains("strange: "), "{said}");
        let mut json = as_json(&text);
        let mut inner = &mut json;
        for part in table.split_terminator('.') {
            inner = &mut inner[part];
        }
        inner["strange"] = 1.into();
        assert!(schema.check(&json).is_err(), "{set}");
    }
}

fn scenario(name: &str) -> Scenario {
    scenario::load(&root().join("experiments").join(name), &[]).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn the_papers_networks_are_what_the_papers_say() {
    let ms = |n: u64| scenario::Number::Constant(n as f64 / 1e3);
    let fig4 = scenario("xu2015/fig4.toml");
    let core = |name: &str| fig4.links[name].forward.delay.clone();
    assert_eq!([core("a_core"), core("b_core"), core("c_core")], [ms(100), ms(50), ms(50)]);
    let fig9 = scenario("xu2015/fig9.toml");
    assert_eq!(fig9.run.warmup.as_secs(), 250);
    let starts: Vec<_> = ["tcp1", "sctp", "tcp2"].map(|name| fig9.flows[name].start.clone()).into();
    assert_eq!(starts, [ms(0), ms(50_000), ms(100_000)]);
    for scenario in [
        fig4,
        fig9,
        scenario("xu2015/fig10.toml"),
        scenario("cao2016/fig5.toml"),
        scenario("liu2019/fig3.toml"),
    ] {
        let compared: Vec<_> = scenario.flows.values().filter(|flow| flow.compare).collect();
        assert_eq!(compared.len(), 1, "{}", scenario.title);
        let scenario::Transport::Sctp { sctp, .. } = &compared[0].transport else {
            panic!("SCTP is compared")
        };
        assert_eq!((sctp.mtu, sctp.encapsulation, sctp.largest_payload()), (1500, 20, 1452));
        for path in compared[0].paths.values() {
            assert_eq!(path.via.len(), 3, "access, core or bottleneck, access");
        }
        let reverse_is_lossless = |link: &scenario::Link| link.reverse.loss.is_empty();
        assert!(scenario.links.values().all(reverse_is_lossless), "{}", scenario.title);
    }
}

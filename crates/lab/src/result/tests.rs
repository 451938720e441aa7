//! Runs summed up.

use core::time::Duration;

use proptest::prelude::*;
use strandcast_netem::engine::Fingerprint;
use strandcast_proto::time::Instant;

use super::meter::Window;
use super::*;

pub(super) fn run(scheme: &str, seed: u64, metrics: &[(Subject, &'static str, f64)]) -> RunResult {
    let mut fingerprint = Fingerprint::new();
    fingerprint.record(Instant::ZERO, scheme, &[seed]);
    let metric = |(subject, name, value): &(Subject, &'static str, f64)| Metric {
        subject: subject.clone(),
        name,
        value: *value,
    };
    RunResult {
        seed,
        scheme: scheme.into(),
        fingerprint,
        metrics: metrics.iter().map(metric).collect(),
        frames: Vec::new(),
        topology: None,
        diagnostics: Vec::new(),
        packet_hops: 10,
        simulated: Duration::from_secs(1),
    }
}

pub(super) fn flow(name: &str) -> Subject {
    Subject::Flow(name.into())
}

pub(super) fn scenario() -> ScenarioName {
    ScenarioName {
        title: "two paths".into(),
        hash: "00ff".into(),
        file: None,
        set: Vec::new(),
        profiles: Default::default(),
        apps: Default::default(),
    }
}

/// Share of a flow in link b.
fn share(flow: &str, value: f64) -> Metric {
    let (link, direction, flow) = ("b".into(), "forward".into(), flow.into());
    Metric { subject: Subject::Share { link, direction, flow }, name: "served_share", value }
}

/// Two schemes with two runs each and something of every kind.
pub(super) fn runs() -> Vec<RunResult> {
    let path = Subject::Path { flow: "video".into(), path: "wifi".into() };
    let link = Subject::Link { link: "b".into(), direction: "forward".into() };
    let mut runs = Vec::new();
    for (scheme, seed, goodput) in
        [("cmt", 1, 1.0e6), ("cmt", 2, 2.0e6), ("sctp", 1, 0.5e6), ("sctp", 2, 0.75e6)]
    {
        runs.push(run(
            scheme,
            seed,
            &[
                (flow("video"), "goodput_bps", goodput),
                (path.clone(), "share", 0.25),
                (link.clone(), "utilisation", 0.5),
                (Subject::Cross("load".into()), "offered_load", 0.3),
                (share("video", 0.0).subject, "served_share", 0.25),
            ],
        ));
    }
    runs
}

#[test]
fn flows_alike_are_taken_together() {
    let path = |n: u32| Subject::Path { flow: format!("tcp#{n}"), path: "a".into() };
    let mut run = run(
        "cmt",
        1,
        &[
            (flow("tcp#1"), "goodput_bps", 3.0),
            (flow("tcp#2"), "goodput_bps", 1.0),
            (flow("tcp#1"), "delay_mean_ms", 10.0),
            (flow("tcp#2"), "delay_mean_ms", 30.0),
            (flow("tcp#1"), "delay_max_ms", 11.0),
            (flow("tcp#2"), "delay_max_ms", 31.0),
            (flow("tcp#2"), "rests", 4.0),
            (path(1), "goodput_bps", 3.0),
            (path(2), "goodput_bps", 1.0),
            (flow("no#number"), "goodput_bps", 1.0),
        ],
    );
    let before = run.metrics.len();
    run.add_aggregates(&Default::default());
    let together = Subject::Path { flow: "tcp".into(), path: "a".into() };
    let expected = [
        (flow("tcp"), "delay_max_ms", 31.0),
        (flow("tcp"), "delay_mean_ms", 20.0),
        (flow("tcp"), "jain", 16.0 / 20.0),
        (flow("tcp"), "goodput_bps", 4.0),
        (flow("tcp"), "rests", 4.0),
        (together, "goodput_bps", 4.0),
    ]
    .map(|(subject, name, value)| Metric { subject, name, value });
    assert_eq!(run.metrics[before..], expected);
}

/// 100 Mbit/s first for one flow alone, then for another one: together they have 100, not 200.
#[test]
fn rates_of_flows_that_follow_each_other_do_not_add_up() {
    let metrics =
        [("tcp#1", 1e8), ("tcp#2", 1e8), ("tcp#3", 2e7)].map(|(name, bps)| (flow(name), "goodput_bps", bps));
    let mut run = run("cmt", 1, &metrics);
    let life = |from, to| Window { from: Instant::from_millis(from), to: Instant::from_millis(to) };
    let lives = [("tcp#1", life(1000, 6000)), ("tcp#2", life(6000, 11_000)), ("tcp#3", life(9000, 11_000))];
    run.add_aggregates(&lives.map(|(name, life)| (name.to_owned(), life)).into());
    let together = run.metrics.iter().find(|m| m.subject == flow("tcp") && m.name == "goodput_bps").unwrap();
    assert_eq!(together.value, 5e7 + 5e7 + 4e6);
}

#[test]
fn the_index_of_fairness() {
    assert_eq!([jain(&[5.0, 5.0, 5.0]), jain(&[1.0, 0.0, 0.0, 0.0]), jain(&[0.0, 0.0])], [1.0, 0.25, 1.0]);
}

#[test]
fn means_and_differences_are_over_the_runs_that_have_the_metric() {
    let summary = Summary::of(
        scenario(),
        "1",
        1,
        &[
            run("a", 1, &[(flow("f"), "goodput_bps", 10.0), (flow("f"), "psnr_eq17_db", f64::NAN)]),
            run("a", 2, &[(flow("f"), "goodput_bps", 14.0)]),
            run("a", 3, &[(flow("f"), "goodput_bps", 18.0), (flow("f"), "psnr_eq17_db", 30.0)]),
            run("b", 2, &[(flow("f"), "goodput_bps", 13.0)]),
            run("b", 3, &[(flow("f"), "goodput_bps", 19.0)]),
            run("b", 4, &[(flow("f"), "goodput_bps", 1.0)]),
        ],
    );
    let a = &summary.flows["f"]["a"].metrics;
    // s = 4, t(2) = 4.303.
    assert_eq!((a["goodput_bps"].mean, a["goodput_bps"].n), (14.0, 3));
    assert!((a["goodput_bps"].ci95.unwrap() - 4.302_652_73 * 4.0 / 3.0_f64.sqrt()).abs() < 1e-6);
    assert_eq!(a["psnr_eq17_db"], Stat::of(&[30.0]).unwrap());
    // Seeds 2 and 3: 1 and -1; s = √2, t(1) = 12.706.
    let paired = &summary.paired["a-b"]["f"]["goodput_bps"];
    assert_eq!((paired.mean, paired.n), (0.0, 2));
    assert!((paired.ci95.unwrap() - 12.706_204_74).abs() < 1e-6);
    assert_eq!(summary.paired.len(), 1);
    assert!(!summary.paired["a-b"]["f"].contains_key("psnr_eq17_db"));
}

#[test]
fn the_table_names_the_profiles_of_flows() {
    let run = [run("a", 1, &[(flow("video"), "goodput_bps", 10.0)])];
    let text = |profiles: &[(&str, &str)]| {
        let profiles = profiles.iter().map(|(flow, of)| ((*flow).into(), (*of).into())).collect();
        table(&Summary::of(ScenarioName { profiles, ..scenario() }, "1", 1, &run))
    };
    assert!(text(&[("video", "live")]).contains("\nprofile: video live\n"));
    assert!(text(&[("tcp", "linux"), ("video", "live")]).contains("\nprofiles: tcp linux, video live\n"));
    assert!(!text(&[]).contains("profile"));
}

#[test]
fn diagnostics_stand_once_below_the_table() {
    let (mut first, mut second) = (run("a", 1, &[]), run("b", 1, &[]));
    let diagnostic = |flow: &str, scheme: &str, text: &str| Diagnostic {
        flow: flow.into(),
        scheme: scheme.into(),
        text: text.into(),
    };
    first.diagnostics = vec![diagnostic("video", "a", "does without"), diagnostic("rest", "c", "is alone")];
    second.diagnostics = vec![diagnostic("rest", "c", "is alone"), diagnostic("video", "b", "does without")];
    let summary = Summary::of(scenario(), "1", 1, &[first.clone(), first, second]);
    let text = table(&summary);
    let below =
        "\nscheme a of video: does without\nscheme c of rest: is alone\nscheme b of video: does without\n";
    assert!(text.ends_with(below), "{text}");
    let back: Summary = serde_json::from_str(&summary.json()).unwrap();
    assert_eq!(back.diagnostics.len(), 3);
    assert!(
        !Summary::of(scenario(), "1", 1, &runs()).json().contains("diagnostics"),
        "as before without any"
    );
}

#[test]
fn the_layout_of_the_json() {
    let mut summary = Summary::of(scenario(), "0.1.0", 1, &runs());
    summary.speed = Some(Speed { packet_hops_per_s: 2.5e6 });
    let json = summary.json();
    let mut plain = json.replace(&summary.fingerprint, "ALL");
    for run in &summary.runs {
        plain = plain.replace(&run.fingerprint, &format!("{} {}", run.scheme, run.seed));
    }
    assert_eq!(
        plain,
        include_str!("tests/result.json"),
        "if this was meant: schema {SCHEMA} has changed, and docs/results.md"
    );
    assert_eq!(serde_json::from_str::<Summary>(&json).unwrap(), summary);
}

#[test]
fn the_fingerprint_is_over_runs_in_order() {
    let of = |runs: &[RunResult]| Summary::of(scenario(), "1", 1, runs).fingerprint;
    let runs = runs();
    let mut swapped = runs.clone();
    swapped.swap(0, 1);
    let mut other = runs.clone();
    other[3].fingerprint = Fingerprint::new();
    let mut same = runs.clone();
    same[0].packet_hops += 1;
    assert_eq!(of(&same), of(&runs));
    assert_ne!(of(&swapped), of(&runs));
    assert_ne!(of(&other), of(&runs));
    assert_ne!(of(&runs[..3]), of(&runs));
}

#[test]
fn the_table_is_aligned_and_without_single_instances() {
    let mut runs = runs();
    for run in &mut runs {
        for n in 1..=2 {
            let (subject, name) = (flow(&format!("tcp#{n}")), "goodput_bps");
            run.metrics.push(Metric { subject, name, value: f64::from(n) * 1e3 });
            run.metrics.push(share(&format!("tcp#{n}"), f64::from(n) * 0.25));
        }
        run.add_aggregates(&Default::default());
    }
    let table = table(&Summary::of(scenario(), "1", 1, &runs));
    let expected = "\
two paths: 4 runs, seed 1, fingerprint ";
    assert!(table.starts_with(expected), "{table}");
    let body: Vec<&str> = table.lines().skip(1).collect();
    assert_eq!(
        body,
        [
            "",
            "flow   scheme  limit           goodput kbit/s                  Jain",
            "tcp    cmt     -               3.0 [3.0, 3.0]  0.900 [0.900, 0.900]",
            "tcp    sctp    -               3.0 [3.0, 3.0]  0.900 [0.900, 0.900]",
            "video  cmt     -      1500.0 [1000.0, 2000.0]                     -",
            "video  sctp    -         625.0 [500.0, 750.0]                     -",
            "",
            "link  direction  scheme             used %",
            "b     forward    cmt     50.0 [50.0, 50.0]",
            "b     forward    sctp    50.0 [50.0, 50.0]",
            "",
            "link  direction  scheme  flow             share %",
            "b     forward    cmt     tcp    75.0 [75.0, 75.0]",
            "b     forward    cmt     video  25.0 [25.0, 25.0]",
            "b     forward    sctp    tcp    75.0 [75.0, 75.0]",
            "b     forward    sctp    video  25.0 [25.0, 25.0]",
            "",
            "cross  scheme          offered %",
            "load   cmt     30.0 [30.0, 30.0]",
            "load   sctp    30.0 [30.0, 30.0]",
            "",
            "flow   difference         goodput kbit/s",
            "tcp    cmt-sctp           0.0 [0.0, 0.0]",
            "video  cmt-sctp    875.0 [500.0, 1250.0]",
            "",
            "median [range of 2 runs: an interval needs 10]; mean (runs that are not 0, or differ from most: 95 % of \
             their share); * the two schemes differ at the 5 % level (sign test)",
        ]
    );
}

/// Ten runs: nine without a missed unit, and goodputs of 1 to 10; scheme b has one more in each.
#[test]
fn numbers_of_many_runs_have_bounds_that_hold() {
    let runs: Vec<RunResult> = ["a", "b"]
        .into_iter()
        .flat_map(|scheme| (1..=10).map(move |seed| (scheme, seed)))
        .map(|(scheme, seed)| {
            let goodput = 1e3 * (seed + u64::from(scheme == "b")) as f64;
            let missed = if seed == 4 { 0.5 } else { 0.0 };
            let equal = ("jain", 0.5);
            let numbers = [("goodput_bps", goodput), ("missed_ratio", missed), equal];
            run(scheme, seed, &numbers.map(|(name, value)| (flow("v"), name, value)))
        })
        .collect();
    let text = table(&Summary::of(scenario(), "1", 1, &runs));
    let rows = [
        "v     a       -      5.00 (1/10: 0–45%)   5.5 [2.0, 9.0]  0.500 (0/10: ≤26%)",
        "v     b       -      5.00 (1/10: 0–45%)  6.5 [3.0, 10.0]  0.500 (0/10: ≤26%)",
        "v     a-b         0.00 (0/10: ≤26%)  -1.0* (0/10: ≤26%)",
    ];
    for row in rows {
        assert!(text.contains(row), "{row}\n{text}");
    }
    let legend = "median [95 % interval of the median]; mean (runs that are not 0, or differ from most: 95 % of their share); \
                  * the two schemes differ at the 5 % level (sign test)\n";
    assert!(text.ends_with(legend), "{text}");
}

#[test]
fn what_limits_a_flow() {
    let limit_of = |app: &str, metrics: &[(&'static str, f64)]| {
        let metrics: Vec<_> = metrics.iter().map(|&(name, value)| (flow("f"), name, value)).collect();
        let apps = [("f".to_owned(), app.to_owned())].into();
        let text = table(&Summary::of(ScenarioName { apps, ..scenario() }, "1", 1, &[run("a", 1, &metrics)]));
        let row = text.lines().nth(3).unwrap().to_owned();
        row.split("  ").map(str::trim).filter(|word| !word.is_empty()).nth(2).unwrap().to_owned()
    };
    let limit = |metrics: &[(&'static str, f64)]| limit_of("bulk", metrics);
    let losses = [("lost_random_packets", 3.0), ("lost_queue_packets", 2.0)];
    assert_eq!(limit(&[("rwnd_blocked_ratio", 0.5), losses[0], losses[1]]), "receive window");
    assert_eq!(limit(&[("rwnd_blocked_ratio", 0.4), losses[0], losses[1]]), "random loss");
    let both = |window, buffer| {
        limit(&[("rwnd_blocked_ratio", window), ("send_buffer_blocked_ratio", buffer), losses[1]])
    };
    assert_eq!(both(0.0, 0.5), "send buffer");
    assert_eq!(both(0.2, 0.4), "send buffer");
    assert_eq!(both(0.4, 0.2), "receive window");
    assert_eq!(both(0.2, 0.2), "queue");
    assert_eq!(limit(&[losses[1]]), "queue");
    assert_eq!(limit(&[losses[0], ("app_limited_s", 2.0), ("cwnd_limited_s", 1.0)]), "source");
    assert_eq!(
        limit(&[losses[0], ("psnr_eq17_db", 60.0)]),
        "random loss",
        "a metric does not tell the source"
    );
    assert_eq!(limit_of("video", &losses), "-", "however short the video is");
    assert_eq!(limit_of("video", &[("rwnd_blocked_ratio", 0.6)]), "receive window");
    assert_eq!(limit(&[("goodput_bps", 1.0)]), "-");
}

#[test]
fn every_metric_is_defined_once_and_documented() {
    let docs = include_str!("../../../../docs/results.md");
    for (i, definition) in DEFINITIONS.iter().enumerate() {
        assert!(DEFINITIONS[..i].iter().all(|other| other.name != definition.name), "{}", definition.name);
        let across = match definition.across {
            Across::Sum => "sum",
            Across::Mean => "mean",
            Across::Max => "max",
        };
        let row = format!("| `{}` | {across} |", definition.name);
        assert!(docs.contains(&row), "docs/results.md lacks {row}");
    }
    let is_metric = |line: &&str| {
        line.starts_with("| `")
            && ["sum", "mean", "max"].contains(&line.split('|').nth(2).unwrap_or("").trim())
    };
    let documented = docs.lines().filter(is_metric);
    assert_eq!(documented.count(), DEFINITIONS.len(), "docs/results.md has metrics that are not there");
}

proptest! {
    /// A difference of schemes is the difference of their means where both have all seeds.
    #[test]
    fn paired_means_are_differences_of_means(values in proptest::collection::vec((-1e6..1e6, -1e6..1e6), 2..20)) {
        let mut runs = Vec::new();
        for (seed, &(a, b)) in (1..).zip(&values) {
            runs.push(run("a", seed, &[(flow("f"), "goodput_bps", a)]));
            runs.push(run("b", seed, &[(flow("f"), "goodput_bps", b)]));
        }
        let summary = Summary::of(scenario(), "1", 1, &runs);
        let mean = |scheme: &str| summary.flows["f"][scheme].metrics["goodput_bps"].mean;
        let paired = summary.paired["a-b"]["f"]["goodput_bps"];
        prop_assert!((paired.mean - (mean("a") - mean("b"))).abs() < 1e-6);
        // With a constant shift the pairs say it exactly, however much the runs differ.
        for run in runs.iter_mut().filter(|run| run.scheme == "b") {
            run.metrics[0].value = values[run.seed as usize - 1].0.round() - 1024.0;
        }
        for run in runs.iter_mut().filter(|run| run.scheme == "a") {
            run.metrics[0].value = values[run.seed as usize - 1].0.round();
        }
        let shifted = Summary::of(scenario(), "1", 1, &runs).paired["a-b"]["f"]["goodput_bps"];
        prop_assert_eq!((shifted.mean, shifted.ci95), (1024.0, Some(0.0)));
    }
}

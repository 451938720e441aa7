//! Runs until an interval is narrow.

use std::ops::ControlFlow;
use std::path::Path;

use strandcast_lab::batch::{Batch, Finished, Job, ProgressObserver, SeriesSink, Traces, Until, jobs};
use strandcast_lab::result::{FEWEST, Metric, Stat, Subject};
use strandcast_lab::scenario::{self, Scenario};
use strandcast_schemes::Presets;

const LOSSY: &str = r#"
    run = { time = "2 s" }
    nodes = { a = {}, b = {} }
    links.x = { from = "a", to = "b", rate = "2 Mbit/s", delay = "20 ms", loss.uniform.rate = 0.02 }
    [flows.f]
    from = "a"
    to = "b"
    compare = true
    paths.x = { via = ["x"] }
"#;

struct Unwatched;

impl ProgressObserver for Unwatched {
    fn progress(&self, _: &Job, _: f64) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

fn batch(scenario: &Scenario) -> Batch<'_> {
    let series = SeriesSink::None;
    Batch { scenario, catalog: &Presets, series, traces: Traces::default(), progress: &Unwatched }
}

fn goodput(finished: &Finished, scheme: &str, runs: usize) -> Stat {
    let of = |metric: &&Metric| metric.name == "goodput_bps" && metric.subject == Subject::Flow("f".into());
    let mine = finished.runs.iter().filter(|run| run.scheme == scheme).take(runs);
    let values: Vec<f64> = mine.filter_map(|run| run.metrics.iter().find(of)).map(|m| m.value).collect();
    Stat::of(&values).expect("there are runs")
}

/// The runs are the first ones of as many, in their order, with any number of threads; they end at the first number of them at
/// which both schemes are known that well.
#[test]
fn runs_end_when_each_scheme_is_known() {
    let scenario = scenario::parse(LOSSY, "test.toml", Path::new(""), &[]).expect("it is a scenario");
    let batch = batch(&scenario);
    let (until, schemes): (Until, _) =
        ("goodput_bps<8%".parse().expect("it is one"), ["sctp".to_owned(), "cmt".to_owned()]);
    let made = batch.run_until(&schemes, 7, 200, &until, 2).expect("runs end");
    let each = made.runs.len() / 2;
    let all = batch.run_all(&jobs(&schemes, 7, each as u32).expect("small seeds"), 1).expect("runs end");
    let names = |finished: &Finished| -> Vec<String> {
        let name = |run: &strandcast_lab::result::RunResult| {
            format!("{} {} {}", run.scheme, run.seed, run.fingerprint)
        };
        finished.runs.iter().map(name).collect()
    };
    assert_eq!(names(&made), names(&all));
    assert!(made.unmet.is_none() && each > FEWEST as usize && each < 200, "{each} runs");
    let widest = |runs: usize| {
        let of = |scheme: &String| goodput(&made, scheme, runs).half_width(false).expect("it is not 0");
        schemes.iter().map(of).fold(0.0, f64::max)
    };
    assert!(widest(each) <= 0.08, "{}", widest(each));
    // The number before: a quarter more each time.
    let mut counts = vec![FEWEST as usize];
    while counts[counts.len() - 1] < each {
        let last = counts[counts.len() - 1];
        counts.push(last + last / 4);
    }
    assert_eq!(counts.pop(), Some(each));
    for count in counts {
        assert!(widest(count) > 0.08, "{count} runs were enough");
    }
}

#[test]
fn the_largest_number_of_runs_ends_them_with_a_remark() {
    let scenario = scenario::parse(LOSSY, "test.toml", Path::new(""), &[]).expect("it is a scenario");
    let batch = batch(&scenario);
    let until = "goodput_bps<0.01%".parse().expect("it is one");
    let made = batch.run_until(&[], 1, 11, &until, 1).expect("runs end");
    assert_eq!(made.runs.len(), 11);
    assert!(made.unmet.is_some_and(|remark| remark.starts_with("11 runs give goodput_bps to ±")));
    let few = batch.run_until(&[], 1, 3, &until, 1).expect("runs end");
    assert!(few.unmet.is_some_and(|remark| remark.starts_with("3 runs give no interval")));
    let other = "missed_ratio<5%".parse().expect("it is one");
    let error = batch.run_until(&[], 1, 20, &other, 1).expect_err("no flow has a deadline");
    assert_eq!(error.to_string(), "no flow that is compared has the metric missed_ratio");
}

//! Presets from a custom catalog work wherever a scheme is named.

use std::ffi::OsString;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::Value;
use strandcast_cli::{perf_client, run_with};
use strandcast_keys::catalog::{
    Catalog, CatalogError, FlowScheduler, SchemePlan, SharedCatalog, WindowSetup,
};
use strandcast_proto::policy::{CongestionControl, HeadOfLineConfig};
use strandcast_schemes::Presets;

use crate::common::{file, port, run, seconds, start};

/// The spec that `twin` stands for.
const MODEL: &str = "cmt,rtx=same";

/// A catalog with one more name, and the number of schemes that it has built.
#[derive(Default)]
struct OneMore {
    made: Arc<AtomicUsize>,
}

impl Catalog for OneMore {
    fn scheme(&self, spec: &str, defaults: &str) -> Result<SchemePlan, CatalogError> {
        if spec != "twin" {
            return Presets.scheme(spec, defaults);
        }
        let SchemePlan { tune, build } = Presets.scheme(MODEL, defaults)?;
        let made = Arc::clone(&self.made);
        let build = move |seeds: &_| {
            made.fetch_add(1, Ordering::Relaxed);
            build(seeds)
        };
        Ok(SchemePlan { tune, build: Arc::new(build) })
    }

    fn congestion(&self, spec: &str, setup: WindowSetup) -> Result<Box<dyn CongestionControl>, CatalogError> {
        Presets.congestion(spec, setup)
    }

    fn scheduler(&self, spec: &str, own: Option<HeadOfLineConfig>) -> Result<FlowScheduler, CatalogError> {
        Presets.scheduler(spec, own)
    }
}

/// A catalog with `twin`, and its count.
fn one_more() -> (SharedCatalog, Arc<AtomicUsize>) {
    let catalog = OneMore::default();
    let made = Arc::clone(&catalog.made);
    (Arc::new(catalog), made)
}

fn words(line: &str) -> Vec<OsString> {
    line.split_whitespace().map(OsString::from).collect()
}

fn example(name: &str) -> String {
    format!("{}/../../scenarios/examples/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn result(folder: &Path) -> Value {
    let text = std::fs::read_to_string(folder.join("result.json")).expect("simulate has written it");
    serde_json::from_str(&text).expect("it is JSON")
}

#[test]
fn simulations_take_them_from_the_command_line_and_from_scenarios() {
    let (catalog, made) = one_more();
    let folder = file("twin");
    let line = format!(
        "strandcast simulate {} --set run.time=3s --set run.warmup=1s --runs 1 --scheme twin,{MODEL} --quiet --out {}",
        example("first.toml"),
        folder.display()
    );
    assert_eq!(run_with(words(&line), Arc::clone(&catalog)), 0);
    assert!(made.load(Ordering::Relaxed) > 0);
    let result = result(&folder);
    let runs = result["runs"].as_array().expect("a list");
    let of = |i: usize| (&runs[i]["scheme"], &runs[i]["fingerprint"]);
    assert_eq!((of(0).0, of(1).0), (&"twin".into(), &MODEL.into()));
    assert_eq!(of(0).1, of(1).1, "a new name for the same scheme");

    let before = made.load(Ordering::Relaxed);
    let explain = format!("strandcast explain {} --flow video --message 3 --scheme twin", folder.display());
    assert_eq!(run_with(words(&explain), Arc::clone(&catalog)), 0);
    assert!(made.load(Ordering::Relaxed) > before, "explain runs it again");

    let check = format!("strandcast check {} --set flows.video.scheme=twin", example("first.toml"));
    assert_eq!(run_with(words(&check), catalog), 0);
    assert_eq!(strandcast_cli::run(words(&check)), 2, "no other catalog has it");
}

#[test]
fn measurements_take_them_on_either_side() {
    let (catalog, made) = one_more();
    let place = format!("127.0.0.1:{}", port());
    let serve = words(&format!("strandcast perf server {place} --once --plain --scheme twin"));
    let server = std::thread::spawn({
        let catalog = Arc::clone(&catalog);
        move || run_with(serve, catalog)
    });
    let json = perf_client(words(&format!("{place} --time 0.5 --scheme twin --quiet --plain")), catalog);
    let json: Value = serde_json::from_str(&json.expect("it is measured")).expect("it is JSON");
    assert_eq!(server.join().ok(), Some(0));
    assert_eq!(json["start"]["test_start"]["scheme"], "twin");
    let received = json["end"]["sum_received"]["bytes"].as_f64();
    assert!(received > Some(1e5) && received == json["end"]["sum_sent"]["bytes"].as_f64(), "{received:?}");
    assert_eq!(made.load(Ordering::Relaxed), 2, "one a side");
}

#[test]
fn streams_take_them_on_either_side() {
    let (catalog, made) = one_more();
    let (port, out) = (port(), file("twin.ts"));
    let (clip, sent) = seconds(1, "twin-in.ts");
    let receive =
        format!("strandcast receive 127.0.0.1:{port} {} --once --plain --scheme twin", out.display());
    let receiver = std::thread::spawn({
        let catalog = Arc::clone(&catalog);
        move || run_with(words(&receive), catalog)
    });
    let send =
        format!("strandcast send {} 127.0.0.1:{port} --latency 200 --plain --scheme twin", clip.display());
    assert_eq!(run_with(words(&send), catalog), 0);
    assert_eq!(receiver.join().ok(), Some(0));
    assert!(std::fs::read(&out).expect("it was played") == sent, "other bytes");
    assert!(made.load(Ordering::Relaxed) >= 2, "one per side, and one per attempt");
}

#[test]
fn a_failed_measurement_returns_the_commands_diagnostic() {
    let (catalog, _) = one_more();
    let client =
        |line: String| perf_client(words(&format!("{line} --plain")), Arc::clone(&catalog)).expect_err(&line);
    let place = format!("127.0.0.1:{}", port());
    for (line, code, word) in [
        (format!("{place} --scheme twni"), 2, "unknown scheme 'twni'"),
        (format!("{place} --time soon"), 2, "soon"),
        (format!("{place} --path if=nope0"), 4, "nope0"),
    ] {
        let (told, words) = client(line.clone());
        assert!(told == code && words.contains(word) && !words.contains('\n'), "{line}: {told} {words}");
        run(&format!("perf client {line}")).fails(i32::from(code), &[&words]);
    }
}

#[test]
fn quiet_measurements_print_json_alone() {
    let place = format!("127.0.0.1:{}", port());
    let server = start(&format!("perf server {place} --once"));
    server.says("listening");
    let client = run(&format!("perf client {place} --time 0.3 --quiet --json"));
    client.succeeds();
    server.end().succeeds();
    assert!(client.json()["end"]["sum_received"]["bytes"].is_u64());
    assert_eq!(client.err, "");
}

/// Presets whose language fails in the second run of two.
#[derive(Default)]
struct Failing {
    threads: AtomicUsize,
    seeds: Mutex<Vec<u64>>,
}

impl Catalog for Failing {
    fn scheme(&self, spec: &str, defaults: &str) -> Result<SchemePlan, CatalogError> {
        Presets.scheme(spec, defaults)
    }

    fn congestion(&self, spec: &str, setup: WindowSetup) -> Result<Box<dyn CongestionControl>, CatalogError> {
        Presets.congestion(spec, setup)
    }

    fn scheduler(&self, spec: &str, own: Option<HeadOfLineConfig>) -> Result<FlowScheduler, CatalogError> {
        Presets.scheduler(spec, own)
    }

    fn around_thread(&self, work: Box<dyn FnOnce() + Send + '_>) {
        self.threads.fetch_add(1, Ordering::Relaxed);
        work();
    }

    fn before_run(&self, seed: u64) {
        self.seeds.lock().expect("no test panics with it").push(seed);
    }

    fn failure(&self) -> Option<String> {
        let runs = self.seeds.lock().expect("no test panics with it").len();
        (runs > 1).then(|| "mine.py, line 2".to_owned())
    }
}

#[test]
fn runs_are_made_within_the_hooks_of_their_schemes_which_may_end_them() {
    let failing = Arc::new(Failing::default());
    let line = format!(
        "strandcast simulate {} --set run.time=2s --set run.warmup=1s --runs 4 --seed 5 --jobs 1 --quiet",
        example("first.toml")
    );
    assert_eq!(run_with(words(&line), Arc::clone(&failing) as SharedCatalog), 1);
    assert_eq!(failing.threads.load(Ordering::Relaxed), 1);
    assert_eq!(*failing.seeds.lock().expect("no test panics with it"), [5, 6]);
}

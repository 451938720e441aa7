//! Random networks of a published seed (`crates/testing/src/lab/generator.rs`).

use std::path::Path;

use sha2::{Digest as _, Sha256};
use strandcast_lab::scenario::{self, LinkRate, Loss, Number, QueueLimit, Scenario, SctpProfile, Transport};
use strandcast_testing::lab::contest;
use strandcast_testing::lab::contest::{Contest, Run, Runner, Values, simulate};
use strandcast_testing::lab::generator;

fn network(seed: u64, number: u64) -> Scenario {
    shorter(seed, number, 60.0, 10.0)
}

fn shorter(seed: u64, number: u64, time_s: f64, warmup_s: f64) -> Scenario {
    let text = generator::network(seed, number, time_s, warmup_s);
    scenario::parse(&text, "network", Path::new(""), &[]).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

#[test]
fn the_generator_draws_what_it_says() {
    let (mut paths, mut lossy) = ([0; 6], 0);
    for number in 0..200 {
        let network = network(4, number);
        paths[network.links.len()] += 1;
        for (name, link) in &network.links {
            let LinkRate::Number(Number::Constant(rate)) = link.forward.rate else { panic!("{name}") };
            assert!((0.2e6..=50e6).contains(&rate), "network 4/{number} {name}: {rate}");
            let Number::Constant(delay) = link.forward.delay else { panic!("{name}") };
            assert!((0.001..=0.4).contains(&delay), "network 4/{number} {name}: {delay}");
            let QueueLimit::Packets(limit) = link.forward.queue.limit else { panic!("{name}") };
            assert!((5..=300).contains(&limit), "network 4/{number} {name}: {limit}");
            assert_eq!((&link.reverse.rate, link.reverse.loss.len()), (&link.forward.rate, 0));
            lossy += usize::from(!link.forward.loss.is_empty());
            for loss in link.forward.loss.values() {
                let mean = match loss {
                    Loss::Uniform { rate: Number::Constant(rate) } => *rate,
                    Loss::MarkovByTime { mean_good, mean_bad, loss_bad, .. } => {
                        loss_bad * mean_bad.as_secs_f64() / (mean_good.as_secs_f64() + mean_bad.as_secs_f64())
                    }
                    other => panic!("network 4/{number} {name}: {other:?}"),
                };
                assert!((0.9e-4..=0.151).contains(&mean), "network 4/{number} {name}: {mean}");
            }
        }
    }
    assert_eq!(paths[..2], [0, 0]);
    assert!(paths[2..].iter().all(|n| *n > 30), "{paths:?}");
    assert!((0.7..0.8).contains(&(f64::from(lossy as u32) / 700.0)), "{lossy}");
}

/// A seed determines its networks.
#[test]
fn a_published_seed_stays_what_it_is() {
    let mut hash = Sha256::new();
    for (seed, number) in (1..=5).flat_map(|seed| (0..100).map(move |number| (seed, number))) {
        hash.update(generator::network(seed, number, 60.0, 10.0));
    }
    let hash: String = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(hash, "6a99aa3fd7d846a1ece54f425b70a6b616c6b184fdf4fb58be3d3c3df72ccfe4");
}

/// The traces of `scenarios/real-paths` stand still for 0.3 to 1 s, several times per minute.
#[test]
fn rate_traces_have_stalls() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/real-paths");
    for name in ["lte-a.csv", "lte-b.csv", "wifi.csv"] {
        let text = std::fs::read_to_string(folder.join(name)).expect("it is committed");
        let points: Vec<(f64, f64)> = text
            .lines()
            .filter_map(|line| line.split_once(','))
            .filter_map(|(time, rate)| Some((time.parse().ok()?, rate.parse().ok()?)))
            .collect();
        let stalls: Vec<f64> =
            points.windows(2).filter(|two| two[0].1 == 0.0).map(|two| two[1].0 - two[0].0).collect();
        assert!(stalls.len() >= 5, "{name}: {stalls:?}");
        assert!(stalls.iter().all(|s| (0.2999..=1.0001).contains(s)), "{name}: {stalls:?}");
        assert_eq!(points.last().map(|(time, _)| *time), Some(60.0), "{name}");
    }
}

#[test]
fn networks_of_real_paths_can_be_read() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/real-paths");
    let files =
        std::fs::read_dir(folder).expect("it is there").map(|entry| entry.expect("it can be read").path());
    let files: Vec<_> = files.filter(|path| path.extension().is_some_and(|e| e == "toml")).collect();
    assert_eq!(files.len(), 6);
    for file in files {
        let scenario = scenario::load(&file, &[]).unwrap_or_else(|error| panic!("{error}"));
        let Transport::Sctp { sctp, .. } = &scenario.flows["ours"].transport else { panic!("{file:?}") };
        assert_eq!(sctp.profile, SctpProfile::Live, "{file:?}");
    }
}

/// Runs, and remembers none.
struct Once;

impl Runner for Once {
    fn run(&self, run: &Run, scenario: &Scenario) -> Result<Values, String> {
        simulate(generator::FLOW, run, scenario)
    }
}

/// The first networks of `python3 -m bench networks random --seed 1`, in a quarter of the time.
fn the_default_is_never_much_worse(networks: u64) {
    let (seed, time_s, warmup_s) = (1, 15.0, 5.0);
    let ratio = |number: u64| {
        let network = shorter(seed, number, time_s, warmup_s);
        let alone = [contest::SINGLE.to_owned()];
        let contest =
            Contest { flow: generator::FLOW, network: &network, scheme: "bond", alone: &alone, seeds: 1..=2 };
        let outcome =
            contest.hold(&Once, true).unwrap_or_else(|error| panic!("network {seed}/{number}: {error}"));
        (number, outcome.ratio())
    };
    let ratios: Vec<(u64, f64)> = (0..networks).map(ratio).collect();
    let told = format!(
        "{ratios:.3?}; replay: python3 -m bench networks random --seed {seed} --only NUMBER --runs 2 --time {time_s} \
         --warmup {warmup_s}"
    );
    assert!(ratios.iter().all(|(_, ratio)| *ratio >= 0.85), "{told}");
    assert!(ratios.iter().filter(|(_, ratio)| *ratio < 0.95).count() <= 1, "{told}");
}

#[test]
fn the_default_is_never_much_worse_than_the_best_path() {
    the_default_is_never_much_worse(2);
}

mod thorough {
    #[test]
    fn the_default_is_never_much_worse_than_the_best_path() {
        super::the_default_is_never_much_worse(10);
    }
}

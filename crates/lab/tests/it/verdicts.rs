//! Verdicts on paths whose links work: bursts of loss are not a reason to give one up (`TransportConfig::failed_after`).
//! `cargo test -p strandcast-lab --test it verdicts -- --nocapture` prints the counts.

use std::path::Path;

use strandcast_lab::result::{RunResult, Subject};
use strandcast_lab::scenario::parse;
use strandcast_testing::lab::{metric, run};

/// The links of `topology::field`.
const FIELD: [(&str, &str); 3] = [
    ("wifi", "rate = \"900 kbit/s\"\ndelay = \"15 ms\"\nloss.uniform.rate = 0.005\n"),
    ("lte", "rate = \"800 kbit/s\"\ndelay = \"45 ms\"\nloss.uniform.rate = 0.002\n"),
    ("weak", "rate = \"500 kbit/s\"\ndelay = \"120 ms\"\nloss.markov = { rate = 0.02, burst = 5 }\n"),
];

/// A minute of live video over some of the field's links.
fn minute(links: &[(&str, &str)], rate: &str, scheme: &str, seed: u64) -> RunResult {
    let mut text = String::from("[run]\ntime = \"60 s\"\nwarmup = \"0 s\"\n[nodes.a]\n[nodes.b]\n");
    let mut paths = Vec::new();
    for (name, link) in links {
        text += &format!("[links.{name}]\nfrom = \"a\"\nto = \"b\"\nqueue.limit = 50\n{link}");
        paths.push(format!("{name} = {{ via = [\"{name}\"] }}"));
    }
    text += &format!(
        "[flows.f]\nfrom = \"a\"\nto = \"b\"\npaths = {{ {} }}\nscheme = \"{scheme}\"\nprofile = \"live\"\n\
         app = {{ kind = \"cbr\", rate = \"{rate}\", size = 1316 }}\n",
        paths.join(", ")
    );
    let scenario = parse(&text, "field.toml", Path::new(""), &[]).unwrap_or_else(|error| panic!("{error}"));
    run(&scenario, seed)
}

/// Over 20 seeds: (potentially failed, failed, needless ones of both).
fn verdicts(links: &[(&str, &str)], rate: &str, scheme: &str) -> [f64; 4] {
    let mut sum = [0.0; 4];
    for seed in 1..=20 {
        let result = minute(links, rate, scheme, seed);
        let names = ["potentially_failed", "failed", "needless_pf", "needless_failed"];
        for (sum, name) in sum.iter_mut().zip(names) {
            *sum += metric(&result, &Subject::Flow("f".into()), name);
        }
    }
    println!("{scheme} over {} links: {} PF ({} needless), {} failed", links.len(), sum[0], sum[2], sum[1]);
    sum
}

#[test]
fn no_path_of_the_field_is_given_up_for_its_losses() {
    for scheme in ["cmt", "sctp", "lia"] {
        let [_, failed, _, needless] = verdicts(&FIELD, "1 Mbit/s", scheme);
        assert_eq!((failed, needless), (0.0, 0.0), "{scheme}");
    }
}

#[test]
fn nor_is_the_worst_of_them_alone() {
    for scheme in ["cmt", "sctp"] {
        let [_, failed, _, needless] = verdicts(&FIELD[2..], "400 kbit/s", scheme);
        assert_eq!((failed, needless), (0.0, 0.0), "{scheme}");
    }
}

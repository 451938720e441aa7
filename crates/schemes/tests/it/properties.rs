//! Every preset and any combination of keys delivers reliable messages once, unchanged and in order, over any
//! network.

use std::env;
use std::sync::Arc;

use strandcast_proto::seeds::Seeds;
use strandcast_schemes::{parse_spec, presets};
use strandcast_testing::adversary::{Kind, Make, Tune, holds};

use crate::specs;

/// Runs one spec, that of this environment variable, where it is set: how a failure is repeated.
const ONLY: &str = "STRANDCAST_SPEC";

/// Each of the `specs` through `cases` cases of `kind`; `name` is the test's.
fn check(name: &str, kind: Kind, cases: u32, specs: &[String]) {
    let only = env::var(ONLY).ok();
    for spec in only.as_slice().iter().chain(specs.iter().filter(|_| only.is_none())) {
        let command = format!("{ONLY}={spec} cargo test -p strandcast-schemes --test it properties::{name}");
        let (built, tuned) =
            (parse_spec(spec).expect("a spec of this test"), parse_spec(spec).expect("the same"));
        let make: Make = Arc::new(move || built.build(&Seeds::new(1, 0)));
        let tune: Tune = Arc::new(move |config| tuned.tune(config));
        holds(&command, kind, cases, &make, &tune);
    }
}

/// All presets, and what `cmt` can do with a lost chunk.
fn named() -> Vec<String> {
    let rtx = ["same", "asap", "ssthresh", "lossrate", "lowest-rtt"].map(|rtx| format!("cmt,rtx={rtx}"));
    presets().iter().map(|p| p.name.to_owned()).chain(rtx).collect()
}

#[test]
fn presets_deliver() {
    check("presets_deliver", Kind::Plain, 250, &named());
}

#[test]
fn presets_deliver_with_potentially_failed_paths() {
    check("presets_deliver_with_potentially_failed_paths", Kind::PotentiallyFailed, 250, &named());
}

#[test]
fn presets_deliver_into_small_buffers() {
    check("presets_deliver_into_small_buffers", Kind::SmallBuffers, 250, &named());
}

#[test]
fn random_combinations_deliver() {
    let specs = specs::random();
    for kind in [Kind::Plain, Kind::PotentiallyFailed, Kind::SmallBuffers] {
        check("random_combinations_deliver", kind, 10, &specs);
    }
}

#[test]
fn random_combinations_differ_and_reach_every_preset() {
    let specs = specs::random();
    for preset in presets() {
        let of = |s: &&String| s.split(',').next() == Some(preset.name);
        assert!(specs.iter().any(|s| of(&s)), "{}: {specs:?}", preset.name);
    }
    let mut sorted = specs.clone();
    sorted.sort();
    sorted.dedup();
    assert!(sorted.len() * 10 >= specs.len() * 9, "{specs:?}");
}

//! The family keeps the contract, whatever its keys say.

use strandcast_proto::policy::contract;
use strandcast_proto::seeds::Seeds;

use crate::{Values, lookup, parse_spec};

const NAMES: [&str; 3] = ["cmt-qa", "cmt-cl", "cmt-cl-fd"];

fn keeps_the_contract(spec: &str, seeds: core::ops::Range<u64>) {
    let parsed = parse_spec(spec).expect("a spec of this test");
    for seed in seeds {
        contract::replay(spec, seed, || parsed.build(&Seeds::new(11, 0)));
    }
}

#[test]
fn all_keep_the_contract() {
    for name in NAMES {
        keeps_the_contract(name, 100..112);
    }
}

/// Every value of every key, one at a time; what both have is tried once.
#[test]
fn every_value_keeps_the_contract() {
    let mut seed = 200;
    let friendly = lookup("cmt-cl-fd").expect("it exists");
    for name in ["cmt-qa", "cmt-cl-fd"] {
        let preset = lookup(name).expect("it exists");
        let shared = |k: &str| name != "cmt-cl-fd" && friendly.keys.iter().any(|f| f.name == k);
        for key in preset.keys.iter().filter(|k| !shared(k.name)) {
            let values = match key.values {
                Values::OneOf(words) => words.iter().map(ToString::to_string).collect(),
                Values::Switch => vec!["on".to_string(), "off".to_string()],
                Values::Number(least, most, _) => vec![least.to_string(), most.to_string()],
                Values::Decimal(least, most, _) => vec![least.to_string(), most.to_string()],
            };
            for value in values.iter().filter(|v| *v != preset.default_of(key)) {
                keeps_the_contract(&format!("{name},{}={value}", key.name), seed..seed + 1);
                seed += 1;
            }
        }
    }
}

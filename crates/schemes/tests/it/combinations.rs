//! Combinations of parts: a spec refuses what docs/schemes/combinations.md says, and every pair of parts
//! that go together keeps the contract. Parts and words follow from the registry.

use std::collections::BTreeSet;
use std::path::Path;
use std::{env, fs};

use strandcast_proto::seeds::Seeds;
use strandcast_schemes::combinations::{
    Combination, PARTS, allowed, combinations, conflict, page, spec, with_key,
};
use strandcast_schemes::{Preset, SpecError, Values, parse_spec, presets};
use strandcast_testing::contract;

fn keeps_the_contract(spec: &str, seed: u64) {
    let parsed = parse_spec(spec).expect("a spec of this test");
    contract::replay(spec, seed, || parsed.build(&Seeds::new(11, 0)));
}

/// In how many tests the combinations are run, side by side.
const SHARES: usize = 8;

/// Combinations that are not refused, so many that every pair of parts that go together is in one of them; with
/// `STRANDCAST_COMBINATIONS_ALL=1` all that are not refused.
fn pairwise() -> Vec<Combination> {
    let all = env::var_os("STRANDCAST_COMBINATIONS_ALL").is_some_and(|value| value == "1");
    let (mut chosen, mut held) = (Vec::new(), BTreeSet::new());
    for c in combinations().into_iter().filter(|c| conflict(c).is_none()) {
        let pairs = || (0..PARTS.len()).flat_map(|i| (0..i).map(move |k| (i, k)));
        let new = pairs().filter(|(i, k)| held.insert([(*i, c[*i]), (*k, c[*k])])).count() > 0;
        if all || new {
            chosen.push(c);
        }
    }
    chosen
}

/// Every eighth of them, from `first`.
fn a_share_keeps_the_contract(first: usize) {
    for (seed, c) in pairwise().iter().enumerate().skip(first).step_by(SHARES) {
        keeps_the_contract(&spec(c), seed as u64);
    }
}

macro_rules! shares {
    ($($name:ident: $first:literal,)*) => {$(
        #[test]
        fn $name() {
            a_share_keeps_the_contract($first);
        }
    )*};
}

shares! {
    every_pair_keeps_the_contract_1: 0,
    every_pair_keeps_the_contract_2: 1,
    every_pair_keeps_the_contract_3: 2,
    every_pair_keeps_the_contract_4: 3,
    every_pair_keeps_the_contract_5: 4,
    every_pair_keeps_the_contract_6: 5,
    every_pair_keeps_the_contract_7: 6,
    every_pair_keeps_the_contract_8: 7,
}

/// Returns whether two presets accept the same keys.
fn same_keys(a: &Preset, b: &Preset) -> bool {
    a.keys().iter().map(|k| k.name).eq(b.keys().iter().map(|k| k.name))
}

mod thorough {
    use super::*;

    /// Every value of every key of every preset, one at a time; for numbers the least and the most. Presets made of
    /// parts have the same keys: one of them is enough.
    #[test]
    fn every_value_keeps_the_contract() {
        let mut seed = 100;
        for (i, preset) in presets().iter().enumerate() {
            if presets()[..i].iter().any(|p| same_keys(p, preset)) {
                continue;
            }
            for key in preset.keys() {
                let values: Vec<String> = match key.values {
                    Values::OneOf(words) => words.iter().map(ToString::to_string).collect(),
                    Values::Switch => vec!["on".to_owned(), "off".to_owned()],
                    Values::Number(least, most, _) => vec![least.to_string(), most.to_string()],
                    Values::Decimal(least, most, _) => vec![least.to_string(), most.to_string()],
                };
                for value in values.iter().filter(|v| **v != key.default) {
                    let spec = with_key(preset, &key, value);
                    if parse_spec(&spec).is_ok() || !PARTS.contains(&key.name) {
                        keeps_the_contract(&spec, seed);
                    }
                    seed += 1;
                }
            }
        }
    }
}

/// The table of pairs is complete: a refused combination holds a pair that is refused.
#[test]
fn conflicts_are_pairs() {
    let allowed = allowed();
    for c in combinations() {
        let pairs = (0..4).flat_map(|i| (0..i).map(move |k| (i, k)));
        let good = pairs.clone().all(|(i, k)| allowed.contains(&[(i, c[i]), (k, c[k])]));
        assert_eq!(conflict(&c).is_none(), good, "{c:?}");
    }
}

/// A refusal is one line that names a part at fault.
#[test]
fn a_conflict_is_told_in_one_line() {
    for c in combinations() {
        let Err(e) = parse_spec(&spec(&c)) else { continue };
        let line = e.to_string();
        let parts = || PARTS.iter().zip(c).map(|(part, word)| format!("{part}={word}"));
        assert!(!line.contains('\n') && parts().any(|p| line.contains(&p)), "{c:?}: {line}");
        let other = matches!(e, SpecError::UnknownKey { .. } | SpecError::BadValue(_));
        assert!(!other, "{c:?}: {line}");
    }
}

#[test]
fn the_documentation_has_the_table() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schemes/combinations.md");
    let text = fs::read_to_string(&file).expect("the page is there");
    let wanted = page(&text);
    if env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&file, &wanted).expect("it can be written");
    }
    let hint = "UPDATE_DOCS=1 cargo test -p strandcast-schemes --test it combinations";
    assert!(
        text == wanted || env::var_os("UPDATE_DOCS").is_some(),
        "out of date, see {}: {hint}",
        file.display()
    );
}

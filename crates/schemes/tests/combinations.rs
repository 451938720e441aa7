//! Which parts go with which: what a spec refuses is what docs/schemes/combinations.md says, and all the rest keeps the
//! contract. Parts and words follow from the registry.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

use strandcast_proto::policy::contract;
use strandcast_proto::seeds::Seeds;
use strandcast_schemes::{Preset, SpecError, Values, lookup, parse_spec, presets};

/// The keys whose words are parts.
const PARTS: [&str; 4] = ["scheduler", "cc", "loss", "feedback"];

/// One word for each of [`PARTS`].
type Combination = [&'static str; 4];

fn words(part: &str) -> &'static [&'static str] {
    let cmt = lookup("cmt").expect("cmt exists");
    match cmt.keys.iter().find(|k| k.name == part).map(|k| k.values) {
        Some(Values::OneOf(words)) => words,
        other => panic!("{part}: {other:?}"),
    }
}

fn combinations() -> Vec<Combination> {
    let mut all = vec![[""; 4]];
    for (i, part) in PARTS.iter().enumerate() {
        let with = |c: &Combination| {
            let c = *c;
            words(part).iter().map(move |w| {
                let mut c = c;
                c[i] = w;
                c
            })
        };
        all = all.iter().flat_map(with).collect();
    }
    all
}

fn spec(combination: &Combination) -> String {
    let set = PARTS.iter().zip(combination).map(|(part, word)| format!(",{part}={word}"));
    format!("cmt{}", set.collect::<String>())
}

/// Why the combination is refused, if it is.
fn conflict(combination: &Combination) -> Option<String> {
    parse_spec(&spec(combination)).err().map(|e| e.to_string())
}

fn keeps_the_contract(spec: &str, seed: u64) {
    let parsed = parse_spec(spec).expect("a spec of this test");
    contract::replay(spec, seed, || parsed.build(&Seeds::new(11, 0)));
}

/// In how many tests the combinations are run, side by side.
const SHARES: usize = 8;

/// Every eighth combination that is not refused, from `first`.
fn a_share_keeps_the_contract(first: usize) {
    for (seed, c) in combinations().iter().enumerate().skip(first).step_by(SHARES) {
        if conflict(c).is_none() {
            keeps_the_contract(&spec(c), seed as u64);
        }
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
    every_combination_keeps_the_contract_1: 0,
    every_combination_keeps_the_contract_2: 1,
    every_combination_keeps_the_contract_3: 2,
    every_combination_keeps_the_contract_4: 3,
    every_combination_keeps_the_contract_5: 4,
    every_combination_keeps_the_contract_6: 5,
    every_combination_keeps_the_contract_7: 6,
    every_combination_keeps_the_contract_8: 7,
}

/// Whether two presets can be told the same things.
fn same_keys(a: &Preset, b: &Preset) -> bool {
    a.keys.iter().map(|k| k.name).eq(b.keys.iter().map(|k| k.name))
}

/// Every value of every key of every preset, one at a time; for numbers the least and the most. Presets made of parts have
/// the same keys: one of them is enough.
#[test]
fn every_value_keeps_the_contract() {
    let mut seed = 100;
    for (i, preset) in presets().iter().enumerate() {
        if presets()[..i].iter().any(|p| same_keys(p, preset)) {
            continue;
        }
        for key in preset.keys {
            let values: Vec<String> = match key.values {
                Values::OneOf(words) => words.iter().map(ToString::to_string).collect(),
                Values::Switch => vec!["on".to_owned(), "off".to_owned()],
                Values::Number(least, most, _) => vec![least.to_string(), most.to_string()],
                Values::Decimal(least, most, _) => vec![least.to_string(), most.to_string()],
            };
            for value in values.iter().filter(|v| *v != preset.default_of(key)) {
                let spec = format!("{},{}={value}", preset.name, key.name);
                if parse_spec(&spec).is_ok() || !PARTS.contains(&key.name) {
                    keeps_the_contract(&spec, seed);
                }
                seed += 1;
            }
        }
    }
}

/// Pairs of (part, word) that occur together in some combination that is not refused.
fn allowed() -> BTreeSet<[(usize, &'static str); 2]> {
    let mut allowed = BTreeSet::new();
    for c in combinations().iter().filter(|c| conflict(c).is_none()) {
        for (i, a) in c.iter().enumerate() {
            allowed.extend(c.iter().enumerate().map(|(k, b)| [(i, *a), (k, *b)]));
        }
    }
    allowed
}

/// The table of pairs tells everything: what is refused holds a pair that is refused.
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
        let other = matches!(e, SpecError::UnknownKey { .. } | SpecError::BadValue { .. });
        assert!(!other, "{c:?}: {line}");
    }
}

/// For each word, what of the other parts it goes with, and why not with the rest.
fn table() -> String {
    let allowed = allowed();
    let mut reasons: BTreeMap<(usize, &str), BTreeSet<String>> = BTreeMap::new();
    for c in combinations() {
        if let Some(why) = conflict(&c) {
            for (i, part) in PARTS.iter().enumerate() {
                if why.contains(&format!("{part}={}", c[i])) {
                    reasons.entry((i, c[i])).or_default().insert(why.clone());
                }
            }
        }
    }
    let mut out = String::from(
        "| part | with scheduler | with cc | with loss | with feedback | why |\n|---|---|---|---|---|---|\n",
    );
    for (i, part) in PARTS.iter().enumerate() {
        for word in words(part) {
            let with = |k: usize| {
                let all = words(PARTS[k]);
                let some: Vec<_> = all.iter().filter(|w| allowed.contains(&[(i, *word), (k, **w)])).collect();
                let list = || some.iter().map(|w| format!("`{w}`")).collect::<Vec<_>>().join(", ");
                if i == k {
                    "·".to_owned()
                } else if some.len() == all.len() {
                    "any".to_owned()
                } else {
                    list()
                }
            };
            let why = reasons.get(&(i, *word)).into_iter().flatten().cloned().collect::<Vec<_>>().join("; ");
            let row =
                format!("| `{part}={word}` | {} | {} | {} | {} | {why}", with(0), with(1), with(2), with(3));
            let _ = writeln!(out, "{} |", row.trim_end());
        }
    }
    out
}

/// Which presets are made of these parts.
fn made_of() -> String {
    let (parts, minds): (Vec<&Preset>, Vec<&Preset>) =
        presets().iter().partition(|p| PARTS.iter().all(|part| p.keys.iter().any(|k| k.name == *part)));
    let names =
        |presets: &[&Preset]| presets.iter().map(|p| format!("`{}`", p.name)).collect::<Vec<_>>().join(", ");
    let mut out = format!("Made of parts that can be exchanged: {}.\n", names(&parts));
    if !minds.is_empty() {
        let _ = writeln!(
            out,
            "\nOf one mind, whose parts read each other and can't be exchanged: {}.",
            names(&minds)
        );
    }
    out
}

#[test]
fn the_documentation_has_the_table() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schemes/combinations.md");
    let text = fs::read_to_string(&file).expect("the page is there");
    let (begin, end) = ("<!-- generated -->\n", "<!-- end -->\n");
    let from = text.find(begin).expect("it has the mark") + begin.len();
    let to = text.find(end).expect("it has the end mark");
    let wanted = format!("{}{}\n{}{}", &text[..from], made_of(), table(), &text[to..]);
    if env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&file, &wanted).expect("it can be written");
    }
    let hint = "UPDATE_DOCS=1 cargo test -p strandcast-schemes --test combinations";
    assert!(
        text == wanted || env::var_os("UPDATE_DOCS").is_some(),
        "out of date, see {}: {hint}",
        file.display()
    );
}

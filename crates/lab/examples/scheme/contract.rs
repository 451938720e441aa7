//! The contract test of the scheme, and of other parts in combination with the scheme.

use std::panic::{AssertUnwindSafe, catch_unwind};

use strandcast_proto::seeds::Seeds;
use strandcast_schemes::combinations::{self, PARTS, made_of_parts, words};
use strandcast_schemes::{Values, parse_spec};
use strandcast_testing::contract;

use super::Subject;

/// Number of cases of the scheme itself.
const CASES: u64 = 8;

/// Runs one case. The text of a failure is on standard error.
fn keeps(spec: &str, seed: u64) -> Result<(), String> {
    let parsed = parse_spec(spec).map_err(|e| e.to_string())?;
    let case = || contract::replay(spec, seed, || parsed.build(&Seeds::new(11, 0)));
    catch_unwind(AssertUnwindSafe(case)).map_err(|_| format!("{spec} breaks it with seed {seed}, see above"))
}

/// Runs all cases of `spec`.
pub fn cases(spec: &str) -> Result<String, String> {
    (0..CASES).try_for_each(|seed| keeps(spec, seed))?;
    Ok(format!("{spec} keeps it in {CASES} cases"))
}

/// Lists specs that contain the subject. For a part, these are all combinations. For a preset, one other part is
/// exchanged at a time. If its parts cannot be exchanged, each of its keys takes each value. Returns each `every`th of
/// these specs.
pub fn combinations(subject: &Subject, every: usize) -> Result<String, String> {
    let mut specs: Vec<String> = Vec::new();
    for (key, word) in &subject.parts {
        let at = PARTS.iter().position(|part| part == key).expect("it is a part");
        let with = combinations::combinations().into_iter().filter(|c| c[at] == *word);
        specs.extend(with.map(|c| combinations::spec(&c)));
    }
    if let Some(spec) = &subject.preset {
        let parsed = parse_spec(spec).map_err(|e| e.to_string())?;
        let given = |key: &str| spec.contains(&format!(",{key}="));
        if made_of_parts(parsed.preset) {
            for part in PARTS.iter().filter(|part| !given(part)) {
                specs.extend(words(part).iter().map(|word| format!("{spec},{part}={word}")));
            }
        } else {
            let keys = parsed.preset.keys().into_iter().filter(|key| !given(key.name));
            specs.extend(keys.flat_map(|key| {
                values(key.values).into_iter().map(move |v| format!("{spec},{}={v}", key.name))
            }));
        }
    }
    let all = specs.len();
    specs.retain(|spec| parse_spec(spec).is_ok());
    let refused = all - specs.len();
    let some: Vec<&String> = specs.iter().step_by(every).collect();
    some.iter().enumerate().try_for_each(|(seed, spec)| keeps(spec, seed as u64))?;
    Ok(format!("{} keep the contract, {refused} are refused", some.len()))
}

/// Values to which a key can be set. For numbers, the least and the greatest value.
fn values(values: Values) -> Vec<String> {
    match values {
        Values::OneOf(words) => words.iter().map(ToString::to_string).collect(),
        Values::Switch => vec!["on".into(), "off".into()],
        Values::Number(least, most, _) => vec![least.to_string(), most.to_string()],
        Values::Decimal(least, most, _) => vec![least.to_string(), most.to_string()],
    }
}

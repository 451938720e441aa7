//! Random specs: a preset with some of its keys set, parts among them.

use std::env;

use strandcast_proto::seeds::{Random, Seeds};
use strandcast_schemes::combinations::PARTS;
use strandcast_schemes::{Listed, SpecError, Values, parse_spec, presets};

/// `STRANDCAST_COMBINATIONS` (50) specs drawn from `STRANDCAST_COMBINATIONS_SEED` (1), each preset in turn. A
/// combination that is refused is drawn again.
pub fn random() -> Vec<String> {
    let number =
        |name: &str, default| env::var(name).ok().and_then(|v| v.parse::<u64>().ok()).unwrap_or(default);
    let (count, seed) = (number("STRANDCAST_COMBINATIONS", 50), number("STRANDCAST_COMBINATIONS_SEED", 1));
    let mut random = Seeds::new(seed, 0).stream("random specs");
    (0..count as usize).map(|i| draw(&mut random, i % presets().len())).collect()
}

/// A spec of the preset at this place of the list, as it is printed.
pub fn draw(random: &mut Random, preset: usize) -> String {
    let preset = &presets()[preset];
    for _ in 0..1000 {
        let mut spec = preset.name.to_owned();
        // The keys that choose parts come first in the list; which others there are depends on them.
        let mut here: Option<Vec<&str>> = None;
        // Keys of the preset's own window mean nothing, or something else, once there is another.
        let other_window = |spec: &str, key: &Listed| {
            let cc = parse_spec(spec).ok().and_then(|parsed| parsed.value("cc"));
            key.parts().any(|(role, word)| role == "cc" && cc.as_deref() != Some(word))
        };
        for key in preset.keys() {
            if !PARTS.contains(&key.name) && here.is_none() {
                here = Some(parse_spec(&spec).map_or(Vec::new(), |parsed| parsed.keys()));
            }
            let has = here.as_ref().is_none_or(|here| here.contains(&key.name) && !other_window(&spec, &key));
            if has && random.below(4) == 0 {
                spec += &format!(",{}={}", key.name, value(random, &key));
            }
        }
        match parse_spec(&spec) {
            Ok(parsed) => return parsed.to_string(),
            Err(
                e @ (SpecError::UnknownScheme { .. }
                | SpecError::UnknownKey { .. }
                | SpecError::UnusedKey { .. }
                | SpecError::BadValue(_)),
            ) => {
                panic!("{spec}: {e}")
            }
            Err(_conflict) => {}
        }
    }
    panic!("{}: a thousand combinations conflict", preset.name)
}

/// A word, a switch, or a number: the least, the most or between, small ones as likely as large ones.
fn value(random: &mut Random, key: &Listed) -> String {
    match key.values {
        Values::OneOf(words) => words[random.below(words.len() as u64) as usize].to_owned(),
        Values::Switch => ["on", "off"][random.below(2) as usize].to_owned(),
        Values::Number(least, most, unit) => {
            // A sender that waits for minutes also delivers, but not before a test ends.
            let most = if unit == "ms" { most.min(2000) } else { most };
            let range = (most - least) >> random.below(64);
            let between = least + random.below(range + 1);
            [least, most, between, between][random.below(4) as usize].to_string()
        }
        Values::Decimal(least, most, _) => {
            let between = least + (most - least) * random.below(1000) as f64 / 1000.0;
            [least, most, between, between][random.below(4) as usize].to_string()
        }
    }
}

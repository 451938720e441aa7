//! Combinations of parts that a spec can name, and the reasons why some of them are refused. The module also makes the
//! tables of `docs/schemes/combinations.md`. The registry determines all of these.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use strandcast_keys::Values;

use crate::congestion::congestions;
use crate::registry::{lookup, presets};
use crate::scheme::{Listed, Preset, Settings};
use crate::spec::parse_spec;

/// The keys whose words are parts.
pub const PARTS: [&str; 4] = ["scheduler", "cc", "loss", "feedback"];

/// One word for each of [`PARTS`].
pub type Combination = [&'static str; 4];

/// Preset that accepts every part.
const BASE: &str = "cmt";

/// The words of the key `part`, in the order they are listed to people.
///
/// # Panics
/// Panics if `part` is not one of [`PARTS`].
pub fn words(part: &str) -> &'static [&'static str] {
    let base = lookup(BASE).expect("the registry has it");
    match (base.settings)().roles().iter().find(|k| k.name == part).map(|k| k.values) {
        Some(Values::OneOf(words)) => words,
        other => panic!("{part}: {other:?}"),
    }
}

/// Returns every combination of parts, including refused ones.
pub fn combinations() -> Vec<Combination> {
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

/// Returns the spec of a combination.
pub fn spec(combination: &Combination) -> String {
    let set = PARTS.iter().zip(combination).map(|(part, word)| format!(",{part}={word}"));
    format!("{BASE}{}", set.collect::<String>())
}

/// Reason why the combination is refused, if it is.
pub fn conflict(combination: &Combination) -> Option<String> {
    parse_spec(&spec(combination)).err().map(|e| e.to_string())
}

/// Returns the pairs (part, word) that occur together in at least one permitted combination.
pub fn allowed() -> BTreeSet<[(usize, &'static str); 2]> {
    let mut allowed = BTreeSet::new();
    for c in combinations().iter().filter(|c| conflict(c).is_none()) {
        for (i, a) in c.iter().enumerate() {
            allowed.extend(c.iter().enumerate().map(|(k, b)| [(i, *a), (k, *b)]));
        }
    }
    allowed
}

/// Returns the spec of the preset with `value` for `key`. The new spec changes as few parts as the key requires.
///
/// # Panics
/// Panics if `key` is not a key of the preset.
pub fn with_key(preset: &Preset, key: &Listed, value: &str) -> String {
    let own = (preset.settings)();
    let mut specs: Vec<Vec<String>> = combinations().iter().map(|c| changes(&*own, c)).collect();
    specs.sort_by_key(Vec::len);
    let has = |spec: &String| parse_spec(spec).is_ok_and(|spec| spec.keys().contains(&key.name));
    let specs =
        specs.iter().map(|changes| [preset.name].into_iter().chain(changes.iter().map(String::as_str)));
    let found = specs.map(|words| words.collect::<Vec<_>>().join(",")).find(has);
    let spec = format!("{},{}={value}", found.expect("some parts have each of a preset's keys"), key.name);
    // Some keys of repair symbols are refused unless repair symbols are on, and others unless they are off.
    let candidates = ["", ",fec=rlc", ",fec=off"].map(|more| format!("{spec}{more}"));
    candidates.into_iter().find(|spec| parse_spec(spec).is_ok()).unwrap_or(spec)
}

/// Returns the settings that turn the parts `own` into the parts of `combination`. The result is empty if the preset's
/// parts cannot be chosen.
fn changes(own: &dyn Settings, combination: &Combination) -> Vec<String> {
    let differs = |(part, word): &(&&str, &&str)| own.get(part).is_some_and(|chosen| chosen != **word);
    let changed = PARTS.iter().zip(combination).filter(differs);
    changed.map(|(part, word)| format!("{part}={word}")).collect()
}

/// Returns whether every part of the preset can be exchanged.
pub fn made_of_parts(preset: &Preset) -> bool {
    !(preset.settings)().roles().is_empty()
}

/// Text of `docs/schemes/combinations.md` between its marks.
pub fn documentation() -> String {
    format!("{}\n{}\n{}", made_of(), table(), windows())
}

/// Returns the page `text` with new tables between its marks.
///
/// # Panics
/// Panics if the page has no marks.
pub fn page(text: &str) -> String {
    let (begin, end) = ("<!-- generated -->\n", "<!-- end -->\n");
    let from = text.find(begin).expect("it has the mark") + begin.len();
    let to = text.find(end).expect("it has the end mark");
    format!("{}{}{}", &text[..from], documentation(), &text[to..])
}

/// Returns the table of the words of all parts. Each word has the words of other parts with which it may be combined,
/// and the reasons why other combinations are refused.
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

/// Presets that are made of these parts.
fn made_of() -> String {
    let (parts, minds): (Vec<&Preset>, Vec<&Preset>) = presets().iter().partition(|p| made_of_parts(p));
    let names =
        |presets: &[&Preset]| presets.iter().map(|p| format!("`{}`", p.name)).collect::<Vec<_>>().join(", ");
    let mut out = wrapped(&format!("Made of parts that can be exchanged: {}.", names(&parts)));
    if !minds.is_empty() {
        let text = "Made of one piece, with parts that read each other and cannot be exchanged";
        let _ = write!(out, "\n{}", wrapped(&format!("{text}: {}.", names(&minds))));
    }
    out
}

/// Breaks `text` into lines of at most 120 columns.
fn wrapped(text: &str) -> String {
    let (mut out, mut column) = (String::new(), 0);
    for word in text.split(' ') {
        let fits = column + 1 + word.len() <= 120;
        out.push_str(if column == 0 {
            ""
        } else if fits {
            " "
        } else {
            "\n"
        });
        column = if fits { column + 1 + word.len() } else { word.len() };
        out.push_str(word);
    }
    out + "\n"
}

/// Returns the table of the flows and associations that can use each window.
fn windows() -> String {
    let mut out = String::from("| window | summary | source | SCTP | TCP, MPTCP |\n|---|---|---|---|---|\n");
    for one in congestions() {
        let tcp =
            one.not_for_tcp.map_or_else(|| format!("`cc = \"{}\"`", one.name), |why| format!("no: {why}"));
        let (name, summary, paper) = (one.name, one.summary, one.paper);
        let _ = writeln!(out, "| `{name}` | {summary} | {paper} | `cc={name}` | {tcp} |");
    }
    out
}

//! `tools/scheme NAME`: runs all checks that a scheme or a part of a scheme must pass, without the rest of the
//! workspace. The checks are the contract, the combinations, the generated documentation, and five runs that are
//! compared with a base.

mod contract;
mod pages;
mod runs;

use std::process::ExitCode;

use strandcast_schemes::combinations::{PARTS, words};
use strandcast_schemes::{parse_spec, presets};

const USAGE: &str = "usage: tools/scheme NAME [--base SPEC] [--scenario FILE] [--runs N] [--every N] [--check]
  NAME        a preset or its spec (cmt, lia,scheduler=redundant), or a word of scheduler, cc, loss or feedback (balia,
              cc=balia)
  --base      what the runs are compared with: cmt, or sctp for cmt itself
  --scenario  where they are run, 30 s at most: experiments/xu2015/fig4.toml
  --runs      how many: 5
  --every     test only each N'th combination: 1, all
  --check     documentation that is out of date is an error; otherwise it is written";

/// Arguments of the program.
#[derive(Debug)]
struct Arguments {
    name: String,
    base: Option<String>,
    scenario: String,
    runs: u64,
    every: usize,
    check: bool,
}

impl Arguments {
    fn read(mut words: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut read = Arguments {
            name: String::new(),
            base: None,
            scenario: "experiments/xu2015/fig4.toml".into(),
            runs: 5,
            every: 1,
            check: false,
        };
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or_else(|| format!("{word} needs a value"));
            match word.as_str() {
                "--base" => read.base = Some(value()?),
                "--scenario" => read.scenario = value()?,
                "--runs" => {
                    let number = value()?.parse().ok().filter(|n| *n > 0);
                    read.runs = number.ok_or("--runs is a number from 1 on")?;
                }
                "--every" => {
                    let number = value()?.parse().ok().filter(|n| *n > 0);
                    read.every = number.ok_or("--every is a number from 1 on")?;
                }
                "--check" => read.check = true,
                name if read.name.is_empty() && !name.starts_with('-') => read.name = name.into(),
                other => return Err(format!("what is {other}?")),
            }
        }
        if read.name.is_empty() { Err("which scheme?".into()) } else { Ok(read) }
    }
}

/// Meaning of a name. A name such as `lia` may be both a preset and a window.
#[derive(Debug)]
struct Subject {
    /// The spec of a preset, if the subject is a preset.
    preset: Option<String>,
    /// Pairs (key, word) of the parts.
    parts: Vec<(&'static str, &'static str)>,
}

impl Subject {
    fn find(name: &str) -> Result<Self, String> {
        let spec = parse_spec(name);
        // `cc=balia` is only the window. `balia` is everything that has this name.
        let (only, name) = name.split_once('=').map_or((None, name), |(key, word)| (Some(key), word));
        let word = |part: &'static str| words(part).iter().find(|w| **w == name).map(|w| (part, *w));
        let asked = PARTS.into_iter().filter(|part| only.is_none_or(|only| only == *part));
        let parts: Vec<_> = asked.filter_map(word).collect();
        match spec {
            Err(error) if parts.is_empty() => {
                let known = PARTS.map(|part| format!("\n  {part:9}  {}", words(part).join(", "))).concat();
                Err(format!(
                    "{error}\nnor is it a part (a new one has a line in crates/schemes/src/shelf.rs, a window in \
                     congestion/table.rs):{known}"
                ))
            }
            spec => Ok(Subject { preset: spec.ok().map(|s| s.to_string()), parts }),
        }
    }

    /// Name of the subject in pages. The subject is the preset of a spec, or the word in `cc=balia`.
    fn name<'a>(&'a self, given: &'a str) -> &'a str {
        match (&self.preset, self.parts.first()) {
            (None, Some((_, word))) => word,
            _ => given.split(',').next().unwrap_or(given),
        }
    }

    /// Returns a scheme with the subject. It is the preset, or the first preset that takes the part.
    fn spec(&self) -> Result<String, String> {
        if let Some(spec) = &self.preset {
            return Ok(spec.clone());
        }
        let set: String = self.parts.iter().map(|(key, word)| format!(",{key}={word}")).collect();
        // `cmt` comes first, because most parts can be combined with its other parts.
        let names = ["cmt"].into_iter().chain(presets().iter().map(|p| p.name));
        let mut specs = names.map(|name| format!("{name}{set}"));
        specs.find(|spec| parse_spec(spec).is_ok()).ok_or_else(|| format!("no preset takes {set}"))
    }
}

/// Prints the result of the step `what`. Returns whether the step passed.
fn step(what: &str, came: Result<String, String>) -> bool {
    match &came {
        Ok(text) => println!("{what}: {text}"),
        Err(text) => println!("{what}: NOT PASSED: {text}"),
    }
    came.is_ok()
}

fn main() -> ExitCode {
    let read = Arguments::read(std::env::args().skip(1)).map_err(|error| format!("{error}\n{USAGE}"));
    let found = read.and_then(|read| {
        let subject = Subject::find(&read.name)?;
        let spec = subject.spec()?;
        Ok((read, subject, spec))
    });
    let (read, subject, spec) = match found {
        Ok(found) => found,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(2);
        }
    };
    let base = read.base.clone().unwrap_or_else(|| if spec == "cmt" { "sctp".into() } else { "cmt".into() });
    let passed = [
        step("contract", contract::cases(&spec)),
        step("combinations", contract::combinations(&subject, read.every)),
        step("documentation", pages::check(subject.name(&read.name), read.check)),
        step("runs", runs::compare(&spec, &base, &read.scenario, read.runs)),
    ];
    if passed.iter().all(|passed| *passed) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

//! Arguments of the program.

use core::str::FromStr;
use std::path::PathBuf;

use strandcast_testing::lab::contest::SINGLE;

use super::sets::NAMES;

pub const USAGE: &str = "usage: random_networks [--seed N] [--networks N] [--only N,N] [--runs N] [--scheme SPEC] [--jobs N]
                       [--time S] [--warmup S] [--out FILE [--keep SPEC]] [--all-paths] [--alone SPEC]… [--harm]
       random_networks --set NAME [--only N,N] [--runs N] [--scheme SPEC] [--jobs N] [--out FILE [--keep SPEC]]
       random_networks … --write DIR            only writes the networks as scenario files
       random_networks … --path NAME --run N    only repeats a run on a path, or on all of them with `all`
  --seed      generator seed: 1
  --networks  how many, from number 0 on: 100
  --only      these numbers instead
  --runs      seeds of each, from 1 on, the same for all schemes: 10
  --scheme    over all paths, and on each path alone next to the others: bond
  --alone     also on each path alone, instead of sctp; may be repeated
  --harm      the bars of docs/measurements/live.md: nearly never below the best path alone, and close to the ideal
  --jobs      networks at once: 2
  --time      simulated seconds: 60; --warmup: those that do not count: 10
  --out       file of runs, JSON lines: what it has of this program is not run again; --keep SPEC: nor runs of this scheme by
              another program (sctp, when only the other scheme was changed)
  --set       instead of random networks one of the sets traces, links, live with the schemes that have to meet its bars, or
              only --scheme
  --all-paths also runs paths alone whose rate is below what another one carries";

/// Arguments of the program.
#[derive(Debug)]
pub struct Arguments {
    pub seed: u64,
    /// A set's name; `None`: random networks.
    pub set: Option<String>,
    pub networks: u64,
    pub only: Vec<u64>,
    pub runs: u64,
    pub scheme: Option<String>,
    /// Schemes that each path alone also runs with.
    pub alone: Vec<String>,
    pub harm: bool,
    pub jobs: usize,
    pub time_s: f64,
    pub warmup_s: f64,
    pub out: Option<PathBuf>,
    pub keep: Vec<String>,
    pub all_paths: bool,
    pub write: Option<PathBuf>,
    pub path: Option<String>,
    pub run: u64,
}

fn number<T: FromStr>(option: &str, text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("{option}: {text} is not a valid number"))
}

impl Arguments {
    /// The scheme that random networks are run with.
    pub fn scheme(&self) -> &str {
        self.scheme.as_deref().unwrap_or("bond")
    }

    /// Numbers of the networks to run, of `all`.
    pub fn numbers(&self, all: u64) -> Vec<u64> {
        if self.only.is_empty() { (0..all).collect() } else { self.only.clone() }
    }

    pub fn read(mut words: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut read = Arguments {
            seed: 1,
            set: None,
            networks: 100,
            only: Vec::new(),
            runs: 10,
            scheme: None,
            alone: Vec::new(),
            harm: false,
            jobs: 2,
            time_s: 60.0,
            warmup_s: 10.0,
            out: None,
            keep: Vec::new(),
            all_paths: false,
            write: None,
            path: None,
            run: 1,
        };
        while let Some(option) = words.next() {
            let flag = match option.as_str() {
                "--all-paths" => Some(&mut read.all_paths),
                "--harm" => Some(&mut read.harm),
                _ => None,
            };
            if let Some(flag) = flag {
                *flag = true;
                continue;
            }
            let value = words.next().ok_or_else(|| format!("{option} needs a value"))?;
            match option.as_str() {
                "--seed" => read.seed = number(&option, &value)?,
                "--set" => read.set = Some(value),
                "--networks" => read.networks = number(&option, &value)?,
                "--only" => {
                    read.only = value.split(',').map(|n| number(&option, n)).collect::<Result<_, _>>()?;
                }
                "--runs" => read.runs = number(&option, &value)?,
                "--scheme" => read.scheme = Some(value),
                "--alone" => read.alone.push(value),
                "--jobs" => read.jobs = number(&option, &value)?,
                "--time" => read.time_s = number(&option, &value)?,
                "--warmup" => read.warmup_s = number(&option, &value)?,
                "--out" => read.out = Some(value.into()),
                "--keep" => read.keep.push(value),
                "--write" => read.write = Some(value.into()),
                "--path" => read.path = Some(value),
                "--run" => read.run = number(&option, &value)?,
                other => return Err(format!("what is {other}?")),
            }
        }
        if read.alone.is_empty() {
            read.alone.push(SINGLE.into());
        }
        let sound = read.runs > 0 && read.jobs > 0 && read.networks > 0;
        let sound = sound && read.warmup_s >= 0.0 && read.time_s > read.warmup_s;
        if let Some(name) = read.set.as_ref().filter(|name| !NAMES.contains(&name.as_str())) {
            return Err(format!("there is no set {name}; there are {}", NAMES.join(", ")));
        }
        sound.then_some(read).ok_or_else(|| "a number is 0, or nothing is left of the time".into())
    }
}

//! Runs that are repeated until a confidence interval is narrow enough.

use core::fmt;
use core::str::FromStr;

use super::error::RunError;
use super::runner::{Batch, Finished, jobs};
use crate::result::{DEFINITIONS, FEWEST, RunResult, Stat, Subject, is_rare};
use crate::scenario::hint;

/// Precision of a metric at which runs end, such as `goodput_bps<2%`.
#[derive(Clone, Debug, PartialEq)]
pub struct Until {
    /// Name of the metric.
    pub metric: String,
    /// Half the width of the metric's interval, as a share of the median. A metric may be 0 in many runs. For such a
    /// metric, it is half the width of another interval: the interval of the share of runs in which the metric is not
    /// 0.
    pub half_width: f64,
}

/// Default maximum number of runs of a scheme. ASSUMED.
pub const MOST_RUNS: u32 = 1000;

impl FromStr for Until {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let form = || format!("\"{text}\" is not a precision; it is METRIC<PERCENT%, as goodput_bps<2%");
        let (metric, width) = text.split_once('<').ok_or_else(form)?;
        let (metric, width) = (metric.trim(), width.trim());
        let percent: f64 =
            width.strip_suffix('%').and_then(|number| number.trim().parse().ok()).ok_or_else(form)?;
        let names = DEFINITIONS.iter().map(|definition| definition.name);
        if !names.clone().any(|name| name == metric) {
            // A line has no room for all names.
            let near = Some(hint(metric, names)).filter(|hint| hint.contains("did you mean"));
            let near = near.unwrap_or_else(|| "; docs/results.md lists them".into());
            return Err(format!("there is no metric {metric}{near}"));
        }
        match percent > 0.0 && percent <= 100.0 {
            true => Ok(Until { metric: metric.into(), half_width: percent / 100.0 }),
            false => Err(format!("\"{text}\": the percentage is more than 0 and at most 100")),
        }
    }
}

impl fmt::Display for Until {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}<{}%", self.metric, round(self.half_width * 100.0))
    }
}

fn round(percent: f64) -> f64 {
    (percent * 1e3).round() / 1e3
}

impl Batch<'_> {
    /// Executes runs of each scheme, with seeds from `first_seed` on. It ends when the metric's interval is narrow
    /// enough for each compared flow and each scheme. It executes at most `most` runs of a scheme. The number of runs
    /// depends only on their results. First there are [`FEWEST`] runs of each scheme, and then a quarter more in each
    /// step.
    ///
    /// # Errors
    /// The first [`RunError`]. [`RunError::Until`] if no flow has the metric.
    pub fn run_until(
        &self,
        schemes: &[String],
        first_seed: u64,
        most: u32,
        until: &Until,
        threads: usize,
    ) -> Result<Finished, RunError> {
        let all = jobs(schemes, first_seed, most).map_err(RunError::Until)?;
        let (mut finished, mut done, mut next) = (Finished::default(), 0, most.min(FEWEST as u32));
        while done < next {
            let seeds = first_seed + u64::from(done)..first_seed + u64::from(next);
            let part: Vec<_> = all.iter().filter(|job| seeds.contains(&job.seed)).cloned().collect();
            let made = self.run_all(&part, threads)?;
            let interrupted = made.runs.len() < part.len();
            finished.extend(made);
            done = next;
            if interrupted {
                break;
            }
            let widest = self.widest(&finished.runs, until)?;
            match widest {
                Some(width) if width <= until.half_width => break,
                _ if done == most => finished.unmet = Some(unmet(widest, most, until)),
                _ => next = (done + done / 4).min(most),
            }
        }
        Ok(finished)
    }

    /// Half the width of the metric's widest interval over flows and schemes. `None` if any flow has no interval with
    /// any scheme.
    fn widest(&self, runs: &[RunResult], until: &Until) -> Result<Option<f64>, RunError> {
        let flows = || self.scenario.flows.iter();
        let compared = flows().any(|(_, flow)| flow.compare);
        let counts = |name: &str| flows().any(|(flow, of)| flow == name && (of.compare || !compared));
        let mut schemes: Vec<&str> = runs.iter().map(|run| run.scheme.as_str()).collect();
        schemes.dedup();
        let mut widths = Vec::new();
        for scheme in schemes {
            for (name, _) in flows().filter(|(name, _)| counts(name)) {
                let of_run = |run: &RunResult| {
                    let fits = |one: &&crate::result::Metric| {
                        one.name == until.metric && one.subject == Subject::Flow(name.clone())
                    };
                    run.metrics.iter().find(fits).map(|metric| metric.value).filter(|value| value.is_finite())
                };
                let values: Vec<f64> =
                    runs.iter().filter(|run| run.scheme == scheme).filter_map(of_run).collect();
                if let Some(stat) = Stat::of(&values) {
                    widths.push(stat.half_width(is_rare(&until.metric)));
                }
            }
        }
        match widths.is_empty() {
            true => Err(RunError::Until(format!("no flow that is compared has the metric {}", until.metric))),
            false => {
                let all: Option<Vec<f64>> = widths.into_iter().collect();
                Ok(all.map(|all| all.into_iter().fold(0.0, f64::max)))
            }
        }
    }
}

/// Remark about a precision that the greatest number of runs has not reached.
fn unmet(widest: Option<f64>, most: u32, until: &Until) -> String {
    let (metric, wanted) = (&until.metric, round(until.half_width * 100.0));
    match widest {
        Some(width) => format!(
            "{most} runs give {metric} to ±{:.1} %, not to ±{wanted} %; allow more of them",
            width * 100.0
        ),
        None => format!(
            "{most} runs give no interval of {metric}: its median is 0, or they are fewer than {FEWEST}"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_precision_is_a_metric_and_a_percentage() {
        let until: Until = "goodput_bps < 2.5 %".parse().expect("it is one");
        assert_eq!(until, Until { metric: "goodput_bps".into(), half_width: 0.025 });
        assert_eq!(until.to_string(), "goodput_bps<2.5%");
        for (text, said) in [
            ("goodput_bps", "is not a precision"),
            ("goodput_bps<2", "is not a precision"),
            ("goodput_bps<%", "is not a precision"),
            ("goodput_bps<0%", "more than 0"),
            ("goodput_bps<-1%", "more than 0"),
            ("goodput_bps<nan%", "more than 0"),
            ("goodput<2%", "did you mean `goodput_bps`?"),
            ("nothing_like_it_at_all<2%", "docs/results.md lists them"),
        ] {
            let error = text.parse::<Until>().expect_err(text);
            assert!(error.contains(said) && error.len() < 200, "{text}: {error}");
        }
    }
}

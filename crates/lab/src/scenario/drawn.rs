//! Numbers that are drawn from a distribution or read from a recording.

use core::time::Duration;

use super::spec::{Minimum, Variation};
use super::table::{Item, Read};
use super::traces;
use super::tree::{Branch, Value};
use super::units::Quantity;
use super::value::{Every, Law, LinkRate, Number, Offset, TraceFile};

/// Least period between two draws of a number.
const SHORTEST_PERIOD: Duration = Duration::from_micros(1);
/// Default maximum of draws from a Pareto distribution, as a multiple of the mean. ASSUMED: the part of the
/// distribution beyond the maximum is cut off, which lowers the mean.
const MOST_MEANS: f64 = 100.0;

impl Item<'_> {
    pub fn uniform(&self, branch: &Branch, quantity: Quantity, variation: Variation) -> Read<Number> {
        let ends = self.part(self.key.clone(), &branch["uniform"]).list("two numbers as [a, b]")?;
        let [low, high] = ends.as_slice() else {
            return Err(self.error(format!("uniform has {} numbers, but needs two: [a, b]", ends.len())));
        };
        let (low, high) = (low.within(quantity, Minimum::Zero)?, high.amount(quantity, Minimum::Zero)?);
        if low > high {
            return Err(self.error(format!("uniform begins at {low}, above its end {high}; swap them")));
        }
        Ok(Number::Uniform { low, high, every: self.how_often(branch, variation)? })
    }

    fn how_often(&self, branch: &Branch, variation: Variation) -> Read<Every> {
        let every = match branch.get("every") {
            None => Every::Run,
            Some(node) => self.part(self.key.clone(), node).every()?,
        };
        if variation == Variation::InTime && every == Every::Packet {
            return Err(
                self.error("this number can't be drawn for each packet; draw it every \"run\", or \"10 s\"")
            );
        }
        Ok(every)
    }

    fn every(&self) -> Read<Every> {
        match &self.node.value {
            Value::Text(text) if text == "run" => Ok(Every::Run),
            Value::Text(text) if text == "packet" => Ok(Every::Packet),
            Value::Text(text) if !text.starts_with(|c: char| c.is_ascii_digit()) => Err(self
                .error(format!("there is no `{text}`; every is \"run\", \"packet\" or a time as \"5 s\""))),
            _ => match Duration::from_secs_f64(self.within(Quantity::Time, Minimum::Positive)?) {
                period if period < SHORTEST_PERIOD => {
                    Err(self.error("it is drawn too often; every microsecond (\"1 us\") is the most"))
                }
                period => Ok(Every::Period(period)),
            },
        }
    }

    /// Reads a number with any distribution except the uniform one.
    pub fn drawn(
        &self,
        word: &str,
        branch: &Branch,
        quantity: Quantity,
        variation: Variation,
    ) -> Read<Number> {
        let second = if word == "pareto" { "shape" } else { "deviation" };
        let expected = format!("two numbers as [mean, {second}]");
        let pair = self.part(self.key.clone(), &branch[word]).list(&expected)?;
        let [mean, other] = pair.as_slice() else {
            return Err(
                self.error(format!("{word} has {} numbers, but needs two: [mean, {second}]", pair.len()))
            );
        };
        let mean = mean.amount(quantity, Minimum::Positive)?;
        let law = match word {
            "pareto" => match other.amount(Quantity::Plain, Minimum::Positive)? {
                shape if shape > 1.0 => Law::Pareto { mean, shape },
                shape => {
                    return Err(self.error(format!(
                        "with shape {shape} the distribution has no mean; give a shape above 1"
                    )));
                }
            },
            "normal" => Law::Normal { mean, deviation: other.within(quantity, Minimum::Zero)? },
            _ => Law::Lognormal { mean, deviation: other.within(quantity, Minimum::Zero)? },
        };
        let most = if word == "pareto" { (MOST_MEANS * mean).min(quantity.most()) } else { quantity.most() };
        let within = match branch.get("within") {
            None => [0.0, most],
            Some(node) => self.part(self.key.clone(), node).ends(quantity)?,
        };
        let correlation = match branch.get("correlation") {
            None => 0.0,
            Some(node) => self.part(self.key.clone(), node).amount(Quantity::Share, Minimum::Zero)?,
        };
        if correlation >= 1.0 {
            return Err(self.error("with a correlation of 1 the number never changes; it is below 1"));
        }
        Ok(Number::Drawn { law, within, correlation, every: self.how_often(branch, variation)? })
    }

    fn ends(&self, quantity: Quantity) -> Read<[f64; 2]> {
        let ends = self.list("two numbers as [a, b]")?;
        let [low, high] = ends.as_slice() else {
            return Err(self.error(format!("within has {} numbers, but needs two: [a, b]", ends.len())));
        };
        match (low.within(quantity, Minimum::Zero)?, high.within(quantity, Minimum::Zero)?) {
            (low, high) if low > high => {
                Err(self.error(format!("within begins at {low}, above its end {high}; swap them")))
            }
            (low, high) => Ok([low, high]),
        }
    }

    /// Returns the name of the cause in the table of a number.
    pub fn cause(&self, branch: &Branch) -> Read<Option<String>> {
        branch.get("cause").map(|node| self.part(self.key.clone(), node).text()).transpose()
    }

    /// Reads a recorded number, or one of several recordings.
    pub fn trace(&self, branch: &Branch, quantity: Quantity, minimum: Minimum) -> Read<Number> {
        let (items, several) = self.traces_of(branch)?;
        let repeat = self.repeat(branch, false)?;
        let mut files = Vec::new();
        for item in items {
            let file = item.file()?;
            traces::numbers(&item, &file, (quantity, minimum), repeat)?;
            files.push(file);
        }
        let offset = self.offset(branch)?;
        if offset == Some(Offset::Random) && !repeat {
            return Err(self.error("only a trace that repeats can begin at a random time; say `loop = true`"));
        }
        Ok(match (files.pop(), offset) {
            (Some(file), None) if !several => Number::Trace { file, repeat },
            (last, offset) => {
                files.extend(last);
                Number::Traces { files, repeat, offset: offset.unwrap_or(Offset::Fixed(Duration::ZERO)) }
            }
        })
    }

    /// Reads the rate of a link from recorded times of sending. Returns `None` if the files contain numbers.
    pub fn opportunities(&self, branch: &Branch) -> Read<Option<LinkRate>> {
        let (items, several) = self.traces_of(branch)?;
        let is_csv = |item: &Item<'_>| Ok(item.text()?.to_ascii_lowercase().ends_with(".csv"));
        let csv: Vec<bool> = items.iter().map(is_csv).collect::<Read<_>>()?;
        if csv.iter().all(|csv| *csv) {
            return Ok(None);
        }
        if csv.contains(&true) {
            return Err(self.error("some of these traces are CSV and some are not; one list has one kind"));
        }
        let mut files: Vec<TraceFile> = Vec::new();
        for item in &items {
            let file = item.file()?;
            traces::opportunities(item, &file)?;
            files.push(file);
        }
        if !self.repeat(branch, true)? {
            return Err(self.error("a trace of opportunities always begins again; leave `loop` out"));
        }
        let (offset, cause) = (self.offset(branch)?, self.cause(branch)?);
        Ok(Some(match (files.pop(), offset, cause) {
            (Some(file), None, None) if !several => LinkRate::Opportunities { file },
            (last, offset, cause) => {
                files.extend(last);
                let offset = offset.unwrap_or(Offset::Fixed(Duration::ZERO));
                LinkRate::Recorded { files, offset, cause }
            }
        }))
    }

    /// Reads the trace of a table, or several traces.
    fn traces_of(&self, branch: &Branch) -> Read<(Vec<Self>, bool)> {
        let item = self.part(self.key.clone(), &branch["trace"]);
        if !matches!(item.node.value, Value::List(_)) {
            return Ok((vec![item], false));
        }
        let items = item.list("a file, or a list of files")?;
        if items.is_empty() { Err(self.error("there is no trace; give one")) } else { Ok((items, true)) }
    }

    fn repeat(&self, branch: &Branch, default: bool) -> Read<bool> {
        branch.get("loop").map_or(Ok(default), |node| self.part(self.key.clone(), node).switch())
    }

    fn offset(&self, branch: &Branch) -> Read<Option<Offset>> {
        let Some(node) = branch.get("offset") else { return Ok(None) };
        let item = self.part(self.key.clone(), node);
        match &node.value {
            Value::Text(text) if text == "random" => Ok(Some(Offset::Random)),
            Value::Text(text) if text.starts_with(|c: char| c.is_alphabetic()) => {
                Err(item.error(format!("there is no `{text}`; offset is \"random\" or a time as \"20 s\"")))
            }
            _ => {
                Ok(Some(Offset::Fixed(Duration::from_secs_f64(item.within(Quantity::Time, Minimum::Zero)?))))
            }
        }
    }
}

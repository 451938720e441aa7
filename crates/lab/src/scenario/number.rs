//! Numbers in a scenario file.

use core::time::Duration;

use strandcast_keys::words;

use super::app::Burst;
use super::error::hint;
use super::spec::{Minimum, ValueType, Variation};
use super::table::{Item, Read};
use super::tree::{Branch, Value};
use super::units::Quantity;
use super::value::{Every, LinkRate, Number, QueueLimit};

/// Least period between two bursts.
const SHORTEST_BURST: Duration = Duration::from_millis(1);
/// Limit up to which an `f64` can represent every whole number.
const MOST_WHOLE: f64 = 9_007_199_254_740_992.0;

words! {
    /// Forms of a number that changes. A key selects the form.
    enum Form {
        /// Drawn.
        Uniform = "uniform",
        /// Drawn from a normal distribution.
        Normal = "normal",
        /// Drawn from a log-normal distribution.
        Lognormal = "lognormal",
        /// Drawn from a Pareto distribution.
        Pareto = "pareto",
        /// In steps.
        Steps = "steps",
        /// The number follows a file.
        Trace = "trace",
    }
}

impl Form {
    const ALL: [Form; 6] =
        [Form::Uniform, Form::Normal, Form::Lognormal, Form::Pareto, Form::Steps, Form::Trace];

    /// Keys that may occur together with the key of this form.
    const fn keys(self) -> &'static [&'static str] {
        match self {
            Form::Uniform => &["uniform", "every", "cause"],
            Form::Normal => &["normal", "every", "within", "correlation", "cause"],
            Form::Lognormal => &["lognormal", "every", "within", "correlation", "cause"],
            Form::Pareto => &["pareto", "every", "within", "cause"],
            Form::Steps => &["steps"],
            Form::Trace => &["trace", "loop", "offset", "cause"],
        }
    }
}

impl Item<'_> {
    /// Reads a whole number within a range.
    pub fn whole(&self, range: (i64, i64)) -> Read<u64> {
        let (least, most) = range;
        match &self.node.value {
            Value::Integer(n) => self.between(*n, range),
            // An argument may contain a number that TOML cannot represent.
            Value::Text(text) if is_too_long(text) => {
                Err(self.error(format!("{text} is out of range; it can be {least} to {most}")))
            }
            _ => Err(self.wrong(&ValueType::Whole(least, most).describe())),
        }
    }

    /// Reads a whole number of bytes within a range.
    pub fn bytes(&self, range: (i64, i64)) -> Read<u64> {
        let n = self.value(Quantity::Size)?;
        if n.abs() > MOST_WHOLE || n != libm::trunc(n) {
            return Err(self.error(format!("{} is not a whole number of bytes", self.node.value.describe())));
        }
        self.between(n as i64, range)
    }

    fn between(&self, n: i64, (least, most): (i64, i64)) -> Read<u64> {
        match u64::try_from(n) {
            Ok(whole) if (least..=most).contains(&n) => Ok(whole),
            _ => Err(self.error(format!("{n} is out of range; it can be {least} to {most}"))),
        }
    }

    /// Reads a number with or without a unit, and warns if the number is improbable.
    pub fn amount(&self, quantity: Quantity, minimum: Minimum) -> Read<f64> {
        self.within(quantity, minimum).inspect(|n| self.warn_if_unlikely(quantity, *n))
    }

    pub(super) fn within(&self, quantity: Quantity, minimum: Minimum) -> Read<f64> {
        let n = self.value(quantity)?;
        let said = self.node.value.describe();
        let wrong = if n < 0.0 {
            format!("{said} is negative; give {}", range(quantity, minimum))
        } else if n == 0.0 && minimum == Minimum::Positive {
            format!("{said} is zero; give {}", range(quantity, minimum))
        } else if n > quantity.most() && quantity == Quantity::Share {
            format!("{said} is above 1; 2 percent are 0.02 or \"2 %\"")
        } else if n > quantity.most() {
            let unit = quantity.units().next().map_or_else(String::new, |unit| format!(" {unit}"));
            let said = if n > 1e15 { format!("{n:e}") } else { said };
            format!("{said} is too large; it can be {:e}{unit} at most", quantity.most())
        } else {
            return Ok(n);
        };
        Err(self.error(wrong))
    }

    /// Reads a time.
    pub fn time(&self, minimum: Minimum) -> Read<Duration> {
        let seconds = self.amount(Quantity::Time, minimum)?;
        let time = Duration::from_secs_f64(seconds);
        if time.is_zero() && seconds > 0.0 {
            Err(self.error("below a nanosecond; give 0 or at least \"1 ns\""))
        } else {
            Ok(time)
        }
    }

    /// Reads a number and returns it in the first unit of the quantity.
    fn value(&self, quantity: Quantity) -> Read<f64> {
        let n = match &self.node.value {
            Value::Integer(n) => *n as f64,
            Value::Float(n) => *n,
            Value::Text(text) => quantity.parse(text).map_err(|message| self.error(message))?,
            _ => return Err(self.wrong(quantity.describe())),
        };
        if n.is_finite() { Ok(n) } else { Err(self.wrong(quantity.describe())) }
    }

    /// Reads a number that may change.
    pub fn changing(&self, quantity: Quantity, minimum: Minimum, variation: Variation) -> Read<Number> {
        let Value::Table(branch) = &self.node.value else {
            return self.amount(quantity, minimum).map(Number::Constant);
        };
        let form = self.form(branch)?;
        let number = match form {
            Form::Uniform => self.uniform(branch, quantity, variation)?,
            Form::Normal | Form::Lognormal | Form::Pareto => {
                self.drawn(form.word(), branch, quantity, variation)?
            }
            Form::Steps => self.steps(branch, quantity)?,
            Form::Trace => self.trace(branch, quantity, minimum)?,
        };
        let draw = matches!(
            number,
            Number::Uniform { every: Every::Run, .. } | Number::Drawn { every: Every::Run, .. }
        );
        if variation == Variation::EachRun && !draw {
            return Err(
                self.error("this number can't change within a run; it is constant, or { uniform = [a, b] }")
            );
        }
        self.some_is_positive(&number, minimum)?;
        match self.cause(branch)? {
            Some(cause) => Ok(Number::Caused { cause, number: Box::new(number) }),
            None => Ok(number),
        }
    }

    /// Form of the changing number in `branch`.
    fn form(&self, branch: &Branch) -> Read<Form> {
        let Some(form) = Form::ALL.into_iter().find(|form| branch.contains_key(form.word())) else {
            let Some((name, node)) = branch.iter().next() else {
                return Err(self.error(
                    "an empty table; give `uniform`, `normal`, `lognormal`, `pareto`, `steps` or `trace`",
                ));
            };
            let message = format!("there is no `{name}`{}", hint(name, Form::WORDS.iter().copied()));
            return Err(self.source.error(&node.at, &self.key, message));
        };
        let keys = form.keys();
        match branch.iter().find(|(name, _)| !keys.contains(&name.as_str())) {
            None => Ok(form),
            Some((name, node)) => {
                let message = format!("`{name}` does not go with `{form}`; {form} has {}", keys.join(", "));
                Err(self.source.error(&node.at, &self.key, message))
            }
        }
    }

    fn steps(&self, branch: &Branch, quantity: Quantity) -> Read<Number> {
        const EXPECTED: &str = "steps as [[0, 1], [\"10 s\", 2]]: times and values";
        let mut steps: Vec<(Duration, f64)> = Vec::new();
        for step in self.part(self.key.clone(), &branch["steps"]).list(EXPECTED)? {
            let pair = step.list(EXPECTED)?;
            let [time, value] = pair.as_slice() else {
                return Err(step.wrong(EXPECTED));
            };
            let time = Duration::from_secs_f64(time.within(Quantity::Time, Minimum::Zero)?);
            let value = value.amount(quantity, Minimum::Zero)?;
            match steps.last() {
                None if !time.is_zero() => {
                    return Err(step.error("the first step begins later than 0 s; put [0, value] in front"));
                }
                Some((before, _)) if *before >= time => {
                    let message =
                        format!("steps must ascend: {time:?} follows {before:?}; put them in order");
                    return Err(step.error(message));
                }
                _ => steps.push((time, value)),
            }
        }
        if steps.is_empty() {
            Err(self.error("there are no steps; give [[0, value]]"))
        } else {
            Ok(Number::Steps(steps))
        }
    }

    /// Checks that a number that must be positive is not zero all the time.
    fn some_is_positive(&self, number: &Number, minimum: Minimum) -> Read<()> {
        let positive = match number {
            Number::Constant(n) => *n > 0.0,
            Number::Uniform { high, .. } => *high > 0.0,
            Number::Steps(steps) => steps.iter().any(|(_, value)| *value > 0.0),
            Number::Drawn { within: [_, high], .. } => *high > 0.0,
            Number::Trace { .. } | Number::Traces { .. } | Number::Caused { .. } => true,
        };
        if positive || minimum == Minimum::Zero { Ok(()) } else { Err(self.error("it is never above zero")) }
    }

    /// Reads the rate of a link.
    pub fn rate(&self) -> Read<LinkRate> {
        match &self.node.value {
            Value::Text(text) if text == "infinite" => return Ok(LinkRate::Infinite),
            Value::Text(text) if text.starts_with(|c: char| c.is_alphabetic()) => {
                return Err(
                    self.error(format!("there is no `{text}`; a rate is \"10 Mbit/s\", or \"infinite\""))
                );
            }
            Value::Table(branch) if self.form(branch)? == Form::Trace => {
                if let Some(rate) = self.opportunities(branch)? {
                    return Ok(rate);
                }
            }
            _ => {}
        }
        let rate = self.changing(Quantity::Rate, Minimum::Positive, Variation::Free)?;
        let law = if let Number::Caused { number, .. } = &rate { number } else { &rate };
        if matches!(law, Number::Drawn { every: Every::Packet, .. }) {
            return Err(
                self.error("a link's rate is drawn for each packet only as `uniform`; draw it every \"1 s\"")
            );
        }
        Ok(LinkRate::Number(rate))
    }

    /// Reads a time of at least a millisecond, or a number of bytes with a unit.
    pub fn burst(&self) -> Read<Burst> {
        let text = if let Value::Text(text) = &self.node.value { text.as_str() } else { "" };
        if Quantity::Size.units().any(|unit| text.ends_with(unit)) {
            return self.bytes((1, 1 << 30)).map(Burst::Bytes);
        }
        match self.time(Minimum::Positive)? {
            time if time < SHORTEST_BURST => Err(self.error("a burst is at least \"1 ms\" long")),
            time => Ok(Burst::Time(time)),
        }
    }

    /// Reads the limit of a queue.
    pub fn limit(&self) -> Read<QueueLimit> {
        let text = match &self.node.value {
            Value::Text(text) if text == "unlimited" => return Ok(QueueLimit::Unlimited),
            Value::Text(text) => text.as_str(),
            _ => "",
        };
        if Quantity::Size.units().any(|unit| text.ends_with(unit)) {
            return self.bytes((0, 1 << 50)).map(QueueLimit::Bytes);
        }
        let n = self.amount(Quantity::Packets, Minimum::Zero)?;
        if n == libm::trunc(n) {
            Ok(QueueLimit::Packets(n as u64))
        } else {
            Err(self.wrong("a whole number of packets"))
        }
    }
}

/// Returns whether `text` is a whole number that does not fit 64 bits.
fn is_too_long(text: &str) -> bool {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    digits.len() > 1 && digits.bytes().all(|b| b.is_ascii_digit()) && text.parse::<i64>().is_err()
}

/// Text with the values that a number may have.
fn range(quantity: Quantity, minimum: Minimum) -> String {
    match minimum {
        Minimum::Zero => quantity.describe().into(),
        Minimum::Positive => format!("{}, above zero", quantity.describe()),
    }
}

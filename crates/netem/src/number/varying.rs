//! State of a number in a run.

use std::sync::Arc;

use strandcast_proto::seeds::{Random, Seeds};
use strandcast_proto::time::{Duration, Instant};

use super::law::Draws;
use super::{Every, Number, Trace};

/// A [`Number`] in a run, with its value at any time.
///
/// A number that is drawn for each packet is drawn at each call. Every other value depends only on the time, and not on
/// earlier queries. Queries at ascending times are fast. Times in the number count from `origin`. Before the origin,
/// the value at `origin` applies.
#[derive(Clone, Debug)]
pub struct Varying {
    origin: Instant,
    law: Law,
}

#[derive(Clone, Debug)]
enum Law {
    Constant(f64),
    Packet {
        draws: Draws,
        random: Random,
    },
    Periods(Periods),
    /// A list of points. `cursor` is the point of the last query. `offset` is the time of the trace at the origin.
    Points {
        trace: Arc<Trace>,
        offset: Duration,
        cursor: usize,
    },
}

/// State of a number that is drawn once per period, starting at period 0.
#[derive(Clone, Debug)]
struct Periods {
    draws: Draws,
    length: u64,
    /// State of the random stream before the first draw.
    first: Random,
    random: Random,
    drawn: u64,
    value: f64,
}

impl Varying {
    /// Creates the state of `number`, which draws from `random`. Times in the number count from `origin`.
    ///
    /// # Panics
    /// Panics if [`Number::validate`] rejects `number`.
    pub fn new(number: &Number, mut random: Random, origin: Instant) -> Self {
        if let Err(error) = number.validate() {
            panic!("{number:?}: {error}");
        }
        let points = |trace, offset| Law::Points { trace, offset, cursor: 0 };
        let law = match *number {
            Number::Constant(value) => Law::Constant(value),
            Number::Uniform { low, high, every } => Law::drawn(Draws::Uniform { low, high }, every, random),
            Number::Drawn { law, every } => Law::drawn(Draws::Law { law, last: None }, every, random),
            Number::Traces { ref traces, offset } => {
                let trace = &traces[random.below(traces.len() as u64) as usize];
                let offset = offset.within(trace.repeat().map_or(0, nanos), &mut random);
                points(Arc::clone(trace), Duration::from_nanos(offset))
            }
            Number::Caused { cause, ref number } => {
                return Varying::new(number, Seeds::new(cause, 0).stream("cause"), origin);
            }
            Number::Steps(ref steps) => points(
                Arc::new(Trace::new(steps.clone(), None).expect("the number was validated")),
                Duration::ZERO,
            ),
            Number::Trace(ref trace) => points(Arc::clone(trace), Duration::ZERO),
        };
        Varying { origin, law }
    }

    /// Returns the value if the number is constant.
    pub fn constant(&self) -> Option<f64> {
        match self.law {
            Law::Constant(value) => Some(value),
            _ => None,
        }
    }

    /// Returns the value at `now`.
    pub fn at(&mut self, now: Instant) -> f64 {
        let since = now - self.origin;
        match &mut self.law {
            Law::Constant(value) => *value,
            Law::Packet { draws, random } => draws.next(random),
            Law::Periods(periods) => periods.value(nanos(since) / periods.length),
            Law::Points { trace, offset, cursor } => {
                *cursor = find(trace, *cursor, within(trace, since.saturating_add(*offset)).1);
                trace.points()[*cursor].1
            }
        }
    }

    /// Returns the first time after `now` at which the value may change; `None` if it never does. A value that is drawn
    /// for each packet changes with packets, and not with time.
    pub fn next_change(&self, now: Instant) -> Option<Instant> {
        let since = now - self.origin;
        match &self.law {
            Law::Constant(_) | Law::Packet { .. } => None,
            Law::Periods(periods) => {
                let n = nanos(since) / periods.length;
                Some(self.origin + Duration::from_nanos((n + 1).saturating_mul(periods.length)))
            }
            Law::Points { trace, offset, cursor } => {
                let (begin, since) = within(trace, since.saturating_add(*offset));
                let cursor = find(trace, *cursor, since);
                let next = trace.points()[cursor..].iter().map(|point| point.0).find(|&time| time > since);
                let next = next.or(trace.repeat())?;
                Some(self.origin + begin.saturating_add(next).saturating_sub(*offset))
            }
        }
    }
}

impl Law {
    fn drawn(mut draws: Draws, every: Every, mut random: Random) -> Self {
        match every {
            Every::Run => Law::Constant(draws.next(&mut random)),
            Every::Packet => Law::Packet { draws, random },
            Every::Period(length) => Law::Periods(Periods {
                draws,
                length: nanos(length),
                first: random.clone(),
                random,
                drawn: 0,
                value: f64::NAN,
            }),
        }
    }
}

impl Periods {
    fn value(&mut self, period: u64) -> f64 {
        if period + 1 < self.drawn {
            self.random = self.first.clone();
            self.draws.restart();
            self.drawn = 0;
        }
        while self.drawn <= period {
            self.value = self.draws.next(&mut self.random);
            self.drawn += 1;
        }
        self.value
    }
}

/// Returns the time at which the present repetition of the trace began, and the time since then.
fn within(trace: &Trace, since: Duration) -> (Duration, Duration) {
    let Some(repeat) = trace.repeat() else { return (Duration::ZERO, since) };
    let since = nanos(since);
    let rest = since % nanos(repeat);
    (Duration::from_nanos(since - rest), Duration::from_nanos(rest))
}

/// Returns the index of the last point at or before `since`, or of the first point. The search begins at `cursor`,
/// because the result is usually that point or the one after it.
fn find(trace: &Trace, cursor: usize, since: Duration) -> usize {
    let points = trace.points();
    let holds = |i: usize| {
        points.get(i).is_some_and(|point| i == 0 || point.0 <= since)
            && points.get(i + 1).is_none_or(|next| since < next.0)
    };
    match (holds(cursor), holds(cursor + 1)) {
        (true, _) => cursor,
        (_, true) => cursor + 1,
        _ => points.partition_point(|point| point.0 <= since).saturating_sub(1),
    }
}

/// Returns `time` in nanoseconds. The result saturates after 584 years.
fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

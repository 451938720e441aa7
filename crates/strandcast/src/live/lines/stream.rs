//! Lines of one stream.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::line::{Happened, Idle, Line, What, object};
use crate::live::event::Event;
use crate::live::stats::{Role, Stats, StreamState};

/// Interval between two lines of figures.
const EVERY: Duration = Duration::from_secs(1);
/// Share of [`EVERY`] after which the next figures make a line. The interval between two figures is a quarter of a
/// second.
const ALMOST: f64 = 0.9;
/// If there are no figures for this time, a line reports that.
const IDLE: Duration = Duration::from_millis(1500);

/// Makes the lines of a stream. Rates in a line are over the time since the line before.
#[derive(Debug)]
pub struct Lines {
    role: Role,
    name: Option<String>,
    begun: Instant,
    /// Figures of the last line, if they belong to the present run of the stream.
    last: Option<Arc<Stats>>,
    /// Time of the last line, with or without figures.
    written: Instant,
    /// Number of the stream.
    number: Option<String>,
}

impl Lines {
    /// Makes lines without the name of a stream. `begun` is the start of the program.
    pub fn new(role: Role, begun: Instant) -> Lines {
        Lines { role, name: None, begun, last: None, written: Instant::now(), number: None }
    }

    /// Makes lines with the name of a server's stream.
    pub fn named(name: &str, begun: Instant) -> Lines {
        Lines { name: Some(name.to_owned()), ..Lines::new(Role::Receive, begun) }
    }

    fn line(&self, what: What) -> Line {
        Line::now(self.begun.elapsed().as_secs_f64(), self.name.clone(), what)
    }

    /// Returns a line of these figures, or `None` if the last line is less than a second old.
    pub fn figures(&mut self, now: &Arc<Stats>) -> Option<Line> {
        if self.number != now.stream {
            self.number.clone_from(&now.stream);
            self.last = None;
        }
        let since = |last: &Arc<Stats>| now.seconds - last.seconds;
        if self.last.as_ref().is_some_and(|last| since(last) < ALMOST * EVERY.as_secs_f64()) {
            return None;
        }
        let figures = self.last.as_ref().map_or_else(|| (**now).clone(), |last| now.since(last));
        self.last = Some(Arc::clone(now));
        self.written = Instant::now();
        Some(self.line(What::Figures(Box::new(figures))))
    }

    /// Returns the number of the stream of the last figures. Returns `None` before the first figures, and after the end
    /// of the stream.
    pub fn number(&self) -> Option<&str> {
        self.number.as_deref()
    }

    /// Returns the state of the stream if it has no figures.
    pub fn state(&self) -> StreamState {
        match (self.role, &self.number) {
            (Role::Receive, None) => StreamState::Waiting,
            (Role::Receive, Some(_)) => StreamState::Outage,
            _ => StreamState::Connecting,
        }
    }

    /// Returns whether there were no figures for so long that [`Lines::idle`] should report this.
    pub fn is_idle(&self) -> bool {
        // The first figures of a stream make a line at once. Later figures make a line every second.
        let waits = if self.last.is_some() { IDLE } else { EVERY.mul_f64(ALMOST) };
        self.written.elapsed() >= waits
    }

    /// Returns a line for a time without figures, so that a waiting program does not look like a program that hangs.
    pub fn idle(&mut self) -> Line {
        let interval_s = self.written.elapsed().as_secs_f64();
        // The next figures must not be compared with figures from before the gap.
        (self.last, self.written) = (None, Instant::now());
        let (stream, state) = (self.number.clone(), self.state());
        self.line(What::Idle(Idle { interval_s, role: self.role, stream, state }))
    }

    /// Returns the line of an event. `text` is the line that a program prints, and `left_out` the number of earlier
    /// events that the program did not print.
    pub fn event(&self, event: &Event, text: &str, left_out: u64) -> Line {
        self.line(What::Event(Happened::of(event, text, self.role, self.number.clone(), left_out)))
    }

    /// Returns the line of an event of the program itself. `fields` is an object with the keys of the event.
    pub fn own_event(&self, event: &str, text: &str, fields: Value, left_out: u64) -> Line {
        let (event, text, fields) = (event.to_owned(), text.to_owned(), object(fields));
        self.line(What::Event(Happened { role: self.role, stream: None, event, text, left_out, fields }))
    }

    /// Records that the stream is over. The next figures belong to another stream.
    pub fn end(&mut self) {
        (self.last, self.number) = (None, None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_make_a_line_each_second_and_begin_again_with_another_stream() {
        let mut lines = Lines::named("van1", Instant::now());
        assert_eq!(lines.idle().value()["state"], "waiting");
        let now = |stream: &str, seconds| {
            let stats = Stats { stream: Some(stream.to_owned()), seconds, ..Stats::default() };
            Arc::new(stats)
        };
        let line = lines.figures(&now("a", 1.0)).expect("the first figures").value();
        assert_eq!(
            (&line["name"], &line["stream"], &line["seconds"]),
            (&"van1".into(), &"a".into(), &1.0.into())
        );
        assert!(lines.figures(&now("a", 1.75)).is_none() && !lines.is_idle());
        assert!(lines.figures(&now("a", 2.0)).is_some());
        assert!(lines.figures(&now("b", 0.25)).is_some(), "another stream");
        assert_eq!((lines.state(), lines.number()), (StreamState::Outage, Some("b")));
        lines.end();
        assert_eq!(lines.number(), None);
        assert_eq!(lines.idle().value()["stream"], Value::Null);
    }
}

//! Numbers of played messages of a stream, and how the stream ended.

use serde_json::Value;

/// Numbers of messages at a receiver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Played {
    pub(super) messages: u64,
    pub(super) bytes: u64,
    pub(super) late: u64,
    pub(super) lost: u64,
    /// Number of messages that an output did not accept or could not write.
    pub(super) untaken: u64,
}

impl Played {
    /// Reads the counts from the `media` of a line of figures.
    pub(super) fn of_media(media: &Value) -> Played {
        let of = |key: &str| media[key].as_u64().unwrap_or(0);
        Played {
            messages: of("messages"),
            bytes: of("bytes"),
            late: of("late"),
            lost: of("lost"),
            untaken: of("unread"),
        }
    }

    /// Reads the counts from a summary.
    fn of_summary(summary: &Value) -> Played {
        let of = |key: &str| summary[key].as_u64().unwrap_or(0);
        let untaken = of("unread").saturating_add(of("unsent"));
        Played { messages: of("played"), bytes: of("bytes"), late: of("late"), lost: of("lost"), untaken }
    }

    fn add(&mut self, other: Played) {
        let more = |count: &mut u64, more: u64| *count = count.saturating_add(more);
        more(&mut self.messages, other.messages);
        more(&mut self.bytes, other.bytes);
        more(&mut self.late, other.late);
        more(&mut self.lost, other.lost);
        more(&mut self.untaken, other.untaken);
    }
}

/// End of a stream at its receiver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum End {
    /// The lines contain no summary, because the stream continues or because the receiver was killed.
    #[default]
    Unknown,
    /// The stream was cut: its end did not arrive.
    Cut,
    /// The end of the stream arrived. `identical` is true if every byte was played as it was sent.
    Arrived { identical: bool },
}

/// Parts of a stream at its receiver. A stream that was cut may begin again with the same number.
#[derive(Clone, Debug, Default)]
pub(super) struct Parts {
    over: Played,
    ends: Vec<End>,
    /// Counts of the part that has not ended.
    pub(super) current: Option<Played>,
}

impl Parts {
    pub(super) fn end(&mut self, summary: &Value) {
        self.current = None;
        self.over.add(Played::of_summary(summary));
        self.ends.push(match summary["complete"] == true {
            true => End::Arrived { identical: summary["identical"] == true },
            false => End::Cut,
        });
    }

    /// Returns the counts of the played messages, the end of the last part of the stream, and the number of
    /// interruptions before that part.
    pub(super) fn sum(mut self) -> (Option<Played>, End, usize) {
        let known = self.current.is_some() || !self.ends.is_empty();
        let end = if self.current.is_some() { None } else { self.ends.pop() };
        self.over.add(self.current.unwrap_or_default());
        let cuts = self.ends.iter().filter(|end| **end == End::Cut).count();
        (known.then_some(self.over), end.unwrap_or_default(), cuts)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn summary(played: u64, complete: bool, identical: impl Into<Value>) -> Value {
        json!({ "played": played, "bytes": 9, "late": 1, "lost": 2, "unread": 3, "unsent": 4, "complete": complete,
                "identical": identical.into() })
    }

    #[test]
    fn the_end_is_that_of_the_summary_and_a_stream_may_have_parts() {
        let figures =
            |played: u64| Played::of_media(&json!({ "messages": played, "bytes": 9, "late": 0, "lost": 0 }));
        let of = |parts: &Parts| {
            let (played, end, cuts) = parts.clone().sum();
            (played.map(|played| played.messages), end, cuts)
        };
        let mut parts = Parts::default();
        assert_eq!(of(&parts), (None, End::Unknown, 0));
        parts.current = Some(figures(5));
        assert_eq!(of(&parts), (Some(5), End::Unknown, 0));
        parts.end(&summary(7, false, Value::Null));
        assert_eq!(of(&parts), (Some(7), End::Cut, 0));
        parts.current = Some(figures(4));
        assert_eq!(of(&parts), (Some(11), End::Unknown, 1));
        parts.end(&summary(8, true, false));
        assert_eq!(of(&parts), (Some(15), End::Arrived { identical: false }, 1));
        let expected = Played { messages: 15, bytes: 18, late: 2, lost: 4, untaken: 14 };
        assert_eq!(parts.sum().0, Some(expected));
    }
}

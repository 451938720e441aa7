//! A player that pauses when it has no media.

use core::time::Duration;

use strandcast_proto::time::Instant;

use super::Window;

/// Player of media that have arrived in order. The player begins when media of the duration `prebuffer` have arrived.
/// The player pauses when no media are left (an underflow). The player continues when `prebuffer` of media has arrived
/// again, or when the stream is complete.
#[derive(Debug)]
pub(super) struct Player {
    prebuffer: Duration,
    window: Window,
    state: State,
    underflows: u64,
}

#[derive(Debug)]
enum State {
    /// The player is paused, with this duration of media waiting.
    Paused(Duration),
    /// The player plays. The available media last until this instant.
    Playing(Instant),
    /// All media have arrived.
    Complete,
}

impl Player {
    pub fn new(prebuffer: Duration, window: Window) -> Self {
        Player { prebuffer, window, state: State::Paused(Duration::ZERO), underflows: 0 }
    }

    /// Adds media of this duration that arrived in order. `last` is true at the end of the stream.
    pub fn add(&mut self, now: Instant, media: Duration, last: bool) {
        if let State::Playing(until) = self.state
            && until < now
        {
            self.count(until);
            self.state = State::Paused(Duration::ZERO);
        }
        self.state = match self.state {
            _ if last => State::Complete,
            State::Complete => State::Complete,
            State::Playing(until) => State::Playing(until + media),
            State::Paused(waiting) if waiting + media >= self.prebuffer => {
                State::Playing(now + waiting + media)
            }
            State::Paused(waiting) => State::Paused(waiting + media),
        };
    }

    /// Number of underflows in the window. It includes an underflow that would occur in the window if no more media
    /// arrived.
    pub fn underflows(&self) -> u64 {
        match self.state {
            State::Playing(until) => self.underflows + u64::from(self.window.contains(until)),
            _ => self.underflows,
        }
    }

    fn count(&mut self, at: Instant) {
        self.underflows += u64::from(self.window.contains(at));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn play(prebuffer_ms: u64, script: &[(u64, u64, bool)]) -> u64 {
        let window = Window { from: Instant::ZERO, to: Instant::from_millis(60_000) };
        let mut player = Player::new(Duration::from_millis(prebuffer_ms), window);
        for &(now, media, last) in script {
            player.add(Instant::from_millis(now), Duration::from_millis(media), last);
        }
        player.underflows()
    }

    #[test]
    fn an_empty_buffer_counts_once_until_it_is_filled_again() {
        // The player plays from 1 s to 3 s. At 4 s, 1 s of media arrives, which is not enough. At 5 s, 2 s of media are
        // available. It plays until 7 s, and is then empty.
        let script = [(0, 1000, false), (1000, 1000, false), (4000, 1000, false), (5000, 1000, false)];
        assert_eq!(play(2000, &script[..1]), 0, "it never began");
        assert_eq!(play(2000, &script[..2]), 1, "empty at 3 s");
        assert_eq!(play(2000, &script[..3]), 1, "still the same");
        assert_eq!(play(2000, &script), 2, "empty at 7 s");
    }

    #[test]
    fn media_that_come_just_in_time_are_no_underflow_and_the_end_is_none() {
        assert_eq!(play(2000, &[(0, 2000, false), (2000, 1000, false), (2500, 0, true)]), 0);
        assert_eq!(play(2000, &[(0, 2000, false), (2001, 1000, true)]), 1);
        assert_eq!(play(2000, &[(0, 1000, true)]), 0, "shorter than the buffer");
    }
}

//! Timing of the input, and reports on it.

use std::time::Duration;

use strandcast_media::MediaTime;
use strandcast_media::ingest::Ingest;
use strandcast_media::pace::{PaceClock, PaceConfig};
use strandcast_media::pack::PackConfig;
use strandcast_media::ts::SEARCH_LIMIT;
use strandcast_net::entropy;
use tokio::time::Instant;

use crate::error::Error;
use crate::live::event::Event;
use crate::live::input::Input;

/// Timing of an input.
#[derive(Clone, Copy, Debug)]
pub(super) struct Timing {
    /// The playout latency.
    pub(super) latency: Duration,
    /// Rate that replaces the input's clock.
    pub(super) rate_bps: Option<u64>,
    /// True if a pipe that runs faster than its clock is paced by the clock.
    pub(super) paces_pipes: bool,
    /// Earliest time at which the input can have media. The input is read once a connection exists.
    pub(super) begun: Instant,
}

impl Timing {
    /// Makes the state machine of the input. A file starts at `origin`. A random number identifies the sender's run.
    ///
    /// # Errors
    /// Returns [`Error::Network`] if the system has no randomness.
    pub(super) fn ingest(&self, input: &impl Input, origin: MediaTime) -> Result<Ingest, Error> {
        let seeds = entropy::seeds()
            .map_err(|e| Error::Network(format!("the system provides no random numbers: {e}")))?;
        let session = seeds.stream("session").u32();
        let pack = PackConfig { lifetime: Some(self.latency), ..PackConfig::new(session) };
        let pace = PaceConfig { rate_bps: self.rate_bps, ..PaceConfig::default() };
        let waits = !input.is_live() || input.waits();
        let mut ingest = match (input.is_live(), self.rate_bps) {
            (false, _) => Ingest::paced(origin, pace, pack),
            (true, Some(_)) if waits => Ingest::paced_live(self.latency, pace, pack),
            (true, _) if waits && self.paces_pipes => Ingest::pipe(self.latency, self.begun.elapsed(), pack),
            (true, _) => Ingest::live(pack),
        };
        if input.may_begin_late() {
            ingest.wait_for_stream();
        }
        Ok(ingest)
    }
}

/// Reports on an input that have been made.
#[derive(Debug, Default)]
pub(super) struct Said {
    pace: bool,
    no_media: bool,
}

impl Said {
    /// Returns new reports: new problems of the input, and what its media show, which is reported once.
    pub(super) fn news(&mut self, input: &mut impl Input, ingest: &Ingest) -> Vec<Event> {
        let troubles = input.troubles().into_iter();
        let troubles = troubles.map(|why| Event::InputTrouble { input: input.name(), why });
        troubles.chain(self.shown(input, ingest)).collect()
    }

    /// Returns the next report on the media.
    fn shown(&mut self, input: &impl Input, ingest: &Ingest) -> Option<Event> {
        let framing = ingest.stats().framing;
        if framing.packets == 0 && framing.skipped_bytes >= SEARCH_LIMIT as u64 && !self.no_media {
            self.no_media = true;
            let like = ingest.looks_like().unwrap_or("something else").to_owned();
            return Some(Event::NoMedia { input: input.name(), like });
        }
        let clock = ingest.paced_by().filter(|_| !self.pace)?;
        self.pace = true;
        let how = match clock {
            PaceClock::Pcr if input.is_live() => {
                "its clock, which it outruns: --no-pace sends it at once, ffmpeg -re holds the encoder back"
                    .to_owned()
            }
            PaceClock::Pcr => return None,
            clock => clock.to_string(),
        };
        Some(Event::Pace { input: input.name(), how })
    }
}

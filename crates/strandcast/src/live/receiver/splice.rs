//! Source of the outputs that have a slate.

use std::time::{Duration, Instant};

use strandcast_media::MediaTime;
use strandcast_media::slate::Splicer;

use crate::live::event::Event;
use crate::live::slate::Slate;

/// Source of the outputs with a slate: the sender, or the slate.
#[derive(Debug)]
pub(super) struct Splice {
    splicer: Splicer,
    origin: Instant,
    /// Name of the slate.
    name: String,
    /// Start of the present time in which the slate plays. The start is set once this was reported.
    since: Option<Instant>,
}

impl Splice {
    pub(super) fn new(slate: &Slate) -> Splice {
        let splicer = Splicer::new(slate.media(), slate.after, MediaTime::ZERO);
        Splice { splicer, origin: Instant::now(), name: slate.to_string(), since: None }
    }

    fn now(&self) -> MediaTime {
        MediaTime::ZERO + self.origin.elapsed()
    }

    /// Accepts a message of the sender that is played now.
    pub(super) fn push(&mut self, message: &[u8]) {
        self.splicer.push(self.now(), message);
    }

    /// Records that the sender has ended, or that another one begins.
    pub(super) fn end(&mut self) {
        self.splicer.end(self.now());
    }

    /// Returns the next message. The flag is true if the message comes from a sender.
    pub(super) fn poll(&mut self) -> Option<(Vec<u8>, bool)> {
        let message = self.splicer.poll(self.now())?;
        Some((message, !self.splicer.plays_slate()))
    }

    /// Time until the next message of a slate.
    pub(super) fn due(&self) -> Duration {
        self.splicer.poll_timeout() - self.now()
    }

    /// Returns an event if the slate has begun or ended since the last call.
    pub(super) fn change(&mut self) -> Option<Event> {
        match (self.splicer.plays_slate(), self.since) {
            (true, None) => {
                self.since = Some(Instant::now());
                Some(Event::Slate { slate: self.name.clone() })
            }
            (false, Some(since)) => {
                self.since = None;
                Some(Event::SlateOver { after: since.elapsed() })
            }
            _ => None,
        }
    }
}

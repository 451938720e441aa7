//! What an application has to send, and when.

use strandcast_proto::time::Instant;

use crate::traffic::{Emission, Source};

/// Messages for a transport: at once, or when a source gives them.
#[derive(Debug)]
pub enum Feed {
    /// As much as the transport takes.
    Endless {
        /// Bytes a message.
        size: u32,
    },
    /// As much as the transport takes, up to so many bytes.
    Finite {
        /// Bytes a message.
        size: u32,
        /// Bytes still to be given.
        left: u64,
    },
    /// What the source gives, when it gives it.
    Timed {
        /// Where messages come from.
        source: Box<dyn Source>,
        /// The next one.
        next: Option<Emission>,
    },
}

impl Feed {
    /// Messages of `source` at their times.
    pub fn timed(mut source: Box<dyn Source>) -> Self {
        let next = source.next();
        Feed::Timed { source, next }
    }

    /// The message to hand in now, if there is one.
    pub fn peek(&self, now: Instant) -> Option<Emission> {
        match *self {
            Feed::Endless { size } => Some(Emission::plain(now, size)),
            Feed::Finite { left: 0, .. } => None,
            Feed::Finite { size, left } => {
                Some(Emission::plain(now, size.min(left.try_into().unwrap_or(u32::MAX))))
            }
            Feed::Timed { next, .. } => next.filter(|emission| emission.at <= now),
        }
    }

    /// Takes the message that [`peek`](Self::peek) gave.
    pub fn take(&mut self) {
        match self {
            Feed::Endless { .. } => {}
            Feed::Finite { size, left } => *left = left.saturating_sub(u64::from(*size)),
            Feed::Timed { source, next } => *next = source.next(),
        }
    }

    /// When the next message is due, if time and not the transport decides.
    pub fn next_at(&self) -> Option<Instant> {
        match self {
            Feed::Timed { next, .. } => next.map(|emission| emission.at),
            _ => None,
        }
    }

    /// Nothing is left.
    pub fn is_done(&self) -> bool {
        matches!(self, Feed::Finite { left: 0, .. } | Feed::Timed { next: None, .. })
    }
}

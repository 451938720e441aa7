//! Messages that an application sends, and the times at which it sends them.

use strandcast_proto::time::Instant;

use crate::traffic::{Emission, Source};

/// Messages for a transport: as fast as it accepts them, or at the times of a source.
#[derive(Debug)]
pub enum Feed {
    /// Messages without end, as fast as the transport accepts them.
    Endless {
        /// Number of bytes per message.
        size: u32,
    },
    /// Messages up to a total number of bytes, as fast as the transport accepts them.
    Finite {
        /// Number of bytes per message.
        size: u32,
        /// Number of bytes that are left.
        left: u64,
    },
    /// Messages of a source, at the source's times.
    Timed {
        /// Source of the messages.
        source: Box<dyn Source>,
        /// Next message of the source.
        next: Option<Emission>,
    },
}

impl Feed {
    /// Returns a feed of the messages of `source`, at their times.
    pub fn timed(mut source: Box<dyn Source>) -> Self {
        let next = source.next();
        Feed::Timed { source, next }
    }

    /// Returns the message to send now.
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

    /// Removes the message that [`peek`](Self::peek) returned.
    pub fn take(&mut self) {
        match self {
            Feed::Endless { .. } => {}
            Feed::Finite { size, left } => *left = left.saturating_sub(u64::from(*size)),
            Feed::Timed { source, next } => *next = source.next(),
        }
    }

    /// Returns the time of the next message, if the source decides on times and not the transport.
    pub fn next_at(&self) -> Option<Instant> {
        match self {
            Feed::Timed { next, .. } => next.map(|emission| emission.at),
            _ => None,
        }
    }

    /// Returns whether all messages have been taken.
    pub fn is_done(&self) -> bool {
        matches!(self, Feed::Finite { left: 0, .. } | Feed::Timed { next: None, .. })
    }
}

//! The receiving end of a sliding window. The receiving end delivers messages as soon as they are known. Any received
//! byte may come from an attacker.

use std::fmt;

use super::config::WindowConfig;
use crate::code::Code;
use crate::codec::{Decoder, Outcome};
use crate::framing::{frame, longest, unframe};
use crate::receipt::{Refusal, Statistics};
use crate::symbol::Header;

/// Maximum number of messages that one symbol may skip.
const FARTHEST: u32 = 1 << 16;

/// Effect of a received symbol on the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowArrival {
    /// Number of the message in the symbol. For a repair symbol, it is the number of the first covered message.
    pub number: u32,
    /// True if the symbol added information.
    pub innovative: bool,
}

/// A message that was received or decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowMessage<'a> {
    /// Number of the message in the stream.
    pub number: u32,
    /// Bytes of the message.
    pub bytes: &'a [u8],
    /// True if the message was computed from other symbols before its own symbol arrived.
    pub recovered: bool,
}

/// Receiver that takes the symbols of a stream with a sliding window and delivers the stream's messages.
pub struct WindowReceiver {
    config: WindowConfig,
    decoder: Box<dyn Decoder>,
    /// Number of the oldest message that the receiver holds.
    first: u32,
    /// Number of messages that were dropped.
    forgotten: u64,
    /// True for each message whose own symbol has arrived. The index is the message's position since the start, modulo
    /// the number of messages held.
    arrived: Vec<bool>,
    framed: Vec<u8>,
    statistics: Statistics,
}

impl WindowReceiver {
    /// Returns a receiver whose first message has the number 0.
    ///
    /// # Panics
    /// Panics if the code does not support windows of this format, or if the receiver holds fewer messages than a
    /// repair symbol covers.
    #[must_use]
    pub fn new(config: WindowConfig) -> Self {
        assert!(config.held >= config.sources, "a receiver holds what a repair symbol covers");
        let decoder = Code::Sliding.decoder(config.held, config.length);
        WindowReceiver {
            config,
            decoder,
            first: 0,
            forgotten: 0,
            arrived: vec![false; config.held],
            framed: Vec::with_capacity(config.length),
            statistics: Statistics::default(),
        }
    }

    /// Processes one received symbol.
    ///
    /// # Errors
    /// Returns the reason for dropping the symbol, as an error. The counters in [`statistics`](Self::statistics)
    /// include the dropped symbol.
    pub fn receive(&mut self, symbol: &[u8]) -> Result<WindowArrival, Refusal> {
        let taken = self.take(symbol);
        self.statistics.count(taken.map(|(_, outcome)| outcome));
        let (number, outcome) = taken?;
        Ok(WindowArrival { number, innovative: outcome == Outcome::Innovative })
    }

    fn take(&mut self, symbol: &[u8]) -> Result<(u32, Outcome), Refusal> {
        let (header, payload) = Header::read(symbol)?;
        let (number, outcome) = match header {
            Header::WindowSource { number } => {
                if payload.len() > longest(self.config.length) {
                    return Err(Refusal::Overlong(payload.len()));
                }
                let place = self.place(number, 1)?;
                frame(payload, self.config.length, &mut self.framed);
                let at = self.arrival(place);
                self.arrived[at] |= self.decoder.known(place).is_none();
                (number, self.decoder.source(place, &self.framed))
            }
            Header::WindowRepair { first, sources, seed } => {
                if payload.len() > self.config.length {
                    return Err(Refusal::Overlong(payload.len()));
                }
                let sources = usize::from(sources);
                if sources > self.config.sources {
                    return Err(Refusal::Contradictory);
                }
                let place = self.place(first, sources)?;
                (first, self.decoder.repair(place..place + sources, seed, payload))
            }
            Header::Source { .. } | Header::Repair { .. } | Header::Plain => return Err(Refusal::Foreign),
        };
        if outcome == Outcome::Refused { Err(Refusal::Contradictory) } else { Ok((number, outcome)) }
    }

    /// Returns the position of message `number` among the messages held. Makes room for `count` messages, starting with
    /// this one.
    fn place(&mut self, number: u32, count: usize) -> Result<usize, Refusal> {
        let ahead = number.wrapping_sub(self.first);
        if ahead > u32::MAX / 2 {
            return Err(Refusal::Stale);
        }
        let beyond = (ahead + count as u32).saturating_sub(self.config.held as u32);
        if beyond > FARTHEST {
            return Err(Refusal::Ahead);
        }
        for gone in 0..self.config.held.min(beyond as usize) {
            let at = self.arrival(gone);
            self.arrived[at] = false;
        }
        if beyond > 0 {
            self.decoder.forget(beyond as usize);
            self.first = self.first.wrapping_add(beyond);
            self.forgotten += u64::from(beyond);
        }
        Ok((ahead - beyond) as usize)
    }

    fn arrival(&self, place: usize) -> usize {
        (self.forgotten as usize + place) % self.config.held
    }

    /// Returns the next message that has become known. Call this method after each symbol, until it returns `None`. If
    /// the method is not called until then, a later symbol may remove messages from the window before they are
    /// returned.
    pub fn poll(&mut self) -> Option<WindowMessage<'_>> {
        loop {
            let place = self.decoder.next_known()?;
            if self.decoder.known(place).and_then(unframe).is_none() {
                self.statistics.damaged += 1;
                continue;
            }
            let number = self.first.wrapping_add(place as u32);
            let recovered = !self.arrived[self.arrival(place)];
            self.statistics.give(recovered);
            let bytes = self.decoder.known(place).and_then(unframe).expect("as above");
            return Some(WindowMessage { number, bytes, recovered });
        }
    }

    /// Returns the number of the oldest message that the receiver holds.
    #[must_use]
    pub fn first(&self) -> u32 {
        self.first
    }

    /// Returns the counters since the start.
    #[must_use]
    pub fn statistics(&self) -> &Statistics {
        &self.statistics
    }

    /// Returns the work since the start: the number of bytes of matrix rows that were read or written.
    #[must_use]
    pub fn work(&self) -> u64 {
        self.decoder.work()
    }

    /// Returns the maximum memory in bytes, for any symbols that may arrive.
    #[must_use]
    pub fn bound(&self) -> usize {
        self.decoder.bound() + self.arrived.len() + self.config.length
    }
}

impl fmt::Debug for WindowReceiver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("WindowReceiver");
        debug.field("config", &self.config).field("first", &self.first).field("statistics", &self.statistics);
        debug.finish_non_exhaustive()
    }
}

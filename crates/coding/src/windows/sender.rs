//! The sending end of a sliding window. The sending end keeps messages in a window and creates repair symbols that
//! cover the window.

use std::fmt;

use super::config::WindowConfig;
use crate::blocks::CannotPush;
use crate::blocks::CannotWrite;
use crate::code::Code;
use crate::codec::Encoder;
use crate::framing::{frame, longest, unframe};
use crate::symbol::{DENSEST, Header};

/// Sender that holds the latest messages of a stream and writes their symbols.
pub struct WindowSender {
    config: WindowConfig,
    encoder: Box<dyn Encoder>,
    /// Number of the next message.
    next: u32,
    key: u16,
    framed: Vec<u8>,
}

impl WindowSender {
    /// Returns a sender whose first message has the number 0. `key` is the first repair key.
    ///
    /// # Panics
    /// Panics if the code does not support windows of this format, or if the density is more than 15.
    #[must_use]
    pub fn new(config: WindowConfig, key: u16) -> Self {
        assert!(config.density <= DENSEST, "a density of at most {DENSEST}, not {}", config.density);
        let encoder = Code::Sliding.encoder(config.sources, config.length);
        WindowSender { config, encoder, next: 0, key, framed: Vec::with_capacity(config.length) }
    }

    /// Adds a message to the window. Returns the message's number. If the window is full, the oldest message is
    /// dropped.
    ///
    /// # Errors
    /// Returns an error if the message does not fit into a symbol.
    pub fn push(&mut self, message: &[u8]) -> Result<u32, CannotPush> {
        let most = longest(self.config.length);
        if message.len() > most {
            return Err(CannotPush::TooLong { length: message.len(), most });
        }
        if self.encoder.held() == self.config.sources {
            self.encoder.forget(1);
        }
        frame(message, self.config.length, &mut self.framed);
        self.encoder.push(&self.framed);
        self.next = self.next.wrapping_add(1);
        Ok(self.next.wrapping_sub(1))
    }

    /// Returns the number of the oldest message in the window.
    #[must_use]
    pub fn first(&self) -> u32 {
        self.next.wrapping_sub(self.encoder.held() as u32)
    }

    /// Returns the number of messages in the window.
    #[must_use]
    pub fn held(&self) -> usize {
        self.encoder.held()
    }

    /// Drops all messages before `number` from the window. Later repair symbols do not cover these messages.
    pub fn forget(&mut self, number: u32) {
        let count = number.wrapping_sub(self.first());
        if count <= u32::MAX / 2 {
            self.encoder.forget(count as usize);
        }
    }

    /// Appends the symbol of a message in the window to `out`.
    ///
    /// # Errors
    /// Returns an error if the message is not in the window.
    pub fn write_source(&self, number: u32, out: &mut Vec<u8>) -> Result<(), CannotWrite> {
        let index = number.wrapping_sub(self.first()) as usize;
        let symbol = self.encoder.source(index).ok_or(CannotWrite::NotHeld)?;
        Header::WindowSource { number }.write(out);
        out.extend_from_slice(unframe(symbol).expect("framed by push"));
        Ok(())
    }

    /// Appends a new repair symbol that covers the whole window to `out`. Returns the symbol's repair key.
    ///
    /// # Errors
    /// Returns an error if the window is empty. After an error, `out` is unchanged.
    pub fn write_repair(&mut self, out: &mut Vec<u8>) -> Result<u16, CannotWrite> {
        let seed = u32::from(self.config.density) << 16 | u32::from(self.key);
        let start = out.len();
        Header::WindowRepair { first: self.first(), sources: self.held() as u16, seed }.write(out);
        if let Err(why) = self.encoder.repair(seed, out) {
            out.truncate(start);
            return Err(why.into());
        }
        self.key = self.key.wrapping_add(1);
        Ok(self.key.wrapping_sub(1))
    }
}

impl fmt::Debug for WindowSender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WindowSender")
            .field("config", &self.config)
            .field("next", &self.next)
            .finish_non_exhaustive()
    }
}

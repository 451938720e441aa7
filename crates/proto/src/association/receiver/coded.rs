//! Conversion of coded data from the peer to messages ([`crate::coding`]). Symbols wait in the receive buffer until the
//! application reads, and are then decoded one at a time. Coded data therefore close the receive window as other data
//! do.

use super::Receiver;
use crate::association::context::Context;
use crate::association::event::{CloseReason, Event};
use crate::coding::{Agreed, BadRecord, Decoding, Undecodable};
use crate::rx::Message;
use crate::time::Instant;
use crate::wire::Cause;

impl Receiver {
    /// Sets the agreed coding of the peer's data; `None` means no coding.
    pub fn decode_as(&mut self, cx: &Context, agreed: Option<Agreed>) {
        let longest = cx.config.receive_buffer as usize;
        let wanted = self.wanted;
        self.decoding = agreed.map(|agreed| Decoding::new(agreed, self.streams, longest, wanted));
    }

    /// Sets whether the application reads received data. The decoding budget of [`crate::coding`] depends on this
    /// setting.
    pub fn want(&mut self, cx: &mut Context, wanted: bool) {
        self.wanted = wanted;
        if let Some(decoding) = &mut self.decoding {
            let waited = decoding.waits();
            decoding.want(wanted);
            if waited && wanted && self.reassembly.readable() {
                cx.events.push_back(Event::Readable);
            }
        }
    }

    /// Returns whether the application reads received data.
    pub fn wanted(&self) -> bool {
        self.wanted
    }

    /// Time at which waiting symbols are decoded.
    pub fn decode_timeout(&self) -> Option<Instant> {
        let decoding = self.decoding.as_ref().filter(|_| self.reassembly.readable())?;
        decoding.waits_until()
    }

    /// Decodes waiting symbols that the budget now permits.
    pub(super) fn on_decode_timeout(&mut self, cx: &mut Context, now: Instant) {
        if let Some(decoding) = &mut self.decoding {
            decoding.advance(now);
            if !decoding.waits() {
                cx.events.push_back(Event::Readable);
            }
        }
    }

    /// Returns the next message: first from decoded data, then from chunks.
    pub(super) fn decode(&mut self, cx: &mut Context, sent: usize) -> Option<Message> {
        loop {
            let decoding = self.decoding.as_mut()?;
            match decoding.pop(&mut cx.stats.coding) {
                Ok(Some(message)) => return Some(message),
                Ok(None) => {}
                Err(why) => {
                    undecodable(cx, why);
                    return None;
                }
            }
            if decoding.waits() {
                return None;
            }
            let arrived = self.pop(cx, sent)?;
            let decoding = self.decoding.as_mut()?;
            if let Some(message) = decoding.take(arrived, &mut cx.stats.coding) {
                return Some(message);
            }
        }
    }
}

/// Ends the association. Data after an undecodable part of the byte stream cannot be read.
fn undecodable(cx: &mut Context, why: Undecodable) {
    let text = why.to_string();
    let reason = CloseReason::Protocol(text.clone());
    let causes = match why {
        Undecodable::Record(BadRecord::TooLong(_)) => {
            vec![Cause::OutOfResource, Cause::UserInitiatedAbort(text.into())]
        }
        _ => vec![Cause::ProtocolViolation(text.into())],
    };
    cx.abort_with_causes(causes, reason);
}

//! What a peer that codes sent, to messages ([`crate::coding`]). Symbols wait in the receive buffer until the application reads,
//! and are taken one at a time: a window closes before coded data as before any others.

use super::Receiver;
use crate::association::context::Context;
use crate::association::event::CloseReason;
use crate::coding::{Agreed, BadRecord, Decoding, Undecodable};
use crate::rx::Message;
use crate::wire::Cause;

impl Receiver {
    /// The peer codes what it sends, as was agreed; `None`: it does not.
    pub fn decode_as(&mut self, cx: &Context, agreed: Option<Agreed>) {
        let longest = cx.config.receive_buffer as usize;
        self.decoding = agreed.map(|agreed| Decoding::new(agreed, self.streams, longest));
    }

    /// The next message: of those decoded, then of what came.
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
            let arrived = self.pop(cx, sent)?;
            let decoding = self.decoding.as_mut()?;
            if let Some(message) = decoding.take(arrived, &mut cx.stats.coding) {
                return Some(message);
            }
        }
    }
}

/// It ends here: what was lost of a stream of bytes is lost of all that follows.
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

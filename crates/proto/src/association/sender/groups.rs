//! Groups of messages that the sender gives up as a whole ([`crate::policy::Act::Drop`]).

use super::Sender;
use super::dropped::unsent;
use crate::association::context::Context;
use crate::association::dropped::DropCause;
use crate::association::lifecycle::State;
use crate::time::Instant;
use crate::tx::{Carries, ChunkState};

/// Number of given-up groups that are recorded. Few recorded groups suffice, because an application submits the
/// messages of few groups at a time.
const REMEMBERED: usize = 16;

/// The groups that were given up most recently.
#[derive(Debug, Default)]
pub(super) struct GivenUp {
    groups: [Option<u64>; REMEMBERED],
    next: usize,
}

impl GivenUp {
    pub fn contains(&self, group: u64) -> bool {
        self.groups.contains(&Some(group))
    }

    fn insert(&mut self, group: u64) {
        if !self.contains(group) {
            self.groups[self.next] = Some(group);
            self.next = (self.next + 1) % REMEMBERED;
        }
    }
}

impl Sender {
    /// Gives up the waiting messages of `group`. If the peer supports RFC 3758, messages that were sent in part or
    /// completely are also given up. Messages that are submitted later are given up while the group is recorded as
    /// given up. Messages in coded blocks are not affected. Returns false if the group was already given up and has no
    /// further messages.
    pub fn drop_group(&mut self, cx: &mut Context, now: Instant, group: u64) -> bool {
        if cx.state == State::Closed {
            return false;
        }
        let known = self.given_up.contains(group);
        self.given_up.insert(group);
        let mut dropped = 0;
        self.buffer.drop_group(group, |m| {
            cx.note_dropped(unsent(m, DropCause::Group));
            dropped += 1;
        });
        let mut abandoned = 0;
        if cx.peer.partial {
            abandoned = self.abandon_sent(cx, now, group);
            if let Some(message) = self.buffer.begun().filter(|m| m.group == Some(group)).map(|m| m.id) {
                self.abandon_begun(cx, now, message, DropCause::Group);
                abandoned += 1;
            }
        }
        if dropped + abandoned > 0 {
            self.room_may_return(cx);
            cx.driver.wake();
        }
        !known || dropped + abandoned > 0
    }

    /// Abandons the messages of `group` that were sent and are not fully acknowledged. Returns the number of these
    /// messages.
    fn abandon_sent(&mut self, cx: &mut Context, now: Instant, group: u64) -> u64 {
        let mut sent = core::mem::take(&mut self.scratch);
        sent.clear();
        let open = self.rq.iter().filter(|c| {
            let missing = matches!(c.state, ChunkState::InFlight | ChunkState::Lost(_));
            missing && c.carries == Carries::Message && c.info.group == Some(group)
        });
        sent.extend(open.map(|c| c.info.tsn));
        let mut messages = 0;
        for &tsn in &sent {
            // A chunk may have been abandoned with an earlier chunk of its message.
            if self.rq.get(tsn).is_some_and(|c| c.state != ChunkState::Abandoned) {
                self.abandon(cx, now, tsn, DropCause::Group);
                messages += 1;
            }
        }
        if messages > 0 {
            self.rq.forget_found();
            self.keep_a_timer(cx, now);
        }
        self.scratch = sent;
        messages
    }

    /// Returns whether the sender gives up messages of `group`.
    pub fn is_given_up(&self, group: Option<u64>) -> bool {
        group.is_some_and(|group| self.given_up.contains(group))
    }
}

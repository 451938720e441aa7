//! Record of the route requests that were received (RFC 3561 §6.5: PATH_DISCOVERY_TIME).

use core::time::Duration;
use std::collections::VecDeque;

use strandcast_proto::time::Instant;

use crate::address::Address;

/// Time for which a request is recorded (ns-2.35).
const MEMORY: Duration = Duration::from_secs(6);

/// Recorded requests by source and number, each with a state of the protocol.
#[derive(Clone, Debug)]
pub struct Seen<T> {
    requests: VecDeque<Remembered<T>>,
}

#[derive(Clone, Debug)]
struct Remembered<T> {
    source: Address,
    id: u32,
    until: Instant,
    what: T,
}

impl<T> Default for Seen<T> {
    fn default() -> Self {
        Seen { requests: VecDeque::new() }
    }
}

impl<T: Default> Seen<T> {
    /// Records a request. Returns whether the request is new.
    pub fn insert(&mut self, now: Instant, source: Address, id: u32) -> bool {
        while self.requests.pop_front_if(|first| first.until <= now).is_some() {}
        let new = self.get_mut(source, id).is_none();
        if new {
            self.requests.push_back(Remembered { source, id, until: now + MEMORY, what: T::default() });
        }
        new
    }

    /// Returns the protocol's state for a request.
    pub fn get_mut(&mut self, source: Address, id: u32) -> Option<&mut T> {
        let same = |r: &&mut Remembered<T>| r.id == id && r.source == source;
        self.requests.iter_mut().rev().find(same).map(|r| &mut r.what)
    }
}

//! The search for one destination: how far requests go, and when the next is sent (RFC 3561 §6.4, with ns-2.35's constants).

use core::time::Duration;

use strandcast_proto::time::Instant;

/// TTL of the first request of an expanding ring.
const TTL_START: u8 = 5;
/// By how much the ring grows.
const TTL_INCREMENT: u8 = 2;
/// From here on requests go through the whole network.
const TTL_THRESHOLD: u8 = 7;
/// TTL of requests and replies that go through the whole network.
pub const NETWORK_DIAMETER: u8 = 30;
/// Requests through the whole network beyond the first, before the search is given up.
const RREQ_RETRIES: u8 = 3;
/// Time per hop while none is measured.
const NODE_TRAVERSAL_TIME: Duration = Duration::from_millis(30);
/// Measured latencies that count.
const HISTORY: usize = 3;
/// No such route.
pub const INFINITE_HOPS: u8 = u8::MAX;

/// What to do now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Wait for an answer.
    Wait,
    /// Send a request with this TTL.
    Request(u8),
    /// Give up, and wait before the next search.
    GiveUp,
}

/// The state of a search.
#[derive(Clone, Debug)]
pub struct Search {
    /// Requests that went through the whole network.
    wide: u8,
    /// No request before.
    until: Option<Instant>,
    /// TTL of the last request, or hops of the route found.
    last_ttl: u8,
    /// Length of the last route.
    last_hops: u8,
    /// Time from request to reply, per hop.
    latencies: [Option<Duration>; HISTORY],
    /// The oldest of them.
    oldest: usize,
}

impl Search {
    /// For a destination of which nothing is known. With `ring` its first request goes [`TTL_START`] hops far, else through the
    /// whole network: ns-2.35 takes the length of the last route, which is infinite, for the radius.
    pub fn new(ring: bool) -> Self {
        Search {
            wide: 0,
            until: None,
            last_ttl: 0,
            last_hops: if ring { 0 } else { INFINITE_HOPS },
            latencies: [None; HISTORY],
            oldest: 0,
        }
    }

    /// What to do now. No pause between requests is longer than `longest`, which is also the pause after a search was given up
    /// (MAX_RREQ_TIMEOUT).
    pub fn step(&mut self, now: Instant, longest: Duration) -> Step {
        if self.until.is_some_and(|until| until > now) {
            return Step::Wait;
        }
        if self.wide > RREQ_RETRIES {
            self.until = Some(now + longest);
            self.wide = 0;
            return Step::GiveUp;
        }
        let ttl = match self.last_ttl.max(self.last_hops) {
            0 => TTL_START,
            last if last < TTL_THRESHOLD => last + TTL_INCREMENT,
            _ => {
                self.wide += 1;
                NETWORK_DIAMETER
            }
        };
        self.last_ttl = ttl;
        let wait = self.per_hop() * 2 * u32::from(ttl) * u32::from(self.wide.max(1));
        self.until = Some(now + wait.min(longest));
        Step::Request(ttl)
    }

    /// Whether a request was sent to which no answer came.
    pub fn under_way(&self) -> bool {
        self.until.is_some()
    }

    /// Until when this request may be answered.
    pub fn until(&self) -> Option<Instant> {
        self.until
    }

    /// There is a route of `hops`, and the next search begins there; 0: it begins anew.
    pub fn found(&mut self, hops: u8) {
        self.wide = 0;
        self.until = None;
        self.last_ttl = hops;
    }

    /// The route had `hops`.
    pub fn remember(&mut self, hops: u8) {
        self.last_hops = hops;
    }

    /// A reply came `latency` after its request over `hops`.
    pub fn measured(&mut self, latency: Duration, hops: u8) {
        self.latencies[self.oldest] = Some(latency / u32::from(hops.max(1)));
        self.oldest = (self.oldest + 1) % HISTORY;
    }

    fn per_hop(&self) -> Duration {
        let known = self.latencies.iter().flatten();
        match u32::try_from(known.clone().count()) {
            Ok(count @ 1..) => known.sum::<Duration>() / count,
            Ok(0) | Err(_) => NODE_TRAVERSAL_TIME,
        }
    }
}

//! Search for a route to one destination: range and times of its requests (RFC 3561 §6.4, with ns-2.35's constants).

use core::time::Duration;

use strandcast_proto::time::Instant;

/// TTL of the first request if the search is an expanding ring.
const TTL_START: u8 = 5;
/// Increase of the TTL with each request.
const TTL_INCREMENT: u8 = 2;
/// TTL above which a request covers the whole network.
const TTL_THRESHOLD: u8 = 7;
/// TTL of requests and replies that cover the whole network.
pub const NETWORK_DIAMETER: u8 = 30;
/// Number of times that a request through the whole network is repeated before the search fails.
const RREQ_RETRIES: u8 = 3;
/// Time per hop that is assumed before the first measurement.
const NODE_TRAVERSAL_TIME: Duration = Duration::from_millis(30);
/// Number of measured latencies that are recorded.
const HISTORY: usize = 3;
/// Length in hops that stands for an unusable route.
pub const INFINITE_HOPS: u8 = u8::MAX;

/// Next action of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Wait for an answer to the last request.
    Wait,
    /// Send a request with this TTL.
    Request(u8),
    /// End the search, and wait before the next one.
    GiveUp,
}

/// State of a search.
#[derive(Clone, Debug)]
pub struct Search {
    /// Number of requests that covered the whole network.
    wide: u8,
    /// Time before which no further request is sent.
    until: Option<Instant>,
    /// TTL of the last request. After a search, it is the number of hops of the route that was found.
    last_ttl: u8,
    /// Length of the last route in hops.
    last_hops: u8,
    /// Times between request and reply, divided by the number of hops.
    latencies: [Option<Duration>; HISTORY],
    /// Index of the oldest latency.
    oldest: usize,
}

impl Search {
    /// Creates a search for an unknown destination. With `ring`, the first request covers [`TTL_START`] hops. Without
    /// `ring`, the first request covers the whole network: ns-2.35 takes the length of the last route, which is
    /// infinite, as the radius.
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

    /// Returns the next action of the search. `longest` is the maximum pause between requests, and the pause after a
    /// failed search (MAX_RREQ_TIMEOUT).
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

    /// Returns whether a request was sent and is not answered yet.
    pub fn under_way(&self) -> bool {
        self.until.is_some()
    }

    /// Returns the time until which the last request may be answered.
    pub fn until(&self) -> Option<Instant> {
        self.until
    }

    /// Records that a route of `hops` hops was found. The next search starts with this number of hops. 0 restarts the
    /// ring.
    pub fn found(&mut self, hops: u8) {
        self.wide = 0;
        self.until = None;
        self.last_ttl = hops;
    }

    /// Records the length of the route in hops.
    pub fn remember(&mut self, hops: u8) {
        self.last_hops = hops;
    }

    /// Records a reply over `hops` hops that arrived `latency` after its request.
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
